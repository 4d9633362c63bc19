// SPDX-License-Identifier: Apache-2.0
// Four XPUs with sockets, and wires that carry their commands when a test says so.
#ifndef SUEDE_TESTS_MESSAGE_SOCKET_PAIRS_H_
#define SUEDE_TESTS_MESSAGE_SOCKET_PAIRS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "message/sockets.h"
#include "suede/layout.h"

namespace suede::message {

using Octets = std::vector<uint8_t>;

struct Carried {
  Command Read() const {
    Command command;
    EXPECT_EQ(ParseCommand(control.data(), kControlBytes, data.data(),
                           static_cast<uint32_t>(data.size()), &command),
              Parsed::kCommand);
    return command;
  }

  Route to;
  Octets control;
  Octets data;
  bool wants_completion = false;
  uint64_t tag = 0;
};

// Takes commands while it has credit for {XPU, VC}, and room.
class Wire final : public BurstSink {
 public:
  int Send(const Burst& burst) override {
    if (burst.to.xpuid == stopped_xpuid && burst.to.vc == stopped_vc) return 0;
    const uint32_t taken = std::min(burst.count, room);
    room -= taken;
    for (uint32_t i = 0; i < taken; ++i) {
      const uint8_t* const control = burst.controls + i * kControlBytes;
      Carried one{.to = burst.to,
                  .control = {control, control + kControlBytes},
                  .data = {},
                  .wants_completion = burst.wants_completion,
                  .tag = burst.tag};
      if (burst.data_bytes != 0) {
        const uint8_t* const data = burst.data + size_t{i} * burst.data_bytes;
        one.data.assign(data, data + burst.data_bytes);
      }
      sent.push_back(std::move(one));
    }
    return static_cast<int>(taken);
  }
  void Stop(uint16_t xpuid, uint8_t vc) {
    stopped_xpuid = xpuid;
    stopped_vc = vc;
  }
  int stopped_xpuid = -1;
  uint8_t stopped_vc = 0;
  uint32_t room = UINT32_MAX;  // commands
  std::deque<Carried> sent;
};

class Pairs : public testing::Test {
 protected:
  static constexpr uint16_t kXpus = 4;
  static constexpr uint32_t kChannels = 16;
  static constexpr uint8_t kDataVc = 1;
  static constexpr uint8_t kControlVc = 3;

  void SetUp() override {
    for (uint16_t xpuid = 0; xpuid < kXpus; ++xpuid) Begin(xpuid);
  }
  void TearDown() override { CheckInvariants(); }
  void CheckInvariants() const {
    for (const auto& each : nodes) each->CheckInvariants();
  }
  void Begin(uint16_t xpuid, uint32_t planes = 1) {
    nodes[xpuid] = std::make_unique<Sockets>(SocketsParams{.own_xpuid = xpuid,
                                                           .planes = planes,
                                                           .channels = kChannels,
                                                           .data_vcs = 0b0110,
                                                           .control_vc = kControlVc,
                                                           .seed = ++seed});
  }

  uint32_t Open(uint16_t xpuid, SocketParams params, std::vector<uint16_t> peers,
                Opened expected = Opened::kOk) {
    uint32_t socket = 0;
    EXPECT_EQ(nodes[xpuid]->Open(params, peers, &socket), expected);
    return socket;
  }
  uint32_t OpenSender(uint16_t xpuid, std::vector<uint16_t> peers, SocketParams params = {}) {
    params.is_sender = true;
    return Open(xpuid, params, std::move(peers));
  }
  uint32_t OpenReceiver(uint16_t xpuid, uint16_t peer, SocketParams params = {}) {
    params.ring_bytes = 4096;
    return Open(xpuid, params, {peer});
  }

