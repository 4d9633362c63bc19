// SPDX-License-Identifier: Apache-2.0
#include "fabric_paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "planes.h"
#include "world.h"

namespace suede {
namespace {

constexpr uint32_t kPlanes = 4;
constexpr uint32_t kInner = 4;
constexpr uint32_t kFullWeight = 4;  // of a plane; half of it over half a Y-cable
constexpr double kPlaneGbps = 1;
constexpr double kLoad = 0.15;  // of all planes of a host: what is left of them is never full
constexpr uint32_t kCommandBytes = kMaxDataBytes;
constexpr uint32_t kLeastOfPdu = 250;  // octets of a frame that has commands
constexpr int kChanges = 5;
constexpr const char* kChangeNames[] = {"half a Y-cable", "a cable", "a whole plane", "routes",
                                        "an inner link"};
// On every second seed inner links die, too. A plane is without most of its sessions then for as
// long as they need to notice, and is owed up to 48 KiB to each host afterwards, which at the
// rates of this fabric takes milliseconds: these shares are told, and no criterion.
constexpr bool HasInnerFaults(uint64_t seed) { return seed % 2 == 1; }
constexpr Duration kBegin = std::chrono::milliseconds(2);
constexpr Duration kSettling = std::chrono::milliseconds(5);  // after a change,
constexpr Duration kMeasured = std::chrono::milliseconds(5);  // and until the next one
constexpr double kMostError = 0.03;  // relative, of a host's share where each PDU goes by itself
constexpr double kMostFlowError =
    0.1;  // of all hosts' together, where flows do: told, no criterion

struct Case {
  const char* name;
  Ordering ordering;
  bool to_all;
};
constexpr Case kCases[] = {
    {"per packet, all to all", Ordering::kUnordered, true},
    {"per packet, permutation", Ordering::kUnordered, false},
    {"per flow, all to all", Ordering::kStrict, true},
    {"per flow, permutation", Ordering::kStrict, false},
};

WorldOptions OptionsOf(const Case& which, uint64_t seed, uint32_t hosts) {
  WorldOptions options;
  options.wiring.hosts = hosts;
  options.wiring.switches = kPlanes;
  options.wiring.weights.assign(kPlanes, kFullWeight);
  options.sessions = [](uint32_t) { return 4u; };
  options.paths.ordering = which.ordering;
  // A flow for each VC.
  if (which.ordering == Ordering::kStrict) options.transport.psn_scope = PsnScope::kVc;
  options.paths.hello_interval = Micros(300);
  options.paths.hello_idle = Micros(1000);
  options.paths.hold_down = Micros(1000);
  options.paths.hold_down_max = Micros(2000);
  options.transport.rto_initial = Micros(1000);
  options.transport.rto_min = Micros(400);
  options.transport.rto_max = Micros(4000);
  options.transport.window_pdus = 64;
  options.inflight_pdus = 1024;
  options.faults = {{.delay = Micros(2), .bits_per_ns = kPlaneGbps}};
  options.classes.links.on = true;
  options.classes.links.most_held = 512;
  options.inner = {.links = kInner, .until = std::chrono::hours(1)};
  options.commands = ~0u;
  options.burst = 2;
  const double bits = 1.5 * kCommandBytes * 8;  // of a burst: one command or two
  options.burst_gap = Duration(static_cast<int64_t>(bits / (kPlanes * kPlaneGbps * kLoad)));
  options.fixed_data_bytes = kCommandBytes;
  options.tagged = 0;
  options.transmit_now = 0;
  options.pauses = 0;
  if (!which.to_all) options.shift = 1 + static_cast<uint32_t>(seed % (hosts - 1));
  return options;
}

// What is wrong with a fabric, and what its weights are therefore. Planes 0 and 1 of a host may
// die, and routes over plane 2 may be withdrawn: any pair of hosts has a plane left.
class FabricState {
 public:
  explicit FabricState(uint32_t hosts)
      : halved_(hosts), down_(hosts), withdrawn_(hosts, std::vector<bool>(hosts)) {}

