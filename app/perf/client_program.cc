// SPDX-License-Identifier: Apache-2.0
// suede-perf as a client process. A load has one thread per queue, or one for all balanced
// instances; a server has one per queue of each instance.
#include <cstdio>
#include <deque>

#include "perf/client_endpoint.h"
#include "perf/clock.h"
#include "perf/programs.h"
#include "perf/server.h"
#include "perf/stream_load.h"
#include "perf/worker_loop.h"

namespace suede::perf {
namespace {

using Sessions = std::deque<std::unique_ptr<ClientSession>>;
using Endpoints = std::deque<ClientEndpoint>;

using Servers = std::deque<ServerWorkload<ClientEndpoint>>;

// Runs one size. `servers`: of a peer; otherwise empty.
RunResult RunSize(const Options& options, uint32_t data_bytes, uint16_t own, Endpoints& endpoints,
                  Servers& servers, IntervalLog* log, const std::atomic<bool>& stop) {
  RunPlan plan = PlanOf(options, data_bytes);
  RunBoard board({.run = NewRunNumber(), .workers = options.queues, .flows = options.queues},
                 plan.streams);
  std::deque<StreamRun<ClientEndpoint>> runs;
  for (uint32_t worker = 0; worker < options.queues; ++worker) {
    // The first worker gets the remainder.
    if (options.count > 0) {
      plan.count = options.count / options.queues +
                   (worker == 0 ? options.count % options.queues : 0);
    }
    runs.emplace_back(plan, stop, endpoints[worker], board, own, static_cast<uint8_t>(worker),
                      VcsOfWorker(options, worker), servers.empty() ? nullptr : &servers[worker]);
    if (log != nullptr) runs.back().LogTo(log->NewCells(own));
  }
  return RunInWorkers(
      options, data_bytes, runs,
      [&](uint32_t worker) -> ClientEndpoint& { return endpoints[worker]; }, &board);
}

// Runs one size with one worker that sends on all instances.
RunResult RunBalancedSize(const Options& options, uint32_t data_bytes, uint16_t own,
                          BalancedEndpoint& endpoint, const std::atomic<bool>& stop) {
  const RunPlan plan = PlanOf(options, data_bytes);
  RunBoard board({.run = NewRunNumber(), .workers = 1, .flows = endpoint.lanes()}, plan.streams);
  return RunInOne<StreamRun<BalancedEndpoint>>(options, data_bytes, endpoint, &board, stop,
                                               endpoint, board, own, uint8_t{0}, options.vcs);
}

// Runs the servers, one per endpoint, until a signal or the end of the duration.
void Serve(const Options& options, Endpoints& endpoints, Servers& servers,
           const std::atomic<bool>& stop) {
  Progress progress(options, 0, static_cast<uint32_t>(endpoints.size()));
  for (uint32_t i = 0; i < endpoints.size(); ++i) servers[i].ReportTo(progress.worker(i));
  InWorkers(static_cast<uint32_t>(endpoints.size()), options.cpus, [&](uint32_t worker) {
    ClientEndpoint& endpoint = endpoints[worker];
    const uint32_t vc_mask = MaskOf(VcsOfWorker(options, worker % options.queues));
    ServeUntilEnd(
        options, endpoint, stop, [&](Time now) { return servers[worker].Poll(now); },
        [&] { return endpoint.lost(); },
        [&] {
          endpoint.CheckConnection();
          endpoint.Wait(vc_mask);
        });
  });
}

// Prints the servers' counts. Returns the exit code.
int WriteSummary(const Options& options, const Endpoints& endpoints, const Servers& servers,
                 Document* document) {
  StreamCounts total;
  uint64_t runs = 0;
  bool lost = false;
  for (size_t worker = 0; worker < endpoints.size(); ++worker) {
    total.Add(servers[worker].Total());
    runs += servers[worker].runs();
    document->arrivals.Merge(servers[worker].arrivals());
    lost |= endpoints[worker].lost();
  }
  return ConcludeServer(options, &total, runs, lost, document);
}

// Serves the other peers until they have completed as many runs as this peer, or are silent.
void ServeOthers(const Options& options, Endpoints& endpoints, Servers& servers,
                 const std::atomic<bool>& stop) {
  Progress progress(options, 0, options.queues);
  for (uint32_t i = 0; i < options.queues; ++i) servers[i].ReportTo(progress.worker(i));
  InWorkers(options.queues, options.cpus, [&](uint32_t worker) {
    ServerWorkload<ClientEndpoint>& server = servers[worker];
    server.StartLinger({.peers = options.destinations,
                        .vcs = VcsOfWorker(options, worker),
                        .runs = options.sizes.size() * options.inflights.size(),
                        .timeout = Seconds(options.drain_s)},
                       endpoints[worker].Now());
    RunLoop(
        endpoints[worker], options.spin, [&](Time now) { return server.Poll(now); },
        [&] { return stop || endpoints[worker].lost() || server.done(); });
  });
}

int RunPeer(const Options& options, uint16_t own, Endpoints& endpoints, Document* document,
            IntervalLog* log, const std::atomic<bool>& stop) {
  Servers servers;
  for (uint32_t worker = 0; worker < options.queues; ++worker) {
    servers.emplace_back(endpoints[worker], own);
    if (log != nullptr) servers.back().LogTo(log->NewCells(own));
  }
  RunSteps(
      options,
      [&](const Options& step, uint32_t size) {
        return RunSize(step, size, own, endpoints, servers, log, stop);
      },
      document, stop);
  if (!endpoints[0].lost()) ServeOthers(options, endpoints, servers, stop);
  return WriteSummary(options, endpoints, servers, document);
}

int RunServer(const Options& options, uint16_t own, Endpoints& endpoints, Document* document,
              IntervalLog* log, const std::atomic<bool>& stop) {
  Servers servers;
  for (uint32_t worker = 0; worker < endpoints.size(); ++worker) {
    servers.emplace_back(endpoints[worker], own, VcsOfWorker(options, worker % options.queues),
                         options.echo());
    if (log != nullptr) servers.back().LogTo(log->NewCells(own));
    if (options.take_rate > 0) servers.back().LimitRate(options.take_rate);
    if (options.receive_only) servers.back().ReceiveOnly();
  }
  std::fprintf(stderr, "suede-perf: serving XPU %u, %s\n", own, options.echo() ? "echo" : "sink");
  Serve(options, endpoints, servers, stop);
  return WriteSummary(options, endpoints, servers, document);
}

// Opens one connection, or one per instance of --instances, which may be on different lcores.
absl::StatusOr<Sessions> Connect(const Options& options) {
  Sessions sessions;
  Options one = options;
  const std::vector<uint8_t> only = {static_cast<uint8_t>(options.instance)};
  for (const uint8_t instance : options.instances.empty() ? only : options.instances) {
    one.instance = instance;
    auto session = ClientSession::Open(one);
    if (!session.ok()) return session.status();
    sessions.push_back(*std::move(session));
  }
  return sessions;
}

}  // namespace

int RunOverDaemon(const Options& options, Document document, const std::atomic<bool>& stop) {
  const auto log = OpenIntervalLog(options);
  if (!log.ok()) return FailToConnect(log.status());
  const absl::StatusOr<Sessions> sessions = Connect(options);
  if (!sessions.ok()) return FailToConnect(sessions.status());
  const uint16_t own = sessions->front()->xpuid();
  const TscClock clock = TscClock::Calibrate();
  if (options.balance != 0) {
    const auto balanced = BalancedEndpoint::Create(*sessions, options.balance, clock);
    if (!balanced.ok()) return FailToConnect(balanced.status());
    return RunClient(
        options,
        [&](const Options& step, uint32_t size) {
          return RunBalancedSize(step, size, own, **balanced, stop);
        },
        &document, stop);
  }
  Endpoints endpoints;
  for (const auto& session : *sessions) {
    for (uint32_t queue = 0; queue < options.queues; ++queue) {
      endpoints.emplace_back(*session, queue, clock);
    }
  }
  if (options.mode == Mode::kServer)
    return RunServer(options, own, endpoints, &document, log->get(), stop);
  if (options.mode == Mode::kPeer)
    return RunPeer(options, own, endpoints, &document, log->get(), stop);
  Servers none;
  return RunClient(
      options,
      [&](const Options& step, uint32_t size) {
        return RunSize(step, size, own, endpoints, none, log->get(), stop);
      },
      &document, stop);
}

}  // namespace suede::perf