  // Delivers what the node sends; that much of it.
  void PumpOne(uint16_t xpuid, size_t max = SIZE_MAX) {
    nodes[xpuid]->Pump(wires[xpuid]);
    for (; !wires[xpuid].sent.empty() && max > 0; --max) {
      const Carried one = wires[xpuid].sent.front();
      wires[xpuid].sent.pop_front();
      Deliver(xpuid, one);
      if (one.wants_completion) nodes[xpuid]->senders().OnCompletion(one.tag, SUEDE_STATUS_OK);
    }
  }
  void Deliver(uint16_t from, const Carried& one) {
    nodes[one.to.xpuid]->OnCommand({.xpuid = from, .plane = one.to.plane, .vc = one.to.vc},
                                   one.control.data(), static_cast<uint32_t>(one.control.size()),
                                   one.data.data(), static_cast<uint32_t>(one.data.size()));
    nodes[one.to.xpuid]->CheckInvariants();
  }
  void PumpAll() {
    for (int turn = 0; turn < 20; ++turn) {
      for (uint16_t xpuid = 0; xpuid < kXpus; ++xpuid) PumpOne(xpuid);
    }
  }
  // Returns what the node sends, which its daemon delivers to nobody.
  std::vector<Command> Lose(uint16_t xpuid) {
    nodes[xpuid]->Pump(wires[xpuid]);
    std::vector<Command> lost;
    for (const Carried& one : wires[xpuid].sent) {
      lost.push_back(one.Read());
      lost.back().data = nullptr;
      if (one.wants_completion) nodes[xpuid]->senders().OnCompletion(one.tag, SUEDE_STATUS_OK);
    }
    wires[xpuid].sent.clear();
    return lost;
  }
  void Advance(int64_t ms) {
    now_ms += ms;
    for (const auto& each : nodes) each->OnTime(TimeFromNs(now_ms * 1'000'000));
    CheckInvariants();
  }
  // Delivers what is sent, each time after so much time.
  void Wait(int times, int64_t ms) {
    for (int i = 0; i < times; ++i) {
      Advance(ms);
      PumpAll();
    }
  }
  Started Send(uint16_t xpuid, uint32_t socket, const Octets& octets, int64_t in_ms = -1) {
    return Send(xpuid, socket, octets, &result, in_ms);
  }
  Started Send(uint16_t xpuid, uint32_t socket, const Octets& octets, suede_socket_result* to,
               int64_t in_ms = -1) {
    kept.push_back(octets);  // until the end of the operation
    return nodes[xpuid]->senders().Send(
        socket, kept.back().data(), octets.size(),
        in_ms < 0 ? kNever : TimeFromNs((now_ms + in_ms) * 1'000'000), to, nullptr);
  }
  Octets Take(uint16_t xpuid, uint32_t socket, Got expected = Got::kOctets) {
    Octets room(10000);
    uint32_t bytes = 10000;
    EXPECT_EQ(nodes[xpuid]->receivers().Receive(socket, room.data(), 10000, &bytes), expected);
    EXPECT_TRUE(expected == Got::kOctets || bytes == 0);
    room.resize(bytes);
    return room;
  }
  // Appends what there is to be read, which may be nothing.
  void TakeMore(uint16_t xpuid, uint32_t socket, Octets* octets) {
    const size_t before = octets->size();
    uint32_t bytes = 0;
    octets->resize(before + 10000);
    nodes[xpuid]->receivers().Receive(socket, octets->data() + before, 10000, &bytes);
    octets->resize(before + bytes);
  }
  void Inject(uint16_t from, uint16_t to, uint8_t vc, const Command& command, uint8_t plane = 0) {
    Carried one{.to = {.xpuid = to, .plane = plane, .vc = vc},
                .control = Octets(kControlBytes),
                .data = {}};
    EncodeCommand(command, one.control.data());
    if (command.data_bytes != 0) one.data.assign(command.data, command.data + command.data_bytes);
    Deliver(from, one);
  }
  uint64_t Refused(uint16_t xpuid, Status status) const {
    return nodes[xpuid]->counters().refused[static_cast<uint8_t>(status) - kFirstRefusal];
  }
  static Octets Pattern(size_t bytes, uint8_t first = 1) {
    Octets octets(bytes);
    for (size_t i = 0; i < bytes; ++i) octets[i] = static_cast<uint8_t>(first + i * 7);
    return octets;
  }

  std::unique_ptr<Sockets> nodes[kXpus];
  Wire wires[kXpus];
  std::deque<Octets> kept;
  uint64_t seed = 0;
  int64_t now_ms = 0;
  suede_socket_result result = {};
};

// A sender of XPU 0 that is connected to a receiver of XPU 1.
class Connected : public Pairs {
 protected:
  void SetUp() override {
    Pairs::SetUp();
    sender = OpenSender(0, {1});
    receiver = OpenReceiver(1, 0);
    PumpAll();
  }

  uint32_t sender = 0;
  uint32_t receiver = 0;
};

}  // namespace suede::message

#endif  // SUEDE_TESTS_MESSAGE_SOCKET_PAIRS_H_