  // As suede-fare would set it.
  uint32_t WeightOf(uint32_t from, uint32_t to, uint32_t plane) const {
    if (plane == 2 && withdrawn_[from][to]) return 0;
    return halved_[from][plane] || halved_[to][plane] ? kFullWeight / 2 : kFullWeight;
  }
  bool IsDown(uint32_t from, uint32_t to, uint32_t plane) const {
    return down_[from][plane] || down_[to][plane];
  }
  bool FlipHalf(uint32_t host, uint32_t plane) { return halved_[host][plane] ^= true; }
  bool FlipPlane(uint32_t host, uint32_t plane) { return down_[host][plane] ^= true; }
  void SetPlane(uint32_t host, uint32_t plane, bool down) { down_[host][plane] = down; }
  void FlipRoute(uint32_t from, uint32_t to) { withdrawn_[from][to].flip(); }

 private:
  std::vector<std::array<bool, kPlanes>> halved_;
  std::vector<std::array<bool, kPlanes>> down_;
  std::vector<std::vector<bool>> withdrawn_;  // over plane 2
};

struct ShareErrors {
  std::vector<double> of_hosts;  // relative errors of each host's share on each plane, by windows
  std::vector<double> of_all;    // of all hosts' together
};

class FabricRun {
 public:
  // `tells`: prints what changes, and the shares of hosts that are far from the weights.
  FabricRun(const Case& which, uint64_t seed, uint32_t hosts, bool tells)
      : hosts_(hosts),
        tells_(tells),
        seed_(seed),
        world_(seed, OptionsOf(which, seed, hosts)),
        dice_(seed << 8 ^ 0xfab),
        shift_(OptionsOf(which, seed, hosts).shift),
        state_(hosts),
        octets_(size_t{hosts} * hosts) {
    for (uint32_t host = 0; host < hosts; ++host) {
      for (uint32_t plane = 0; plane < kPlanes; ++plane) {
        world_.host(host).ports[plane]->Watch(
            [this, host, plane](std::span<const uint8_t> frame) { Count(host, plane, frame); });
      }
    }
  }

  // Empty, or what is wrong.
  std::string Run(ShareErrors& shares) {
    RunFor(kBegin);
    for (int change = 0; change < kChanges; ++change) {
      Change();
      RunFor(kSettling);
      for (auto& of_pair : octets_) of_pair.fill(0);
      RunFor(kMeasured);
      Judge(shares);
    }
    Heal();
    for (uint32_t host = 0; host < hosts_; ++host) world_.host(host).to_send = 0;
    return world_.Run();
  }

 private:
  void RunFor(Duration time) {
    const Time end = world_.now() + time;
    while (world_.now() < end && world_.failure().empty()) {
      PushWeights();
      world_.Turn();
    }
  }

  void Count(uint32_t to, uint32_t plane, std::span<const uint8_t> frame) {
    if (frame.size() < kLeastOfPdu) return;
    constexpr size_t kSourceAt = 29;  // the last octet of the IPv4 address: the host
    octets_[size_t{frame[kSourceAt]} * hosts_ + to][plane] += frame.size();
  }

  uint32_t AnyHost() { return static_cast<uint32_t>(dice_.Below(hosts_)); }

