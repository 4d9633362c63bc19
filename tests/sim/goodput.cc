// SPDX-License-Identifier: Apache-2.0
#include "goodput.h"

#include <cstdio>
#include <iterator>
#include <string>

#include "fast_crc.h"
#include "world.h"

namespace suede {
namespace {

constexpr double kLinkGbps = 100;
constexpr Duration kDataDelay = std::chrono::microseconds(4);
constexpr double kLoss = 1e-5;        // of all frames, acknowledgements too
constexpr double kMinRatio = 0.95;    // of the goodput without loss that must be left with it
// Without loss the link has to be the limit, or its loss would show in nothing.
constexpr double kMinShareOfLink = 0.85;

// PDUs packed up to the default limit over a cable of a few hundred metres, both ways on odd seeds.
WorldOptions Saturated(uint64_t seed, double loss) {
  WorldOptions options;
  options.faults = {
      {.loss = loss, .delay = std::chrono::microseconds(2), .bits_per_ns = kLinkGbps}};
  options.classes.links.on = true;
  options.classes.links.of[0].delay = kDataDelay;
  options.both_ways = seed % 2 != 0;
  options.commands = options.both_ways ? 450'000 : 900'000;
  options.fixed_data_bytes = kMaxDataBytes;
  options.tagged = 0.001;
  options.transmit_now = 0;
  options.pauses = 0;
  options.max_sent = 256;
  options.max_received = 256;
  return options;
}

// Link-level retry is for cables in a rack: of a few metres, which lose one frame of a thousand in
// each direction.
constexpr double kShortGbps = 25;
constexpr double kLinkLoss = 1e-3;
constexpr double kMinLinkRatio = 0.99;

// Clients send all that fits. Links have the defaults but for HELLOs, so that they agree soon.
WorldOptions OnShortCables(uint64_t seed, double loss, bool retries) {
  WorldOptions options = Saturated(seed, 0);
  options.faults = {
      {.loss = loss, .loss_back = loss, .delay = Duration(25), .bits_per_ns = kShortGbps}};
  options.classes.links.of[0].delay = {};
  options.commands /= 4;
  options.link.hello = std::chrono::milliseconds(1);
  options.link.retry.on = retries;
  return options;
}

struct Measurement {
  std::string failure;
  uint64_t bytes = 0;
  uint64_t pdus = 0;
  uint64_t frames_lost = 0;
  uint64_t retransmissions = 0;
  uint64_t timeouts = 0;
  uint64_t replayed = 0;  // by links
  double ns = 0;
  double gbps() const { return static_cast<double>(bytes) * 8 / ns; }
};

Measurement Measure(uint64_t seed, const WorldOptions& options) {
  World world(seed, options);
  Measurement m;
  m.failure = world.Run();
  m.bytes = world.delivered_bytes();
  m.pdus = world.Sum(Counter::kTxPdus);
  m.retransmissions = world.Sum(Counter::kTxRetransmissions);
  m.timeouts = world.Sum(Counter::kRtoFired);
  m.frames_lost = world.frames_lost();
  m.replayed = world.Sum(LinkCounter::kLlrTxReplayed);
  m.ns = static_cast<double>(world.elapsed().count());
  return m;
}

}  // namespace

int RunGoodput(uint64_t first_seed, uint64_t count) {
  InstallFastCrc();
  bool passed = true;
  uint64_t pdus = 0;
  uint64_t frames_lost = 0;
  double clean_ns = 0;
  double lossy_ns = 0;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const Measurement clean = Measure(seed, Saturated(seed, 0));
    const Measurement lossy = Measure(seed, Saturated(seed, kLoss));
    const double ways = seed % 2 != 0 ? 2 : 1;
    const double ratio = lossy.gbps() / clean.gbps();
    const std::string failure = clean.failure.empty() ? lossy.failure : clean.failure;
    const bool good =
        failure.empty() && ratio >= kMinRatio && clean.gbps() >= kMinShareOfLink * kLinkGbps * ways;
    passed &= good;
    pdus += lossy.pdus;
    frames_lost += lossy.frames_lost;
    clean_ns += clean.ns;
    lossy_ns += lossy.ns;
    std::printf(
        "seed %llu, %s: %.2f Gb/s without loss, %.2f Gb/s with 1e-5 (%llu frames lost, "
        "%llu PDUs sent again, %llu timeouts), ratio %.4f%s %s\n",
        static_cast<unsigned long long>(seed), seed % 2 != 0 ? "both ways" : "one way",
        clean.gbps(), lossy.gbps(), static_cast<unsigned long long>(lossy.frames_lost),
        static_cast<unsigned long long>(lossy.retransmissions),
        static_cast<unsigned long long>(lossy.timeouts), ratio, good ? "" : " FAILED",
        failure.c_str());
  }
  // Each seed delivers the same both times, so the ratio of goodputs is that of times.
  std::printf(
      "goodput: %llu PDUs, %llu frames lost, ratio %.4f; at least %.2f of each seed wanted\n",
      static_cast<unsigned long long>(pdus), static_cast<unsigned long long>(frames_lost),
      clean_ns / lossy_ns, kMinRatio);
  return passed ? 0 : 1;
}

