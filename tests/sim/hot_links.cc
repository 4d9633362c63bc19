// SPDX-License-Identifier: Apache-2.0
#include "hot_links.h"

#include <algorithm>
#include <cmath>

#include "base/big_endian.h"
#include "fabric/random.h"
#include "sim/checks.h"

namespace suede {
namespace {

constexpr uint32_t kWireBytes = 24;  // preamble, FCS and gap of a frame
// In a frame of UDP over IPv4 without a tag.
constexpr size_t kTosAt = 15;
constexpr size_t kChecksumAt = 24;
constexpr size_t kAddressesAt = 26;
constexpr size_t kPortsAt = 34;
constexpr size_t kUdpEnd = 42;
constexpr uint8_t kEcnMask = 3;

// Congestion experienced, where the sender knows what that is; the checksum follows (RFC 1624).
bool Mark(std::span<uint8_t> frame) {
  const uint8_t ecn = frame[kTosAt] & kEcnMask;
  if (ecn == 0 || ecn == kEcnMask) return false;
  const uint16_t before = LoadBe16(&frame[kTosAt - 1]);
  frame[kTosAt] |= kEcnMask;
  const uint16_t after = LoadBe16(&frame[kTosAt - 1]);
  uint32_t sum = static_cast<uint16_t>(~LoadBe16(&frame[kChecksumAt]));
  sum += static_cast<uint16_t>(~before);
  sum += after;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  StoreBe16(&frame[kChecksumAt], static_cast<uint16_t>(~sum));
  return true;
}

}  // namespace

HotLinks::HotLinks(const HotLinksParams& params) : params_(params), dice_(params.seed) {
  for (std::vector<Link>& links : links_) links.resize(params.links);
}

void HotLinks::SetLoad(uint32_t direction, uint32_t link, double load, Time now) {
  Link& changed = links_[direction][link];
  CatchUp(changed, now);
  changed.load = load;
  changed.next_background = load == 0 ? kNever : now + Gap(changed);
}

uint32_t HotLinks::LinkOf(std::span<const uint8_t> frame) const {
  Require(frame.size() >= kUdpEnd, "a frame without UDP has come to a leaf");
  uint64_t hash = params_.seed;
  for (const size_t at : {kAddressesAt, kAddressesAt + 4, kPortsAt}) {
    hash = fabric::Random(hash ^ LoadBe32(&frame[at])).Next();
  }
  return static_cast<uint32_t>((hash >> 32) % params_.links);
}

Time HotLinks::Pass(uint32_t direction, std::span<uint8_t> frame, Time leaves) {
  Link& link = links_[direction][LinkOf(frame)];
  const Time at = leaves + params_.cable;
  const auto bytes = static_cast<uint32_t>(frame.size());
  link.offered += bytes;
  CatchUp(link, at);
  const uint32_t queued = QueuedAt(link, at);
  if (queued + bytes > params_.queue_bytes || (link.loss != 0 && dice_.Chance(link.loss))) {
    ++lost_;
    return kNever;
  }
  MayMark(queued, frame);
  Join(link, bytes, at);
  return link.free_at + params_.cable;
}

Duration HotLinks::TimeOf(uint32_t bytes) const {
  return Duration(static_cast<int64_t>((bytes + kWireBytes) * 8 / params_.bits_per_ns));
}

uint32_t HotLinks::QueuedAt(const Link& link, Time at) const {
  if (link.free_at <= at) return 0;
  const auto wait = static_cast<double>((link.free_at - at).count());
  return static_cast<uint32_t>(wait * params_.bits_per_ns / 8);
}

void HotLinks::Join(Link& link, uint32_t bytes, Time at) {
  link.free_at = std::max(link.free_at, at) + TimeOf(bytes);
}

// Adds the frames that the background has sent until then. They always find room: no host takes it
// from others.
void HotLinks::CatchUp(Link& link, Time until) {
  while (link.next_background <= until) {
    Join(link, params_.background_bytes, link.next_background);
    link.next_background += Gap(link);
  }
}

// The gap between two frames of the background: Poisson's.
Duration HotLinks::Gap(const Link& link) {
  constexpr uint64_t kParts = 1u << 30;
  const double uniform = static_cast<double>(1 + dice_.Below(kParts)) / kParts;
  const double mean = static_cast<double>(TimeOf(params_.background_bytes).count()) / link.load;
  return Duration(1 + static_cast<int64_t>(-std::log(uniform) * mean));
}

void HotLinks::MayMark(uint32_t queued, std::span<uint8_t> frame) {
  if (queued <= params_.mark_min_bytes) return;
  const double range = params_.mark_max_bytes - params_.mark_min_bytes;
  if (queued < params_.mark_max_bytes && !dice_.Chance((queued - params_.mark_min_bytes) / range)) {
    return;
  }
  if (Mark(frame)) ++marked_;
}

}  // namespace suede
