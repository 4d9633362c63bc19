// SPDX-License-Identifier: Apache-2.0
// The page at /: /metrics as a browser shows them. Everything it needs comes from here.
#ifndef SUEDE_APP_ENDPOINT_STATUS_PAGE_H_
#define SUEDE_APP_ENDPOINT_STATUS_PAGE_H_

#include <string>
#include <string_view>

namespace suede {

// With the endpoint's name in its title.
std::string StatusPageHtml(std::string_view name);
std::string_view StatusPageScript();
std::string_view StatusPageStyle();

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_STATUS_PAGE_H_
