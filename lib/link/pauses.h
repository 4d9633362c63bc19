// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control of a port in software (docs/pfc.md): the pauses that the neighbour
// asks for, and the pauses that are asked of it.
//
// A device has one PortPauses, which the lcores of its queue pairs share: whichever of them
// receives a PFC frame writes the pauses there. Each queue pair has a LinkPauses, owned by its
// lcore: which VCs are paused, since when, and how many users on the lcore want the neighbour to
// pause. One queue pair of the device sends PFC frames. Nothing here is touched for each frame.
#ifndef SUEDE_LINK_PAUSES_H_
#define SUEDE_LINK_PAUSES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/sue.h"
#include "base/time.h"
#include "link/hold_watch.h"
#include "link/link_layer.h"
#include "wire/pfc.h"

namespace suede {

struct PauseParams {
  uint16_t quanta = 0xffff;  // of a pause that is asked for, each of 512 bit times
  uint64_t rate_bps = 0;     // the configured rate; 0: the link's rate, else 100 Gb/s
  // A flow that was paused for so long while frames of it wait is in a storm; and the neighbour is
  // asked to pause for no longer for a VC that does not drain. 0: never.
  Duration storm = std::chrono::milliseconds(100);
};

// The pauses of one device. Used by any lcore that serves it, and by readers.
class PortPauses {
 public:
  explicit PortPauses(const PauseParams& params) : params_(params) {}
  const PauseParams& params() const { return params_; }

  // ---- Pauses that the neighbour asks for.

  // `rate_bps`: of the link, used where no rate is configured; 0: not known.
  void OnFrame(const PfcFrame& pfc, uint64_t rate_bps, Time now);
  // A number that changes with each frame.
  uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
  Time until(uint32_t traffic_class) const {
    return TimeFromNs(until_ns_[traffic_class].load(std::memory_order_relaxed));
  }
  // How long the class was paused so far; grows during a pause.
  Duration PausedFor(uint32_t traffic_class, Time now) const;
  // Marks storms. Returns the flows that were not marked yet.
  VcMask BeginStorm(VcMask flows) {
    return static_cast<VcMask>(flows & ~stormy_.fetch_or(flows, std::memory_order_relaxed));
  }
  void EndStorm(VcMask flows) {
    stormy_.fetch_and(static_cast<VcMask>(~flows), std::memory_order_relaxed);
  }
  VcMask stormy() const { return stormy_.load(std::memory_order_relaxed); }
  // The class of each flow, for readers.
  void ShowClasses(const std::array<uint8_t, kLinkFlows>& classes);
  uint32_t ClassOf(uint32_t flow) const { return class_of_[flow].load(std::memory_order_relaxed); }

  // ---- Pauses that are asked of the neighbour.

  // A queue pair wants a class to be paused, or does so no longer.
  void Want(uint32_t traffic_class, bool wants);
  // The classes that any queue pair wants to be paused.
  uint8_t wanted() const;

 private:
  const PauseParams params_;
  alignas(64) std::atomic<uint32_t> changes_{0};
  std::atomic<VcMask> stormy_{0};
  std::array<std::atomic<int64_t>, kPfcClasses> until_ns_{};
  // For each class: the time for which it will have been paused in all at `until_ns_`.
  std::array<std::atomic<int64_t>, kPfcClasses> total_ns_{};
  std::array<std::atomic<uint8_t>, kLinkFlows> class_of_{};
  alignas(64) std::array<std::atomic<uint32_t>, kPfcClasses> wants_{};  // queue pairs
};

// The pauses of one queue pair. Owned by its lcore.
class LinkPauses {
 public:
  // `port` outlives this. `sends`: this queue pair sends the device's PFC frames.
  LinkPauses(PortPauses* port, bool sends);

  // The class of each VC, and of PDUs without commands.
  void SetClasses(const std::array<uint8_t, kLinkFlows>& classes);

  // ---- Pauses that the neighbour asks for.

  void OnFrame(const PfcFrame& pfc, uint64_t rate_bps, Time now) {
    port_->OnFrame(pfc, rate_bps, now);
  }
  // To be called once in a turn, and after OnFrame. Returns whether other flows may be paused now.
  bool Refresh(Time now) {
    if (port_->changes() == seen_ && now < due_) [[likely]]
      return false;
    Update(now);
    return true;
  }
  VcMask paused() const { return paused_; }
  // Since when a paused flow is paused.
  Time since(uint32_t flow) const { return since_[flow]; }
  // Whether the pause of a flow has ended since the last call.
  bool TakeEnded() { return std::exchange(ended_, false); }
  // PDUs of these flows wait, until the end of their pause. Flows that are not paused are ignored.
  void NoteWaiting(VcMask flows, Time now) {
    watch_.NoteWaiting(static_cast<VcMask>(flows & paused_), now);
  }
  // The flows that are paused and waited for.
  VcMask waiting() const { return watch_.waiting(); }
  // Flows that are in a storm from now on.
  VcMask TakeStorms(Time now) {
    const VcMask begun = watch_.TakeStorms(now);
    if (begun != 0) [[unlikely]]
      news_ |= port_->BeginStorm(begun);
    return begun;
  }

  // Flows of TakeStorms whose storm no other queue pair of the device has marked before.
  VcMask TakeNewStorms() { return std::exchange(news_, VcMask{0}); }

  // ---- Pauses that are asked of the neighbour.

  // One more user on the lcore wants the VC to be paused, or one less.
  void Want(uint32_t vc, bool wants);
  // The frame that is to be sent now. The caller calls Unsent where it could not be sent.
  std::optional<PfcFrame> Poll(uint64_t rate_bps, Time now);
  void Unsent(const PfcFrame& pfc) { unsent_ = pfc; }

  const PortPauses& port() const { return *port_; }

 private:
  void Update(Time now);
  void PublishWants();

  PortPauses* const port_;
  const bool sends_;
  std::array<uint8_t, kLinkFlows> class_of_{};
  uint32_t seen_ = 0;
  Time due_ = kNever;  // when the first pause ends
  VcMask paused_ = 0;
  HoldWatch watch_;
  VcMask news_ = 0;
  bool ended_ = false;
  std::array<Time, kLinkFlows> since_{};
  std::array<uint16_t, kVcCount> wants_{};
  uint8_t told_ = 0;       // classes that this queue pair wants to be paused, as the port knows
  uint64_t rate_bps_ = 0;  // the sender's rate, where the link tells it
  PauseSender sender_;
  std::optional<PfcFrame> unsent_;
};

}  // namespace suede

#endif  // SUEDE_LINK_PAUSES_H_
