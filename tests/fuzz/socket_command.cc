// SPDX-License-Identifier: Apache-2.0
// Arbitrary commands to the sockets of an XPU, among calls, lost planes and time: what is a command
// is written again as it was read, no more is taken than was granted, and the state holds to its
// invariants.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "message/sockets.h"

namespace suede::message {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Exactly as large as it is: the address sanitizer sees the first byte behind it.
std::unique_ptr<uint8_t[]> TakeFrom(Input& input, uint32_t bytes) {
  std::unique_ptr<uint8_t[]> taken(new uint8_t[bytes]);
  for (uint32_t i = 0; i < bytes; ++i) taken[i] = input.Byte();
  return taken;
}

void CheckRewritten(const uint8_t* control, uint32_t data_bytes) {
  Command command;
  if (ParseCommand(control, kControlBytes, nullptr, data_bytes, &command) != Parsed::kCommand) {
    return;
  }
  uint8_t again[kControlBytes];
  EncodeCommand(command, again);
  // The lengths in the first two octets are the endpoint's; what is ignored may be anything.
  Require(std::memcmp(control + 2, again + 2, 6) == 0);
  Require(std::memcmp(control + 16, again + 16, 2) == 0);
  if (command.kind != Kind::kClosed) Require(std::memcmp(control + 8, again + 8, 4) == 0);
  if (command.kind != Kind::kRefuse) Require(std::memcmp(control + 12, again + 12, 4) == 0);
}

class Play final : public BurstSink {
 public:
  explicit Play(Input* input)
      : input_(*input),
        sockets_({.planes = 2, .channels = 8, .data_vcs = 0b0101, .control_vc = 3, .seed = 5}),
        octets_(6000) {}

  int Send(const Burst& burst) override {
    Command command;
    for (uint32_t i = 0; i < burst.count; ++i) {
      const uint8_t* const control = burst.controls + i * kControlBytes;
      Require(ParseCommand(control, kControlBytes, burst.data, burst.data_bytes, &command) ==
              Parsed::kCommand);
    }
    return static_cast<int>(input_.Byte() % (burst.count + 1));
  }

  void Step() {
    switch (input_.Byte() % 8) {
      case 0:
        return Open();
      case 1:
      case 2:
      case 3:
        return Receive();
      case 4:
        return sockets_.Pump(*this);
      case 5:
        return Use();
      case 6:
        time_ += input_.Byte() * int64_t{10'000'000};
        return sockets_.OnTime(TimeFromNs(time_));
      default:
        return Lose();
    }
  }
  void Check() const { sockets_.CheckInvariants(); }

 private:
  void Open() {
    const uint8_t traits = input_.Byte();
    const SocketParams params{.is_sender = (traits & 1) != 0,
                              .is_datagram = (traits & 2) != 0,
                              .is_private = (traits & 4) != 0,
                              .vc = static_cast<int8_t>((traits & 8) != 0 ? 2 : 0),
                              .id = static_cast<uint16_t>(traits >> 4 & 1),
                              .epoch = static_cast<uint32_t>(traits >> 5 & 1),
                              .ring_bytes = 4096,
                              .operations = 2};
    std::vector<uint16_t> peers = {static_cast<uint16_t>(input_.Byte() % 3)};
    if (params.is_sender && (traits & 128) != 0) peers.push_back(3);
    if (!params.is_sender && (traits & 128) != 0) peers[0] = kAnyXpu;
    uint32_t socket = 0;
    if (sockets_.Open(params, peers, &socket) == Opened::kOk) open_.push_back(socket);
  }

  // Most controls have the right length, and most of these the octets of a channel.
  void Receive() {
    const Route from{.xpuid = static_cast<uint16_t>(input_.Byte() % 3),
                     .plane = static_cast<uint8_t>(input_.Byte() % 2),
                     .vc = static_cast<uint8_t>(input_.Byte() % 4)};
    const uint32_t control_bytes = input_.Byte() % 8 == 0 ? 2 + input_.Byte() % 9 * 2 : 18;
    const std::unique_ptr<uint8_t[]> control = TakeFrom(input_, control_bytes);
    const uint32_t data_bytes = input_.Byte() % 2 == 0 ? 0 : input_.Byte() + 1u;
    const std::unique_ptr<uint8_t[]> data = TakeFrom(input_, data_bytes);
    if (control_bytes == kControlBytes) {
      if (input_.Byte() % 4 != 0) control[0] = 0xc9;
      if (!open_.empty() && input_.Byte() % 4 != 0) MakeFit(control.get());
      CheckRewritten(control.get(), data_bytes);
    }
    sockets_.OnCommand(from, control.get(), control_bytes, data.get(), data_bytes);
  }

  void MakeFit(uint8_t* control) {
    const Channel& channel = sockets_.PeerOf(open_[input_.Byte() % open_.size()], /*peer=*/0);
    for (int i = 0; i < 4; ++i) {
      control[4 + i] = static_cast<uint8_t>(channel.tag >> (24 - 8 * i));
      const bool is_data = (control[2] & 0x80) != 0;
      if (is_data) control[12 + i] = static_cast<uint8_t>(channel.number >> (24 - 8 * i));
      if (is_data || (control[2] & 0xf0) == 0x10) {
        control[8 + i] = static_cast<uint8_t>(channel.name.epoch >> (24 - 8 * i));
      }
    }
    control[16] = 0;
    control[17] = static_cast<uint8_t>(channel.name.id);
  }

  void Use() {
    if (open_.empty()) return;
    const size_t place = input_.Byte() % open_.size();
    const uint32_t socket = open_[place];
    uint32_t bytes = 0;
    switch (input_.Byte() % 4) {
      case 0: {
        const Time deadline = TimeFromNs(time_ + input_.Byte() * int64_t{1'000'000});
        sockets_.senders().Send(socket, octets_.data(), input_.Byte() * 20u, deadline, nullptr,
                                nullptr);
        return;
      }
      case 1:
        sockets_.receivers().Receive(socket, octets_.data(), input_.Byte() * 20u, &bytes);
        return;
      case 2:
        return sockets_.Close(socket);
      default:
        sockets_.Release(socket);
        open_.erase(open_.begin() + static_cast<int64_t>(place));
    }
  }

  void Lose() {
    if (input_.Byte() % 4 == 0) return sockets_.OnPlaneLost(input_.Byte() % 2);
    if (open_.empty()) return;
    const Channel& channel = sockets_.PeerOf(open_[input_.Byte() % open_.size()], 0);
    const uint64_t kind = input_.Byte() % 2 == 0 ? 1 : 8;
    sockets_.senders().OnCompletion(kind << 32 | channel.tag, input_.Byte() % 9);
  }

  Input& input_;
  Sockets sockets_;
  std::vector<uint32_t> open_;
  std::vector<uint8_t> octets_;
  int64_t time_ = 0;
};

}  // namespace
}  // namespace suede::message

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  suede::message::Play play(&input);
  while (!input.empty()) {
    play.Step();
    play.Check();
  }
  return 0;
}
