// SPDX-License-Identifier: Apache-2.0
// Parts of manual pages from the headers of the client libraries.
#ifndef SUEDE_APP_MANUAL_HEADER_PAGE_H_
#define SUEDE_APP_MANUAL_HEADER_PAGE_H_

#include <string>
#include <string_view>

namespace suede::manual {

// Returns the header's declarations, each with the comment above it, in the language of scdoc.
// Comments that divide the header become headings. Leaves out private members, bodies of functions,
// and directives of the preprocessor other than definitions of constants.
std::string HeaderPage(std::string_view header);
// Returns the comment at the begin of the header.
std::string HeaderAbout(std::string_view header);

}  // namespace suede::manual

#endif  // SUEDE_APP_MANUAL_HEADER_PAGE_H_
