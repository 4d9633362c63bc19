// SPDX-License-Identifier: Apache-2.0
// A switch, frames for it, and what comes out of it.
#ifndef SUEDE_TESTS_FABRIC_FABRIC_FIXTURE_H_
#define SUEDE_TESTS_FABRIC_FABRIC_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/big_endian.h"
#include "fabric/switch.h"
#include "wire/frame_builder.h"
#include "wire/pfc.h"

namespace suede::fabric {

constexpr Time At(int64_t us) { return TimeFromNs(us * 1000); }

// Frames of SUE from and to addresses that a number makes.
struct SueFrame {
  Encap encap = Encap::kUdp4;
  uint32_t from = 1;
  uint32_t to = 2;
  uint32_t bytes = 64;  // of commands
  TrafficClass traffic_class{};
  bool tagged = false;
  uint16_t vid = 0;
  uint8_t vc = 0;
  uint8_t hop_limit = 64;
  uint16_t session = 0;
};

// An EtherType for ESUN, which has no usual one.
inline constexpr uint16_t kEsunType = 0x9e5a;

inline MacAddress MacOf(uint32_t number) {
  return {0x52, 0, 0, 0, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}
inline uint64_t MacNumber(uint32_t number) { return uint64_t{0x5200} << 32 | number; }

inline std::vector<uint8_t> BytesOf(const SueFrame& sue) {
  HeaderSpec spec{.source_mac = MacOf(sue.from),
                  .destination_mac = MacOf(sue.to),
                  .tagged = sue.tagged,
                  .vid = sue.vid,
                  .source = {.low = sue.from},
                  .destination = {.low = sue.to},
                  .session = sue.session,
                  .ether_type = sue.encap == Encap::kEsun ? kEsunType : uint16_t{0},
                  .hop_limit = sue.hop_limit,
                  .traffic_class = sue.traffic_class};
  if (TraitsOf(sue.encap).addresses == AddressKind::kIpv4) {
    spec.source.low |= 0x0a000000;
    spec.destination.low |= 0x0a000000;
  }
  const HeaderTemplate header = MakeTemplate(sue.encap, spec);
  std::vector<uint8_t> commands(sue.bytes);
  if (commands.size() >= 2) commands[0] = 1;
  std::vector<uint8_t> buffer(FrameBufferBytes(sue.bytes) + 64);
  const auto frame =
      BuildFrame(header, {.xpuid = static_cast<uint16_t>(sue.from), .vc = sue.vc}, commands, buffer);
  return {frame.begin(), frame.end()};
}

inline std::vector<uint8_t> FrameOfPfc(ClassMask classes, uint16_t quanta) {
  PfcFrame pfc{.classes = classes};
  for (uint32_t c = 0; c < kClasses; ++c) pfc.quanta[c] = (classes >> c & 1) != 0 ? quanta : 0;
  std::vector<uint8_t> frame(PfcFrame::kBytes);
  EncodePfc(pfc, {2, 0, 0, 0, 0, 9}, frame.data());
  return frame;
}

class Fabric {
 public:
  static constexpr uint32_t kCapacity = 4608;

  explicit Fabric(const SwitchParams& params) : the_switch(params) { Refill(); }
  ~Fabric() {
    the_switch.CheckInvariants();
    // Every frame is somewhere.
    const size_t given = frames_.size() - free_.size();
    const uint32_t spares = the_switch.spares();
    if (given != the_switch.frames_inside() + spares) std::abort();
  }

  void In(uint32_t port, const std::vector<uint8_t>& bytes, Time now) {
    Frame* frame = Take();
    frame->data = frame->buffer + 64;
    frame->length = static_cast<uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame->data);
    the_switch.Receive(port, &frame, 1, now);
    Refill();
  }
  void In(uint32_t port, const SueFrame& sue, Time now) { In(port, BytesOf(sue), now); }

  // Up to `max` frames that a port sends.
  std::vector<std::vector<uint8_t>> Out(uint32_t port, Time now, uint32_t max = UINT32_MAX) {
    std::vector<std::vector<uint8_t>> got;
    the_switch.Poll(now);
    Frame* frame = nullptr;
    while (got.size() < max && the_switch.Transmit(port, &frame, 1, now) == 1) {
      got.emplace_back(frame->data, frame->data + frame->length);
      free_.push_back(frame);
      Refill();
    }
    Refill();
    return got;
  }
  uint64_t Count(uint32_t port, SwitchPortCounter id) {
    return the_switch.port(port).counters().Get(id);
  }
  uint64_t Count(uint32_t port, uint32_t traffic_class, SwitchClassCounter id) {
    return the_switch.port(port).counters(traffic_class).Get(id);
  }

  Switch the_switch;

  // Takes back a frame that a bypass has taken.
  void Free(Frame* frame) { free_.push_back(frame); }

 private:
  void Refill() {
    free_.insert(free_.end(), the_switch.ended().begin(), the_switch.ended().end());
    the_switch.ClearEnded();
    while (the_switch.spares_wanted() != 0) the_switch.GiveSpare(Take());
  }
  // Frames are made as they are needed.
  Frame* Take() {
    if (free_.empty()) {
      frames_.push_back(std::make_unique<Frame>());
      buffers_.emplace_back(new uint8_t[kCapacity]);
      frames_.back()->buffer = buffers_.back().get();
      frames_.back()->capacity = kCapacity;
      return frames_.back().get();
    }
    Frame* const frame = free_.back();
    free_.pop_back();
    return frame;
  }
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::unique_ptr<uint8_t[]>> buffers_;
  std::vector<Frame*> free_;
};

inline SwitchParams ParamsOf(uint32_t ports, Forwarding forwarding = Forwarding::kMac) {
  SwitchParams params{.forwarding = forwarding};
  if (forwarding == Forwarding::kEsun) params.esun_ether_type = kEsunType;
  params.ports.resize(ports);
  for (uint32_t i = 0; i < ports; ++i)
    params.ports[i].mac = {2, 0, 0, 0, 1, static_cast<uint8_t>(i)};
  return params;
}

}  // namespace suede::fabric

#endif  // SUEDE_TESTS_FABRIC_FABRIC_FIXTURE_H_
