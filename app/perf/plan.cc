// SPDX-License-Identifier: Apache-2.0
// Validation of options, and their conversion to plans.
#include <algorithm>
#include <bit>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "perf/clock.h"
#include "perf/options.h"

namespace suede::perf {
namespace {

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status ValidateInstances(const Options& o) {
  const bool server = o.mode == Mode::kServer;
  if (o.balance != 0 && server)
    return Bad("--balance is the client's: leave it out, a server serves all --instances");
  if (o.balance != 0 && o.instances.empty()) {
    return Bad("--balance: name the instances, as in --instances 0,1");
  }
  if (o.instances.empty()) return absl::OkStatus();
  if (o.embed) return Bad("--instances is for a daemon's: --embed has one lcore, take --instance");
  if (o.xpuid < 0) return Bad("--instances needs --xpuid, the XPU that they are of");
  if (o.queues != 1) return Bad("--instances have a queue each: leave --queues at 1");
  if (o.instances.size() > kMaxFlows)
    return Bad("--instances: at most 16; serve more by a second process");
  if (!server && o.balance == 0) return Bad("--instances needs --balance, or --mode server");
  if (!server && o.control_bytes < kSequencedControlBytes) {
    return Bad("--control below 8 leaves no room for a sequence number, which --balance needs");
  }
  return absl::OkStatus();
}

// Returns the number of threads.
size_t ThreadCount(const Options& o) {
  if (o.mode == Mode::kWorkload) return o.threads;
  return o.mode == Mode::kServer && !o.instances.empty() ? o.instances.size() : o.queues;
}

absl::Status ValidateServer(const Options& o) {
  if (o.bidirectional) return Bad("--bidirectional is the client's: the server follows it");
  if (o.rate > 0)
    return Bad("--rate is the client's: leave it out; --take_rate slows a server down");
  if (!o.destinations.empty()) {
    return Bad(
        "--destinations is the client's: a server serves all that send to it; leave it out, "
        "or take --mode peer to send as well");
  }
  return absl::OkStatus();
}

absl::Status ValidatePeer(const Options& o) {
  if (o.embed) return Bad("--mode peer is for clients of a daemon: leave --embed out");
  if (o.echo()) return Bad("--mode peer sinks received commands: leave --reaction at sink");
  if (o.bidirectional) return Bad("--bidirectional: peers send both ways already");
  if (!o.instances.empty()) return Bad("--mode peer has one instance: take --instance");
  return absl::OkStatus();
}

absl::Status ValidateLoad(const Options& o) {
  if (o.destinations.empty()) {
    return Bad("--destinations: name at least one XPU, as in 2 or 2,8-11");
  }
  if (o.control_bytes < 2 || o.control_bytes > kMaxControlBytes || o.control_bytes % 2 != 0) {
    return Bad("--control: give an even number from 2 to 18");
  }
  const bool sequenced = o.control_bytes >= kSequencedControlBytes;
  if (!sequenced && (o.check || o.mode == Mode::kLatency || o.queues > 1)) {
    return Bad("--control below 8 leaves no room for a sequence number, which --check, "
               "--mode latency and --queues above 1 need: raise --control to 8");
  }
  if (!(o.rate >= 0)) return Bad("--rate: give commands per second, or 0 for full speed");
  if (o.rate > 1e9) return Bad("--rate: give at most 1e9 commands per second, or 0 for full speed");
  if (o.count == 0 && !(o.duration_s > 0)) return Bad("--duration: give seconds, or use --count");
  if (o.count > 0 && o.count < o.queues) return Bad("--count: at least one for each queue");
  return absl::OkStatus();
}

absl::Status ValidateLatency(const Options& o) {
  if (o.queues != 1) return Bad("--mode latency works with one queue: leave --queues at 1");
  if (o.bidirectional) return Bad("--bidirectional goes with --mode bandwidth: leave it out");
  if (o.inflight < 1 || o.inflight > 65536) return Bad("--inflight: give 1 to 65536");
  if (StreamsOf(o).size() * o.inflight > (size_t{1} << 26)) {
    return Bad("--inflight times the number of streams is too much: lower it to at most 2^26");
  }
  return absl::OkStatus();
}

// Checks the options of the output besides the table.
absl::Status ValidateOutput(const Options& o) {
  const bool wants_latencies = o.histogram || !o.histogram_csv.empty() || !o.samples.empty();
  const bool has_runs = o.mode != Mode::kServer && o.mode != Mode::kWorkload;
  if (wants_latencies && (!has_runs || !o.HasLatencies())) {
    return Bad(
        "--histogram, --histogram_csv, --samples need runs with latencies: take --mode "
        "latency or --completions N; a workload's times are in --json FILE");
  }
  if (!o.csv.empty() && !has_runs) {
    return Bad(
        "--csv is of runs: leave it out; counts of servers and workloads are in --json FILE");
  }
  if (o.brief && o.histogram) {
    return Bad("--brief prints a line for each run: take --histogram_csv FILE, not --histogram");
  }
  if (!o.samples.empty() && (o.max_samples < o.queues || o.max_samples > 100'000'000)) {
    return Bad("--max_samples: give one for each of the --queues, up to 100,000,000");
  }
  const std::string* const files[] = {&o.json, &o.csv, &o.histogram_csv, &o.samples};
  if (std::ranges::count(files, "-", [](const std::string* file) { return *file; }) > 1) {
    return Bad(
        "--json, --csv, --histogram_csv, --samples: one of them can be -, name files for "
        "the others");
  }
  return absl::OkStatus();
}

// Checks that no server is needed, or none answers.
absl::Status ValidateOneWay(const Options& o) {
  if (o.receive_only && (o.mode != Mode::kServer || o.reaction != Reaction::kSink)) {
    return Bad("--receive_only goes with --mode server --reaction sink");
  }
  if (!o.send_only) return absl::OkStatus();
  const bool is_timed = o.mode == Mode::kLatency && o.completions > 0;
  if (o.mode != Mode::kBandwidth && !is_timed) {
    return Bad("--send_only goes with --mode bandwidth, or with --mode latency --completions N");
  }
  if (o.bidirectional)
    return Bad("--send_only has no server that sends back: leave --bidirectional out");
  if (o.balance != 0) return Bad("--send_only uses one instance: take --instance, not --balance");
  return absl::OkStatus();
}

// Checks the options of memory operations and messages.
absl::Status ValidateOperations(const Options& o) {
  if (o.destinations.empty()) {
    return Bad("--destinations: name at least one XPU, as in 2 or 2,8-11");
  }
  if (o.queues != 1 || !o.instances.empty()) {
    return Bad(
        "--queues, --instances: leave them out, memory operations and messages have one of each");
  }
  if (o.vcs.size() == kVcCount) return Bad("--vcs: leave one for the responses");
  if (o.rate > 0)
    return Bad("--rate: leave it out, memory operations and messages run at full speed");
  if (o.bidirectional) return Bad("--bidirectional goes with --mode bandwidth: leave it out");
  if (o.completions > 0 || o.pack > 0)
    return Bad("--completions, --pack are of plain commands: leave them out");
  if (!o.interval_json.empty())
    return Bad("--interval_json is of plain commands and workloads: leave it out");
  if (o.inflight < 1 || o.inflight > 4096) return Bad("--inflight: give 1 to 4096 operations");
  if (o.count == 0 && !(o.duration_s > 0)) return Bad("--duration: give seconds, or use --count");
  return absl::OkStatus();
}

absl::Status ValidateMessages(const Options& o) {
  if (o.embed) return Bad("--mode message is for clients of a daemon: leave --embed out");
  if (o.destinations.size() > 1)
    return Bad("--destinations: a stream of messages has one: name one XPU");
  if (o.vcs.size() != 1) return Bad("--vcs: a stream of messages has one: name one, as in 2");
  return absl::OkStatus();
}

absl::Status ValidateAxi(const Options& o) {
  if (o.embed)
    return Bad("--mode and --reaction axi are for clients of a daemon: leave --embed out");
  if (o.vcs.size() != 1) return Bad("--vcs: name one for AXI4 requests; answers take the next one");
  if (!std::has_single_bit(o.bus_bits) || o.bus_bits < 32 || o.bus_bits > 1024) {
    return Bad("--bus: give 32, 64, 128, 256, 512 or 1024 bits");
  }
  if (o.inflight > kMaxAxiInflight) return Bad("--inflight: give 1 to 1024 transactions");
  const uint32_t max = std::min(4096u, o.bus_bits / 8 * 256);
  for (const uint32_t size : o.sizes) {
    if (size < 1 || size > max) {
      return Bad(absl::StrCat("--size: a burst on this --bus has 1 to ", max,
                              " bytes: give such a size, or a wider --bus"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateOperationServer(const Options& o) {
  if (o.embed)
    return Bad("--reaction memory and message are for clients of a daemon: leave --embed out");
  if (o.queues != 1 || !o.instances.empty()) {
    return Bad(
        "--queues, --instances: leave them out, a server of memory operations or messages has one "
        "of each");
  }
  if (o.ServesMessages() && o.vcs.size() != 1)
    return Bad("--vcs: messages have one: name it, as in 2");
  if (o.window_bytes < 4096 || o.window_bytes > uint64_t{1} << 40) {
    return Bad("--window: give 4096 to 2^40 bytes");
  }
  if (o.take_rate > 0)
    return Bad("--take_rate: take --reaction sink or echo with it, or leave it out");
  return absl::OkStatus();
}

absl::Status ValidateTraffic(const Options& o) {
  const TrafficParams& t = o.traffic;
  if (t.bytes < 1 || t.bytes > uint64_t{1} << 40) return Bad("--bytes: give 1 to 2^40");
  if (o.response_bytes < 1 || o.response_bytes > uint64_t{1} << 40) {
    return Bad("--response_bytes: give 1 to 2^40");
  }
  if (t.target >= t.ranks) return Bad("--target: give the number of a rank, from 0");
  if (t.pattern == Pattern::kMoe && (t.top_k < 1 || t.top_k >= t.ranks)) {
    return Bad("--top_k: give 1 to one less than there are --ranks");
  }
  if (t.messages < 1 || t.messages > 1u << 20) return Bad("--messages: give 1 to 2^20");
  const double max_skew = t.pattern == Pattern::kHotSpot ? 1 : 4;
  if (!(t.skew >= 0) || t.skew > max_skew) {
    return Bad(absl::StrCat("--skew: give 0 to ", max_skew, " with this workload"));
  }
  if ((t.pattern == Pattern::kTrace) != !o.trace.empty()) {
    return Bad("--trace FILE goes with --workload trace, and that needs it");
  }
  return absl::OkStatus();
}

absl::Status ValidateWorkload(const Options& o) {
  if (o.embed) return Bad("--mode workload is for clients of a daemon: leave --embed out");
  if (!o.instances.empty()) return Bad("--mode workload has one instance: take --instance");
  if (o.queues != 1) return Bad("--mode workload: a rank has one queue; --threads share the ranks");
  if (o.ranks.size() < 2) return Bad("--ranks: name two or more XPUs, as in 1-8");
  if (o.own.empty()) return Bad("--own: name the ranks' XPUs of this process, or one by --xpuid");
  for (const uint16_t xpuid : o.own) {
    if (std::find(o.ranks.begin(), o.ranks.end(), xpuid) == o.ranks.end()) {
      return Bad(absl::StrCat("XPU ", xpuid, " of this process is not among the --ranks"));
    }
  }
  if (o.sizes.size() != 1 || o.sizes[0] < 1) return Bad("--size: give one size, 1 to 256");
  if (o.threads < 1 || o.threads > o.own.size())
    return Bad("--threads: give 1 to one for each rank");
  if (!o.barrier && o.iterations == 0) {
    return Bad("--nobarrier needs --iterations: no rank tells the others when it ends");
  }
  if (o.iterations == 0 && !(o.duration_s > 0)) return Bad("--duration: give seconds above 0");
  if (!(o.rate >= 0) || o.rate > 1e9) return Bad("--rate: give a number per second, at most 1e9");
  if (!(o.think_us >= 0) || o.think_us > 60e6) return Bad("--think: give 0 to 60,000,000 us");
  if (!(o.stall_s > 0)) return Bad("--stall: give seconds above 0");
  if (o.inflight < 1 || o.inflight > 65536) return Bad("--inflight: give 1 to 65536");
  return ValidateTraffic(o);
}

}  // namespace

absl::Status Validate(const Options& o) {
  if (o.embed && o.config.empty()) return Bad("--embed needs --config FILE, the endpoint's");
  if (!o.embed && !o.config.empty())
    return Bad("--config goes with --embed: add it, or leave --config out");
  if (!o.embed && !o.eal.empty())
    return Bad("EAL arguments behind -- go with --embed: add it, or leave them out");
  if (o.embed && o.queues != 1) return Bad("--embed works with one queue: leave --queues at 1");
  if (o.queues < 1 || o.queues > kMaxFlows) return Bad("--queues: give 1 to 16");
  if (absl::Status status = ValidateInstances(o); !status.ok()) return status;
  if (!o.cpus.empty() && o.cpus.size() != ThreadCount(o)) {
    return Bad("--cpus: name one CPU per queue, per instance of a server, or of the --threads");
  }
  if (o.vcs.empty()) return Bad("--vcs: name at least one, as in 0 or 0-3");
  if (o.xpuid >= static_cast<int32_t>(kMaxXpus)) return Bad("--xpuid: give 0 to 1023");
  if (o.instance >= kMaxInstances) return Bad("--instance: give 0 to 63");
  if (!o.cacheline_cpus.empty() && o.cacheline_cpus.size() != 2) {
    return Bad("--cacheline_probe: name two CPUs, as in 0,1");
  }
  if (!(o.interval_s >= 0) || o.interval_s > 86400) {
    return Bad("--interval: give 0 to 86400 seconds; 0: no lines of progress");
  }
  if (!o.interval_json.empty() && !(o.log_interval_s >= 0.01)) {
    return Bad("--interval_json needs an --interval of 0.01 or more");
  }
  if (!o.interval_json.empty() && o.embed) return Bad("--interval_json: leave --embed out");
  if (!(o.take_rate >= 0) || o.take_rate > 1e9) return Bad("--take_rate: give 0 to 1e9 per second");
  if (o.take_rate > 0 && (o.mode != Mode::kServer || o.embed)) {
    return Bad("--take_rate goes with --mode server of a daemon's client: leave it out");
  }
  if (o.interval_s > 0 && o.interval_s < 0.01) return Bad("--interval: give 0.01 or more, or 0");
  if (o.by_lcore && (o.mode != Mode::kServer || o.reaction != Reaction::kMemory)) {
    return Bad("--lcore goes with --mode server --reaction memory: leave it out");
  }
  if (o.inflights.size() > 1 && !o.LimitsInflight()) {
    return Bad(
        "--inflights goes with --mode latency, put, get, atomic, message and axi: leave it "
        "out");
  }
  if (absl::Status status = ValidateOutput(o); !status.ok()) return status;
  if (absl::Status status = ValidateOneWay(o); !status.ok()) return status;
  if (o.pingpong && o.mode != Mode::kMessage)
    return Bad("--pingpong goes with --mode message: leave it out");
  if (o.UsesOperations()) {
    const absl::Status status = ValidateOperations(o);
    if (status.ok() && o.mode == Mode::kAxi) return ValidateAxi(o);
    return status.ok() && o.mode == Mode::kMessage ? ValidateMessages(o) : status;
  }
  if (o.ServesAxi()) {
    if (absl::Status status = ValidateAxi(o); !status.ok()) return status;
  }
  if (o.ServesMemory() || o.ServesMessages() || o.ServesAxi()) {
    if (absl::Status status = ValidateOperationServer(o); !status.ok()) return status;
  } else if (o.reaction != Reaction::kSink && o.reaction != Reaction::kEcho) {
    return Bad("--reaction memory, message and axi go with --mode server: leave it out");
  }
  if (o.mode == Mode::kServer) return ValidateServer(o);
  if (o.mode == Mode::kWorkload) return ValidateWorkload(o);
  if (absl::Status load = ValidateLoad(o); !load.ok()) return load;
  if (o.mode == Mode::kLatency) return ValidateLatency(o);
  if (o.mode == Mode::kPeer) {
    if (absl::Status status = ValidatePeer(o); !status.ok()) return status;
  }
  if (o.max_p99_us > 0 && o.completions == 0) {
    return Bad("--max_p99_us needs latencies: --mode latency, or --completions N");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint32_t>> ParseNumbers(absl::string_view text, uint32_t limit) {
  std::vector<uint32_t> numbers;
  std::set<uint32_t> seen;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    uint32_t first = 0;
    uint32_t last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last) ||
        first > last) {
      return Bad(absl::StrCat("\"", part, "\" is neither a number nor a range such as 8-11"));
    }
    if (last >= limit) return Bad(absl::StrCat(last, " is too large: at most ", limit - 1));
    for (uint32_t n = first; n <= last; ++n) {
      if (!seen.insert(n).second) return Bad(absl::StrCat(n, " is named twice"));
      numbers.push_back(n);
    }
  }
  return numbers;
}

absl::StatusOr<std::vector<uint32_t>> ParseSizes(absl::string_view text, Mode mode) {
  const bool moves_memory =
      mode == Mode::kPut || mode == Mode::kGet || mode == Mode::kMessage || mode == Mode::kAxi;
  if (text == "sweep" && mode == Mode::kAtomic) return std::vector<uint32_t>{4, 8};
  if (text == "sweep") {
    std::vector<uint32_t> sizes;
    const uint32_t last = mode == Mode::kAxi ? 4096u : moves_memory ? 4u << 20 : kMaxDataBytes;
    for (uint32_t size = moves_memory ? 8 : 1; size <= last; size *= 2) sizes.push_back(size);
    return sizes;
  }
  constexpr uint32_t kMaxOfMemory = 1u << 30;
  auto sizes = ParseNumbers(text, moves_memory ? kMaxOfMemory + 1 : kMaxDataBytes + 1);
  if (sizes.ok() && sizes->empty()) return Bad("give \"sweep\" or a list such as 32,64,256");
  if (!sizes.ok() || (!moves_memory && mode != Mode::kAtomic)) return sizes;
  for (const uint32_t size : *sizes) {
    if (mode == Mode::kAtomic && size != 4 && size != 8) return Bad("an atomic has 4 or 8 bytes");
    if (size == 0) return Bad("a put, get, message or burst has at least 1 byte");
  }
  return sizes;
}

absl::StatusOr<std::vector<uint32_t>> ParseInflights(absl::string_view text) {
  constexpr uint32_t kMax = 65536;
  if (text == "sweep") {
    std::vector<uint32_t> inflights;
    for (uint32_t inflight = 1; inflight <= 256; inflight *= 2) inflights.push_back(inflight);
    return inflights;
  }
  auto inflights = ParseNumbers(text, kMax + 1);
  if (inflights.ok() && (inflights->empty() || *std::ranges::min_element(*inflights) == 0)) {
    return Bad("give \"sweep\" or a list of numbers from 1, such as 1,4,16");
  }
  return inflights;
}

std::vector<StreamId> StreamsOf(const Options& options) {
  std::vector<StreamId> streams;
  // Iterates over destinations within each VC, so that consecutive streams of the round robin
  // differ in destination.
  for (uint8_t vc : options.vcs) {
    for (uint16_t xpuid : options.destinations) streams.push_back({xpuid, vc});
  }
  return streams;
}

RunPlan PlanOf(const Options& o, uint32_t data_bytes) {
  RunPlan plan;
  plan.shape = {.control_bytes = static_cast<uint16_t>(o.control_bytes),
                .data_bytes = static_cast<uint16_t>(data_bytes),
                .check = o.check,
                .pack_every = o.pack,
                .completion_every = o.completions};
  plan.streams = StreamsOf(o);
  plan.latency = o.mode == Mode::kLatency || o.UsesOperations();
  plan.bidirectional = o.bidirectional;
  plan.send_only = o.send_only;
  plan.max_samples = o.samples.empty() ? 0 : o.max_samples / o.queues;
  plan.inflight = o.inflight;
  plan.rate = o.rate / o.queues;
  plan.count = o.count / o.queues;
  plan.duration = Seconds(o.duration_s);
  plan.warmup = Seconds(o.warmup_s);
  plan.drain_timeout = Seconds(o.drain_s);
  plan.connect_timeout = Seconds(o.connect_s);
  return plan;
}

RankPlan RankPlanOf(const Options& o, uint32_t rank) {
  return {
      .traffic = o.traffic,
      .xpuids = o.ranks,
      .rank = rank,
      .data_bytes = static_cast<uint16_t>(o.sizes[0]),
      .vcs = o.vcs,
      .check = o.check,
      .barrier = o.barrier,
      .iterations = o.traffic.pattern == Pattern::kTrace && o.iterations == 0 ? 1 : o.iterations,
      .duration = Seconds(o.duration_s),
      .warmup = o.traffic.pattern == Pattern::kTrace ? Duration() : Seconds(o.warmup_s),
      .rate = o.rate,
      .response_bytes = o.response_bytes,
      .think = Duration(static_cast<int64_t>(o.think_us * 1e3)),
      .inflight = o.inflight,
      .connect_timeout = Seconds(o.connect_s),
      .stall_timeout = Seconds(o.stall_s)};
}

std::vector<uint8_t> VcsOfWorker(const Options& options, uint32_t worker) {
  std::vector<uint8_t> vcs;
  for (size_t i = worker; i < options.vcs.size(); i += options.queues) {
    vcs.push_back(options.vcs[i]);
  }
  return vcs;
}

}  // namespace suede::perf
