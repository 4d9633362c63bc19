// SPDX-License-Identifier: Apache-2.0
// Returns the endpoint's part of the page at /.
#ifndef SUEDE_APP_ENDPOINT_STATUS_TABLES_H_
#define SUEDE_APP_ENDPOINT_STATUS_TABLES_H_

#include "daemon/observed.h"

namespace suede {

StatusPage EndpointStatusPage();

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_STATUS_TABLES_H_
