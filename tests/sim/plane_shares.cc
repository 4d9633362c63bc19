// SPDX-License-Identifier: Apache-2.0
#include "plane_shares.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "fast_crc.h"
#include "world.h"

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr double kPlaneGbps = 25;
constexpr double kMinOfSum = 0.95;
constexpr double kMinOfLink = 0.85;    // that one plane must carry, or its link would limit nothing
constexpr double kShareError = 0.03;   // relative
constexpr double kLoadedError = 0.15;  // where there is less to send than planes can carry
constexpr int kRoundTrips = 5;         // in which a share must have followed
constexpr double kFollowedError = 0.1;

// Host 0 sends to host 1 over the planes, unordered, commands of 256 bytes. `load` is the share of
// the planes' bandwidths together that its client asks for, in bursts; 0: all that goes.
WorldOptions Planes(const std::vector<double>& gbps, const std::vector<uint32_t>& weights,
                    double load) {
  WorldOptions options;
  options.wiring.switches = static_cast<uint32_t>(gbps.size());
  options.wiring.weights = weights;
  options.paths.ordering = Ordering::kUnordered;
  options.faults.clear();
  double sum = 0;
  for (const double rate : gbps) {
    options.faults.push_back({.delay = microseconds(2), .bits_per_ns = rate});
    sum += rate;
  }
  options.classes.links.on = true;
  options.both_ways = false;
  options.commands = ~0u;
  options.fixed_data_bytes = kMaxDataBytes;
  options.tagged = 0;
  options.transmit_now = 0;
  options.pauses = 0;
  options.max_sent = 256;
  options.max_received = 256;
  if (load != 0) {
    options.burst = 100;
    const double bits = options.burst / 2 * kMaxDataBytes * 8;
    options.burst_gap = Duration(static_cast<int64_t>(bits / (sum * load)));
  }
  return options;
}

// The bytes through each plane of host 0, and those that arrived in all, from one moment to
// another.
class Meter {
 public:
  explicit Meter(World& world) : world_(world) { Begin(); }
  void Begin() {
    began_ = world_.now();
    arrived_ = world_.delivered_bytes();
    taken_.clear();
    for (const SimPort* port : world_.host(0).ports) taken_.push_back(port->bytes().taken);
  }
  void Run(Duration time) {
    const Time end = world_.now() + time;
    while (world_.now() < end && world_.failure().empty()) world_.Turn();
  }
  // Goodput of commands' data.
  double gbps() const {
    return static_cast<double>(world_.delivered_bytes() - arrived_) * 8 /
           static_cast<double>((world_.now() - began_).count());
  }
  // Each plane's share of the bytes that were handed to ports: where the share was chosen, not
  // where its link let the bytes out.
  std::vector<double> shares() const {
    std::vector<double> shares;
    double sum = 0;
    for (size_t p = 0; p < taken_.size(); ++p) {
      shares.push_back(static_cast<double>(world_.host(0).ports[p]->bytes().taken - taken_[p]));
      sum += shares.back();
    }
    for (double& share : shares) share /= sum;
    return shares;
  }
  // Gb/s of frames that were handed to the plane's port.
  double taken_gbps(size_t plane) const {
    const SimPort* port = world_.host(0).ports[plane];
    const uint64_t bytes = port->bytes().taken - taken_[plane];
    return static_cast<double>(bytes) * 8 / static_cast<double>((world_.now() - began_).count());
  }

 private:
  World& world_;
  Time began_{};
  uint64_t arrived_ = 0;
  std::vector<uint64_t> taken_;
};

// Lets frames under way arrive, and asks the oracle.
std::string Finish(World& world) {
  world.host(0).to_send = 0;
  return world.Run();
}

bool Report(bool good, const std::string& failure, const std::string& what) {
  good &= failure.empty();
  std::printf("plane_shares: %s%s %s\n", what.c_str(), good ? "" : " FAILED", failure.c_str());
  return good;
}

std::string Text(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    char one[16];
    std::snprintf(one, sizeof one, "%s%.4f", text.empty() ? "" : " ", number);
    text += one;
  }
  return text;
}

bool AllNear(const std::vector<double>& got, const std::vector<double>& want, double error) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] / want[i] - 1) > error) return false;
  }
  return true;
}

