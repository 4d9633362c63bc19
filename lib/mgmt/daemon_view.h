// SPDX-License-Identifier: Apache-2.0
// Interface to a daemon of any kind for methods: plain values, so that this room depends on neither
// drivers nor DPDK.
#ifndef SUEDE_MGMT_DAEMON_VIEW_H_
#define SUEDE_MGMT_DAEMON_VIEW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "local/fd.h"
#include "mgmt/config_view.h"
#include "mgmt/link_view.h"

namespace suede {

class EventLog;

struct VersionView {
  std::string version;
  std::string revision;
  std::string dpdk;
  std::string name;  // name of the daemon
  uint64_t uptime_s = 0;
  std::string http;    // address at which metrics are served; empty: none
  std::string config;  // the file that the daemon was started with; empty: none
};

enum class CounterScope : uint8_t { kTotal, kInstance, kLcore, kPort, kClass };

struct CounterView {
  std::string_view name;  // static storage
  uint64_t value = 0;
};
struct CounterSetView {
  std::string of;  // owner: "3.0", "p0", "p0.7"; empty for the total
  std::vector<CounterView> counters;
};

enum class LogLevelView : uint8_t { kDebug, kInfo, kWarning, kError };

struct CaptureQuery {
  std::string port;
  uint32_t snap_bytes = 0;
  uint32_t frames = 0;   // maximum number of frames that wait to be written
  uint32_t seconds = 0;  // 0: until stopped
};
struct CaptureView {
  std::string port;
  uint64_t written = 0;  // frames
  uint64_t dropped = 0;
};

// Kinds of daemons. A view belongs to one daemon, and methods that need more than a DaemonView are
// only in the catalog of its kind.
enum class DaemonKind : uint8_t { kEndpoint, kSwitch };
std::string_view NameOf(DaemonKind kind);

// Control thread only. Does not block.
class DaemonView : public ConfigView {
 public:
  DaemonKind kind() const { return kind_; }

  virtual EventLog& Events() = 0;
  virtual VersionView Version() = 0;
  // Returns the counters of a scope. The order and number of the sets, and of the counters of a
  // set, are constant. Empty if the kind of daemon does not have the scope.
  virtual std::vector<CounterSetView> Counters(CounterScope scope) = 0;
  virtual absl::Status StartCapture(const CaptureQuery& query, Fd file) = 0;
  virtual absl::StatusOr<CaptureView> StopCapture(std::string_view port) = 0;
  virtual std::vector<CaptureView> ListCaptures() = 0;
  // Returns the links of all ports, in the order of the ports.
  virtual std::vector<LinkView> Links() = 0;
  // A query to be polled until it is true: the setting has taken effect.
  using PortQuestion = std::function<bool()>;
  virtual absl::StatusOr<PortQuestion> SetPortAdmin(std::string_view port, bool up) = 0;
  virtual LogLevelView LogLevel() = 0;
  virtual void SetLogLevel(LogLevelView level) = 0;
  // Begins to drain, like SIGTERM. Returns false if a drain was already in progress.
  virtual bool Drain() = 0;

 protected:
  explicit DaemonView(DaemonKind kind) : kind_(kind) {}

 private:
  const DaemonKind kind_;
};

}  // namespace suede

#endif  // SUEDE_MGMT_DAEMON_VIEW_H_
