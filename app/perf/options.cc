// SPDX-License-Identifier: Apache-2.0
#include "perf/options.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/edit_distance.h"
#include "perf/short_flags.h"
#include "perf/trace.h"

DEFINE_string(mode, "bandwidth",
              "server, bandwidth, latency, peer: sends to --destinations and serves others at "
              "once; workload: --workload of several --ranks; put, get or atomic: memory "
              "operations at --destinations, whose servers have --reaction memory; message: a "
              "stream of messages to a destination whose server has --reaction message; axi: AXI4 "
              "transactions (--access) with the memory of servers with --reaction axi");
DEFINE_string(
    reaction, "sink",
    "server: sink (count and drop), echo (send back), memory (execute memory operations in "
    "a window of --window bytes), message (take, or give back, streams of messages) or axi "
    "(execute AXI4 transactions in a memory of --window bytes)");
DEFINE_string(atomic, "fetch_add",
              "atomic: fetch_add, compare_swap, swap, increment or read_increment");
DEFINE_uint64(window, 64 << 20,
              "server with --reaction memory or axi: bytes of the window, or of the memory");
DEFINE_string(access, "write", "axi: the transactions, write or read");
DEFINE_uint32(bus, 256, "axi: bits of the data bus, 32 to 1024, a power of 2");
DEFINE_bool(lcore, false,
            "server with --reaction memory: the endpoint's lcore executes the operations, not "
            "this process");
DEFINE_string(endpoint, "suede", "the daemon to use: its endpoint's name, or its socket's path");
DEFINE_bool(embed, false, "host the endpoint in this process, on the same lcore, without a daemon");
DEFINE_string(config, "", "with --embed: the endpoint's configuration file");
DEFINE_int32(xpuid, -1, "own XPU id; -1: the only one that the endpoint has");
DEFINE_uint32(instance, 0, "own instance");
DEFINE_string(instances, "",
              "several own instances, each over a connection of its own: 0,1 or 0-3; the load is "
              "balanced over them, a server serves them all");
DEFINE_string(balance, "",
              "how the load chooses among --instances: round_robin, least_loaded or hash (by "
              "destination)");
DEFINE_uint32(queues, 1, "queues to send on, each with a thread of its own");
DEFINE_string(cpus, "", "CPUs to pin the threads to, one per queue: 2,3");
DEFINE_string(
    size, "64",
    "bytes of data per command, 0 to 256; 0: command only; per put, get or message up to 2^30, per "
    "atomic 4 or 8 (the default there)");
DEFINE_string(
    sizes, "",
    "several sizes, one after the other: a list, or \"sweep\" (1,2,4,...256; of a put, get "
    "or message 8,16,...4194304)");
DEFINE_uint32(control, 8, "bytes of control per command, 2 to 18, type and length included");
DEFINE_string(vcs, "0", "virtual channels: 0,1 or 0-3; of messages one, 2 where none is named");
DEFINE_string(destinations, "", "XPU ids to send to: 2 or 2,8-11");
DEFINE_double(rate, 0, "commands per second over all queues; 0: full speed");
DEFINE_uint64(count, 0, "commands to measure over all queues, instead of --duration");
DEFINE_double(duration, 1, "seconds to measure; server: seconds to serve, 0: until a signal");
DEFINE_double(warmup, 0.2, "seconds of load before the measurement");
DEFINE_double(drain, 5, "seconds to wait at the end for commands in flight");
DEFINE_double(connect_timeout, 10, "seconds to wait for the servers' first answer");
DEFINE_uint32(
    inflight, 0,
    "latency, put, get, atomic, message: commands or operations under way at once; 0: 1, or "
    "1024 with --rate");
DEFINE_string(inflights, "",
              "several numbers under way at once, one after the other with each size: a list, or "
              "\"sweep\" (1,2,4,...256)");
