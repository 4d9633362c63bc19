// SPDX-License-Identifier: Apache-2.0
// Pieces of scdoc(5), the language that manual pages are written in.
#ifndef SUEDE_APP_MANUAL_SCDOC_H_
#define SUEDE_APP_MANUAL_SCDOC_H_

#include <string>
#include <string_view>

namespace suede::manual {

// Text as it stands, without meaning for scdoc.
std::string Plain(std::string_view text);
// "*text*", "_text_".
std::string Bold(std::string_view text);
std::string Underlined(std::string_view text);
// A term (of scdoc) and its meaning (of plain text), with an empty line behind it.
std::string Definition(std::string_view term, std::string_view meaning);

}  // namespace suede::manual

#endif  // SUEDE_APP_MANUAL_SCDOC_H_
