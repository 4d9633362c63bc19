// SPDX-License-Identifier: Apache-2.0
// Pieces of scdoc(5), the markup of the manual pages.
#ifndef SUEDE_APP_MANUAL_SCDOC_H_
#define SUEDE_APP_MANUAL_SCDOC_H_

#include <string>
#include <string_view>

namespace suede::manual {

// Escapes text for scdoc.
std::string Plain(std::string_view text);
// Formats "*text*" or "_text_".
std::string Bold(std::string_view text);
std::string Underlined(std::string_view text);
// Formats a term (in scdoc) and its meaning (plain text), followed by an empty line.
std::string Definition(std::string_view term, std::string_view meaning);

}  // namespace suede::manual

#endif  // SUEDE_APP_MANUAL_SCDOC_H_
