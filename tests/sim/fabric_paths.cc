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
constexpr double kFabricPlaneGbps = 1;
constexpr double kLoad = 0.15;  // of all planes of a host: what is left of them is never full
constexpr uint32_t kCommandBytes = kMaxDataBytes;
constexpr uint32_t kMinOfPdu = 250;  // octets of a frame that has commands
constexpr int kChanges = 5;
constexpr uint32_t kFlows = 4;  // in strict mode, to each host: one for each VC
constexpr const char* kChangeNames[] = {"half a Y-cable", "a cable", "a whole plane", "routes",
                                        "an inner link"};
constexpr Duration kBegin = std::chrono::milliseconds(2);
constexpr Duration kSettling = std::chrono::milliseconds(5);  // after a change,
constexpr Duration kMeasured = std::chrono::milliseconds(5);  // and until the next one,
constexpr uint32_t kHostsOfMeasured = 16;  // and as much longer as there are more hosts: a share of
                                           // the few PDUs to each of them cannot be told exactly
constexpr double kMaxError = 0.03;     // relative, of a host's share where each PDU goes by itself
constexpr double kMaxFlowError = 0.1;  // of all hosts' together, where flows do: told, no criterion

// Where changes overtake each other: the time from one to the next, at least and at most, how long
// a host's turn and the silence of an idle plane may be, and the loads, from kLoad down.
constexpr Duration kSoonest = std::chrono::microseconds(100);
constexpr Duration kLatest = std::chrono::milliseconds(2);
constexpr Duration kLongerTurn = std::chrono::microseconds(8);
constexpr Duration kLongerIdle = std::chrono::milliseconds(20);
constexpr uint64_t kLoads = 5;

// How parts of the fabric fail.
struct Pace {
  bool inner;    // inner links die, too
  bool settles;  // shares are measured after each change; false: changes overtake each other
};
// On every second seed inner links die, too. A plane is without some of its sessions then for as
// long as they need to notice: these shares are told, and no criterion.
constexpr Pace Calm(uint64_t seed) { return {.inner = seed % 2 == 1, .settles = true}; }
constexpr Pace kHasty{.inner = true, .settles = false};

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

WorldOptions OptionsOf(const Case& which, const Pace& pace, uint64_t seed, uint32_t hosts) {
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
  if (!pace.settles) {
    options.max_turn = kLongerTurn;
    options.paths.hello_idle = kLongerIdle;
    options.idles = seed / std::size(kCases) % 4 == 0;
  }
  options.transport.rto_initial = Micros(1000);
  options.transport.rto_min = Micros(400);
  options.transport.rto_max = Micros(4000);
  options.transport.window_pdus = 64;
  options.inflight_pdus = 1024;
  options.faults = {{.delay = Micros(2), .bits_per_ns = kFabricPlaneGbps}};
  options.classes.links.on = true;
  options.classes.links.max_held = 512;
  options.inner = {.links = kInner, .until = std::chrono::hours(1)};
  options.commands = ~0u;
  options.burst = 2;
  const double bits = 1.5 * kCommandBytes * 8;  // of a burst: one command or two
  const double load = pace.settles ? kLoad : kLoad / static_cast<double>(1 + seed % kLoads);
  options.burst_gap = Duration(static_cast<int64_t>(bits / (kPlanes * kFabricPlaneGbps * load)));
  options.fixed_data_bytes = kCommandBytes;
  options.tagged = 0;
  options.transmit_now = 0;
  options.pauses = 0;
  if (!which.to_all) options.shift = 1 + static_cast<uint32_t>(seed % (hosts - 1));
  return options;
}

// The faults of a fabric, and the weights that follow from them. Planes 0 and 1 of a host may die,
// and routes over plane 2 may be withdrawn: any pair of hosts has a plane left.
class FabricState {
 public:
  explicit FabricState(uint32_t hosts)
      : halved_(hosts), down_(hosts), withdrawn_(hosts, std::vector<bool>(hosts)) {}

