// SPDX-License-Identifier: Apache-2.0
#include "inner_links.h"

#include <algorithm>

#include "base/big_endian.h"

namespace suede {
namespace {

// Where a frame has the number of its session, or a part of it; 0: nowhere.
uint32_t NumberOf(std::span<const uint8_t> frame) {
  if (frame.size() < 60) return 0;
  const bool tagged = LoadBe16(&frame[12]) == 0x8100;
  const size_t at = tagged ? 18 : 14;
  switch (LoadBe16(&frame[at - 2])) {
    case 0x0800:
      return LoadBe16(&frame[at + 20]);
    case 0x86dd:
      return LoadBe16(&frame[at + 40]);
    case 0x88b6:
      return LoadBe16(&frame[at + 4]);
    case 0x88b5:
      return frame[7];  // AFH 2
    default:
      return 0;
  }
}

uint32_t Hash(uint32_t number) {
  uint32_t x = number * 0x9e3779b9u;
  x ^= x >> 15;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

}  // namespace

InnerLinks::InnerLinks(const InnerOptions& options, uint64_t seed,
                       const std::vector<std::unique_ptr<SimNetwork>>& switches, Log& log)
    : options_(options),
      dice_(seed ^ 0x1ea7),
      log_(log),
      dead_until_(switches.size(), std::vector<Time>(options.links)),
      over_(options.links == 0) {
  for (size_t number = 0; !over_ && number < switches.size(); ++number) {
    switches[number]->SetFilter(
        [this, number](std::span<const uint8_t> bytes) { return Passes(number, bytes); });
  }
  if (over_) return;
  next_ = options_.gap == Duration{} ? kNever : Time{} + dice_.Up(2 * options_.gap);
}

bool InnerLinks::Passes(size_t number, std::span<const uint8_t> bytes) const {
  const uint32_t chosen = options_.plain ? NumberOf(bytes) : Hash(NumberOf(bytes));
  return dead_until_[number][chosen % options_.links] <= now_;
}

void InnerLinks::SetDead(size_t number, uint32_t link, bool dead) {
  dead_until_[number][link] = dead ? kNever : Time{};
}

void InnerLinks::End() {
  over_ = true;
  for (auto& links : dead_until_) {
    std::fill(links.begin(), links.end(), Time{});
    std::fill_n(links.begin(), options_.lost, kNever);
  }
}

void InnerLinks::Turn(Time now) {
  now_ = now;
  if (over_) return;
  if (now >= Time{} + options_.until) return End();
  if (now < next_) return;
  next_ = now + dice_.Up(2 * options_.gap);
  const auto number = static_cast<uint32_t>(dice_.Below(dead_until_.size()));
  auto& links = dead_until_[number];
  const auto dead = std::count_if(links.begin(), links.end(), [&](Time t) { return t > now; });
  if (2 * (dead + 1) > static_cast<int64_t>(links.size())) return;
  const auto link = static_cast<uint32_t>(dice_.Below(links.size()));
  links[link] = now + dice_.Up(options_.max);
  log_.Add(now, "inner link %u of switch %u dies", link, number);
}

}  // namespace suede
