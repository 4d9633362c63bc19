// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control of a port in software (docs/pfc.md): pauses requested by the
// neighbour, and pauses requested from it.
//
// A device has one PortPauses, shared by the lcores of its queue pairs: the lcore that receives a
// PFC frame writes the pauses there. Each queue pair has a LinkPauses, owned by its lcore: which
// VCs are paused, since when, and how many users on the lcore request a pause by the neighbour. One
// queue pair of the device sends PFC frames. No state here is used for each frame.
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
#include "link/link_flows.h"
#include "wire/pfc.h"

namespace suede {

struct PauseParams {
  uint16_t quanta = 0xffff;  // of a requested pause, each of 512 bit times
  uint64_t rate_bps = 0;     // the configured rate; 0: the link's rate, else 100 Gb/s
  // A flow that was paused for so long while its frames wait is in a storm; also the max time for
  // which the neighbour is requested to pause for a VC that does not drain. 0: unlimited.
  Duration storm = std::chrono::milliseconds(100);
};

// The pauses of one device. Used by any lcore that serves it, and by readers.
class PortPauses {
 public:
  explicit PortPauses(const PauseParams& params) : params_(params) {}
  const PauseParams& params() const { return params_; }

  // ---- Pauses requested by the neighbour.

  // `rate_bps`: of the link, used if no rate is configured; 0: not known.
  void OnFrame(const PfcFrame& pfc, uint64_t rate_bps, Time now);
  // A number that changes with each PFC frame.
  uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
  Time until(uint32_t traffic_class) const {
    return TimeFromNs(until_ns_[traffic_class].load(std::memory_order_relaxed));
  }
  // Total time for which the class was paused so far; grows during a pause.
  Duration PausedFor(uint32_t traffic_class, Time now) const;
  // Marks storms. Returns the flows that were not marked before.
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

  // ---- Pauses requested from the neighbour.

  // A queue pair requests a pause of a class, or ends its request.
  void Want(uint32_t traffic_class, bool wants);
  // The classes for which any queue pair requests a pause.
  uint8_t wanted() const;

 private:
  const PauseParams params_;
  alignas(64) std::atomic<uint32_t> changes_{0};
  std::atomic<VcMask> stormy_{0};
  std::array<std::atomic<int64_t>, kPfcClasses> until_ns_{};
  // For each class: the total time for which it will have been paused at `until_ns_`.
  std::array<std::atomic<int64_t>, kPfcClasses> total_ns_{};
  std::array<std::atomic<uint8_t>, kLinkFlows> class_of_{};
  alignas(64) std::array<std::atomic<uint32_t>, kPfcClasses> wants_{};  // queue pairs
};

// The pauses of one queue pair. Owned by its lcore.
class LinkPauses {
 public:
  // `port` outlives this object. `sends`: this queue pair sends the device's PFC frames.
  LinkPauses(PortPauses* port, bool sends);

  // The class of each VC, and of PDUs without commands.
  void SetClasses(const std::array<uint8_t, kLinkFlows>& classes);

  // ---- Pauses requested by the neighbour.

  void OnFrame(const PfcFrame& pfc, uint64_t rate_bps, Time now) {
    port_->OnFrame(pfc, rate_bps, now);
  }
  // Called once in a poll iteration, and after OnFrame. Returns whether other flows may be paused
  // now.
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
  // PDUs of these flows wait until the end of their pause. Ignores flows that are not paused.
  void NoteWaiting(VcMask flows, Time now) {
    watch_.NoteWaiting(static_cast<VcMask>(flows & paused_), now);
  }
  // Paused flows whose PDUs wait.
  VcMask waiting() const { return watch_.waiting(); }
  // The flows whose storm begins now.
  VcMask TakeStorms(Time now) {
    const VcMask begun = watch_.TakeStorms(now);
    if (begun != 0) [[unlikely]]
      news_ |= port_->BeginStorm(begun);
    return begun;
  }

  // Flows of TakeStorms whose storm no other queue pair of the device had marked.
  VcMask TakeNewStorms() { return std::exchange(news_, VcMask{0}); }

  // ---- Pauses requested from the neighbour.

  // Another user on the lcore requests a pause of the VC, or a user ends its request.
  void Want(uint32_t vc, bool wants);
  // The frame to send now. The caller calls Unsent if the frame could not be sent.
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
  uint8_t published_ = 0;  // classes for which this queue pair requests a pause, at the port
  uint64_t rate_bps_ = 0;  // the sender's rate, if it is the link's
  PauseSender sender_;
  std::optional<PfcFrame> unsent_;
};

}  // namespace suede

#endif  // SUEDE_LINK_PAUSES_H_