  // The weight as suede-fare would set it.
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

// Flows that moved while they had PDUs in flight, from a change until its shares count: of hosts
// of which it changed a plane, and of the others.
struct MoveCounts {
  struct Count {
    uint64_t moves = 0;
    uint64_t hosts = 0;
    double each() const {
      return hosts == 0 ? 0 : static_cast<double>(moves) / static_cast<double>(hosts);
    }
  };
  Count concerned;
  Count others;
};

class FabricRun {
 public:
  // `prints`: prints what changes, and the shares of hosts that are far from the weights.
  FabricRun(const Case& which, const Pace& pace, uint64_t seed, uint32_t hosts, bool prints)
      : hosts_(hosts),
        prints_(prints),
        pace_(pace),
        world_(seed, OptionsOf(which, pace, seed, hosts)),
        dice_(seed << 8 ^ 0xfab),
        shift_(OptionsOf(which, pace, seed, hosts).shift),
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
  std::string Run(ShareErrors& shares, MoveCounts& moves) {
    RunFor(pace_.settles ? kBegin : dice_.Up(kBegin));
    for (int change = 0; change < kChanges; ++change) {
      if (!pace_.settles) {
        Change();
        RunFor(dice_.OfAnyScale(kSoonest, kLatest));
        continue;
      }
      const std::vector<uint64_t> before = MovesOfHosts();
      const std::vector<std::array<double, kPlanes>> shares_before = WantedShares();
      Change();
      RunFor(kSettling);
      NoteMoves(before, shares_before, moves);
      for (auto& of_pair : octets_) of_pair.fill(0);
      RunFor(kMeasured * std::max(1u, hosts_ / kHostsOfMeasured));
      Check(shares);
    }
    Heal();
    for (uint32_t host = 0; host < hosts_; ++host) world_.host(host).to_send = 0;
    return world_.Run();
  }

  const World& world() const { return world_; }

 private:
  void RunFor(Duration time) {
    const Time end = world_.now() + time;
    while (world_.now() < end && world_.failure().empty()) {
      PushWeights();
      world_.Turn();
    }
  }

  void Count(uint32_t to, uint32_t plane, std::span<const uint8_t> frame) {
    if (frame.size() < kMinOfPdu) return;
    constexpr size_t kSourceAt = 29;  // the last octet of the IPv4 address: the host
    octets_[size_t{frame[kSourceAt]} * hosts_ + to][plane] += frame.size();
  }

  uint32_t AnyHost() { return static_cast<uint32_t>(dice_.Below(hosts_)); }

