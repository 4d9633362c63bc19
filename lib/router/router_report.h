// SPDX-License-Identifier: Apache-2.0
// The state of a router's port for other threads: the lcore of the router publishes it every
// millisecond, with more than 100 routers every 10 us for each of them, and any thread reads it.
#ifndef SUEDE_ROUTER_ROUTER_REPORT_H_
#define SUEDE_ROUTER_ROUTER_REPORT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "fabric/frame_note.h"
#include "fabric/params.h"
#include "mesh/discovery.h"

namespace suede {

// Frames that were dropped, and the latest of them.
class DropReport {
 public:
  // The router's lcore.
  void Set(const fabric::DropNote& note) {
    if (note.count == count_.load(std::memory_order_relaxed)) return;
    latest_.store(note.destination << 16 | uint64_t{note.traffic_class} << 8 |
                      static_cast<uint64_t>(note.cause),
                  std::memory_order_relaxed);
    count_.store(note.count, std::memory_order_release);
  }
  // Any thread.
  fabric::DropNote Get() const {
    const uint64_t count = count_.load(std::memory_order_acquire);
    const uint64_t latest = latest_.load(std::memory_order_relaxed);
    return {.count = count,
            .destination = latest >> 16,
            .traffic_class = static_cast<uint8_t>(latest >> 8),
            .cause = static_cast<fabric::WaitCause>(latest & 0xff)};
  }

 private:
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> latest_{0};
};

// Frames of a class that wait for a port, and their bytes in whole cells of the buffer.
struct QueueDepth {
  uint32_t frames = 0;
  uint32_t bytes = 0;
};

class RouterPortReport {
 public:
  // ---- The router's lcore.

  void SetLink(bool up) { up_.store(up, std::memory_order_relaxed); }
  void SetRefused(bool refused) { refused_.store(refused, std::memory_order_relaxed); }
  void SetNeighbour(const std::optional<mesh::CableEnd>& end) {
    uint64_t place = 0;
    if (end) {
      place = kPresent | uint64_t{end->at.device.mesh} << 32 |
              uint64_t{end->at.device.device} << 16 | uint64_t{end->at.port} << 8 |
              uint64_t{end->plane};
    }
    specification_.store(end ? end->specification : 0, std::memory_order_relaxed);
    place_.store(place, std::memory_order_release);
  }
  void SetQueue(uint32_t traffic_class, const QueueDepth& depth) {
    queues_[traffic_class].store(uint64_t{depth.frames} << 32 | depth.bytes,
                                 std::memory_order_relaxed);
  }

  // ---- Any thread.

  bool up() const { return up_.load(std::memory_order_relaxed); }
  // Whether frames go over the cable.
  bool routes() const { return up() && !refused_.load(std::memory_order_relaxed); }
  std::optional<mesh::CableEnd> neighbour() const {
    const uint64_t place = place_.load(std::memory_order_acquire);
    if ((place & kPresent) == 0) return std::nullopt;
    return mesh::CableEnd{.at = {.device = {.mesh = mesh::MeshId(place >> 32 & 0xffff),
                                            .device = mesh::DeviceId(place >> 16 & 0xffff)},
                                 .port = mesh::PortId(place >> 8 & 0xff)},
                          .plane = PlaneIndex(place & 0xff),
                          .specification = specification_.load(std::memory_order_relaxed)};
  }
  QueueDepth queue(uint32_t traffic_class) const {
    const uint64_t depth = queues_[traffic_class].load(std::memory_order_relaxed);
    return {.frames = static_cast<uint32_t>(depth >> 32), .bytes = static_cast<uint32_t>(depth)};
  }
  // Returns the frames of all classes that wait.
  uint64_t queued() const {
    uint64_t frames = 0;
    for (uint32_t c = 0; c < fabric::kClasses; ++c) frames += queue(c).frames;
    return frames;
  }

  DropReport without_hops;
  DropReport too_old;

 private:
  static constexpr uint64_t kPresent = uint64_t{1} << 63;

  std::atomic<bool> up_{true};
  std::atomic<bool> refused_{false};
  std::atomic<uint64_t> place_{0};
  std::atomic<uint64_t> specification_{0};
  std::array<std::atomic<uint64_t>, fabric::kClasses> queues_{};
};

}  // namespace suede

#endif  // SUEDE_ROUTER_ROUTER_REPORT_H_
