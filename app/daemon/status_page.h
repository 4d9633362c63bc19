// SPDX-License-Identifier: Apache-2.0
// The page at /, which displays /metrics in a browser, without external resources.
#ifndef SUEDE_APP_DAEMON_STATUS_PAGE_H_
#define SUEDE_APP_DAEMON_STATUS_PAGE_H_

#include <string>
#include <string_view>

#include "daemon/observed.h"

namespace suede {

// Returns the page, with the daemon's name in its title.
std::string StatusPageHtml(std::string_view name, const StatusPage& own);
std::string StatusPageScript(const StatusPage& own);
std::string_view StatusPageStyle();

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_STATUS_PAGE_H_