DEFINE_bool(pingpong, false, "message: the server sends each message back");
DEFINE_uint32(completions, 0, "ask for the completion of each Nth command and time it; 0: none");
DEFINE_uint32(pack, 0, "put the transmit-now hint on each Nth command; 0: on none");
DEFINE_bool(spin, false, "never give the CPU away while there is nothing to do");
DEFINE_bool(check, false, "fill commands with content that the receiver verifies byte by byte");
DEFINE_bool(unordered, false,
            "commands of one {queue, destination, VC} may overtake each other, as they do where an "
            "instance's ordering is unordered: those out of order are counted, and are no failure");
DEFINE_bool(bidirectional, false, "have the servers send the same load back");
DEFINE_bool(send_only, false,
            "send to whatever program receives, without a suede-perf server: the load has arrived "
            "when completions say so");
DEFINE_bool(receive_only, false,
            "server: count the commands of whatever program sends, and answer nothing");
DEFINE_string(cacheline_probe, "",
              "two CPUs: measure a cache line's round trip between them before and after each run");
DEFINE_string(json, "",
              "write the results as one JSON object to this file; - is the standard output, the "
              "table then goes to the standard error");
DEFINE_double(interval, 1, "seconds between lines of progress on the standard error; 0: none");
DEFINE_string(
    interval_json, "",
    "write a line of JSON to this file each --interval: what came in it, by flow, and the "
    "latencies");
DEFINE_double(
    take_rate, 0,
    "server: take so many commands of load per second and let the others wait in the ring, as "
    "a slow receiver does; 0: all at once");
DEFINE_bool(quiet, false, "no lines of progress");
DEFINE_bool(wide, false, "tables of more than 100 columns: a line for each row");
DEFINE_bool(brief, false, "a line for each run, without heads, to be appended to a file");
DEFINE_string(units, "Gb/s",
              "unit of data rates in tables: Gb/s, Mb/s, GB/s, MB/s, MiB/s, or auto, with which "
              "rates and times have prefixes");
DEFINE_bool(histogram, false, "print a histogram of the latencies below each row");
DEFINE_string(histogram_csv, "", "write the histograms of the latencies as CSV to this file");
DEFINE_string(samples, "", "write each latency as CSV to this file, up to --max_samples of a run");
DEFINE_uint64(max_samples, 1000000, "latencies of a run that --samples keeps, the first ones");
DEFINE_string(csv, "", "write a row of CSV for each run to this file, in base units");
DEFINE_string(why, "auto",
              "name at the end where commands waited (docs/why.md), by the daemon's management "
              "socket: auto (that of --endpoint, if it may be opened), off, or its path");
DEFINE_bool(check_flags, false, "check the flags, and exit");
DEFINE_string(workload, "all-to-all",
              "permutation, all-to-all, all-reduce-ring, all-reduce-direct, incast, moe, hot-spot, "
              "request-response or trace");
DEFINE_string(ranks, "", "workload: the XPUs of all ranks, in the order of the ranks: 1-8");
DEFINE_string(own, "", "workload: those of this process, 1-4; none: --xpuid");
DEFINE_uint64(bytes, 65536,
              "workload: bytes of a pair, of a vector (all-reduce), a token (moe), a message "
              "(hot-spot) or a request");
DEFINE_uint64(iterations, 0,
              "workload: iterations to measure; 0: as many as begin within --duration");
DEFINE_uint64(seed, 1, "workload: of everything that is drawn; the same at all ranks");
DEFINE_uint32(target, 0, "workload: the rank that gets an incast, or is the hot spot");
DEFINE_uint32(messages, 64, "workload: tokens (moe) or messages (hot-spot) of a rank");
DEFINE_uint32(top_k, 2, "workload: experts of a token (moe)");
DEFINE_double(skew, -1,
              "workload: moe: exponent of the experts' popularity (Zipf), 0 to 4, by default 1; "
              "hot-spot: share of the hot rank, 0 to 1, by default 0.5");
