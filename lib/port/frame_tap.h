// SPDX-License-Identifier: Apache-2.0
// Copies of the frames that a port sends and receives, for captures.
#ifndef SUEDE_PORT_FRAME_TAP_H_
#define SUEDE_PORT_FRAME_TAP_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "port/burst_gate.h"
#include "port/frame.h"

namespace suede {

enum class FrameDirection : uint8_t { kIn = 1, kOut = 2 };  // as in pcapng's flags of a packet

// Takes copies of frames.
class FrameTap {
 public:
  virtual ~FrameTap() = default;
  // Called by the lcore that moves the frames, once per burst.
  virtual void Add(Frame* const* frames, uint32_t count, FrameDirection direction) = 0;
  // Called by the lcore that drops the frame. `counter`: the drop's counter, a name of static
  // storage.
  virtual void AddDropped(const Frame& frame, FrameDirection direction,
                          std::string_view counter) = 0;
};

// A port whose frames can be copied. Control thread.
class TappedPort {
 public:
  virtual ~TappedPort() = default;
  virtual const std::string& name() const = 0;
  // Returns the max number of lcores that move its frames.
  virtual uint32_t lcores() const = 0;
  // Sets the tap; null: none. No lcore uses the former one afterwards.
  virtual void SetTap(FrameTap* tap) = 0;
  virtual bool is_tapped() const = 0;
};

// A place where one lcore moves frames of a port, with a tap or none.
class TapPoint {
 public:
  // The lcore.
  void Copy(Frame* const* frames, uint32_t count, FrameDirection direction) {
    if (tap_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      CopyToTap(frames, count, direction);
  }
  void CopyDropped(const Frame& frame, FrameDirection direction, std::string_view counter) {
    if (is_set()) [[unlikely]]
      CopyDroppedToTap(frame, direction, counter);
  }
  // The control thread.
  void Set(FrameTap* tap);
  bool is_set() const { return tap_.load(std::memory_order_relaxed) != nullptr; }

 private:
  void CopyToTap(Frame* const* frames, uint32_t count, FrameDirection direction);
  void CopyDroppedToTap(const Frame& frame, FrameDirection direction, std::string_view counter);

  std::atomic<FrameTap*> tap_{nullptr};
  BurstGate gate_;  // open while there is a tap
};

}  // namespace suede

#endif  // SUEDE_PORT_FRAME_TAP_H_
