// SPDX-License-Identifier: Apache-2.0
#include "wire/encap/traits.h"

#include <vector>

#include "base/text.h"

namespace suede {

std::string JoinEncaps(const EncapSet& set, std::string_view between, std::string_view last) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kEncapCount; ++i) {
    if (set.Has(static_cast<Encap>(i))) names.push_back(kEncapNames[i]);
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) StrAppend(&text, i + 1 == names.size() ? last : between);
    StrAppend(&text, names[i]);
  }
  return text;
}

}  // namespace suede