  // Something fails, or comes back.
  void Change() {
    const uint32_t host = AnyHost();
    const auto plane = static_cast<uint32_t>(dice_.Below(kPlanes));
    const uint64_t kind = dice_.Below(std::size(kChangeNames) - (pace_.inner ? 0 : 1));
    Report(kChangeNames[kind], host, plane);
    switch (kind) {
      case 0: {  // half a Y-cable
        const bool half = state_.FlipHalf(host, plane);
        world_.host(host).ports[plane]->faults().bits_per_ns =
            half ? kFabricPlaneGbps / 2 : kFabricPlaneGbps;
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

  // Announces the weights of all pairs with the host.
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
                                     .peer = instance.peers.OfXpu(due.to),
                                     .plane = PlaneIndex(due.plane),
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
        world_.host(host).ports[plane]->faults().bits_per_ns = kFabricPlaneGbps;
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

  std::vector<uint64_t> MovesOfHosts() {
    std::vector<uint64_t> moves;
    for (uint32_t host = 0; host < hosts_; ++host) {
      moves.push_back(world_.host(host).Count(Counter::kFlowMoves));
    }
    return moves;
  }
  // The wanted shares of planes to each host; they tell whether a change concerns a host.
  std::vector<std::array<double, kPlanes>> WantedShares() const {
    std::vector<std::array<double, kPlanes>> all;
    for (uint32_t from = 0; from < hosts_; ++from) {
      for (uint32_t to = 0; to < hosts_; ++to) {
        if (to == from || (shift_ != 0 && to != (from + shift_) % hosts_)) continue;
        std::array<double, kPlanes>& of_pair = all.emplace_back();
        for (uint32_t plane = 0; plane < kPlanes; ++plane) {
          of_pair[plane] = state_.IsDown(from, to, plane) ? 0 : state_.WeightOf(from, to, plane);
        }
      }
    }
    return all;
  }
  // Dead inner links are not in the state: such changes concern all hosts.
  void NoteMoves(const std::vector<uint64_t>& before,
                 const std::vector<std::array<double, kPlanes>>& shares_before, MoveCounts& moves) {
    if (pace_.inner) return;
    const std::vector<uint64_t> after = MovesOfHosts();
    const std::vector<std::array<double, kPlanes>> now = WantedShares();
    const size_t pairs = now.size() / hosts_;
    for (uint32_t host = 0; host < hosts_; ++host) {
      const auto begin = static_cast<ptrdiff_t>(host * pairs);
      const auto end = begin + static_cast<ptrdiff_t>(pairs);
      const bool same =
          std::equal(now.begin() + begin, now.begin() + end, shares_before.begin() + begin);
      MoveCounts::Count& count = same ? moves.others : moves.concerned;
      count.moves += after[host] - before[host];
      ++count.hosts;
    }
  }

  // Compares the octets that each plane should have had, by the weights, with those that it had.
  void Check(ShareErrors& shares) {
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
      PublishShares(from, want, got);
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

  void Report(const char* what, uint32_t host, uint32_t plane) const {
    if (!prints_) return;
    std::printf("%.1f ms: %s, host %u, plane %u\n",
                static_cast<double>((world_.now() - Time{}).count()) / 1e6, what, host, plane);
  }
  void PublishShares(uint32_t host, const std::array<double, kPlanes>& want,
                     const std::array<double, kPlanes>& got) const {
    std::vector<double> errors;
    AddErrors(want, got, errors);
    if (!prints_ || *std::max_element(errors.begin(), errors.end()) <= kMaxError) return;
    std::printf("  host %u:", host);
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      std::printf(" %.0f of %.0f", got[plane], want[plane]);
    }
    std::printf(" octets\n");
  }

  const uint32_t hosts_;
  const bool prints_;
  const Pace pace_;
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

size_t Beyond(const std::vector<double>& errors, double max) {
  return static_cast<size_t>(
      std::count_if(errors.begin(), errors.end(), [max](double error) { return error > max; }));
}

void Report(const char* where, ShareErrors& shares, double max) {
  for (auto* errors : {&shares.of_hosts, &shares.of_all}) {
    if (errors->empty()) continue;
    std::printf(
        "  error of a plane's share of %s%s: p50 %.4f, p99 %.4f, most %.4f; %zu of %zu beyond "
        "%.2f\n",
        errors == &shares.of_hosts ? "a host's octets" : "all octets", where,
        Percentile(*errors, 0.5), Percentile(*errors, 0.99), Percentile(*errors, 1),
        Beyond(*errors, max), errors->size(), max);
  }
  std::fflush(stdout);
}

// Whether the oracle was not content.
bool TellVerdict(const char* scenario, const Case& which, uint64_t seed, uint32_t hosts,
                 const std::string& verdict) {
  if (verdict.empty()) return false;
  std::printf("%s, seed %llu: %s\n  replay: sim_runner %s %llu 1 %u\n", which.name,
              static_cast<unsigned long long>(seed), verdict.c_str(), scenario,
              static_cast<unsigned long long>(seed), hosts);
  std::fflush(stdout);
  return true;
}

}  // namespace

int RunFabricChanges(uint64_t first_seed, uint64_t count, uint32_t hosts) {
  uint64_t failed = 0;
  uint64_t commands = 0;
  uint64_t moved = 0;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const Case& which = kCases[seed % std::size(kCases)];
    ShareErrors shares;
    MoveCounts moves;
    FabricRun run(which, kHasty, seed, hosts, count == 1);
    const std::string verdict = run.Run(shares, moves);
    commands += run.world().Sum(Counter::kRxCommands);
    moved += run.world().Sum(Counter::kTxMoved);
    const bool fails = TellVerdict("fabric_changes", which, seed, hosts, verdict);
    if (fails && count == 1) run.world().log().Print();
    failed += fails ? 1 : 0;
  }
  std::printf("fabric_changes: %u hosts, %llu seeds, %llu failed, %llu commands, %llu PDUs moved\n",
              hosts, static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(commands),
              static_cast<unsigned long long>(moved));
  return failed == 0 ? 0 : 1;
}

int RunFabricPaths(uint64_t first_seed, uint64_t count, uint32_t hosts) {
  bool passed = true;
  for (const Case& which : kCases) {
    ShareErrors shares;
    ShareErrors disturbed;
    MoveCounts moves;
    uint64_t failed = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      const Pace pace = Calm(seed);
      ShareErrors& errors = pace.inner ? disturbed : shares;
      const std::string verdict =
          FabricRun(which, pace, seed, hosts, count == 1).Run(errors, moves);
      failed += TellVerdict("fabric_paths", which, seed, hosts, verdict) ? 1 : 0;
    }
    std::printf("fabric_paths: %s: %u hosts, %llu seeds, %llu failed\n", which.name, hosts,
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed));
    const bool strict = which.ordering == Ordering::kStrict;
    const double max = strict ? kMaxFlowError : kMaxError;
    Report("", shares, max);
    Report(", inner links die", disturbed, max);
    if (strict) {
      std::printf(
          "  flows that moved within 5 ms of a change, of the %u of a host: %.3f where it "
          "concerned the host, %.3f of the others\n",
          which.to_all ? kFlows * (hosts - 1) : kFlows, moves.concerned.each(),
          moves.others.each());
    }
    const bool near = Beyond(shares.of_hosts, kMaxError) == 0;
    passed &= failed == 0 && (near || strict);
  }
  return passed ? 0 : 1;
}

}  // namespace suede
