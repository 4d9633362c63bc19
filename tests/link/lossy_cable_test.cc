// SPDX-License-Identifier: Apache-2.0
// Two ends of a link joined by a cable that loses and doubles everything, in both directions:
// HELLOs, frames, ACKs and NACKs. Each frame that one end takes, the other hands up once and in
// order; all of them, where no end restarted and the link was never given up.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>

#include "link_machine.h"

namespace suede {
namespace {

using std::chrono::microseconds;

uint64_t Seeds() {
  const char* const given = std::getenv("SUEDE_LINK_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1000;
}

LinkParams Params(std::mt19937_64& random) {
  LinkParams params;
  params.hello = microseconds(200);
  params.retry.on = true;
  params.retry.window_frames = 1 + static_cast<uint32_t>(random() % 40);
  params.retry.window_octets = 200 + static_cast<uint32_t>(random() % 4000);
  params.retry.replay_count = 3 + static_cast<uint32_t>(random() % 4);
  params.retry.replay_timeout = microseconds(20 + random() % 30);
  params.retry.ack_frames = 1 + static_cast<uint32_t>(random() % 8);
  return params;
}

// One direction of the cable.
class Wire {
 public:
  double loss = 0;
  double doubled = 0;
  uint64_t lost = 0;

  void Send(LinkBytes bytes, Time now, std::mt19937_64& random) {
    std::uniform_real_distribution<double> chance;
    if (chance(random) < loss) {
      ++lost;
      return;
    }
    last_ = std::max(last_, now + microseconds(1 + random() % 4));
    if (chance(random) < doubled) late_.push_back({now + microseconds(random() % 100), bytes});
    on_wire_.push_back({last_, std::move(bytes)});
  }
  // Frames arrive in order, except copies.
  std::optional<LinkBytes> Arrive(Time now) {
    for (std::deque<Under>* way : {&late_, &on_wire_}) {
      if (way->empty() || way->front().at > now) continue;
      LinkBytes bytes = std::move(way->front().bytes);
      way->pop_front();
      return bytes;
    }
    return std::nullopt;
  }

 private:
  struct Under {
    Time at;
    LinkBytes bytes;
  };
  std::deque<Under> on_wire_;
  std::deque<Under> late_;
  Time last_{};
};

struct Totals {
  uint64_t delivered = 0;
  uint64_t lost = 0;
  uint64_t given_up = 0;
  uint64_t replayed = 0;
  uint64_t failures = 0;
  uint64_t restarts = 0;
};

class Cable {
 public:
  Cable(uint64_t seed, Totals& totals) : random_(seed), totals_(totals) {
    std::uniform_real_distribution<double> chance;
    const double worst = std::array{0.0, 0.001, 0.02, 0.2, 0.6}[seed % 5];
    for (Side& side : sides_) {
      side.params = Params(random_);
      Boot(side);
      side.wire.loss = worst * chance(random_);
      side.wire.doubled = seed % 3 == 0 ? 0.05 * chance(random_) : 0;
    }
    restarts_ = seed % 7 == 0;
  }

  // Runs until both have sent `frames` frames, and all of these have come.
  void Run(uint64_t frames) {
    for (uint32_t turn = 0; turn < 200'000; ++turn) {
      now_ += microseconds(1) + Duration(random_() % 2000);
      if (restarts_ && random_() % 150 == 0) Restart(sides_[random_() % 2]);
      for (uint32_t i = 0; i < 2; ++i) Turn(sides_[i], sides_[1 - i], frames);
      if (std::all_of(sides_.begin(), sides_.end(), [&](const Side& side) {
            return side.sent == frames && side.machine->end().sender().held() == 0;
          })) {
        return End();
      }
    }
    ADD_FAILURE() << "not everything was sent in time";
  }

 private:
  struct Side {
    LinkParams params;
    std::unique_ptr<LinkMachine> machine;
    Wire wire;           // away from it
    uint64_t sent = 0;   // frames that were taken
    uint64_t heard = 0;  // the last number that was handed up
    uint64_t delivered = 0;
    uint64_t given_up = 0;  // by machines that are gone
  };

  void Boot(Side& side) { side.machine = std::make_unique<LinkMachine>(side.params, ++boots_); }
  void Restart(Side& side) {
    ++totals_.restarts;
    Count(side);
    side.given_up += side.machine->end().sender().held();
    Boot(side);
  }
  void Count(Side& side) {
    const LinkMachine& machine = *side.machine;
    side.given_up += machine.Count(LinkCounter::kLlrGivenUp);
    totals_.replayed += machine.Count(LinkCounter::kLlrTxReplayed);
    totals_.failures += machine.Count(LinkCounter::kFailures);
    EXPECT_EQ(machine.missing(), 0u);
    EXPECT_EQ(machine.Count(LinkCounter::kRxMalformed), 0u);
    EXPECT_EQ(machine.Count(LinkCounter::kRxUnknown), 0u);
  }
  void Turn(Side& side, Side& other, uint64_t frames) {
    LinkMachine& machine = *side.machine;
    machine.Poll(now_);
    while (const auto bytes = other.wire.Arrive(now_)) {
      const auto up = machine.Hear(*bytes, now_);
      if (!up) continue;
      const uint64_t number = LoadBe64(up->data() + LinkMachine::kNumberAt);
      ASSERT_GT(number, side.heard) << "twice, or out of order";
      ASSERT_EQ(*up, LinkMachine::Data(number, static_cast<uint32_t>(up->size())));
      side.heard = number;
      ++side.delivered;
    }
    if (machine.end().numbers()) {
      machine.end().BeginBurst();
      for (uint64_t n = random_() % 4; n != 0 && side.sent < frames; --n) {
        const LinkBytes data =
            LinkMachine::Data(side.sent + 1, 60 + static_cast<uint32_t>(random_() % 100));
        if (machine.Send(data) == LinkEnd::Passage::kFull) break;
        ++side.sent;
      }
    }
    const auto max = static_cast<uint32_t>(random_() % 8);
    for (LinkBytes& bytes : machine.Leave(now_, max)) {
      side.wire.Send(std::move(bytes), now_, random_);
    }
  }
  void End() {
    for (uint32_t i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      Count(side);
      const Side& other = sides_[1 - i];
      EXPECT_LE(other.delivered, side.sent);
      EXPECT_GE(other.delivered + side.given_up, side.sent);
      totals_.delivered += other.delivered;
      totals_.given_up += side.given_up;
      totals_.lost += side.wire.lost;
    }
  }

  std::mt19937_64 random_;
  Totals& totals_;
  std::array<Side, 2> sides_;
  Time now_ = TimeFromNs(1'000'000'000);
  uint64_t boots_ = 0;
  bool restarts_ = false;
};

TEST(LossyCableTest, FramesComeOnceAndInOrder) {
  Totals totals;
  const uint64_t seeds = Seeds();
  for (uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Cable(seed, totals).Run(300);
  }
  std::printf(
      "%llu seeds: %llu frames delivered, %llu lost by the cable, %llu sent again, %llu "
      "given up, %llu failures of the link, %llu restarts\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(totals.delivered),
      static_cast<unsigned long long>(totals.lost),
      static_cast<unsigned long long>(totals.replayed),
      static_cast<unsigned long long>(totals.given_up),
      static_cast<unsigned long long>(totals.failures),
      static_cast<unsigned long long>(totals.restarts));
  // Otherwise the test would show nothing.
  EXPECT_GT(totals.lost, seeds);
  EXPECT_GT(totals.replayed, seeds);
  EXPECT_GT(totals.restarts, 0u);
  EXPECT_GT(totals.failures, 0u);
}

}  // namespace
}  // namespace suede
