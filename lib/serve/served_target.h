// SPDX-License-Identifier: Apache-2.0
// A target of lib/mem that an lcore serves: its requests arrive in receive rings of a private
// segment, and its responses leave through the segment's queue, like a client's commands.
//
// The control thread creates it; from ServedTargets::Add to Remove only the lcore may use it.
#ifndef SUEDE_SERVE_SERVED_TARGET_H_
#define SUEDE_SERVE_SERVED_TARGET_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/rx_ring.h"
#include "client/segment.h"
#include "mem/target.h"

namespace suede {

// New state of a window of a served target.
struct ServedWindow {
  enum class Kind : uint8_t {
    kNone,     // no window
    kLcore,    // the lcore serves the memory of `window`
    kProgram,  // requests are passed on to the client's receive ring
  };
  Kind kind = Kind::kNone;
  mem::Window window;
};

class ServedTarget final : private mem::ResponseSink {
 public:
  // Maximum requests of the target that one poll iteration executes.
  static constexpr uint32_t kMaxRequestsPerPoll = 64;

  // Requests arrive on the VCs of `vc_mask`. `shape`: of a segment with one queue.
  ServedTarget(const SegmentShape& shape, uint8_t vc_mask);
  ServedTarget(const ServedTarget&) = delete;
  ServedTarget& operator=(const ServedTarget&) = delete;

  void* segment() { return segment_.get(); }
  const SegmentShape& shape() const { return shape_; }

  // Sets or removes a window. Returns false if its numbers are out of range, its id is in use, or
  // there is no window to remove.
  bool SetWindow(uint32_t id, const ServedWindow& window);

  // Executes and passes on up to `max` requests, then sends waiting responses. `partition`: the
  // endpoint's. `rings`: the owning client's, by VC; null: the client is leaving, and requests to
  // pass on are dropped. Returns the number of requests.
  uint32_t Poll(uint32_t max, uint16_t partition, RxRingWriter* rings);
  // Returns and clears the mask of VCs whose rings were written to.
  uint8_t TakePassedOn() { return std::exchange(passed_on_, uint8_t{0}); }
  // Returns the total of requests passed on.
  uint64_t passed_on_count() const { return passed_on_count_; }
  const mem::TargetCounters& counters() const { return target_.counters(); }

  // Aborts if the state is inconsistent; for tests.
  void CheckInvariants() const { target_.CheckInvariants(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static std::unique_ptr<void, Free> MakeSegment(const SegmentShape& shape);

  bool Send(const Route& to, const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
            uint32_t data_bytes) override;
  uint32_t PollVc(uint8_t vc, uint32_t max, RxRingWriter* rings);
  bool Serve(const ReceivedCommand& command, RxRingWriter* rings);
  bool PassOn(const ReceivedCommand& command, RxRingWriter& ring);
  void PassNotices(RxRingWriter* rings);
  void SendWaiting();

  const SegmentShape shape_;
  const uint8_t vc_mask_;
  uint8_t passed_on_ = 0;
  uint32_t seen_returned_ = 0;  // credit and state of the queue at the last attempt
  uint32_t seen_state_ = 0;
  uint32_t polls_to_try_ = 0;  // poll iterations still needed to try each lane
  uint64_t passed_on_count_ = 0;
  const std::unique_ptr<void, Free> segment_;
  mem::Target target_;
  ClientQueue queue_;
  std::vector<ClientReceiver> receivers_;  // by VC
  // By VC: a request that waits for room in the client's ring.
  std::array<std::optional<ReceivedCommand>, kVcCount> stuck_;
  std::bitset<mem::kMaxWindows> of_program_;
};

}  // namespace suede

#endif  // SUEDE_SERVE_SERVED_TARGET_H_