namespace {

struct LinkRatio {
  double without = 0;
  double with = 0;
  bool failed = false;
};

// Prints the goodput of a seed without loss, and with it: without link-level retry and with it.
LinkRatio CompareLinks(uint64_t seed) {
  const Measurement clean = Measure(seed, OnShortCables(seed, 0, false));
  const Measurement without = Measure(seed, OnShortCables(seed, kLinkLoss, false));
  const Measurement with = Measure(seed, OnShortCables(seed, kLinkLoss, true));
  const std::string failure = clean.failure + without.failure + with.failure;
  const LinkRatio ratio{.without = without.gbps() / clean.gbps(),
                        .with = with.gbps() / clean.gbps(),
                        .failed = !failure.empty()};
  std::printf(
      "seed %llu, %s: %.2f Gb/s without loss; with 1e-3 on each cable, both ways: %.2f "
      "without LLR, ratio %.4f (%llu PDUs sent again); %.2f with LLR, ratio %.4f (%llu "
      "frames lost, links sent %llu again, %llu PDUs sent again) %s\n",
      static_cast<unsigned long long>(seed), seed % 2 != 0 ? "both ways" : "one way", clean.gbps(),
      without.gbps(), ratio.without, static_cast<unsigned long long>(without.retransmissions),
      with.gbps(), ratio.with, static_cast<unsigned long long>(with.frames_lost),
      static_cast<unsigned long long>(with.replayed),
      static_cast<unsigned long long>(with.retransmissions), failure.c_str());
  return ratio;
}

}  // namespace

namespace {

// Losses of each frame, and the ratio to the goodput without loss that selective repair leaves.
constexpr struct {
  double loss;
  double min_ratio;
} kRepairs[] = {{1e-3, 0.985}, {1e-2, 0.9}};

WorldOptions Repaired(uint64_t seed, double loss, bool selective) {
  WorldOptions options = Saturated(seed, loss);
  options.rx_lines = 1u << 17;
  options.selective = selective ? ~0u : 0;
  options.paths.ordering = seed % 4 < 2 ? Ordering::kStrict : Ordering::kUnordered;
  return options;
}

}  // namespace

int RunRepairGoodput(uint64_t first_seed, uint64_t count) {
  InstallFastCrc();
  bool passed = true;
  double clean_ns = 0;
  double repaired_ns[std::size(kRepairs)] = {};
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const Measurement clean = Measure(seed, Repaired(seed, 0, true));
    clean_ns += clean.ns;
    std::printf("seed %llu, %s, %s: %.2f Gb/s without loss %s\n",
                static_cast<unsigned long long>(seed), seed % 2 != 0 ? "both ways" : "one way",
                seed % 4 < 2 ? "strict" : "unordered", clean.gbps(), clean.failure.c_str());
    passed &= clean.failure.empty();
    for (size_t i = 0; i < std::size(kRepairs); ++i) {
      const double loss = kRepairs[i].loss;
      const Measurement back = Measure(seed, Repaired(seed, loss, false));
      const Measurement repaired = Measure(seed, Repaired(seed, loss, true));
      passed &= back.failure.empty() && repaired.failure.empty();
      repaired_ns[i] += repaired.ns;
      std::printf(
          "  loss %g: go-back-N %.4f (%llu PDUs sent again), selective %.4f (%llu of %llu PDUs "
          "sent again, %llu frames lost, %llu timeouts) %s\n",
          loss, back.gbps() / clean.gbps(), static_cast<unsigned long long>(back.retransmissions),
          repaired.gbps() / clean.gbps(), static_cast<unsigned long long>(repaired.retransmissions),
          static_cast<unsigned long long>(repaired.pdus),
          static_cast<unsigned long long>(repaired.frames_lost),
          static_cast<unsigned long long>(repaired.timeouts), repaired.failure.c_str());
    }
  }
  for (size_t i = 0; i < std::size(kRepairs); ++i) {
    const double ratio = clean_ns / repaired_ns[i];
    passed &= ratio >= kRepairs[i].min_ratio;
    std::printf("loss %g: ratio %.4f, %.3f wanted\n", kRepairs[i].loss, ratio,
                kRepairs[i].min_ratio);
  }
  std::printf("repair_goodput: %s\n", passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}

int RunLlrGoodput(uint64_t first_seed, uint64_t count) {
  InstallFastCrc();
  bool passed = true;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const LinkRatio ratio = CompareLinks(seed);
    passed &= !ratio.failed && ratio.with >= kMinLinkRatio;
  }
  std::printf("llr_goodput: a ratio of at least %.3f wanted of each seed: %s\n", kMinLinkRatio,
              passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}

}  // namespace suede
