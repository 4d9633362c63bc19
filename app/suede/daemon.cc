// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <sched.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/signals.h"
#include "daemon/version.h"
#include "daemon/web_service.h"
#include "endpoint/daemon_flags.h"
#include "endpoint/observer.h"
#include "endpoint/packet_service.h"
#include "endpoint/peer_metrics.h"
#include "endpoint/preflight.h"
#include "endpoint/telemetry_commands.h"
#include "serve.h"

namespace suede {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message()); }

int ExitCode(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitPreflight;
}

// Logs the errors that the preflight finds, in addition to the error that prevented the start.
void LogFindings(const Config& config, Logger& log) {
  for (const Finding& finding : PreflightOf(config)) {
    if (finding.severity == Finding::Severity::kError) {
      log(EalLogLevel::kError, "preflight", FormatFinding(finding));
    }
  }
}

// Builds the endpoint, with its sockets, and serves it.
int RunEndpoint(const Config& config, DaemonOptions options, Logger& log, int signals) {
  auto write = [&log](EalLogLevel level, std::string_view component, std::string_view line) {
    log(level, component, line);
  };
  if (const uint32_t seconds = AddressWait::MaxSeconds(config); seconds != 0) {
    Notifier(0).Starting("waiting for addresses by LLDP", std::chrono::seconds(seconds + 30));
  }
  absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(config, write);
  if (absl::IsCancelled(endpoint.status())) {
    log(EalLogLevel::kInfo, "suede", Text(endpoint.status()));
    return kExitDone;
  }
  if (!endpoint.ok()) {
    log(EalLogLevel::kError, "endpoint", Text(endpoint.status()));
    return ExitCode(endpoint.status());
  }
  absl::StatusOr<std::unique_ptr<ClientService>> clients =
      ClientService::Create(endpoint->get(), kVersion, write);
  if (!clients.ok()) {
    log(EalLogLevel::kError, "clients", Text(clients.status()));
    return kExitPreflight;
  }
  absl::StatusOr<std::unique_ptr<Management>> management =
      Management::Create(endpoint->get(), clients->get(), &log, std::move(options.origin));
  if (!management.ok()) {
    log(EalLogLevel::kError, "management", Text(management.status()));
    return kExitPreflight;
  }
  absl::StatusOr<std::unique_ptr<PacketService>> packets =
      PacketService::Create(endpoint->get(), &(*clients)->server(), write);
  if (!packets.ok()) {
    log(EalLogLevel::kError, "packets", Text(packets.status()));
    return kExitPreflight;
  }
  (*management)->SetPackets(packets->get());
  Observer observer(endpoint->get(), clients->get(), management->get());
  PeerMetrics peers(&observer.page());
  Telemetry telemetry;
  if (absl::Status status = telemetry.Register(EndpointTelemetry(&observer)); !status.ok()) {
    log(EalLogLevel::kWarning, "telemetry", Text(status));
  }
  absl::StatusOr<std::unique_ptr<WebService>> web = WebService::Start(
      config.management.http_address, &observer, observer.http_counters(), write, peers.Extra());
  if (!web.ok()) {
    log(EalLogLevel::kError, "web", Text(web.status()));
    return kExitPreflight;
  }
  (*management)->SetHttpAddress((*web)->address());
  options.prepare(**endpoint);
  if (absl::Status status = (*endpoint)->Start(); !status.ok()) {
    log(EalLogLevel::kError, "lcore", Text(status));
    return kExitPreflight;
  }
  observer.SetStarted();
  log(EalLogLevel::kInfo, "suede",
      absl::StrCat("ready name=", config.name, " socket=", config.clients.socket,
                   " management=", config.management.socket,
                   " instances=", config.instances.size(), " peers=", config.peers.size()));
  (*endpoint)->events().Raise(EventKind::kStarted, {{EventField::kVersion, kVersion}});
  Notifier notifier((*endpoint)->pipeline_count());
  notifier.Ready(StatusLine(**endpoint));
  const int code = Serve({.endpoint = **endpoint,
                          .clients = **clients,
                          .management = **management,
                          .packets = **packets,
                          .observer = observer,
                          .peers = peers,
                          .notifier = notifier,
                          .log = log,
                          .signals = signals},
                         options.drain_seconds);
  (*endpoint)->Stop();
  log(EalLogLevel::kInfo, "suede", "ended");
  return code;
}

}  // namespace

int RunDaemon(const Config& config, DaemonOptions options) {
  const int signals = TakeSignals();
  cpu_set_t cpus;
  const bool has_cpus = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  Logger log(config.log);
  for (const std::string& warning : options.warnings) log(EalLogLevel::kWarning, "config", warning);
  const int code = RunEndpoint(config, std::move(options), log, signals);
  if (code == kExitPreflight) {
    // Restores the CPUs that the process was started with, as EAL has pinned this thread.
    if (has_cpus) sched_setaffinity(0, sizeof cpus, &cpus);
    LogFindings(config, log);
  }
  return code;
}

}  // namespace suede
