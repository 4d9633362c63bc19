/* SPDX-License-Identifier: Apache-2.0 */
/* suede/registers.h is C as well. */
#include "suede/registers.h"

#include <stdint.h>

#include "suede/suede.h"

uint32_t AddressInC(uint32_t port);

uint32_t AddressInC(uint32_t port) { return SUEDE_REG_PORT_LINK_UP(port); }
