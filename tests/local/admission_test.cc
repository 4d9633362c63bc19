// SPDX-License-Identifier: Apache-2.0
// Places among connections: shares, the reserve, and connections that go for others.
#include "local/admission.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suede {
namespace {

using Verdict = Admission::Verdict;

constexpr uid_t kRoot = 0;
constexpr int64_t kNow = 100'000;

class AdmissionTest : public testing::Test {
 protected:
  // Lets connections of `uid` come, one after the other, until one is refused or replaces another.
  size_t Fill(uid_t uid, int64_t quiet_since_ms, size_t max = 1000) {
    for (size_t count = 0; count < max; ++count) {
      if (Admit(guests_, uid, kNow, rules_).verdict != Verdict::kRoom) return count;
      guests_.push_back({.uid = uid, .quiet_since_ms = quiet_since_ms});
    }
    return max;
  }
  Admission Ask(uid_t uid) { return Admit(guests_, uid, kNow, rules_); }

  AdmissionRules rules_{.places = 32, .setting = "x.max_clients",
                        .is_privileged = [](uid_t uid) { return uid == kRoot; }};
  std::vector<Guest> guests_;
};

TEST_F(AdmissionTest, OneUserGetsThreeQuartersAndOthersStillGetIn) {
  EXPECT_EQ(Fill(1000, -1), 24u);
  EXPECT_EQ(Ask(1000).verdict, Verdict::kRefuse);
  EXPECT_NE(Ask(1000).reason.find("uid 1000 has 24 of 32 connections"), std::string::npos);
  EXPECT_NE(Ask(1000).reason.find("raise x.max_clients"), std::string::npos);
  EXPECT_EQ(Fill(1001, -1), 6u);
  EXPECT_EQ(Fill(1002, -1), 1u);
  EXPECT_EQ(Ask(1003).verdict, Verdict::kRefuse);
  EXPECT_EQ(Ask(kRoot).verdict, Verdict::kRoom) << "the reserve";
}

TEST_F(AdmissionTest, APrivilegedUserGetsAllOfThem) {
  EXPECT_EQ(Fill(kRoot, -1), 32u);
  EXPECT_EQ(Ask(kRoot).verdict, Verdict::kRefuse);
  EXPECT_EQ(Ask(1000).verdict, Verdict::kRefuse);
}

TEST_F(AdmissionTest, BeyondItsShareAUserReplacesItsOwnQuietOnes) {
  guests_.push_back({.uid = 1001, .quiet_since_ms = 1});
  Fill(1000, -1, 10);
  Fill(1000, 50, 1);
  Fill(1000, 40, 1);
  Fill(1000, 60);
  const Admission another = Ask(1000);
  ASSERT_EQ(another.verdict, Verdict::kReplace);
  EXPECT_EQ(another.replaced, 12u) << "that of 40";
}

TEST_F(AdmissionTest, WhereAllIsTakenTheQuietOfWhoHasMostGo) {
  Fill(1000, 500);
  Fill(1001, 100);
  Fill(1002, 10);
  ASSERT_EQ(guests_.size(), 31u);
  const Admission newcomer = Ask(1003);
  ASSERT_EQ(newcomer.verdict, Verdict::kReplace);
  EXPECT_EQ(guests_[newcomer.replaced].uid, 1000u) << "although others are quiet for longer";
  EXPECT_NE(newcomer.reason.find("uid 1000 has 24"), std::string::npos) << newcomer.reason;
  // A user with one connection loses it to no other.
  for (const uid_t uid : {uid_t{1000}, uid_t{1001}, uid_t{1003}}) {
    const Admission admission = Ask(uid);
    if (admission.verdict == Verdict::kReplace) {
      EXPECT_NE(guests_[admission.replaced].uid, 1002u);
    }
  }
}

TEST_F(AdmissionTest, WhoHasJustComeStays) {
  Fill(1000, kNow - rules_.grace_ms + 1);
  EXPECT_EQ(Ask(1000).verdict, Verdict::kRefuse);
  guests_[5].quiet_since_ms = kNow - rules_.grace_ms;
  EXPECT_EQ(Ask(1000).replaced, 5u);
}

TEST_F(AdmissionTest, APrivilegedUserAlwaysGetsIn) {
  Fill(1000, -1);
  Fill(1001, -1);
  Fill(1002, -1);
  Fill(kRoot, -1, 1);
  ASSERT_EQ(guests_.size(), 32u);
  EXPECT_EQ(Ask(kRoot).verdict, Verdict::kRefuse) << "where none may be ended in its work";
  rules_.ends_busy = true;
  const Admission root = Ask(kRoot);
  ASSERT_EQ(root.verdict, Verdict::kReplace);
  EXPECT_EQ(root.replaced, 0u);
  EXPECT_EQ(Ask(1003).verdict, Verdict::kRefuse) << "for others none is";
}

TEST_F(AdmissionTest, FewPlacesHaveNoReserve) {
  rules_.places = 1;
  EXPECT_EQ(Fill(1000, -1), 1u);
  rules_.places = 3;
  guests_.clear();
  EXPECT_EQ(Fill(1000, -1), 3u);
}

}  // namespace
}  // namespace suede
