// SPDX-License-Identifier: Apache-2.0
// Measures session groups behind links of which some are hot, in virtual time (docs/sessions.md):
//
//   hot_links_bench [--pairs N] [--sessions N] [--seeds N] [--first SEED] [--calm LOAD] [--hot
//   LOAD]
//                   [--hot_links N] [--loss SHARE] [--host_gbps N] [--link_gbps N] [--cable_ns N]
//                   [--buffer BYTES] [--nscc] [--strict] [--verbose]
//
// Goodput with session groups and with one session, over so many seeds, each of which is a hash of
// the switches; and how long it takes until links that become hot are avoided. Loads are shares of
// the rate. Exit codes: 0 done, 2 usage, 3 a run was not as it must be (not: slow).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fast_crc.h"
#include "hot_links_run.h"

namespace suede {
namespace {

struct Arguments {
  HotLinksOptions options;
  uint64_t first = 1;
  uint64_t seeds = 16;
  bool verbose = false;
};

bool ReadFlag(const char* flag, Arguments& arguments) {
  if (std::strcmp(flag, "--nscc") == 0) {
    arguments.options.control = CongestionControl::kNscc;
  } else if (std::strcmp(flag, "--strict") == 0) {
    arguments.options.ordering = Ordering::kStrict;
  } else if (std::strcmp(flag, "--verbose") == 0) {
    arguments.verbose = true;
  } else {
    return false;
  }
  return true;
}

bool ReadValue(const std::string& flag, const char* text, Arguments& arguments) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || value < 0) return false;
  HotLinksOptions& options = arguments.options;
  if (flag == "--pairs") {
    options.pairs = static_cast<uint32_t>(value);
  } else if (flag == "--sessions") {
    options.sessions = static_cast<uint32_t>(value);
  } else if (flag == "--seeds") {
    arguments.seeds = static_cast<uint64_t>(value);
  } else if (flag == "--first") {
    arguments.first = static_cast<uint64_t>(value);
  } else if (flag == "--calm") {
    options.calm_load = value;
  } else if (flag == "--hot") {
    options.hot_load = value;
  } else if (flag == "--hot_links") {
    options.hot = static_cast<uint32_t>(value);
  } else if (flag == "--loss") {
    options.hot_loss = value;
  } else if (flag == "--host_gbps") {
    options.host_bits_per_ns = value;
  } else if (flag == "--link_gbps") {
    options.links.bits_per_ns = value;
  } else if (flag == "--cable_ns") {
    options.links.cable = Duration(static_cast<int64_t>(value));
  } else if (flag == "--buffer") {
    options.links.queue_bytes = static_cast<uint32_t>(value);
  } else {
    return false;
  }
  return true;
}