// Goodput of 1, 2 and 4 planes of the same rate: each time the goodput of one of them, times their
// number.
bool MeasureSum() {
  double one = 0;
  bool passed = true;
  for (const uint32_t planes : {1u, 2u, 4u}) {
    World world(planes, Planes(std::vector<double>(planes, kPlaneGbps), {}, 0));
    Meter meter(world);
    meter.Run(microseconds(1000));
    meter.Begin();
    meter.Run(microseconds(2000));
    const double gbps = meter.gbps();
    if (planes == 1) one = gbps;
    const double ratio = gbps / (one * planes);
    char line[120];
    std::snprintf(line, sizeof line, "%u planes of %.0f Gb/s carry %.2f Gb/s, ratio %.4f", planes,
                  kPlaneGbps, gbps, ratio);
    passed &= Report(ratio >= kMinOfSum && one >= kMinOfLink * kPlaneGbps, Finish(world), line);
  }
  return passed;
}

// Four planes whose rates are as 4:2:1:1, and whose weights say so.
bool MeasureShares(double load) {
  World world(1, Planes({40, 20, 10, 10}, {4, 2, 1, 1}, load));
  Meter meter(world);
  meter.Run(microseconds(1000));
  meter.Begin();
  meter.Run(microseconds(3000));
  const std::vector<double> shares = meter.shares();
  char line[160];
  std::snprintf(line, sizeof line, "rates of 4:2:1:1, %s: %.2f Gb/s, shares %s",
                load == 0 ? "saturated" : "half loaded", meter.gbps(), Text(shares).c_str());
  const double error = load == 0 ? kShareError : kLoadedError;
  return Report(AllNear(shares, {0.5, 0.25, 0.125, 0.125}, error), Finish(world), line);
}

// Four equal planes, of which one falls to half its rate, `times` times over. A round trip is the
// one that the transport had measured on that plane before. The shares of the bytes handed to the
// ports are told for each of the next five round trips; the five after those count. Where there is
// more to send than planes can carry, the slow one then has half as much as each of the others;
// where there is less, it is handed no more than its link can send, and as much arrives as before.
bool MeasureSlowed(double load, int times) {
  World world(1, Planes(std::vector<double>(4, kPlaneGbps), {}, load));
  Meter all(world);
  all.Run(microseconds(500));
  all.Begin();
  all.Run(microseconds(500));
  const double before = all.gbps();
  Host& host = world.host(0);
  const Instance& instance = host.pipeline().instance(0);
  const Duration round_trip =
      instance.peers.connections[instance.map.At(0, 3, 0, 0)].tx().round_trip().srtt();
  std::vector<double> windows(kRoundTrips);
  double share = 0;
  double handed_gbps = 0;  // to the slow one
  double after = 0;
  Meter meter(world);
  for (int i = 0; i < times; ++i) {
    host.ports[3]->faults().bits_per_ns = kPlaneGbps / 2;
    for (double& window : windows) {
      meter.Begin();
      meter.Run(round_trip);
      window += meter.shares()[3] / times;
    }
    meter.Begin();
    meter.Run(kRoundTrips * round_trip);
    share += meter.shares()[3] / times;
    handed_gbps += meter.taken_gbps(3) / times;
    after += meter.gbps() / times;
    host.ports[3]->faults().bits_per_ns = kPlaneGbps;
    meter.Run(2 * kRoundTrips * round_trip);
  }
  char line[240];
  std::snprintf(line, sizeof line,
                "one of 4 planes falls to half its rate, %s, round trip %.1f us: share by round "
                "trips %s, then %.4f, %.2f Gb/s; all %.2f Gb/s, then %.2f Gb/s",
                load == 0 ? "saturated" : "loaded", static_cast<double>(round_trip.count()) / 1000,
                Text(windows).c_str(), share, handed_gbps, before, after);
  const bool followed = load == 0 ? std::abs(share / (0.5 / 3.5) - 1) <= kFollowedError
                                  : handed_gbps <= (1 + kFollowedError) * kPlaneGbps / 2;
  const double carried = load == 0 ? before * 3.5 / 4 : before;
  const bool good = followed && after >= kMinOfSum * carried;
  return Report(good, Finish(world), line);
}

// Four planes of 1 Gb/s with 60 % to send, and weights that say that they are alike. Nothing
// announces that one of them carries half for a while: the endpoint measures it. In strict mode
// there are four flows, one for each VC.
class MeasuredRun {
 public:
  MeasuredRun(uint64_t seed, Ordering ordering)
      : ordering_(ordering), world_(seed, Options(ordering)), meter_(world_) {}

