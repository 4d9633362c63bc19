// SPDX-License-Identifier: Apache-2.0
#include "base/client_rules.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

std::vector<ClientRule> Parse(const std::vector<std::string>& texts) {
  std::vector<ClientRule> rules;
  for (const std::string& text : texts) {
    const auto rule = ParseClientRule(text);
    EXPECT_TRUE(rule.has_value()) << text;
    if (!rule) continue;
    EXPECT_EQ(rule->text(), text);
    rules.push_back(*rule);
  }
  return rules;
}

TEST(ClientRulesTest, NameUsersXpusAndVcs) {
  const auto rules = Parse({"1000:3", "1000:4:0,3", "1001:3:2", "1001:3:1", "0:5-1023:0"});
  EXPECT_EQ(PermittedVcs(rules, 1000, 3), 0xfu);
  EXPECT_EQ(PermittedVcs(rules, 1000, 4), 0x9u);
  EXPECT_EQ(PermittedVcs(rules, 1001, 3), 0x6u) << "rules of a user add up";
  EXPECT_EQ(PermittedVcs(rules, 1001, 4), 0u);
  EXPECT_EQ(PermittedVcs(rules, 1002, 3), 0u) << "who is not named may be none";
  EXPECT_EQ(PermittedVcs(rules, 0, 3), 0u) << "nor may root";
  EXPECT_EQ(PermittedVcs(rules, 0, 4), 0u);
  EXPECT_EQ(PermittedVcs(rules, 0, 5), 0x1u);
  EXPECT_EQ(PermittedVcs(rules, 0, 1023), 0x1u);
}

TEST(ClientRulesTest, NameInstances) {
  const auto rules = Parse({"1000:3.1", "1000:4-5.0:2", "1001:3"});
  EXPECT_EQ(PermittedVcs(rules, 1000, 3, 1), 0xfu);
  EXPECT_EQ(PermittedVcs(rules, 1000, 3, 0), 0u);
  EXPECT_EQ(PermittedVcs(rules, 1000, 5, 0), 0x4u);
  EXPECT_EQ(PermittedVcs(rules, 1000, 5, 1), 0u);
  EXPECT_EQ(PermittedVcs(rules, 1001, 3, 63), 0xfu);
}

TEST(ClientRulesTest, WithoutAnyEveryUserMay) { EXPECT_EQ(PermittedVcs({}, 1000, 3), 0xfu); }

TEST(ClientRulesTest, AMaskNamesTheVcsThereAre) {
  EXPECT_EQ(VcsOfMask(0), "");
  EXPECT_EQ(VcsOfMask(0b1010), "1,3");
  EXPECT_EQ(VcsOfMask(~0u), "0,1,2,3");
}

TEST(ClientRulesTest, AnythingElseIsNone) {
  for (const char* const wrong : {"",
                                  "1000",
                                  "1000:",
                                  ":3",
                                  "1000:1024",
                                  "1000:3:",
                                  "1000:3:4",
                                  "1000:3:0,",
                                  "1000:3:0:1",
                                  "a:3",
                                  "1000:b",
                                  "-1:3",
                                  "4294967295:3",
                                  "1000:3;1001:4",
                                  "1000:3:0-1",
                                  "1000:3.",
                                  "1000:3.64",
                                  "1000:3.1.2",
                                  "1000:3.1-2",
                                  "*:3",
                                  "1000:*",
                                  "1000:4-3",
                                  "1000:-3",
                                  "1000:3-",
                                  "1000:1-2-3",
                                  " 1000:3",
                                  "1000:3 ",
                                  "1000: 3"}) {
    EXPECT_FALSE(ParseClientRule(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace suede