DEFINE_bool(barrier, true, "workload: a barrier after each iteration; else only at the end");
DEFINE_uint64(response_bytes, 256, "workload: bytes of a response");
DEFINE_double(think, 0,
              "workload: mean microseconds between a response and the next request, exponential");
DEFINE_string(trace, "",
              "workload: transfers as CSV, time_us,source,destination,bytes[,vc[,step]], or GOAL");
DEFINE_double(stall, 30, "workload: seconds without any progress after which a rank gives up");
DEFINE_uint32(threads, 1, "workload: threads that share the own ranks");
DEFINE_double(max_iteration_ms, 0,
              "workload: exit 3 where the 99th percentile of the iterations' times is above this");
DEFINE_double(min_fairness, 0,
              "workload: exit 3 where Jain's index of fairness over all flows is below this");
DEFINE_double(min_rate, 0, "exit 3 where a run achieves fewer commands per second");
DEFINE_double(min_bw, 0, "exit 3 where a run achieves less than this many Gb/s of data");
DEFINE_double(max_p99_us, 0, "exit 3 where a run's 99th percentile of latency is above this");

// gflags exits with 1 on a bad flag, which is kExitFailure; replaced by kExitUsage below.
namespace google {
extern void (*gflags_exitfunc)(int);
}

namespace suede::perf {
namespace {

constexpr char kUsage[] =
    "suede-perf: bandwidth and latency of SUE commands between two endpoints.\n"
    "\n"
    "  suede-perf --mode server --reaction echo --endpoint b\n"
    "  suede-perf --mode bandwidth --endpoint a --destinations 2 --sizes sweep --check\n"
    "  suede-perf --mode latency --endpoint a --destinations 2 --size 32\n"
    "  suede-perf --mode peer --endpoint a --destinations 2,3 --check\n"
    "  suede-perf --mode server --reaction memory --lcore --endpoint b\n"
    "  suede-perf --mode put --endpoint a --destinations 2 --sizes sweep --inflight 16\n"
    "  suede-perf --mode message --endpoint a --destinations 2 --sizes sweep --pingpong\n"
    "  suede-perf --mode bandwidth --endpoint a --destinations 2 --send_only\n"
    "  suede-perf --mode workload --workload all-to-all --ranks 1-8 --xpuid 3 --endpoint a\n"
    "  suede-perf --embed --config FILE --destinations 2 [-- EAL arguments]\n"
    "\n"
    "Short flags are those of perftest where they mean the same; -a is --sizes=sweep.\n"
    "Flags (each also from the environment, as SUEDE_PERF_FLAG, in capitals):\n";

bool IsOurs(const gflags::CommandLineFlagInfo& flag) {
  return flag.filename.find("perf/options.cc") != std::string::npos;
}

std::vector<gflags::CommandLineFlagInfo> OurFlags() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::erase_if(flags, [](const auto& flag) { return !IsOurs(flag); });
  return flags;
}

void PrintHelp() {
  std::fputs(kUsage, stdout);
  for (const FlagText& flag : FlagTexts()) {
    const std::string letter = flag.letter != 0 ? std::string{'-', flag.letter, ',', ' '} : "";
    std::printf("  %s--%s (%s; default %s)\n      %s\n", letter.c_str(), flag.name.c_str(),
                flag.type.c_str(), flag.default_value.empty() ? "none" : flag.default_value.c_str(),
                flag.description.c_str());
  }
  std::printf("\n%s\n", kExitCodesText);
}

// Handles --help and --version, in place of gflags. Returns whether one was given.
bool HandlesHelp(std::span<char* const> words, const std::string& version) {
  for (std::string_view word : words.subspan(1)) {
    if (word.starts_with("--")) word.remove_prefix(1);
    if (word == "-help" || word == "-helpfull" || word == "-helpshort") {
      PrintHelp();
      return true;
    }
    if (word == "-version") {
      std::printf("%s\n", version.c_str());
      return true;
    }
  }
  return false;
}

// Sets flags from the environment, unless given on the command line.
absl::Status TakeEnvironment() {
  for (const auto& flag : OurFlags()) {
    if (!flag.is_default) continue;
    const std::string name = absl::StrCat("SUEDE_PERF_", absl::AsciiStrToUpper(flag.name));
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    if (gflags::SetCommandLineOption(flag.name.c_str(), value).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, "=\"", value, "\": not a value of --", flag.name, ", a ", flag.type));
    }
  }
  return absl::OkStatus();
}

