// SPDX-License-Identifier: Apache-2.0
// The common part of the management of daemons: their management socket, log, captures and end.
#ifndef SUEDE_APP_DAEMON_DAEMON_MANAGEMENT_H_
#define SUEDE_APP_DAEMON_DAEMON_MANAGEMENT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/captures.h"
#include "daemon/logger.h"
#include "daemon/version.h"
#include "dpdk/eal.h"
#include "mgmt/event_log.h"
#include "mgmt/server.h"

namespace suede {

struct ManagementSocket {
  std::string path;
  mode_t mode = 0660;
  uint32_t max_clients = 32;
};

// Adds the counters of `rows`; `value(i)`: of row i.
template <typename Rows, typename Value>
void AddCounters(CounterSetView& set, const Rows& rows, Value&& value) {
  for (size_t i = 0; i < rows.size(); ++i) {
    set.counters.push_back({.name = rows[i].name, .value = value(i)});
  }
}
inline void AddCounters(CounterSetView& set, const ManagementCounters& management) {
#define SUEDE_MANAGEMENT_COUNTER_VIEW(id, metric, sentence) \
  set.counters.push_back({.name = metric, .value = management.id});
  SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANAGEMENT_COUNTER_VIEW)
#undef SUEDE_MANAGEMENT_COUNTER_VIEW
}

// `View`: EndpointView or SwitchView. Control thread only.
template <typename View>
class DaemonManagement : public View {
 public:
  int fd() const { return server_->fd(); }
  const ManagementCounters& counters() const { return server_->counters(); }
  const LogCounters& log_counters() const { return logger_->counters(); }
  // See Captures::Drain.
  void DrainCaptures() { captures_.Drain(); }
  bool captures() const { return !captures_.empty(); }
  // Whether the daemon is to end: by a drain request, or after BeginDrain.
  bool drains() const { return drains_; }
  void BeginDrain() { drains_ = true; }
  // Sets the address that serves metrics, for Version().
  void SetHttpAddress(std::string address) { http_address_ = std::move(address); }

  // DaemonView.
  VersionView Version() override {
    using std::chrono::duration_cast, std::chrono::seconds, std::chrono::steady_clock;
    return {.version = kVersion,
            .revision = kRevision,
            .dpdk = DpdkVersion(),
            .name = name_,
            .uptime_s =
                static_cast<uint64_t>(duration_cast<seconds>(steady_clock::now() - start_).count()),
            .http = http_address_,
            .config = config_file_};
  }
  absl::Status StartCapture(const CaptureQuery& query, Fd file) override {
    return captures_.Start(query, std::move(file));
  }
  absl::StatusOr<CaptureView> StopCapture(std::string_view port, bool drops) override {
    return captures_.Stop(port, drops);
  }
  std::vector<CaptureView> ListCaptures() override { return captures_.List(); }
  LogLevelView LogLevel() override { return static_cast<LogLevelView>(logger_->level()); }
  void SetLogLevel(LogLevelView level) override {
    logger_->SetLevel(static_cast<LogConfig::Level>(level));
  }
  bool Drain() override { return !std::exchange(drains_, true); }

 protected:
  static_assert(static_cast<int>(LogLevelView::kError) ==
                static_cast<int>(LogConfig::Level::kError));

  // `config_file`: used at the start; empty: none.
  DaemonManagement(std::string name, std::string config_file, Captures::FindPort find_port,
                   Logger* logger)
      : name_(std::move(name)),
        config_file_(std::move(config_file)),
        logger_(logger),
        captures_(std::move(find_port), std::ref(*logger)) {}

  // Opens the socket.
  absl::Status Listen(const ManagementSocket& socket, const Catalog& catalog) {
    const ManagementOptions options{
        .socket_path = socket.path,
        .socket_mode = socket.mode,
        .max_clients = socket.max_clients,
        .version = kVersion,
        .name = name_,
        .limits = {},
        .log =
            [logger = logger_](std::string_view line) {
              logger->Write(EalLogLevel::kInfo, "management", line);
            },
        .on_limit =
            [this](std::string_view limit, pid_t pid, uid_t uid, std::string_view reason) {
              this->Events().Raise(EventKind::kManagementLimit, {{EventField::kLimit, limit},
                                                                 {EventField::kPid, pid},
                                                                 {EventField::kUid, uid},
                                                                 {EventField::kReason, reason}});
            }};
    absl::StatusOr<std::unique_ptr<ManagementServer>> server =
        ManagementServer::Create(options, &catalog, this);
    if (server.ok()) server_ = *std::move(server);
    return server.status();
  }
  ManagementServer& server() { return *server_; }
  const ManagementServer& server() const { return *server_; }
  Logger& logger() { return *logger_; }
  // Ends the connections, whose questions refer to the daemon.
  void CloseServer() { server_ = nullptr; }

 private:
  const std::string name_;
  const std::string config_file_;
  Logger* const logger_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string http_address_;
  bool drains_ = false;
  Captures captures_;
  std::unique_ptr<ManagementServer> server_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_DAEMON_MANAGEMENT_H_
