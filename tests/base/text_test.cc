// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/secrets.h"

namespace suede {
namespace {

TEST(TextTest, ASeparatorStandsBetweenItems) {
  EXPECT_EQ(StrJoin(std::vector<int>{}, ", "), "");
  EXPECT_EQ(StrJoin(std::vector<int>{1}, ", "), "1");
  EXPECT_EQ(StrJoin(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
}

TEST(TextTest, SplitGivesPiecesThatAreEmptyToo) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(Split("a,,b,", ','), (Pieces{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ','), (Pieces{""}));
}

TEST(SecretsTest, ValuesOfSecretsAreHidden) {
  EXPECT_EQ(HideSecrets("net_memif0,role=client"), "net_memif0,role=client");
  EXPECT_EQ(HideSecrets("secret=abc"), "secret=***");
  EXPECT_EQ(HideSecrets("a secret=abc,role=client secret='x"),
            "a secret=***,role=client secret='x");
  EXPECT_EQ(HideSecrets("secret=a secret=b;c"), "secret=*** secret=***;c");
  EXPECT_EQ(HideSecrets("secret="), "secret=");
}

}  // namespace
}  // namespace suede
