// SPDX-License-Identifier: Apache-2.0
// The two rings of a queue, for the lcore that owns it: bursts of frames to and from memory that a
// peer can change at any time. Each descriptor is read once, checked, and used; bad ones are
// counted. A ring whose index leaves its range is broken, and stays so until the next connection.
#ifndef SUEDE_MEMIF_RING_H_
#define SUEDE_MEMIF_RING_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/tally.h"
#include "memif/channel.h"
#include "memif/copy.h"
#include "memif/format.h"
#include "memif/waker.h"
#include "port/port.h"

namespace suede::memif {

// Counters of a queue since the port was opened: identifier, name, help text.
#define SUEDE_MEMIF_COUNTERS(X)                                                                   \
  X(rx_frames, "rx_frames", "Frames received")                                                    \
  X(rx_bytes, "rx_bytes", "Bytes of received frames")                                             \
  X(rx_bad_region, "rx_bad_region", "Frames dropped: a buffer outside its region")                \
  X(rx_bad_length, "rx_bad_length", "Frames dropped: a buffer without bytes, or beyond its room") \
  X(rx_bad_chain, "rx_bad_chain", "Frames dropped: a chain of buffers without end")               \
  X(rx_oversize, "rx_oversize", "Frames dropped: longer than the port's frames")                  \
  X(rx_no_frame, "rx_no_frame", "Bursts cut short: the pool was empty")                           \
  X(tx_frames, "tx_frames", "Frames sent")                                                        \
  X(tx_bytes, "tx_bytes", "Bytes of sent frames")                                                 \
  X(tx_bad_buffer, "tx_bad_buffer", "Empty buffers of the peer that were outside their region")   \
  X(tx_oversize, "tx_oversize", "Frames dropped: longer than the peer's buffers")                 \
  X(bad_index, "bad_index", "Connections ended: a ring's index was out of range")

struct QueueCounters {
#define SUEDE_MEMIF_COUNTER(id, name, sentence) Tally id;
  SUEDE_MEMIF_COUNTERS(SUEDE_MEMIF_COUNTER)
#undef SUEDE_MEMIF_COUNTER
};

// Mapped regions of a connection; those without memory have no bytes.
struct RegionView {
  uint8_t* base = nullptr;
  uint64_t bytes = 0;
};
using RegionViews = std::array<RegionView, kMaxRegions>;

// A ring in mapped memory, and the buffers of its slots. A client has buffers of its own, in an
// order without a stride, which a peer cannot change; a server finds those of its client in the
// descriptors.
struct RingView {
  RingHeader* header = nullptr;  // null: not connected
  uint8_t log2_slots = 0;
  RegionViews regions{};
  std::vector<uint32_t> buffers{};  // offsets in region 0, of each slot; empty: the peer's
  uint32_t buffer_bytes = 0;        // of each own buffer
  int event = -1;                   // eventfd on which the receiver may sleep; -1: none

  bool owns_buffers() const { return !buffers.empty(); }
};

// Returns the offsets of a ring's buffers from `offset` on, shuffled.
std::vector<uint32_t> BufferOrder(uint64_t offset, uint32_t slots, uint32_t buffer_bytes);

// Base of both rings of a queue: slots [next, limit) are the lcore's.
class RingEnd {
 public:
  // To be called while no burst runs, like Detach().
  void Attach(const RingView& view);
  void Detach() { view_.header = nullptr; }
  bool attached() const { return view_.header != nullptr; }
  // Whether the peer has set an index that it may not. Any thread.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }

 protected:
  static constexpr uint32_t kBurst = 64;

  // A buffer that was checked; `bytes` 0: bad. Without initial values, like Part: a burst has many.
  struct Buffer {
    uint8_t* data;
    uint32_t bytes;
  };

  explicit RingEnd(QueueCounters* counters) : counters_(counters) {}
  uint32_t slots() const { return mask_ + 1; }
  uint32_t ready() const { return static_cast<uint16_t>(limit_ - next_); }
  // Reads the peer's index, which stands `lead` slots behind our limit. Returns ready().
  uint32_t ReadLimit(const std::atomic<uint16_t>& index, uint32_t lead);
  Descriptor* slot(uint32_t at) const { return descriptors_ + (at & mask_); }
  // Returns the bytes of the descriptor's buffer in its region.
  Buffer Find(const Descriptor& descriptor) const;
  uint8_t* OwnBuffer(uint32_t at) const { return own_base_ + view_.buffers[at & mask_]; }

  RingView view_;
  Descriptor* descriptors_ = nullptr;
  uint8_t* own_base_ = nullptr;
  uint32_t mask_ = 0;
  uint16_t next_ = 0;
  uint16_t limit_ = 0;
  QueueCounters* const counters_;
  const CopyBytes copy_ = BestCopy();
  std::atomic<bool> broken_{false};
};

// The ring that this end consumes: c2s of a server, s2c of a client.
class ReceiveRing : public RingEnd {
 public:
  explicit ReceiveRing(QueueCounters* counters) : RingEnd(counters) {}

  // Offers all buffers of a client's ring; called last before the first burst.
  void Open();
  // Returns up to `max` frames of at most `max_bytes` bytes, which `pool` has allocated.
  uint32_t Receive(Port& pool, Frame** frames, uint32_t max, uint32_t max_bytes);

 private:
  struct Part {
    const uint8_t* data;
    uint32_t bytes;
    bool continues;
    Tally* bad;  // counts the frame's drop
  };
  uint32_t ReadParts(Part* parts, uint32_t count, uint32_t max_frames, uint32_t* frames);
  Part ReadPart(uint32_t at);
  // Copies the frame that starts at `part`. Returns the number of its parts; sets the frame's
  // length to 0 if it was dropped.
  uint32_t Take(const Part* part, Frame* frame, uint32_t max_bytes);
  void Publish(uint32_t consumed);

  bool skipping_ = false;  // the rest of a chain that was too long
};

// The ring that this end fills.
class SendRing : public RingEnd {
 public:
  explicit SendRing(QueueCounters* counters) : RingEnd(counters) {}

  // Begins at slot 0; called last before the first burst.
  void Open();
  // Copies frames[0, n) to the ring and returns n. The peer sees them before Send returns.
  uint32_t Send(Frame* const* frames, uint32_t count);
  // Wakes a peer that went to sleep while frames were sent. To be called at each poll iteration.
  void OnPoll() {
    if (polls_to_check_ != 0 && --polls_to_check_ == 0) WakeSleeper();
  }

 private:
  enum class Result : uint8_t { kSent, kFull, kDropped };
  // Index that this end advances.
  std::atomic<uint16_t>& index() const {
    return view_.owns_buffers() ? view_.header->head : view_.header->tail;
  }
  Result SendOwn(const Frame& frame);
  Result SendForeign(const Frame& frame);
  uint32_t Refill();
  void Prefetch(uint32_t bytes) const;
  void Publish();
  void WakeSleeper();

  uint32_t skipped_ = 0;         // bad buffers of this burst
  bool peer_sleeps_ = false;     // when its flag was read last
  uint32_t polls_to_check_ = 0;  // until its flag is read; 0: no frame was sent since
  Waker waker_;
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_RING_H_
