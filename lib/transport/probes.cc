// SPDX-License-Identifier: Apache-2.0
#include "transport/probes.h"

#include <algorithm>
#include <bit>

namespace suede {
namespace {

// Equal answers that are required if the device has returned the given-up PDUs, and if it has not.
constexpr int kMinAnswers = 2;
constexpr int kMinAnswersWhileHeld = 8;

}  // namespace

void Probes::Start(uint8_t given_up_vcs) {
  given_up_vcs_ = given_up_vcs;
  waiting_ = false;
  answers_ = 0;
  sent_ = 0;
}

uint8_t Probes::vc() const {
  unsigned left = given_up_vcs_;
  if (left == 0) return 0;
  for (int skip = answers_ % std::popcount(left); skip != 0; --skip) left &= left - 1;
  return static_cast<uint8_t>(std::countr_zero(left));
}

void Probes::OnSent(bool held) {
  waiting_ = true;
  held_ = held;
  ++sent_;
}

Probes::Verdict Probes::OnAnswer(Psn expected) {
  if (answers_ != 0 && answer_ != expected) answers_ = 0;
  if (!waiting_) return Verdict::kIgnored;
  waiting_ = false;
  answer_ = expected;
  ++answers_;
  const int min = held_ ? kMinAnswersWhileHeld : kMinAnswers;
  return answers_ >= std::max(min, std::popcount(given_up_vcs_)) ? Verdict::kConfirmed
                                                                 : Verdict::kCounted;
}

}  // namespace suede