  // Something fails, or comes back.
  void Change() {
    const uint32_t host = AnyHost();
    const auto plane = static_cast<uint32_t>(dice_.Below(kPlanes));
    const uint64_t kind = dice_.Below(std::size(kChangeNames) - (HasInnerFaults(seed_) ? 0 : 1));
    Tell(kChangeNames[kind], host, plane);
    switch (kind) {
      case 0: {  // half a Y-cable
        const bool half = state_.FlipHalf(host, plane);
        world_.host(host).ports[plane]->faults().bits_per_ns = half ? kPlaneGbps / 2 : kPlaneGbps;
        return Announce(host, plane);
      }
      case 1:  // a cable
        return world_.host(host).ports[0]->SetLink(!state_.FlipPlane(host, 0));
      case 2: {  // a whole plane
        const bool down = state_.FlipPlane(0, 0);
        for (uint32_t each = 0; each < hosts_; ++each) {
          state_.SetPlane(each, 0, down);
          world_.host(each).ports[0]->SetLink(!down);
        }
        return;
      }
      case 3: {  // routes of a host
        for (uint32_t to = 0; to < hosts_; ++to) {
          if (to == host || (shift_ == 0 && dice_.Chance(0.5))) continue;
          state_.FlipRoute(host, to);
          due_.push_back({host, to, 2});
        }
        return;
      }
      case 4: {  // an inner link: at most one of a switch is dead
        uint32_t& dead = dead_inner_[plane];
        if (dead != kInner) world_.inner().SetDead(plane, dead, false);
        dead = dead != kInner ? kInner : static_cast<uint32_t>(dice_.Below(kInner));
        if (dead != kInner) world_.inner().SetDead(plane, dead, true);
      }
    }
  }

  // The weights of all pairs that the host is one of.
  void Announce(uint32_t host, uint32_t plane) {
    for (uint32_t other = 0; other < hosts_; ++other) {
      if (other == host) continue;
      due_.push_back({host, other, plane});
      due_.push_back({other, host, plane});
    }
  }

  void PushWeights() {
    std::vector<Due> left;
    for (const Due& due : due_) {
      const Instance& instance = world_.host(due.from).pipeline().instance(0);
      const request::SetWeight asked{.instance = 0,
                                     .peer = instance.peer_of_xpu[due.to],
                                     .plane = due.plane,
                                     .weight = state_.WeightOf(due.from, due.to, due.plane)};
      if (!world_.host(due.from).pipeline().mailbox().requests.Push(asked)) left.push_back(due);
    }
    due_ = std::move(left);
  }

  void Heal() {
    const FabricState whole(hosts_);
    for (uint32_t host = 0; host < hosts_; ++host) {
      for (uint32_t plane = 0; plane < kPlanes; ++plane) {
        world_.host(host).ports[plane]->SetLink(true);
        world_.host(host).ports[plane]->faults().bits_per_ns = kPlaneGbps;
      }
    }
    state_ = whole;
    for (uint32_t from = 0; from < hosts_; ++from) {
      for (uint32_t to = 0; to < hosts_; ++to) {
        for (uint32_t plane = 0; from != to && plane < kPlanes; ++plane) {
          due_.push_back({from, to, plane});
        }
      }
    }
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      if (dead_inner_[plane] != kInner) world_.inner().SetDead(plane, dead_inner_[plane], false);
    }
    while (!due_.empty() && world_.failure().empty()) RunFor(Micros(10));
    world_.inner().End();
  }

  // What each plane should have had of what was sent, by the weights.
  void Judge(ShareErrors& shares) {
    std::array<double, kPlanes> all_want{};
    std::array<double, kPlanes> all_got{};
    for (uint32_t from = 0; from < hosts_; ++from) {
      std::array<double, kPlanes> want{};
      std::array<double, kPlanes> got{};
      for (uint32_t to = 0; to < hosts_; ++to) {
        const auto& of_pair = octets_[size_t{from} * hosts_ + to];
        double sum = 0;
        double weights = 0;
        for (uint32_t plane = 0; plane < kPlanes; ++plane) {
          sum += static_cast<double>(of_pair[plane]);
          if (!state_.IsDown(from, to, plane)) weights += state_.WeightOf(from, to, plane);
        }
        for (uint32_t plane = 0; plane < kPlanes; ++plane) {
          got[plane] += static_cast<double>(of_pair[plane]);
          if (state_.IsDown(from, to, plane)) continue;
          want[plane] += sum * state_.WeightOf(from, to, plane) / weights;
        }
      }
      for (uint32_t plane = 0; plane < kPlanes; ++plane) {
        all_want[plane] += want[plane];
        all_got[plane] += got[plane];
      }
      AddErrors(want, got, shares.of_hosts);
      TellShares(from, want, got);
    }
    AddErrors(all_want, all_got, shares.of_all);
  }