bool Read(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    if (ReadFlag(argv[i], arguments)) continue;
    if (i + 1 == argc || !ReadValue(argv[i], argv[i + 1], arguments)) {
      std::fprintf(
          stderr,
          "hot_links_bench: wrong: %s\nusage: hot_links_bench [--pairs N] [--sessions N] "
          "[--seeds N] [--first SEED] [--calm LOAD] [--hot LOAD] [--hot_links N] [--loss SHARE] "
          "[--host_gbps N] [--link_gbps N] [--cable_ns N] [--buffer BYTES] [--nscc] [--strict] "
          "[--verbose]\n",
          argv[i]);
      return false;
    }
    ++i;
  }
  return true;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool RunGoodputs(const Arguments& arguments) {
  bool good = true;
  std::vector<double> groups, ones, groups_hot, ones_hot, shares;
  for (uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    HotLinksOptions options = arguments.options;
    options.seed = seed;
    const HotGoodput group = MeasureHotGoodput(options);
    options.sessions = 1;
    const HotGoodput one = MeasureHotGoodput(options);
    for (const HotGoodput* each : {&group, &one}) {
      if (each->failure.empty()) continue;
      good = false;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), each->failure.c_str());
    }
    groups.push_back(group.goodput_bps / 1e9);
    ones.push_back(one.goodput_bps / 1e9);
    shares.push_back(group.hot_share);
    if (one.begins_hot) {
      groups_hot.push_back(groups.back());
      ones_hot.push_back(ones.back());
    }
    if (!arguments.verbose) continue;
    std::printf(
        "seed %llu%s: group %.1f Gb/s (%u open, %llu moves, %llu lost, %llu again, hot links "
        "%.3f), "
        "one %.1f Gb/s (%llu lost, %llu again, hot links %.3f)\n",
        static_cast<unsigned long long>(seed), one.begins_hot ? " hot" : "",
        group.goodput_bps / 1e9, group.open, static_cast<unsigned long long>(group.moves),
        static_cast<unsigned long long>(group.lost),
        static_cast<unsigned long long>(group.retransmissions), group.hot_share,
        one.goodput_bps / 1e9, static_cast<unsigned long long>(one.lost),
        static_cast<unsigned long long>(one.retransmissions), one.hot_share);
  }
  std::printf(
      "goodput, mean of %zu hashes: %u sessions %.1f Gb/s, one %.1f Gb/s, ratio %.2f; "
      "on hot links %.3f of the octets\n",
      groups.size(), arguments.options.sessions, Mean(groups), Mean(ones),
      Mean(groups) / Mean(ones), Mean(shares));
  if (arguments.options.pairs == 1 && !ones_hot.empty()) {
    std::printf(
        "goodput, %zu hashes where the one session takes a hot link: %.1f Gb/s, one %.1f "
        "Gb/s, ratio %.2f\n",
        ones_hot.size(), Mean(groups_hot), Mean(ones_hot), Mean(groups_hot) / Mean(ones_hot));
  }
  return good;
}

bool RunReactions(const Arguments& arguments) {
  bool good = true;
  std::vector<double> times, rounds, before, after, us, base;
  size_t never = 0;
  for (uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    HotLinksOptions options = arguments.options;
    options.seed = seed;
    const HotReaction reaction = MeasureHotReaction(options);
    if (!reaction.failure.empty()) {
      good = false;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  reaction.failure.c_str());
    }
    never += reaction.is_avoided ? 0 : 1;
    us.push_back(static_cast<double>(reaction.avoided.count()) / 1e3);
    rounds.push_back(static_cast<double>(reaction.round_trip.count()) / 1e3);
    base.push_back(static_cast<double>(reaction.base_round_trip.count()) / 1e3);
    times.push_back(us.back() / rounds.back());
    before.push_back(reaction.share_before);
    after.push_back(reaction.share_after);
    if (!arguments.verbose) continue;
    std::printf(
        "seed %llu: round trip %.1f us (least %.1f), %.3f before, avoided after %.0f us%s, "
        "%.3f at the end; by round trips",
        static_cast<unsigned long long>(seed), rounds.back(), base.back(), before.back(), us.back(),
        reaction.is_avoided ? "" : " or more", after.back());
    for (const double share : reaction.shares) std::printf(" %.3f", share);
    std::printf("\n");
  }
  std::printf(
      "%zu hashes: round trip %.1f us (least %.1f); links that become hot had %.3f of the "
      "octets, and are avoided after %.0f us, median %.0f us, most %.0f us: %.1f round "
      "trips, median %.1f, most %.1f; %zu never; %.3f of the octets at the end\n",
      us.size(), Mean(rounds), Mean(base), Mean(before), Mean(us), Median(us),
      *std::max_element(us.begin(), us.end()), Mean(times), Median(times),
      *std::max_element(times.begin(), times.end()), never, Mean(after));
  return good;
}

int Run(const Arguments& arguments) {
  InstallFastCrc();
  const bool good = RunGoodputs(arguments);
  return RunReactions(arguments) && good ? 0 : 3;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  suede::Arguments arguments;
  if (!suede::Read(argc, argv, arguments)) return 2;
  return suede::Run(arguments);
}
