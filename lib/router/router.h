// SPDX-License-Identifier: Apache-2.0
// The router of one device: moves frames between the device's cables, the centres of its planes and
// its switch. Owned by one lcore; any thread may read reports and counters.
#ifndef SUEDE_ROUTER_ROUTER_H_
#define SUEDE_ROUTER_ROUTER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fabric/switch.h"
#include "mesh/discovery.h"
#include "port/frame_tap.h"
#include "port/port.h"
#include "router/bell.h"
#include "router/cable.h"
#include "router/router_report.h"

namespace suede {

class Router final : private fabric::Bypass {
  static constexpr uint32_t kBurst = 32;

 public:
  // Frames that a port holds beside the switch's buffer and the window of its link: a burst that
  // the device has not taken, and spare frames.
  static constexpr uint32_t kPortFrames = 2 * kBurst;

  // `params`: of a switch with Forwarding::kMesh. `pool`: for frames that end and begin inside.
  // `bell`: rung when frames arrive. The last two outlive this object.
  Router(const mesh::Device& device, const fabric::SwitchParams& params, Port& pool, Bell& bell)
      : device_(device), switch_(params), pool_(pool), bell_(bell) {}
  ~Router() override;

  // ---- Set-up, in the order of SwitchParams::ports. `port` outlives this object.

  // A cable by a device of the process, whose end announces itself: frames go over it once it has
  // announced `expected`.
  void AddOuterCable(Port* port, const mesh::CableEnd& own, const mesh::DevicePort& expected);
  // A cable inside the process.
  void AddCable(Cable::End* end) {
    end->SetBell(&bell_);
    Add(end);
  }
  void AddCentre(Port* port);

  // ---- The control thread.

  // Replaces the routing tables, one for each plane, of one epoch. The lcore takes them within
  // about a millisecond.
  void Offer(std::vector<mesh::RoutingTable> tables);
  // The tap of a port. Frames that the device sends are kOut: by a cable those that leave the
  // router, by a centre those that enter it.
  TapPoint& tap(uint32_t port) { return outputs_[port].tap; }

  // ---- The lcore.

  // Takes frames of own instances, by the centre with switch port `centre`. Returns the number
  // taken: the first ones.
  uint32_t Inject(uint32_t centre, Frame* const* frames, uint32_t count, Time now);
  // Runs one poll iteration. Returns whether there was work.
  bool Poll(Time now);
  // Follows the links and the neighbours of cables, and publishes reports.
  void Check();
  // When the next poll iteration is due unless the bell rings.
  Time due() const { return due_; }

  fabric::Switch& fabric() { return switch_; }

  // ---- Any thread.

  const mesh::Device& device() const { return device_; }
  const fabric::Switch& fabric() const { return switch_; }
  // Returns the epoch of the tables in use.
  uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }
  const RouterPortReport& report(uint32_t port) const { return outputs_[port].report; }

 private:
  // Frames of a link itself in a poll iteration: a HELLO and updates of credit. With link-level
  // retry each frame that leaves is a copy.
  static constexpr uint32_t kLinkFrames = 4;

  struct Expected {
    mesh::CableEnd own;
    mesh::DevicePort end;
  };
  struct Output {
    explicit Output(Port* of) : port(of) {}
    Port* const port;
    std::optional<Expected> expected{};  // of an outer cable
    Frame* frames[kBurst] = {};          // that the port has not taken yet
    uint32_t count = 0;
    RouterPortReport report{};
    TapPoint tap{};
  };

  Output& Add(Port* port);
  // Takes a frame for the own device, to a centre.
  bool Take(uint32_t centre, Frame* frame) override;
  Time DeadlineOf(uint32_t ports, Time now) const;
  bool TransmitAll(uint32_t received, Time now);
  bool Transmit(uint32_t number, Time now);
  void TakeTables();
  void CheckLink(uint32_t number, Output& out);
  void CheckNeighbour(uint32_t number, Output& out);
  void ShowQueues(uint32_t number, Output& out);
  void Refuse(uint32_t number, bool refuse);
  // The state of a port has changed.
  void PollAgain() {
    speaks_at_ = {};
    bell_.Ring();
  }
  void ReleaseEnded();
  void GiveSpares();

  const mesh::Device device_;
  fabric::Switch switch_;
  Port& pool_;
  Bell& bell_;
  std::deque<Output> outputs_;
  uint32_t sending_ = 0;   // a bit for each port with frames to send,
  uint32_t speaking_ = 0;  // and for each with a link
  uint32_t cables_ = 0;    // ports that are no centres
  uint32_t outer_ = 0;     // cables that leave the process
  uint32_t spares_ = 0;    // frames that the links use in a poll iteration, at most
  Time speaks_at_{};       // when a link has something to send, without further work
  Time due_{};
  using TableSet = std::vector<mesh::RoutingTable>;
  std::atomic<TableSet*> offered_{nullptr};  // the lcore takes it,
  std::atomic<TableSet*> taken_{nullptr};    // and gives it back to be freed
  std::atomic<uint32_t> epoch_{0};
};

}  // namespace suede

#endif  // SUEDE_ROUTER_ROUTER_H_