  bool Run() {
    meter_.Run(std::chrono::milliseconds(10));
    const double before = WorstShareOver(std::chrono::milliseconds(40), 0.25);
    world_.host(0).ports[kSlow]->faults().bits_per_ns = kGbps / 2;
    const Duration found = TimeUntil([this] { return Part() < PathRate::kWhole * 55 / 100; });
    const double slow = WorstShareOver(std::chrono::milliseconds(200), kSlowShare);
    world_.host(0).ports[kSlow]->faults().bits_per_ns = kGbps;
    const Duration back = TimeUntil([this] { return Part() == PathRate::kWhole; });
    const double after = WorstShareOver(std::chrono::milliseconds(40), 0.25);
    const bool strict = ordering_ == Ordering::kStrict;
    char line[240];
    std::snprintf(line, sizeof line,
                  "measured, %s: one of 4 planes falls to half, 60 %% loaded: found after %.1f ms, "
                  "whole again after %.1f ms; error of its share before %.4f, meanwhile %.4f, "
                  "afterwards %.4f; %llu windows",
                  strict ? "strict" : "unordered", Ms(found), Ms(back), before, slow, after,
                  static_cast<unsigned long long>(world_.host(0).Count(Counter::kPlaneRates)));
    const double max = strict ? kFlowError : kMeasuredError;
    const bool good = found <= kMaxUntilFound && back <= kMaxUntilBack && before <= kShareError &&
                      slow <= max && after <= kShareError;
    return Report(good, Finish(world_), line);
  }

 private:
  static constexpr uint32_t kSlow = 3;
  static constexpr double kGbps = 1;
  static constexpr double kSlowShare = 0.5 / 3.5;
  static constexpr double kMeasuredError = 0.05;
  static constexpr double kFlowError = 0.15;
  static constexpr Duration kInterval = microseconds(300);
  // In simulated time.
  static constexpr Duration kMaxUntilFound = std::chrono::milliseconds(20);
  static constexpr Duration kMaxUntilBack = std::chrono::milliseconds(1000);

  static WorldOptions Options(Ordering ordering) {
    WorldOptions options = Planes(std::vector<double>(4, kGbps), {}, 0.6);
    options.paths.ordering = ordering;
    if (ordering == Ordering::kStrict) options.transport.psn_scope = PsnScope::kVc;
    options.wiring.rate_bps = static_cast<uint64_t>(kGbps * 1e9);
    options.paths.weights = PlaneWeights::kMeasured;
    options.paths.hello_interval = kInterval;
    options.burst_gap = options.burst_gap * 4 / options.burst;
    options.burst = 4;
    return options;
  }
  static double Ms(Duration time) { return static_cast<double>(time.count()) / 1e6; }
  uint32_t Part() { return world_.host(0).pipeline().instance(0).peers.paths[0].part[kSlow]; }
  double WorstShareOver(Duration time, double want) {
    meter_.Begin();
    meter_.Run(time);
    return std::abs(meter_.shares()[kSlow] / want - 1);
  }
  template <typename Condition>
  Duration TimeUntil(Condition&& condition) {
    const Time began = world_.now();
    while (!condition() && world_.now() - began < std::chrono::seconds(2) &&
           world_.failure().empty()) {
      meter_.Run(kInterval);
    }
    return world_.now() - began;
  }

  const Ordering ordering_;
  World world_;
  Meter meter_;
};

bool MeasureMeasured() {
  bool passed = true;
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    for (const uint64_t seed : {1, 2, 3}) passed &= MeasuredRun(seed, ordering).Run();
  }
  return passed;
}

// With little to send, acknowledgements wait for PDUs that do not come: that is no congestion, and
// opens no sessions. Groups of eight sessions, behind one plane.
bool MeasureLight() {
  WorldOptions options = Planes({100}, {}, 0.001);
  options.sessions = [](uint32_t) { return 8u; };
  options.burst_gap = options.burst_gap * 4 / options.burst;
  options.burst = 4;
  World world(1, options);
  Meter meter(world);
  uint32_t open = 0;  // sessions, in each of so many ms
  constexpr uint32_t kMs = 40;
  for (uint32_t ms = 0; ms < kMs; ++ms) {
    meter.Run(std::chrono::milliseconds(1));
    const Instance& instance = world.host(0).pipeline().instance(0);
    open += static_cast<uint32_t>(std::popcount(instance.peers.groups[0].open()));
  }
  const double mean = static_cast<double>(open) / kMs;
  char line[120];
  std::snprintf(line, sizeof line, "0.1 %% loaded, %.2f Gb/s: %.2f of 8 sessions are open",
                meter.gbps(), mean);
  return Report(mean <= 1.5, Finish(world), line);
}

}  // namespace

int RunPlaneShares() {
  InstallFastCrc();
  bool passed = MeasureSum();
  passed &= MeasureLight();
  passed &= MeasureShares(0);
  passed &= MeasureShares(0.5);
  passed &= MeasureSlowed(0, 1);
  passed &= MeasureSlowed(0.6, 25);
  passed &= MeasureMeasured();
  return passed ? 0 : 1;
}

}  // namespace suede
