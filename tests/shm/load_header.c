/* SPDX-License-Identifier: Apache-2.0 */
/* suede/load.h is C as well. */
#include "suede/load.h"

uint32_t LoadInC(const suede_queue* queue);

uint32_t LoadInC(const suede_queue* queue) {
  suede_load load = {.size = sizeof load};
  return suede_get_load(queue, &load) == 0 ? load.load : UINT32_MAX;
}
