// SPDX-License-Identifier: Apache-2.0
#include "dpdk/link_settings.h"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dpdk/eal_log.h"
#include "dpdk/port_opener.h"

namespace suede {
namespace internal {
namespace {

// Speeds of full duplex that DPDK knows, in Mbit/s.
constexpr std::array<uint32_t, 14> kSpeeds = {10,    100,   1000,  2500,  5000,   10000,  20000,
                                              25000, 40000, 50000, 56000, 100000, 200000, 400000};

uint32_t BitOf(uint32_t mbps) { return rte_eth_speed_bitflag(mbps, RTE_ETH_LINK_FULL_DUPLEX); }

constexpr std::array<std::pair<FecMode, uint32_t>, 4> kModes = {
    {{FecMode::kOff, RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC)},
     {FecMode::kAuto, RTE_ETH_FEC_MODE_CAPA_MASK(AUTO)},
     {FecMode::kBaser, RTE_ETH_FEC_MODE_CAPA_MASK(BASER)},
     {FecMode::kRs, RTE_ETH_FEC_MODE_CAPA_MASK(RS)}}};

uint32_t BitOf(FecMode mode) {
  return std::ranges::find(kModes, mode, &decltype(kModes)::value_type::first)->second;
}

}  // namespace

std::string SpeedsText(uint32_t capable) {
  std::vector<std::string> all;
  for (const uint32_t mbps : kSpeeds) {
    if ((BitOf(mbps) & capable) != 0) all.push_back(absl::StrCat(mbps / 1000.0));
  }
  return absl::StrJoin(all, ", ");
}

absl::StatusOr<uint32_t> LinkSpeedBits(const PortOptions& options, uint32_t capable) {
  if (options.link_speeds_gbps.empty()) return RTE_ETH_LINK_SPEED_AUTONEG;
  const std::string known = SpeedsText(capable);
  if (known.empty()) {
    return absl::InvalidArgumentError(
        "its driver reports no speeds of the device, and takes none: remove link_speeds_gbps");
  }
  uint32_t bits = options.autoneg ? 0 : RTE_ETH_LINK_SPEED_FIXED;
  for (const uint32_t gbps : options.link_speeds_gbps) {
    const uint32_t bit = BitOf(gbps * 1000);
    if ((bit & capable) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("the device has no ", gbps, " Gbit/s, but ",
                                                     known, ": change link_speeds_gbps"));
    }
    bits |= bit;
  }
  return bits;
}

std::string FecText(uint32_t capable) {
  std::vector<std::string> names;
  for (const auto& [mode, bit] : kModes) {
    if ((bit & capable) != 0) names.emplace_back(NameOf(mode));
  }
  return names.empty() ? "none" : absl::StrJoin(names, " or ");
}

}  // namespace internal

std::string_view NameOf(FecMode mode) {
  constexpr std::array<std::string_view, 5> kNames = {"", "off", "auto", "baser", "rs"};
  return kNames[static_cast<size_t>(mode)];
}

absl::Status PortOpener::SetFec() {
  if (options_.fec == FecMode::kNone) return absl::OkStatus();
  const int error = rte_eth_fec_set(port_->id_, internal::BitOf(options_.fec));
  if (error == 0) return absl::OkStatus();
  const std::string what = absl::StrCat("fec: ", std::string(NameOf(options_.fec)));
  if (error == -ENOTSUP) {
    internal::TakeEalErrors();
    return absl::FailedPreconditionError(
        absl::StrCat(Prefix(), what, " is not possible: the driver ", port_->driver_,
                     " has no such setting; remove fec"));
  }
  std::array<rte_eth_fec_capa, 16> speeds{};
  const int count = rte_eth_fec_get_capability(port_->id_, speeds.data(), speeds.size());
  uint32_t capable = 0;
  for (int i = 0; i < std::min<int>(count, speeds.size()); ++i) capable |= speeds[i].capa;
  return absl::FailedPreconditionError(
      absl::StrCat(Failed(what, error).message(), "; the device has ", internal::FecText(capable)));
}

void DpdkPort::ReadFec() {
  uint32_t bits = 0;
  fec_ = FecMode::kNone;
  if (rte_eth_fec_get(id_, &bits) != 0) return;
  for (const auto& [mode, bit] : internal::kModes) {
    if ((bits & bit) != 0) fec_ = mode;
  }
}

}  // namespace suede
