// SPDX-License-Identifier: Apache-2.0
#include "memif/ring.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace suede::memif {
namespace {

// Slots by which a sender asks for the lines of a buffer before it writes them: they are in the
// receiver's cache, from where they take longer than a burst lasts.
constexpr uint32_t kSendAhead = 96;
constexpr uint32_t kMaxPrefetchedLines = 4;
// Longest frame whose buffer is asked for: the CPU's own prefetcher follows the lines of longer
// ones.
constexpr uint32_t kMaxPrefetchedBytes = 512;
constexpr uint32_t kMaxParts = 64;  // of a frame
// Polls after which a sender reads whether its peer polls. The barrier is too expensive for each
// burst.
constexpr uint32_t kPollsToCheck = 8;

// Reads a descriptor once, as two words.
Descriptor Load(const Descriptor* shared) {
  const auto* words = reinterpret_cast<const uint64_t*>(shared);
  const uint64_t copy[2] = {__atomic_load_n(words, __ATOMIC_RELAXED),
                            __atomic_load_n(words + 1, __ATOMIC_RELAXED)};
  return std::bit_cast<Descriptor>(copy);
}

void Store(Descriptor* shared, const Descriptor& descriptor) {
  struct Words {
    uint64_t word[2];
  };
  const auto copy = std::bit_cast<Words>(descriptor);
  auto* words = reinterpret_cast<uint64_t*>(shared);
  __atomic_store_n(words, copy.word[0], __ATOMIC_RELAXED);
  __atomic_store_n(words + 1, copy.word[1], __ATOMIC_RELAXED);
}

// Returns the number of lines to ask for.
uint32_t PrefetchedLines(uint32_t bytes) {
  if (bytes > kMaxPrefetchedBytes) return 0;
  return std::min((bytes + kLineBytes - 1) / kLineBytes, kMaxPrefetchedLines);
}

}  // namespace

