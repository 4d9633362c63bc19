// SPDX-License-Identifier: Apache-2.0
// suede-perf --embed: the load runs on the endpoint's lcore in one process, without a client
// socket.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/secrets.h"
#include "config/config.h"
#include "daemon/logger.h"
#include "dpdk/eal.h"
#include "endpoint/endpoint.h"
#include "perf/embed_endpoint.h"
#include "perf/embedded_calls.h"
#include "perf/memory_load.h"
#include "perf/programs.h"
#include "perf/progress.h"
#include "perf/server.h"
#include "perf/stream_load.h"
#include "shm/segment.h"

namespace suede::perf {
namespace {

using Workload = StreamRun<EmbedEndpoint>;
using MemoryRun = LoadRun<MemoryLoad>;
using Server = ServerWorkload<EmbedEndpoint>;

constexpr uint32_t kOwnClient = 1;  // number of the only client in the pipeline
// Tick of the control thread. Each one may take a CPU from an lcore.
constexpr auto kTick = std::chrono::milliseconds(10);

// Runs a workload on the lcore. The control thread passes in one workload at a time, and owns it
// again once HasIt() returns false.
template <class W>
class WorkloadHook : public PollHook {
 public:
  bool Poll(Time now) override {
    W* const workload = current_.load(std::memory_order_acquire);
    if (workload == nullptr) return false;
    const bool worked = workload->Poll(now);
    if (is_reclaimed_.load(std::memory_order_relaxed) || workload->done()) {
      current_.store(nullptr, std::memory_order_release);
    }
    return worked;
  }

  // Called by the control thread.
  void Give(W* workload) { current_.store(workload, std::memory_order_release); }
  void Reclaim() { is_reclaimed_.store(true, std::memory_order_relaxed); }
  bool HasIt() const { return current_.load(std::memory_order_acquire) != nullptr; }

