// SPDX-License-Identifier: Apache-2.0
#include "simbricks/tap_port.h"

namespace suede::simbricks {
namespace {

constexpr uint32_t kFramesOfPoll = 32;
constexpr uint32_t kMinFrameBytes = 14;  // of Ethernet's header

}  // namespace

bool TapPort::Poll() {
  tap_->SetCarrier(link_.is_connected());
  bool moved = false;
  for (uint32_t i = 0; i < kFramesOfPoll && Receive(); ++i) moved = true;
  for (uint32_t i = 0; i < kFramesOfPoll && Send(); ++i) moved = true;
  return moved;
}

bool TapPort::Receive() {
  Header header;
  if (!link_.Next(&header)) return false;
  const uint32_t bytes = header.packet_bytes();
  if (header.type != kPacket || bytes < kMinFrameBytes || bytes > link_.reader().room()) {
    link_.Fail(header.type != kPacket ? Fault::kType : Fault::kLength);
    return false;
  }
  link_.reader().CopyData(frame_.data(), bytes);
  link_.reader().Release();
  counters_.Add(Counter::kNetReceived);
  if (!tap_->Write({frame_.data(), bytes})) counters_.Add(Counter::kNetRefused);
  return true;
}

bool TapPort::Send() {
  const uint32_t bytes = tap_->Read(frame_);
  if (bytes == 0) return false;
  if (link_.is_connected() && link_.writer().HasPlace() && bytes <= link_.writer().room()) {
    link_.writer().Send({.request = bytes, .type = kPacket}, frame_.data(), bytes);
    counters_.Add(Counter::kNetSent);
  } else {
    counters_.Add(Counter::kNetDropped);
  }
  return true;
}

}  // namespace suede::simbricks
