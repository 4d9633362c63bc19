// SPDX-License-Identifier: Apache-2.0
// Masks secrets of a configuration, such as a memif's, in texts for people.
#ifndef SUEDE_BASE_SECRETS_H_
#define SUEDE_BASE_SECRETS_H_

#include <string>
#include <string_view>

namespace suede {

inline constexpr std::string_view kSecretArgument = "secret=";
inline constexpr std::string_view kHiddenSecret = "***";

// Returns the text with "***" in place of the characters behind each "secret=", up to the next ',',
// ';', quote or blank.
inline std::string HideSecrets(std::string_view text) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t found = text.find(kSecretArgument, at);
    if (found == std::string_view::npos) return out += text.substr(at);
    const size_t value = found + kSecretArgument.size();
    out += text.substr(at, value - at);
    const size_t end = text.find_first_of(",;\"' \t\r\n", value);
    if (end != value && value != text.size()) out += kHiddenSecret;
    if (end == std::string_view::npos) return out;
    at = end;
  }
}

}  // namespace suede

#endif  // SUEDE_BASE_SECRETS_H_