 private:
  std::atomic<W*> current_ = nullptr;
  std::atomic<bool> is_reclaimed_ = false;
};

// Returns the index of the instance of --xpuid and --instance in the configuration; -1: none.
int FindInstance(const Config& config, const Options& options) {
  for (size_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    if (options.xpuid < 0) return 0;
    if (instance.xpu == static_cast<uint32_t>(options.xpuid) &&
        instance.instance == options.instance) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// The process's own client in the endpoint's pipeline.
class Host {
 public:
  Host(Endpoint& endpoint, uint32_t instance)
      : endpoint_(endpoint),
        lcore_(endpoint.pipeline_of(instance)),
        number_(endpoint.number_of(instance)) {}

  uint32_t lcore() const { return lcore_; }
  Endpoint& endpoint() { return endpoint_; }
  Segment& segment() { return *segment_; }

  absl::Status MakeSegment() {
    const ClientsConfig& c = endpoint_.config().clients;
    auto segment = Segment::Create({.queue_count = 1,
                                    .tx_lines = c.ring_lines,
                                    .rx_lines = c.receive_lines,
                                    .completion_count = c.completions,
                                    .credit_lines = c.credit_lines,
                                    .aggregate_lines = c.aggregate_lines},
                                   -1, HugePages::kAuto);
    if (!segment.ok()) return segment.status();
    segment_ = *std::move(segment);
    return segment_->Prepare();
  }

  // Attaches the client and claims the VCs. The lcores must run.
  absl::Status Attach(uint32_t vc_mask) {
    absl::Status status = Call(request::Attach{.client = kOwnClient,
                                               .queue_instances = &number_,
                                               .segment = segment_->base(),
                                               .shape = &segment_->shape()});
    if (!status.ok()) return status;
    return Call(request::Claim{
        .vc_mask = static_cast<uint8_t>(vc_mask), .client = kOwnClient, .instance = number_});
  }

  // Waits until the peers have acknowledged everything, at most 1 s.
  void Drain() { (void)Call(request::Drain{}); }

  // Runs the endpoint's periodic control work, such as monitoring of ports.
  void Tick() {
    endpoint_.Tick();
    std::this_thread::sleep_for(kTick);
  }

 private:
  absl::Status Call(const LcoreRequest& request) {
    Mailbox& mailbox = endpoint_.pipeline(lcore_).mailbox();
    if (!mailbox.requests.Push(request)) return absl::InternalError("the lcore's mailbox is full");
    LcoreReply reply;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!mailbox.replies.Pop(reply)) {
      if (std::chrono::steady_clock::now() > deadline) {
        return absl::DeadlineExceededError("the lcore does not answer");
      }
      Tick();
    }
    if (reply.status == LcoreStatus::kDone) return absl::OkStatus();
    return absl::InternalError("the lcore refuses to serve the benchmark as its client");
  }

  Endpoint& endpoint_;
  const uint32_t lcore_;
  const uint32_t number_;
  std::unique_ptr<Segment> segment_;
};

// Runs `workload` on the lcore until it is done, or until() returns true.
template <class W, class Until>
void RunOnLcore(Host& host, WorkloadHook<W>& hook, W& workload, const Until& until) {
  hook.Give(&workload);
  while (hook.HasIt()) {
    if (until()) hook.Reclaim();
    host.Tick();
  }
}

// Performs one run on the lcore.
template <class W>
RunResult RunSize(const Options& options, uint32_t data_bytes, Host& host, WorkloadHook<W>& hook,
                  W& run, const RunBoard* board = nullptr) {
  Progress progress(options, data_bytes, 1);
  run.ReportTo(progress.worker(0));
  RunOnLcore(host, hook, run, [] { return false; });
  return Combine({&run.record()}, board);
}

int RunStreams(const Options& options, Host& host, EmbedEndpoint& end, uint16_t own,
               WorkloadHook<Workload>& hook, Document* document, const std::atomic<bool>& stop) {
  return RunClient(
      options,
      [&](const Options& step, uint32_t data_bytes) {
        const RunPlan plan = PlanOf(step, data_bytes);
        RunBoard board({.run = NewRunNumber()}, plan.streams);
        Workload run(plan, stop, end, board, own, uint8_t{0}, options.vcs);
        return RunSize(step, data_bytes, host, hook, run, &board);
      },
      document, stop);
}

int RunMemoryClient(const Options& options, Host& host, EmbedEndpoint& end, uint16_t /*own*/,
                    WorkloadHook<MemoryRun>& hook, Document* document,
                    const std::atomic<bool>& stop) {
  EmbeddedCalls calls(end, options);
  return RunClient(
      options,
      [&](const Options& step, uint32_t bytes) {
        MemoryRun run(PlanOf(step, bytes), stop, calls, step, bytes);
        return RunSize(step, bytes, host, hook, run);
      },
      document, stop);
}

int RunServer(const Options& options, Host& host, EmbedEndpoint& end, uint16_t own,
              WorkloadHook<Server>& hook, Document* document, const std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  Server server(end, own, options.vcs, options.echo());
  if (options.receive_only) server.ReceiveOnly();
  const auto limit = std::chrono::duration<double>(options.duration_s);
  const auto start = Clock::now();
  std::fprintf(stderr, "suede-perf: serving XPU %u, %s\n", own, options.echo() ? "echo" : "sink");
  {
    Progress progress(options, 0, 1);
    server.ReportTo(progress.worker(0));
    RunOnLcore(host, hook, server,
               [&] { return stop || (limit.count() > 0 && Clock::now() - start >= limit); });
  }
  document->arrivals = server.arrivals();
  const StreamCounts total = server.Total();
  return ConcludeServer(options, &total, server.runs(), /*is_lost=*/false, document);
}

absl::Status CheckDestinations(const Config& config, const Options& options) {
  std::vector<uint32_t> peers;
  for (const PeerConfig& peer : config.peers) peers.push_back(peer.xpu);
  for (const uint16_t xpuid : options.destinations) {
    if (std::find(peers.begin(), peers.end(), xpuid) != peers.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("XPU ", xpuid,
                     " is no peer that the endpoint's configuration names; its "
                     "peers are XPU ",
                     RangesOf(std::move(peers)), " (", options.config, ")"));
  }
  return absl::OkStatus();
}

// Returns the data path's counters as one line.
std::string CountersLine(const Endpoint& endpoint) {
  return absl::StrCat("suede-perf: counters", FormatCounters(endpoint.Counters(), true), "\n");
}

// Starts the endpoint, attaches to it with the receive VCs of `mask`, calls `run`, drains and
// stops.
template <class W, class Run>
int RunHosted(const Options& options, Host& host, uint16_t own, uint32_t mask, Document* document,
              const std::atomic<bool>& stop, const Run& run) {
  if (absl::Status status = host.MakeSegment(); !status.ok()) return Fail(status, kExitPreflight);
  Endpoint& endpoint = host.endpoint();
  WorkloadHook<W> hook;
  endpoint.SetHook(host.lcore(), &hook);
  EmbedEndpoint end(host.segment().base(), host.segment().shape().completion_count,
                    endpoint.config().packing.limit_bytes, endpoint.clock());
  if (absl::Status status = endpoint.Start(); !status.ok()) return Fail(status, kExitPreflight);
  absl::Status attached = host.Attach(mask);
  int code = kExitFailure;
  if (attached.ok()) {
    code = run(options, host, end, own, hook, document, stop);
    host.Drain();
    std::fputs(CountersLine(endpoint).c_str(), stderr);
  } else {
    Fail(attached, code);
  }
  endpoint.Stop();
  return code;
}

}  // namespace

int RunEmbedded(const Options& options, Document document, const std::atomic<bool>& stop) {
  absl::StatusOr<Config> config = LoadConfig(options.config, MachineFacts::Here());
  if (!config.ok()) return Fail(config.status(), kExitUsage);
  config->eal.args.insert(config->eal.args.end(), options.eal.begin(), options.eal.end());
  for (const PortConfig& port : config->ports) {
    if (!port.tap) continue;
    return Fail(absl::InvalidArgumentError(
                    absl::StrCat(options.config, ": port ", port.name,
                                 " has a TAP device, which suede alone serves; leave tap out, and "
                                 "give peers their mac")),
                kExitUsage);
  }
  const int instance = FindInstance(*config, options);
  if (instance < 0) {
    return Fail(absl::InvalidArgumentError(absl::StrCat("--xpuid ", options.xpuid, ": ",
                                                        options.config, " has no such instance")),
                kExitUsage);
  }
  if (absl::Status status = CheckDestinations(*config, options); !status.ok()) {
    return Fail(status, kExitUsage);
  }
  Logger logger(config->log);
  const auto log = [&](EalLogLevel level, std::string_view component, std::string_view line) {
    logger(level, component, line);
  };
  // Blocks the signals in the lcores' threads.
  sigset_t ours, before;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  auto endpoint = Endpoint::Create(*config, log);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!endpoint.ok()) {
    return Fail(endpoint.status(),
                absl::IsInvalidArgument(endpoint.status()) ? kExitUsage : kExitPreflight);
  }
  const auto& placed = config->instances[static_cast<size_t>(instance)];
  document.host.dpdk = DpdkVersion();
  for (const InstancePort& at : placed.ports) {
    const char* const comma = document.host.port.empty() ? "" : ", ";
    absl::StrAppend(&document.host.port, comma, HideSecrets(config->ports[at.port].device));
    absl::StrAppend(&document.host.driver, comma, (*endpoint)->ports()[at.port]->driver());
  }
  Host host(**endpoint, static_cast<uint32_t>(instance));
  const auto own = static_cast<uint16_t>(placed.xpu);
  const uint32_t vcs = MaskOf(options.vcs);
  if (options.mode == Mode::kServer) {
    return RunHosted<Server>(options, host, own, vcs, &document, stop,
                             [](auto&&... of) { return RunServer(of...); });
  }
  if (options.UsesMemory()) {
    return RunHosted<MemoryRun>(options, host, own, 1u << ResponseVc(vcs), &document, stop,
                                [](auto&&... of) { return RunMemoryClient(of...); });
  }
  return RunHosted<Workload>(options, host, own, vcs, &document, stop,
                             [](auto&&... of) { return RunStreams(of...); });
}

}  // namespace suede::perf