std::vector<uint32_t> BufferOrder(uint64_t offset, uint32_t slots, uint32_t buffer_bytes) {
  std::vector<uint32_t> order(slots);
  for (uint32_t i = 0; i < slots; ++i)
    order[i] = static_cast<uint32_t>(offset + i * uint64_t{buffer_bytes});
  uint32_t state = 0x9e3779b9;
  for (uint32_t i = slots; i > 1; --i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

// ---- Both ----

void RingEnd::Attach(const RingView& view) {
  view_ = view;
  descriptors_ = view_.header->descriptors();
  own_base_ = view_.regions[0].base;
  mask_ = (1u << view_.log2_slots) - 1;
  next_ = 0;
  limit_ = 0;
  broken_.store(false, std::memory_order_relaxed);
}

uint32_t RingEnd::ReadLimit(const std::atomic<uint16_t>& index, uint32_t lead) {
  const auto limit = static_cast<uint16_t>(index.load(std::memory_order_acquire) + lead);
  if (static_cast<uint16_t>(limit - next_) > slots()) [[unlikely]] {
    broken_.store(true, std::memory_order_relaxed);
    counters_->bad_index.Add();
    limit_ = next_;
    return 0;
  }
  limit_ = limit;
  return ready();
}

RingEnd::Buffer RingEnd::Find(const Descriptor& descriptor) const {
  if (descriptor.region >= kMaxRegions) return {};
  const RegionView& region = view_.regions[descriptor.region];
  if (descriptor.offset > region.bytes || descriptor.length > region.bytes - descriptor.offset) {
    return {};
  }
  return {.data = region.base + descriptor.offset, .bytes = descriptor.length};
}

// ---- Receive ----

void ReceiveRing::Open() {
  skipping_ = false;
  view_.header->flags.store(RingHeader::kMaskInterrupt, std::memory_order_relaxed);
  if (view_.owns_buffers()) Publish(0);
}

// Returns consumed slots to the peer; a client's with their buffers, all of them at first.
void ReceiveRing::Publish(uint32_t consumed) {
  if (!view_.owns_buffers()) {
    next_ = static_cast<uint16_t>(next_ + consumed);
    view_.header->tail.store(next_, std::memory_order_release);
    return;
  }
  const uint32_t offered = next_ + (consumed == 0 ? slots() : consumed);
  for (uint32_t at = next_; at != offered; ++at) {
    Store(slot(at), {.flags = 0,
                     .region = 0,
                     .length = view_.buffer_bytes,
                     .offset = view_.buffers[at & mask_],
                     .metadata = 0});
  }
  next_ = static_cast<uint16_t>(next_ + consumed);
  view_.header->head.store(static_cast<uint16_t>(next_ + slots()), std::memory_order_release);
}

ReceiveRing::Part ReceiveRing::ReadPart(uint32_t at) {
  const Descriptor descriptor = Load(slot(at));
  Part part{.continues = (descriptor.flags & Descriptor::kNext) != 0};
  if (view_.owns_buffers()) {
    part.data = OwnBuffer(at);  // whatever the descriptor says
    part.bytes = descriptor.length;
    if (part.bytes == 0 || part.bytes > view_.buffer_bytes) part.bad = &counters_->rx_bad_length;
  } else {
    const Buffer buffer = Find(descriptor);
    part.data = buffer.data;
    part.bytes = buffer.bytes;
    if (buffer.bytes == 0) {
      part.bad = descriptor.length == 0 ? &counters_->rx_bad_length : &counters_->rx_bad_region;
    }
  }
  if (part.bad != nullptr) [[unlikely]] {
    part.bytes = 0;
    return part;
  }
  for (uint32_t line = 0; line < PrefetchedLines(part.bytes); ++line) {
    __builtin_prefetch(part.data + line * kLineBytes);
  }
  return part;
}

// Reads the parts of up to `max_frames` whole frames from `count` slots. Returns the number of
// parts; 0 if the first frame does not end in these slots.
uint32_t ReceiveRing::ReadParts(Part* parts, uint32_t count, uint32_t max_frames,
                                uint32_t* frames) {
  uint32_t whole = 0;
  *frames = 0;
  for (uint32_t read = 0; read < count && *frames < max_frames;) {
    parts[read] = ReadPart(next_ + read);
    if (!parts[read++].continues) {
      whole = read;
      ++*frames;
    }
  }
  return whole;
}

uint32_t ReceiveRing::Take(const Part* part, Frame* frame, uint32_t max_bytes) {
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = 0;
  Tally* bad = nullptr;
  uint32_t count = 0;
  for (bool continues = true; continues; ++count) {
    const Part& at = part[count];
    continues = at.continues;
    if (bad != nullptr) continue;
    bad = at.bad;
    if (at.bytes > max_bytes - frame->length) bad = &counters_->rx_oversize;
    if (bad != nullptr) continue;
    copy_(frame->data + frame->length, at.data, at.bytes);
    frame->length += at.bytes;
  }
  if (skipping_) bad = &counters_->rx_bad_chain;
  skipping_ = false;
  if (bad == nullptr) [[likely]]
    return count;
  bad->Add();
  frame->length = 0;
  return count;
}

uint32_t ReceiveRing::Receive(Port& pool, Frame** frames, uint32_t max, uint32_t max_bytes) {
  if (broken()) [[unlikely]]
    return 0;
  const std::atomic<uint16_t>& index =
      view_.owns_buffers() ? view_.header->tail : view_.header->head;
  uint32_t done = 0;
  uint64_t bytes = 0;
  while (done < max) {
    uint32_t slots_ready = ready();
    if (slots_ready == 0) slots_ready = ReadLimit(index, 0);
    if (slots_ready == 0) break;
    Part parts[kBurst];
    uint32_t whole = 0;
    uint32_t part_count = std::min(slots_ready, kBurst);
    const uint32_t wanted = std::min(max - done, part_count);
    Frame** const burst = frames + done;
    const uint32_t allocated = pool.Allocate(burst, wanted);
    if (allocated < wanted) [[unlikely]]
      counters_->rx_no_frame.Add();
    if (allocated == 0) break;
    uint32_t read = ReadParts(parts, part_count, allocated, &whole);
    if (read == 0 && part_count < kBurst) [[unlikely]] {
      // The rest of the chain may lie behind the limit that was read last.
      part_count = std::min(ReadLimit(index, 0), kBurst);
      read = ReadParts(parts, part_count, allocated, &whole);
    }
    if (read == 0) [[unlikely]] {
      // Drops the chain up to its end, wherever this is.
      pool.Release(burst, allocated);
      if (broken()) break;
      skipping_ = true;
      Publish(part_count);
      break;
    }
    // Keeps the frame of a dropped one for the next.
    uint32_t good = 0;
    const Part* part = parts;
    for (uint32_t i = 0; i < whole; ++i) {
      Frame* const frame = burst[good];
      part += Take(part, frame, max_bytes);
      if (frame->length == 0) [[unlikely]]
        continue;
      frame->rx_checksum = ChecksumState::kUnknown;
      bytes += frame->length;
      ++good;
    }
    if (good < allocated) pool.Release(burst + good, allocated - good);
    Publish(read);
    done += good;
    if (good == 0) break;  // bounds the time for a peer that sends bad ones only
  }
  counters_->rx_frames.Add(done);
  counters_->rx_bytes.Add(bytes);
  return done;
}

// ---- Send ----

void SendRing::Open() {
  peer_sleeps_ = true;
  polls_to_check_ = 0;
  waker_.Open(view_.event);
  index().store(0, std::memory_order_release);
}

void SendRing::Publish() {
  index().store(next_, std::memory_order_release);
  if (peer_sleeps_) [[unlikely]]
    WakeSleeper();
  if (!peer_sleeps_ && polls_to_check_ == 0) polls_to_check_ = kPollsToCheck;
}

// The barrier is between the index and the flag here, and between the flag and the index at a peer
// that goes to sleep, so that one of both notices the other.
void SendRing::WakeSleeper() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  peer_sleeps_ =
      (view_.header->flags.load(std::memory_order_relaxed) & RingHeader::kMaskInterrupt) == 0;
  if (peer_sleeps_) waker_.Signal();
}

uint32_t SendRing::Refill() {
  return view_.owns_buffers() ? ReadLimit(view_.header->tail, slots())
                              : ReadLimit(view_.header->head, 0);
}

// Asks for the lines of the slot kSendAhead slots ahead, for a frame as long as this one. Leaves
// slots alone that the receiver may still be reading.
inline void SendRing::Prefetch(uint32_t bytes) const {
  if (ready() <= kSendAhead) return;
  const uint32_t at = next_ + kSendAhead;
  Descriptor* const descriptor = slot(at);
  const uint8_t* data = nullptr;
  if (view_.owns_buffers()) {
    data = OwnBuffer(at);
  } else {
    // Unchecked: a prefetch does not fault.
    data = view_.regions[descriptor->region % kMaxRegions].base + descriptor->offset;
  }
  __builtin_prefetch(descriptor, 1);
  for (uint32_t line = 0; line < PrefetchedLines(bytes); ++line) {
    __builtin_prefetch(data + line * kLineBytes, 1);
  }
}

SendRing::Result SendRing::SendOwn(const Frame& frame) {
  const uint32_t room = view_.buffer_bytes;
  const uint32_t needed = frame.length <= room ? 1 : (frame.length + room - 1) / room;
  if (needed > slots()) [[unlikely]]
    return Result::kDropped;
  if (needed > ready() && needed > Refill()) return Result::kFull;
  uint32_t copied = 0;
  for (uint32_t i = 0; i < needed; ++i) {
    const uint32_t at = next_++;
    const uint32_t bytes = std::min(room, frame.length - copied);
    copy_(OwnBuffer(at), frame.data + copied, bytes);
    copied += bytes;
    Store(slot(at), {.flags = i + 1 < needed ? Descriptor::kNext : uint16_t{0},
                     .region = 0,
                     .length = bytes,
                     .offset = view_.buffers[at & mask_],
                     .metadata = 0});
  }
  return Result::kSent;
}

// Collects buffers for the frame first, as a descriptor that was filled says no more how long its
// buffer is.
SendRing::Result SendRing::SendForeign(const Frame& frame) {
  Descriptor descriptors[kMaxParts];
  Buffer buffers[kMaxParts];
  uint32_t parts = 0;
  for (uint32_t room = 0; room < frame.length;) {
    if (parts == kMaxParts) [[unlikely]]
      return Result::kDropped;
    if (parts >= ready() && parts >= Refill()) return Result::kFull;
    descriptors[parts] = Load(slot(next_ + parts));
    buffers[parts] = Find(descriptors[parts]);
    if (buffers[parts].bytes == 0) [[unlikely]] {
      if (parts != 0) return Result::kDropped;
      // Returns the descriptor without bytes.
      descriptors[0].flags = 0;
      descriptors[0].length = 0;
      Store(slot(next_++), descriptors[0]);
      counters_->tx_bad_buffer.Add();
      if (++skipped_ > kBurst) return Result::kFull;
      continue;
    }
    room += std::min(buffers[parts++].bytes, frame.length - room);
  }
  uint32_t copied = 0;
  for (uint32_t i = 0; i < parts; ++i) {
    const uint32_t bytes = std::min(buffers[i].bytes, frame.length - copied);
    copy_(buffers[i].data, frame.data + copied, bytes);
    copied += bytes;
    descriptors[i].flags = i + 1 < parts ? Descriptor::kNext : uint16_t{0};
    descriptors[i].length = bytes;
    Store(slot(next_++), descriptors[i]);
  }
  return Result::kSent;
}

uint32_t SendRing::Send(Frame* const* frames, uint32_t count) {
  if (broken()) [[unlikely]]
    return 0;
  skipped_ = 0;
  const uint16_t first = next_;
  uint32_t done = 0;
  uint64_t sent = 0;
  uint64_t bytes = 0;
  const bool owns = view_.owns_buffers();
  for (; done < count; ++done) {
    const Frame& frame = *frames[done];
    if (done + 1 < count) __builtin_prefetch(frames[done + 1]->data);
    Prefetch(frame.length);
    const Result result = owns ? SendOwn(frame) : SendForeign(frame);
    if (result == Result::kFull) break;
    if (result == Result::kDropped) [[unlikely]] {
      counters_->tx_oversize.Add();
      continue;
    }
    ++sent;
    bytes += frame.length;
  }
  if (next_ != first) Publish();
  counters_->tx_frames.Add(sent);
  counters_->tx_bytes.Add(bytes);
  return done;
}

}  // namespace suede::memif