// Prefixes the message with the flag.
absl::Status About(const char* flag, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", status.message()));
}

template <class T>
absl::Status TakeNumbers(const char* flag, const std::string& text, uint32_t limit,
                         std::vector<T>* out) {
  const auto numbers = ParseNumbers(text, limit);
  if (!numbers.ok()) return About(flag, numbers.status());
  out->clear();
  for (uint32_t n : *numbers) out->push_back(static_cast<T>(n));
  return absl::OkStatus();
}

absl::Status TakeLists(Options* o) {
  const bool several = !FLAGS_sizes.empty();
  const bool is_default = gflags::GetCommandLineFlagInfoOrDie("size").is_default;
  const std::string one = o->mode == Mode::kAtomic && is_default ? "8" : FLAGS_size;
  const auto sizes = ParseSizes(several ? FLAGS_sizes : one, o->mode);
  if (!sizes.ok()) return About(several ? "--sizes" : "--size", sizes.status());
  o->sizes = *sizes;
  if (!FLAGS_inflights.empty()) {
    const auto inflights = ParseInflights(FLAGS_inflights);
    if (!inflights.ok()) return About("--inflights", inflights.status());
    o->inflights = *inflights;
  } else {
    o->inflights = {FLAGS_inflight > 0 ? FLAGS_inflight : (FLAGS_rate > 0 ? 1024u : 1u)};
  }
  o->inflight = *std::ranges::max_element(o->inflights);
  const bool has_messages = o->mode == Mode::kMessage || o->ServesMessages();
  const bool names_vcs = !gflags::GetCommandLineFlagInfoOrDie("vcs").is_default;
  absl::Status status =
      TakeNumbers("--vcs", has_messages && !names_vcs ? "2" : FLAGS_vcs, kVcCount, &o->vcs);
  status.Update(TakeNumbers("--destinations", FLAGS_destinations, kMaxXpus, &o->destinations));
  status.Update(TakeNumbers("--instances", FLAGS_instances, kMaxInstances, &o->instances));
  status.Update(TakeNumbers("--cpus", FLAGS_cpus, 4096, &o->cpus));
  status.Update(TakeNumbers("--cacheline_probe", FLAGS_cacheline_probe, 4096, &o->cacheline_cpus));
  return status;
}

template <class T, size_t N>
absl::Status TakeName(const char* flag, const std::string& text, const Named<T> (&names)[N],
                      T* out) {
  const std::optional<T> found = FindNamed(names, text);
  if (!found) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", ListOf(names)));
  *out = *found;
  return absl::OkStatus();
}

absl::Status TakeModes(Options* o) {
  absl::Status status = TakeName("--mode", FLAGS_mode, kModes, &o->mode);
  status.Update(TakeName("--reaction", FLAGS_reaction, kReactions, &o->reaction));
  status.Update(TakeName("--units", FLAGS_units, kUnits, &o->units));
  status.Update(TakeName("--access", FLAGS_access, kAxiAccesses, &o->access));
  status.Update(TakeName("--atomic", FLAGS_atomic, kAtomics, &o->atomic));
  if (FLAGS_balance.empty()) return status;
  status.Update(TakeName("--balance", FLAGS_balance, kBalances, &o->balance));
  return status;
}

