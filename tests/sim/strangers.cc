// SPDX-License-Identifier: Apache-2.0
// The parts of worlds in which a peer is a stranger (strangers.h).
#include "shipped.h"
#include "wire/encap.h"
#include "world.h"

namespace suede {
namespace {

// The damage of a second machine of an XPU id heals within this time after it has gone.
constexpr Duration kHealed = std::chrono::milliseconds(60);

}  // namespace

// No control PDU passes to host 0 or from it.
void World::DropControl() {
  for (uint32_t number = 0; number < switches_.size(); ++number) {
    const FrameRules rules = options_.wiring.RulesOf(number);
    const NetAddress plain = options_.wiring.AddressOf(0, number);
    switches_[number]->SetFilter([rules, plain](std::span<const uint8_t> bytes) {
      const ParsedFrame parsed = ParseFrame(rules, const_cast<uint8_t*>(bytes.data()),
                                            static_cast<uint32_t>(bytes.size()), true);
      if (parsed.error != FrameError::kNone) return true;
      if (parsed.source != plain && parsed.destination != plain) return true;
      return DecodeRh(parsed.pdu).ver != static_cast<uint8_t>(RhVersion::kControl);
    });
  }
}

// ---- Two by one XPU id.

bool World::IsDoubled(uint32_t a, uint32_t b) const {
  if (options_.doubled_for == Duration{} || (a != 1 && b != 1)) return false;
  const Time from = Time{} + options_.doubled_from;
  return now_ >= from && now_ < from + options_.doubled_for + kHealed;
}

// The other one: a machine with ports of its own, and for the rest as host 1.
void World::AddDouble() {
  const Host& genuine = *hosts_[1];
  const ShippedSizes sizes = SizesOf(options_, 1, ShapeOfSegments().aggregate_lines);
  std::vector<SimPort*> ports;
  for (uint32_t plane = 0; plane < genuine.ports.size(); ++plane) {
    const uint8_t mac[6] = {0x02, 0xd0, 0xb1, 0xe0, 0, static_cast<uint8_t>(plane)};
    ports.push_back(switches_[options_.wiring.SwitchOf(1, plane)]->AddPort(
        mac, sizes.pool_frames[plane], options_.tx_descriptors, options_.faults.back(),
        options_.rx_descriptors));
  }
  double_ = std::make_unique<Host>(1, std::move(ports));
  double_->packed_pdus = sizes.packed_pdus;
  double_->known_lives = genuine.known_lives;
  double_->met_lives = genuine.met_lives;
  InstanceParams params = ParamsOf(genuine);
  params.secret = {dice_seed_ + 0xd0b1e, 1};
  log_.Add(now_, "another host 1 boots");
  double_->Boot(params, options_.wiring, ShapeOfSegments(), now_);
}

// A turn of it. Its client sends commands that say so, and those that it receives count as received
// by host 1: their sender cannot know better.
void World::PlayDouble() {
  if (options_.doubled_for == Duration{} || healed_) return;
  const Time from = Time{} + options_.doubled_from;
  if (doubled_) {
    if (IsDoubled(0, 1)) return;
    healed_ = true;
    healed_at_ = now_;
    log_.Add(now_, "what it has spoilt should be well");
    for (const auto& host : hosts_) host->to_send = options_.commands_after;
    return;
  }
  const bool over = now_ >= from + options_.doubled_for;
  if (now_ < from) return;
  if (double_ == nullptr) AddDouble();
  if (now_ >= next_learnt_ || over) {
    next_learnt_ = now_ + dice_.OfAnyScale(std::chrono::microseconds(5),
                                           std::chrono::milliseconds(5));
    const Host& taken = dice_.Chance(0.5) && !over ? *double_ : *hosts_[1];
    for (uint32_t plane = 0; plane < taken.ports.size(); ++plane) {
      const uint32_t number = options_.wiring.SwitchOf(1, plane);
      uint8_t mac[6];
      std::copy_n(options_.wiring.MacOf(1, number).begin(), 6, mac);
      switches_[number]->Learn(mac, taken.ports[plane]);
    }
  }
  if (!over) {
    const StreamName stream{.source = 1, .life = 0, .queue = Attacker::kForged, .destination = 0};
    const Content content(stream, 0, options_.fixed_data_bytes);
    if (dice_.Chance(0.1)) {
      double_->queues[0].Send({.xpuid = 0,
                               .vc = static_cast<uint8_t>(dice_.Below(kVcCount)),
                               .flags = 0,
                               .tag = 0,
                               .control = content.control,
                               .data = content.data});
      double_->queues[0].Flush();
    }
    double_->pipeline().Poll(now_);
    Receive(*double_, options_.max_received);
    return;
  }
  log_.Add(now_, "the other host 1 is gone");
  TakeAll(*double_);
  double_->TearDown();
  double_.reset();
  doubled_ = true;
}

}  // namespace suede
