// SPDX-License-Identifier: Apache-2.0
// Two connections joined by a channel that loses, doubles and reorders, under random sequences of
// operations: every PDU arrives exactly once and in order, and is acknowledged only after that.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "transport/connection.h"

namespace suede {
namespace {

struct Packet {
  RpsnField field;
  Psn psn;
  bool sequenced = false;
  uint64_t id = 0;  // of the PDU's contents
};

struct End {
  Connection connection;
  std::map<uint64_t, std::unique_ptr<Pdu>> pdus;  // in flight, by id
  std::deque<Packet> incoming;
  std::set<uint64_t> acknowledged;
  std::set<uint64_t> given_up;
  std::vector<uint64_t> delivered;  // ids that came from the other end
  uint64_t sent = 0;
  int room = 0;  // turns for which nothing is accepted
  std::map<uint16_t, Time> nack_sent_at;  // by the PSN that it named
  Time gap_at{};  // when the NACK that is owed was asked for
};

class Channel {
 public:
  explicit Channel(uint64_t seed) : random_(seed) {
    params_.window_pdus = seed % 7 == 0 ? 1 : 1u << random_() % 15;
    params_.window_bytes = 500 + static_cast<uint32_t>(random_() % 100'000);
    params_.ack_every_pdus = 1 + static_cast<uint32_t>(random_() % 8);
    params_.max_tries = seed % 4 == 0 ? 3 : 200;  // with 3 the far side is lost now and then
    loss_ = static_cast<uint32_t>(random_() % 40);
    doubling_ = static_cast<uint32_t>(random_() % 20);
    reordering_ = seed % 4 == 0 ? 0 : static_cast<uint32_t>(random_() % 20);
    refusing_ = static_cast<uint32_t>(random_() % 4);
    for (End& end : ends_) end.connection.rx().SetPeerWindow(params_.window_pdus);
  }

  void Step() {
    End& end = ends_[random_() % 2];
    End& other = &end == &ends_[0] ? ends_[1] : ends_[0];
    switch (random_() % 6) {
      case 0: SendNew(end, other); break;
      case 1: SendAgain(end, other); break;
      case 2:
      case 3: Receive(end, other); break;
      case 4:
        if (end.connection.rx().MustAckNow(params_) || Percent(10)) SendAck(end, other);
        break;
      case 5:
        now_ += Duration(static_cast<int64_t>(random_() % 200'000));
        Timer(end, other);
        break;
    }
    for (const End& e : ends_) e.connection.tx().CheckInvariants(params_);
  }

  // Mends the channel and lets everything arrive.
  void Finish() {
    loss_ = doubling_ = reordering_ = refusing_ = 0;
    for (End& e : ends_) e.room = 0;
    stopped_ = true;
    for (int turn = 0; turn < 20000 && !Idle(); ++turn) {
      for (int i = 0; i < 2; ++i) {
        End& end = ends_[i];
        End& other = ends_[1 - i];
        SendAgain(end, other);
        Receive(end, other);
        if (end.connection.rx().HasPendingAck()) SendAck(end, other);
        Timer(end, other);
      }
      now_ += std::chrono::microseconds(20);
      if (ends_[0].incoming.empty() && ends_[1].incoming.empty()) {
        now_ = std::max(now_, std::min(ends_[0].connection.deadline(),
                                       ends_[1].connection.deadline()));
        if (now_ == kNever) return;
      }
    }
  }

  void CheckEnd() {
    for (int i = 0; i < 2; ++i) {
      const End& from = ends_[i];
      EXPECT_FALSE(from.connection.tx().lost());
      EXPECT_EQ(from.connection.in_flight().count(), 0u);
      std::set<uint64_t> delivered(ends_[1 - i].delivered.begin(), ends_[1 - i].delivered.end());
      for (uint64_t id = 0; id < from.sent; ++id) {
        if (from.given_up.count(id) == 0) {
          EXPECT_EQ(delivered.count(id), 1u) << id;
          EXPECT_EQ(from.acknowledged.count(id), 1u) << id;
        }
      }
    }
  }

 private:
  bool Percent(uint32_t percent) { return random_() % 100 < percent; }
  bool Idle() const {
    for (const End& e : ends_) {
      if (e.connection.in_flight().count() != 0 || e.connection.tx().lost() ||
          !e.incoming.empty()) {
        return false;
      }
    }
    return true;
  }

  void Put(End& to, const Packet& packet) {
    if (Percent(loss_)) return;
    const int copies = Percent(doubling_) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const size_t size = to.incoming.size();
      const size_t at = Percent(reordering_) ? random_() % (size + 1) : size;
      to.incoming.insert(to.incoming.begin() + static_cast<std::ptrdiff_t>(at), packet);
    }
  }
  RpsnField Field(End& end) {
    const RpsnField field = end.connection.rx().TakeRpsn();
    if (field.op == RhOp::kNack) {
      const auto last = end.nack_sent_at.find(field.rpsn.value());
      if (last != end.nack_sent_at.end()) {
        EXPECT_GE(now_ - last->second, params_.nack_timeout) << "NACK of " << last->first;
      }
      end.nack_sent_at[field.rpsn.value()] = end.gap_at;
    }
    return field;
  }
  void SendNew(End& end, End& other) {
    const auto bytes = static_cast<uint16_t>(2 + random_() % 400);
    if (stopped_ || !end.connection.tx().CanSend(bytes, params_)) return;
    auto pdu = std::make_unique<Pdu>();
    pdu->bytes = bytes;
    pdu->tags[0] = end.sent++;
    end.connection.tx().OnSend(pdu.get(), now_, params_);
    Put(other, {Field(end), pdu->psn, true, pdu->tags[0]});
    end.pdus[pdu->tags[0]] = std::move(pdu);
  }
  void SendAgain(End& end, End& other) {
    while (end.connection.in_flight().HasRetransmission()) {
      const Pdu* pdu = end.connection.tx().TakeRetransmission(now_, params_);
      Put(other, {Field(end), pdu->psn, true, pdu->tags[0]});
      if (Percent(20)) break;
    }
  }
  void SendAck(End& end, End& other) {
    Put(other, {Field(end), end.connection.tx().UnsequencedPsn(), false, 0});
  }

  void Receive(End& end, End& other) {
    if (end.incoming.empty()) return;
    const Packet packet = end.incoming.front();
    end.incoming.pop_front();
    PduList acked;
    if (!end.connection.rx().IsPlausible(packet.psn, params_)) {
      // Its answer about our PDUs is not taken.
    } else if (packet.field.op == RhOp::kAck) {
      end.connection.tx().OnAck(packet.field.rpsn, now_, params_, acked);
    } else if (packet.field.op == RhOp::kNack) {
      end.connection.tx().OnNack(packet.field.rpsn, now_, params_, acked);
    }
    Acknowledged(end, other, acked);
    if (!packet.sequenced) {
      if (end.connection.rx().Classify(packet.psn) == PsnVerdict::kAhead) {
        Noting(end, [&] { end.connection.rx().OnAnnounced(packet.psn, now_, params_); });
      }
      return;
    }
    switch (end.connection.rx().Classify(packet.psn)) {
      case PsnVerdict::kExpected: return Expected(end, other, packet);
      case PsnVerdict::kBehind:
        return end.connection.rx().OnDuplicate(packet.psn, params_);
      case PsnVerdict::kAhead:
        return Noting(end, [&] { end.connection.rx().OnGap(now_, params_); });
    }
  }
  // Does an act that may ask for a NACK, and notes when it did.
  template <typename Act>
  void Noting(End& end, Act&& act) {
    const bool owed = end.connection.rx().HasPendingAck();
    act();
    if (!owed && end.connection.rx().HasPendingAck()) end.gap_at = now_;
  }
  void Expected(End& end, End& other, const Packet& packet) {
    if (end.room > 0 || Percent(refusing_)) {
      end.room = end.room > 0 ? end.room - 1 : 5;
      end.connection.rx().OnRefused();
      PduList acked;  // the NOT_READY is not lost
      other.connection.tx().OnNotReady(packet.psn, Duration(0), now_, params_, acked);
      Acknowledged(other, end, acked);
      if (end.room == 0) {
        end.connection.rx().OnRoom();
        other.connection.tx().OnReady(packet.psn, now_);
      }
      return;
    }
    if (!end.delivered.empty()) {
      ASSERT_LT(end.delivered.back(), packet.id) << "doubled or out of order";
    }
    end.delivered.push_back(packet.id);
    delivered_[&end == &ends_[0] ? 0 : 1].insert(packet.id);
    end.connection.rx().Accept();
  }
  void Acknowledged(End& end, End& other, PduList& acked) {
    const std::set<uint64_t>& delivered = delivered_[&other == &ends_[0] ? 0 : 1];
    while (!acked.empty()) {
      const uint64_t id = acked.PopFront()->tags[0];
      EXPECT_EQ(delivered.count(id), 1u) << "acknowledged and never delivered: " << id;
      EXPECT_TRUE(end.acknowledged.insert(id).second);
      end.pdus.erase(id);
    }
  }
  void Timer(End& end, End& other) {
    TimerVerdict verdict = TimerVerdict::kNothing;
    Noting(end, [&] { verdict = end.connection.OnTimer(now_, params_); });
    switch (verdict) {
      case TimerVerdict::kNothing:
      case TimerVerdict::kRetransmit: return;
      case TimerVerdict::kProbe:
        Put(other, {Field(end), end.connection.tx().ProbePsn(), false, 0});
        end.connection.tx().probes().OnSent(false);
        return;
      case TimerVerdict::kUnreachable: break;
    }
    // Frames on their way then, in order, may arrive at any time.
    PduList given_up;
    end.connection.tx().GiveUp(now_, params_, given_up);
    while (!given_up.empty()) {
      const uint64_t id = given_up.PopFront()->tags[0];
      end.given_up.insert(id);
      end.pdus.erase(id);
    }
  }

  std::mt19937_64 random_;
  TransportParams params_;
  End ends_[2];
  std::set<uint64_t> delivered_[2];
  Time now_ = TimeFromNs(1);
  uint32_t loss_, doubling_, reordering_, refusing_;
  bool stopped_ = false;
};

class LossyChannel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(LossyChannel, DeliversExactlyOnceInOrder) {
  constexpr uint64_t kSeeds = 500;
  for (uint64_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Channel channel(seed);
    for (int step = 0; step < 1000 && !HasFailure(); ++step) channel.Step();
    channel.Finish();
    channel.CheckEnd();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LossyChannel, ::testing::Range<uint64_t>(0, 8));

}  // namespace
}  // namespace suede