void TakeValues(Options* o) {
  o->endpoint = FLAGS_endpoint;
  o->embed = FLAGS_embed;
  o->config = FLAGS_config;
  o->xpuid = FLAGS_xpuid;
  o->instance = FLAGS_instance;
  o->queues = FLAGS_queues;
  o->control_bytes = FLAGS_control;
  o->rate = FLAGS_rate;
  o->count = FLAGS_count;
  const bool default_duration = gflags::GetCommandLineFlagInfoOrDie("duration").is_default;
  o->duration_s = o->mode == Mode::kServer && default_duration ? 0 : FLAGS_duration;
  o->warmup_s = std::max(FLAGS_warmup, 0.0);
  o->drain_s = std::max(FLAGS_drain, 0.0);
  o->connect_s = std::max(FLAGS_connect_timeout, 0.0);
  o->completions = FLAGS_completions;
  o->pack = FLAGS_pack;
  o->check = FLAGS_check;
  o->spin = FLAGS_spin;
  o->bidirectional = FLAGS_bidirectional;
  o->unordered = FLAGS_unordered;
  o->send_only = FLAGS_send_only;
  o->receive_only = FLAGS_receive_only;
  o->wide = FLAGS_wide || FLAGS_brief;
  o->brief = FLAGS_brief;
  o->histogram = FLAGS_histogram;
  o->json = FLAGS_json;
  o->why = FLAGS_why;
  o->csv = FLAGS_csv;
  o->histogram_csv = FLAGS_histogram_csv;
  o->samples = FLAGS_samples;
  o->max_samples = FLAGS_max_samples;
  o->interval_s = FLAGS_quiet ? 0 : FLAGS_interval;
  o->interval_json = FLAGS_interval_json;
  o->log_interval_s = FLAGS_interval;
  o->take_rate = FLAGS_take_rate;
  o->window_bytes = FLAGS_window;
  o->by_lcore = FLAGS_lcore;
  o->pingpong = FLAGS_pingpong;
  o->bus_bits = FLAGS_bus;
  o->min_rate = FLAGS_min_rate;
  o->min_gbps = FLAGS_min_bw;
  o->max_p99_us = FLAGS_max_p99_us;
}

absl::Status TakeWorkload(Options* o) {
  Pattern pattern = Pattern::kAllToAll;
  absl::Status status = TakeName("--workload", FLAGS_workload, kPatterns, &pattern);
  status.Update(TakeNumbers("--ranks", FLAGS_ranks, kMaxXpus, &o->ranks));
  status.Update(TakeNumbers("--own", FLAGS_own, kMaxXpus, &o->own));
  if (!status.ok()) return status;
  if (o->own.empty() && FLAGS_xpuid >= 0 && FLAGS_xpuid < int32_t{kMaxXpus}) {
    o->own = {static_cast<uint16_t>(FLAGS_xpuid)};
  }
  const double usual_skew = pattern == Pattern::kHotSpot ? 0.5 : 1;
  o->traffic = {.pattern = pattern,
                .ranks = static_cast<uint32_t>(o->ranks.size()),
                .bytes = FLAGS_bytes,
                .seed = FLAGS_seed,
                .target = FLAGS_target,
                .messages = FLAGS_messages,
                .top_k = FLAGS_top_k,
                .skew = FLAGS_skew < 0 ? usual_skew : FLAGS_skew};
  o->barrier = FLAGS_barrier;
  o->iterations = FLAGS_iterations;
  o->response_bytes = FLAGS_response_bytes;
  o->think_us = FLAGS_think;
  o->trace = FLAGS_trace;
  o->stall_s = FLAGS_stall;
  o->threads = FLAGS_threads;
  o->max_iteration_ms = FLAGS_max_iteration_ms;
  o->min_fairness = FLAGS_min_fairness;
  // Uses the maximum size of commands by default.
  if (FLAGS_sizes.empty() && gflags::GetCommandLineFlagInfoOrDie("size").is_default) {
    o->sizes = {kMaxDataBytes};
  }
  return absl::OkStatus();
}