  static void AddErrors(const std::array<double, kPlanes>& want,
                        const std::array<double, kPlanes>& got, std::vector<double>& errors) {
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      if (want[plane] == 0 && got[plane] == 0) continue;
      errors.push_back(want[plane] == 0 ? 1 : std::abs(got[plane] / want[plane] - 1));
    }
  }

  struct Due {
    uint32_t from;
    uint32_t to;
    uint32_t plane;
  };

  void Tell(const char* what, uint32_t host, uint32_t plane) const {
    if (!tells_) return;
    std::printf("%.1f ms: %s, host %u, plane %u\n",
                static_cast<double>((world_.now() - Time{}).count()) / 1e6, what, host, plane);
  }
  void TellShares(uint32_t host, const std::array<double, kPlanes>& want,
                  const std::array<double, kPlanes>& got) const {
    std::vector<double> errors;
    AddErrors(want, got, errors);
    if (!tells_ || *std::max_element(errors.begin(), errors.end()) <= kMostError) return;
    std::printf("  host %u:", host);
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      std::printf(" %.0f of %.0f", got[plane], want[plane]);
    }
    std::printf(" octets\n");
  }

  const uint32_t hosts_;
  const bool tells_;
  const uint64_t seed_;
  World world_;
  Dice dice_;
  const uint32_t shift_;
  FabricState state_;
  std::vector<Due> due_;  // weights to be set
  std::array<uint32_t, kPlanes> dead_inner_{kInner, kInner, kInner, kInner};
  std::vector<std::array<uint64_t, kPlanes>> octets_;  // [from][to]
};

double Percentile(std::vector<double>& sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty()
             ? 0
             : sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

size_t Beyond(const std::vector<double>& errors, double most) {
  return static_cast<size_t>(
      std::count_if(errors.begin(), errors.end(), [most](double error) { return error > most; }));
}

void Tell(const char* where, ShareErrors& shares, double most) {
  for (auto* errors : {&shares.of_hosts, &shares.of_all}) {
    if (errors->empty()) continue;
    std::printf(
        "  error of a plane's share of %s%s: p50 %.4f, p99 %.4f, most %.4f; %zu of %zu beyond "
        "%.2f\n",
        errors == &shares.of_hosts ? "a host's octets" : "all octets", where,
        Percentile(*errors, 0.5), Percentile(*errors, 0.99), Percentile(*errors, 1),
        Beyond(*errors, most), errors->size(), most);
  }
  std::fflush(stdout);
}

}  // namespace

int RunFabricPaths(uint64_t first_seed, uint64_t count, uint32_t hosts) {
  bool passed = true;
  for (const Case& which : kCases) {
    ShareErrors shares;
    ShareErrors disturbed;
    uint64_t failed = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      ShareErrors& errors = HasInnerFaults(seed) ? disturbed : shares;
      const std::string verdict =
          FabricRun(which, seed, hosts, count == 1 && which.ordering == Ordering::kUnordered)
              .Run(errors);
      if (verdict.empty()) continue;
      ++failed;
      std::printf("%s, seed %llu: %s\n  replay: sim_runner fabric_paths %llu 1 %u\n", which.name,
                  static_cast<unsigned long long>(seed), verdict.c_str(),
                  static_cast<unsigned long long>(seed), hosts);
    }
    std::printf("fabric_paths: %s: %u hosts, %llu seeds, %llu failed\n", which.name, hosts,
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed));
    const bool strict = which.ordering == Ordering::kStrict;
    const double most = strict ? kMostFlowError : kMostError;
    Tell("", shares, most);
    Tell(", inner links die", disturbed, most);
    const bool near = Beyond(shares.of_hosts, kMostError) == 0;
    passed &= failed == 0 && (near || strict);
  }
  return passed ? 0 : 1;
}

}  // namespace suede
