// suede-perf as a client process: a thread for each queue.
#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <deque>
#include <functional>
#include <thread>

#include "perf/client_endpoint.h"
#include "perf/programs.h"
#include "perf/server.h"
#include "perf/workload.h"

namespace suede::perf {
namespace {

void PinTo(uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
    std::fprintf(stderr, "suede-perf: cannot pin a thread to CPU %u; running unpinned\n", cpu);
  }
}

// Steps a workload until `done` says so, and is considerate while it finds nothing to do.
class WorkerLoop {
 public:
  WorkerLoop(ClientEndpoint& endpoint, const Options& options, uint32_t worker)
      : endpoint_(endpoint), spin_(options.spin) {
    for (uint8_t vc : VcsOfWorker(options, worker)) vc_mask_ |= 1u << vc;
  }

  template <class Step, class Done>
  void Run(const Step& step, const Done& done, bool may_sleep) {
    Time last_work = endpoint_.Now();
    uint32_t idle_turns = 0;
    while (!done()) {
      const Time now = endpoint_.Now();
      if (step(now)) {
        last_work = now;
        idle_turns = 0;
        continue;
      }
      if (++idle_turns % kTurnsToCheck == 0) endpoint_.CheckConnection();
      if (spin_ || idle_turns < kTurnsToYield) continue;
      if (may_sleep && now - last_work > kTimeToSleep) {
        endpoint_.CheckConnection();
        endpoint_.Wait(vc_mask_);
      } else {
        sched_yield();
      }
    }
  }

 private:
  static constexpr uint32_t kTurnsToYield = 64;
  static constexpr uint32_t kTurnsToCheck = 1 << 16;
  static constexpr Duration kTimeToSleep = std::chrono::milliseconds(10);

  ClientEndpoint& endpoint_;
  const bool spin_;
  uint32_t vc_mask_ = 0;
};

// Runs body(0) to body(queues - 1), each in a thread of its own; the first in this one.
void InWorkers(const Options& options, const std::function<void(uint32_t)>& body) {
  const auto pinned = [&](uint32_t worker) {
    if (worker < options.cpus.size()) PinTo(options.cpus[worker]);
    body(worker);
  };
  std::vector<std::thread> threads;
  for (uint32_t worker = 1; worker < options.queues; ++worker) threads.emplace_back(pinned, worker);
  pinned(0);
  for (std::thread& thread : threads) thread.join();
}

RunResult RunSize(const Options& options, uint32_t data_bytes, const ClientSession& session,
                  std::deque<ClientEndpoint>& endpoints, const std::atomic<bool>& stop) {
  RunPlan plan = PlanOf(options, data_bytes);
  RunBoard board(NewRunNumber(), options.queues, plan.streams);
  std::deque<ClientWorkload<ClientEndpoint>> workloads;
  for (uint32_t worker = 0; worker < options.queues; ++worker) {
    // What the division leaves over goes to the first.
    if (options.count > 0) {
      plan.count = options.count / options.queues +
                   (worker == 0 ? options.count % options.queues : 0);
    }
    workloads.emplace_back(endpoints[worker], plan, board, session.xpuid(),
                           static_cast<uint8_t>(worker), VcsOfWorker(options, worker), stop);
  }
  InWorkers(options, [&](uint32_t worker) {
    auto& workload = workloads[worker];
    WorkerLoop(endpoints[worker], options, worker)
        .Run([&](Time now) { return workload.Turn(now); }, [&] { return workload.done(); }, false);
  });
  std::vector<const RunResult*> results;
  std::vector<const RateTrack*> tracks;
  for (const auto& workload : workloads) {
    results.push_back(&workload.result());
    tracks.push_back(&workload.track());
  }
  return Combine(results, tracks, board);
}

int RunClient(const Options& options, const ClientSession& session,
              std::deque<ClientEndpoint>& endpoints, Document* document,
              const std::atomic<bool>& stop) {
  PrintHead(options);
  for (uint32_t data_bytes : options.sizes) {
    const double before = ProbeCacheline(options);
    FinishRun(options, data_bytes, before,
              RunSize(options, data_bytes, session, endpoints, stop), document);
    if (document->results.back().outcome != Outcome::kDone || stop) break;
  }
  document->end = std::chrono::system_clock::now();
  return Conclude(options, *document);
}

int RunServer(const Options& options, const ClientSession& session,
              std::deque<ClientEndpoint>& endpoints, Document* document,
              const std::atomic<bool>& stop) {
  std::deque<ServerWorkload<ClientEndpoint>> servers;
  for (uint32_t worker = 0; worker < options.queues; ++worker) {
    servers.emplace_back(endpoints[worker], session.xpuid(), VcsOfWorker(options, worker),
                         options.echo);
  }
  std::fprintf(stderr, "suede-perf: serving XPU %u, %s\n", session.xpuid(),
               options.echo ? "echo" : "sink");
  const Time until = options.duration_s > 0
                         ? endpoints[0].Now() +
                               Duration(static_cast<int64_t>(options.duration_s * 1e9))
                         : kNever;
  InWorkers(options, [&](uint32_t worker) {
    ClientEndpoint& endpoint = endpoints[worker];
    WorkerLoop(endpoint, options, worker)
        .Run([&](Time now) { return servers[worker].Turn(now); },
             [&] { return stop || endpoint.lost() || endpoint.Now() >= until; }, true);
  });
  StreamCounts total;
  uint64_t runs = 0;
  for (const auto& server : servers) {
    total.Add(server.Total());
    runs += server.runs();
  }
  std::fputs(ServerTable(total, runs).c_str(), stdout);
  document->served = &total;
  document->end = std::chrono::system_clock::now();
  const int code = Conclude(options, *document);
  if (!endpoints[0].lost()) return code;
  std::fprintf(stderr, "suede-perf: the daemon went away\n");
  return kExitUnreachable;
}

}  // namespace

int RunOverDaemon(const Options& options, Document document, const std::atomic<bool>& stop) {
  const auto session = ClientSession::Open(options);
  if (!session.ok()) {
    std::fprintf(stderr, "suede-perf: %s\n", std::string(session.status().message()).c_str());
    if (absl::IsUnavailable(session.status())) return kExitUnreachable;
    return absl::IsInvalidArgument(session.status()) ? kExitUsage : kExitFailure;
  }
  const TscClock clock = TscClock::Calibrate();
  std::deque<ClientEndpoint> endpoints;
  for (uint32_t queue = 0; queue < options.queues; ++queue) {
    endpoints.emplace_back(**session, queue, clock);
  }
  const auto run = options.mode == Mode::kServer ? RunServer : RunClient;
  return run(options, **session, endpoints, &document, stop);
}

}  // namespace suede::perf