// Checks the names of flags, of which gflags would not name similar ones.
absl::Status CheckNames(std::span<char* const> words) {
  std::vector<std::string> names;
  for (const auto& flag : OurFlags()) names.push_back(flag.name);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with("-") || word.size() < 2) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const bool has_value = word.find('=') != std::string_view::npos;
    const std::string name(word.substr(0, word.find('=')));
    gflags::CommandLineFlagInfo info;
    if (gflags::GetCommandLineFlagInfo(name.c_str(), &info)) {
      i += info.type != "bool" && !has_value ? 1 : 0;
    } else if (!name.starts_with("no") ||
               !gflags::GetCommandLineFlagInfo(name.c_str() + 2, &info) || info.type != "bool") {
      const std::vector<std::string> nearest = Nearest(name, names);
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name, " is no flag; ",
          nearest.empty() ? ""
                          : absl::StrCat("did you mean --", absl::StrJoin(nearest, " or --"), "? "),
          "--help lists all"));
    }
  }
  return absl::OkStatus();
}

absl::Status Take(Options* options) {
  absl::Status status = TakeEnvironment();
  if (status.ok()) status = TakeModes(options);
  if (status.ok()) status = TakeLists(options);
  if (!status.ok()) return status;
  TakeValues(options);
  if (options->mode == Mode::kWorkload) status = TakeWorkload(options);
  if (!status.ok()) return status;
  return Validate(*options);
}

}  // namespace

std::vector<FlagText> FlagTexts() {
  std::vector<FlagText> texts;
  for (const auto& flag : OurFlags()) {
    // Shortens defaults, which gflags prints with 17 digits.
    double number = 0;
    const bool is_number = flag.type == "double" && absl::SimpleAtod(flag.default_value, &number);
    texts.push_back({.name = flag.name,
                     .letter = LetterOf(flag.name),
                     .type = flag.type,
                     .default_value = is_number ? absl::StrCat(number) : flag.default_value,
                     .description = flag.description});
  }
  return texts;
}

bool ParseCommandLine(int argc, char** argv, const std::string& version, Options* options,
                      int* exit_code) {
  *exit_code = kExitUsage;
  const auto fail = [](const absl::Status& status) {
    std::fprintf(stderr, "suede-perf: %s\n", std::string(status.message()).c_str());
    return false;
  };
  auto words = WithLongFlags({argv, static_cast<size_t>(argc)});
  if (!words.ok()) return fail(words.status());
  const auto split = std::find(words->begin(), words->end(), "--");
  if (split != words->end()) options->eal.assign(split + 1, words->end());
  std::vector<char*> ours;
  for (auto word = words->begin(); word != split; ++word) ours.push_back(word->data());
  if (HandlesHelp(ours, version)) {
    *exit_code = kExitDone;
    return false;
  }
  if (absl::Status status = CheckNames(std::span(ours).subspan(1)); !status.ok())
    return fail(status);
  google::gflags_exitfunc = [](int) {
    std::fputs("suede-perf: --help lists the flags with their types and defaults\n", stderr);
    std::exit(kExitUsage);
  };
  int count = static_cast<int>(ours.size());
  ours.push_back(nullptr);
  char** rest = ours.data();
  gflags::ParseCommandLineNonHelpFlags(&count, &rest, true);
  if (absl::Status status = Take(options); !status.ok()) return fail(status);
  if (count > 1) {
    return fail(absl::InvalidArgumentError(
        absl::StrCat("\"", rest[1], "\" is not a flag; --help lists them")));
  }
  if (FLAGS_check_flags && !options->trace.empty()) {
    const auto rows = ReadTrace(options->trace, static_cast<uint32_t>(options->ranks.size()));
    if (!rows.ok()) return fail(About("--trace", rows.status()));
  }
  *exit_code = kExitDone;
  return !FLAGS_check_flags;
}

}  // namespace suede::perf
