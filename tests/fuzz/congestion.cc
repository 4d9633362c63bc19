// SPDX-License-Identifier: Apache-2.0
// Sources under each law and a target of their credit, in any order of facts, some of them
// invented: requests, grants, echoes, arrivals and the time. The state holds to its invariants
// after each step, no call of Poll goes on for ever, and once sources and target talk to each other
// alone, credit flows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "congestion/context.h"
#include "congestion/target.h"
#include "input.h"

namespace suede {
namespace {

constexpr uint32_t kSources = 5;
constexpr uint32_t kLargest = 4150;
constexpr uint64_t kRate = 100'000'000'000;

// A number of any order of magnitude.
uint64_t NumberFrom(Input& input) {
  const int bits = input.Byte() % 60;
  const uint64_t high = input.Word();
  return (high << 32 | input.Word()) >> (63 - bits);
}

void Check(bool holds) {
  if (!holds) abort();
}

class Exchange {
 public:
  explicit Exchange(Input* input) : input_(*input), target_(Target()) {
    target_.Resize(kSources);
    params_.base_rtt = std::chrono::microseconds(1 + input_.Byte());
    params_.initial_percent = 1 + input_.Byte();
    params_.ask_bdp = 1 + input_.Byte() % 64;
    params_.window_min_permille = 1 + input_.Byte();
    for (uint32_t i = 0; i != kSources; ++i) Start(i, i == 4 ? Nscc() : Rccc());
  }

  void Step() {
    const uint32_t number = input_.Byte() % kSources;
    CongestionContext& source = sources_[number];
    switch (input_.Byte() % 14) {
      case 0:
        now_ += Duration(static_cast<int64_t>(NumberFrom(input_) >> 20));
        break;
      case 1:
        now_ += Duration(input_.Byte() * 64);
        break;
      case 2:
        Send(number);
        break;
      case 3:
        Ask(number, NumberFrom(input_));
        break;
      case 4:
        PollTarget(NumberFrom(input_));
        break;
      case 5:
        source.OnTimer(now_);
        break;
      case 6:
        source.OnAcked(input_.Word() >> 8, Rtt(), input_.Byte() % 2 == 0, now_);
        break;
      case 7:
        source.OnGoBack(static_cast<uint32_t>(source.in_flight()), now_);
        break;
      case 8:
        source.OnEcho({input_.Byte(), input_.Byte(), input_.Byte()});
        break;
      case 9:
        source.OnGrant(Credit24(input_.Word()), now_);
        break;
      case 10:
        target_.OnRequest(input_.Byte() % 8, AnyRequest(), now_);
        break;
      case 11:
        target_.OnArrived(input_.Byte() % 8, input_.Word() >> input_.Byte() % 32);
        break;
      case 12:
        target_.SetOthers(input_.Byte());
        break;
      case 13:
        Restart(number);
        break;
    }
    CheckInvariants();
  }

  // Sources begin anew, and all messages arrive: each gets what it asks for.
  void Settle() {
    target_.SetOthers(0);
    for (uint32_t i = 0; i != kSources; ++i) {
      target_.Forget(i);
      Start(i, Rccc());
      sent_[i] = 0;
    }
    const Time end = now_ + std::chrono::milliseconds(50);
    while (now_ < end && *std::min_element(sent_.begin(), sent_.end()) < 100 * kLargest) {
      now_ += std::chrono::microseconds(4);
      for (uint32_t i = 0; i != kSources; ++i) {
        Send(i);
        if (now_ >= sources_[i].deadline()) sources_[i].OnTimer(now_);
        Ask(i, 100 * kLargest);
      }
      PollTarget(UINT64_MAX);
    }
    Check(*std::min_element(sent_.begin(), sent_.end()) >= 100 * kLargest);
    CheckInvariants();
  }

 private:
  static TargetParams Target() {
    TargetParams params;
    params.rate_bps = kRate;
    params.largest_octets = kLargest;
    return params;
  }
  static CongestionControl Rccc() { return CongestionControl::kRccc; }
  static CongestionControl Nscc() { return CongestionControl::kNscc; }
  std::optional<Duration> Rtt() {
    if (input_.Byte() % 4 == 0) return std::nullopt;
    return Duration(static_cast<int64_t>(NumberFrom(input_) >> 16));
  }
  CreditRequest AnyRequest() {
    return {Credit24(input_.Word()), Credit24(input_.Word()), Credit24(input_.Word())};
  }
  void Start(uint32_t number, CongestionControl control) {
    sources_[number].Start(control, params_, {kRate, kLargest}, now_);
  }
  void Restart(uint32_t number) {
    if (input_.Byte() % 2 == 0) target_.Forget(number);
    Start(number, static_cast<CongestionControl>(input_.Byte() % 3));
  }
  void Send(uint32_t number) {
    if (!sources_[number].Allows(kLargest)) return;
    sources_[number].OnSent(kLargest, now_);
    target_.OnArrived(number, kLargest);
    sent_[number] += kLargest;
  }
  void Ask(uint32_t number, uint64_t backlog) {
    const auto request = sources_[number].PollRequest(backlog, now_);
    if (request) target_.OnRequest(number, *request, now_);
    // Everything that was due is done: the caller does not spin.
    if (sources_[number].control() == Rccc()) Check(sources_[number].deadline() > now_);
  }
  void PollTarget(uint64_t room) {
    int grants = 0;
    while (const auto grant = target_.Poll(now_, room)) {
      Check(grant->sender < kSources && ++grants < 1000);
      sources_[grant->sender].OnGrant(grant->limit, now_);
      if (grants % 7 == 3) {
        target_.Requeue(*grant);
        Check(target_.deadline() <= now_);
        break;
      }
    }
  }
  void CheckInvariants() {
    target_.CheckInvariants();
    for (const CongestionContext& source : sources_) source.CheckInvariants();
  }

  Input& input_;
  CongestionParams params_;
  std::array<CongestionContext, kSources> sources_;
  std::array<int64_t, kSources> sent_{};
  CreditTarget target_;
  Time now_ = TimeFromNs(1'000'000'000);
};

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  suede::Exchange exchange(&input);
  while (!input.empty()) exchange.Step();
  if (size % 16 == 0) exchange.Settle();
  return 0;
}
