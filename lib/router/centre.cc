// SPDX-License-Identifier: Apache-2.0
#include "router/centre.h"

#include <algorithm>
#include <cassert>

#include "base/big_endian.h"
#include "mesh/address.h"

namespace suede {
namespace {

constexpr uint32_t kSourceAt = 8;  // of AFH Gen 2, in a frame
// Bits of an address that name a device.
constexpr uint32_t kDeviceBits = (mesh::kMaxMeshDevices - 1) | (mesh::kMaxMeshes - 1)
                                                                   << mesh::Address::kMeshShift;

bool Copy(const Frame& from, Frame* to) {
  if (!CopyFrame(from, to)) return false;
  to->sealed = nullptr;
  to->tx_offload = TxOffload::kNone;
  to->rx_checksum = ChecksumState::kUnknown;
  return true;
}

}  // namespace

void Centre::AddRouter(Router* router, uint32_t port) {
  const uint32_t device = *mesh::Encode({.device = router->device()});
  const auto at =
      std::ranges::upper_bound(entries_, device, {}, [](const Entry& e) { return e.device; });
  entries_.insert(at, {.device = device, .router = router, .port = port});
  last_ = nullptr;
}

const Centre::Entry* Centre::EntryOf(const Frame* frame) {
  const uint32_t device = LoadBe32(frame->data + kSourceAt) & kDeviceBits;
  if (last_ != nullptr && last_->device == device) [[likely]]
    return last_;
  const auto at =
      std::ranges::lower_bound(entries_, device, {}, [](const Entry& e) { return e.device; });
  if (at == entries_.end() || at->device != device) return nullptr;
  last_ = &*at;
  return last_;
}

uint32_t Centre::Deliver(Frame* const* frames, uint32_t count) {
  const uint32_t taken = std::min(count, kDelivered - (head_ - tail_));
  for (uint32_t i = 0; i < taken; ++i) delivered_[head_++ % kDelivered] = frames[i];
  return taken;
}

uint32_t Centre::Receive(Frame** frames, uint32_t max) {
  const uint32_t count = std::min(max, head_ - tail_);
  for (uint32_t i = 0; i < count; ++i) frames[i] = delivered_[tail_++ % kDelivered];
  return count;
}

// Passes runs of frames of one device to its router by take(entry, frames, count), which returns
// the number taken.
template <class Take>
uint32_t Centre::Inject(Frame* const* frames, uint32_t count, Take take) {
  uint32_t taken = 0;
  while (taken < count) {
    const Entry* const entry = EntryOf(frames[taken]);
    assert(entry != nullptr);
    uint32_t run = 1;
    while (run < kCopied && taken + run < count && EntryOf(frames[taken + run]) == entry) ++run;
    const uint32_t part = take(*entry, frames + taken, run);
    taken += part;
    if (part < run) break;
  }
  return taken;
}

uint32_t Centre::Give(Frame* const* frames, uint32_t count) {
  return Inject(frames, count, [this](const Entry& entry, Frame* const* run, uint32_t length) {
    return entry.router->Inject(entry.port, run, length, now_);
  });
}

uint32_t Centre::Transmit(Frame* const* frames, uint32_t count) {
  return Inject(frames, count, [this](const Entry& entry, Frame* const* run, uint32_t length) {
    Frame* copies[kCopied];
    const uint32_t got = Allocate(copies, length);
    uint32_t copied = 0;
    while (copied < got && Copy(*run[copied], copies[copied])) ++copied;
    const uint32_t taken = entry.router->Inject(entry.port, copies, copied, now_);
    if (taken < got) Release(copies + taken, got - taken);
    return taken;
  });
}

}  // namespace suede
