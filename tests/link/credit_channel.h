// SPDX-License-Identifier: Apache-2.0
// Two ends of a link that grant each other credit, over a channel that loses, delays and reorders,
// in virtual time: each seed is another schedule. The channel keeps the promise of a link
// (docs/link.md, "Updates"): a CC_Update does not overtake the data that it counts.
#ifndef SUEDE_TESTS_LINK_CREDIT_CHANNEL_H_
#define SUEDE_TESTS_LINK_CREDIT_CHANNEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "link/credit_receiver.h"
#include "link/credit_sender.h"

namespace suede {

struct CreditChannelResult {
  std::string error;  // empty: all held
  uint64_t frames = 0;
  uint64_t lost_frames = 0;
  uint64_t updates = 0;
  uint64_t lost_updates = 0;
  uint64_t late_updates = 0;
  uint64_t repaired = 0;  // credits
  uint64_t restarts = 0;
  uint64_t stalls = 0;     // a frame found no credit
  uint64_t max_held = 0;   // credits of a link VC, of 1000 of its limit
};

class CreditChannel {
 public:
  explicit CreditChannel(uint64_t seed);

  CreditChannelResult Run();

 private:
  static constexpr uint32_t kVcs = 4;

  struct End {
    std::unique_ptr<CreditSender> sender;
    std::unique_ptr<CreditReceiver> receiver;
    CreditGrant grant;                              // of its receiver
    std::array<uint32_t, kVcs> left{};              // frames that it still has to send
    std::array<uint32_t, kVcs> next{};              // octets of the first of them
    std::array<std::deque<uint32_t>, kVcs> buffer;  // credits of frames to drain
    std::array<uint32_t, kVcs> buffered{};          // credits of that
    std::array<uint64_t, kVcs> under_way{};         // credits that it has sent in the epoch
    Time data_end{};                                // its data arrives until then
    uint32_t epoch = 0;
  };
  struct Event {
    enum class Kind : uint8_t { kData, kCf, kCc, kSend, kDrain, kStart, kRestart };
    Kind kind;
    uint32_t end;  // that it comes to
    uint32_t vc = 0;
    uint32_t octets = 0;
    uint32_t epoch = 0;
    CreditUpdate update;
  };

  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(dice_) < p; }
  uint32_t Between(uint32_t min, uint32_t max) {
    return std::uniform_int_distribution<uint32_t>(min, max)(dice_);
  }
  Duration Jitter() { return Duration(Between(0, jitter_ns_)); }
  void At(Time time, const Event& event) { events_.emplace(time, event); }
  void Begin(uint32_t end, uint32_t epoch);
  void Restart(uint32_t end);
  void Send(uint32_t end);
  void Drain(uint32_t end, uint32_t vc);
  void OnData(uint32_t end, const Event& event);
  void Poll(uint32_t end);
  void SendUpdate(uint32_t from, Event::Kind kind, const CreditUpdate& update);
  void Handle(const Event& event);
  void Check();
  void CheckRest();
  void RunToRest();
  Time deadline() const;
  void Fail(const std::string& what);

  std::mt19937_64 dice_;
  CreditChannelResult result_;
  std::array<End, 2> ends_;
  std::multimap<Time, Event> events_;
  CreditTimes times_;
  Time now_ = TimeFromNs(1'000'000'000);
  Time last_restart_{};
  uint32_t epoch_ = 0;
  bool heals_ = false;  // the channel is good now, and was not
  double data_loss_ = 0;
  double update_loss_ = 0;
  uint32_t delay_ns_ = 0;
  uint32_t jitter_ns_ = 0;
  std::array<uint32_t, kVcs> drain_ns_{};
  uint32_t max_octets_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_LINK_CREDIT_CHANNEL_H_
