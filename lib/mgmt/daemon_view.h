// SPDX-License-Identifier: Apache-2.0
// Interface to a daemon of any kind for methods: plain values, so that this room depends on neither
// drivers nor DPDK.
#ifndef SUEDE_MGMT_DAEMON_VIEW_H_
#define SUEDE_MGMT_DAEMON_VIEW_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "local/fd.h"
#include "mgmt/lldp_view.h"
#include "mgmt/row.h"
#include "stats/link_counters.h"

namespace suede {

class EventLog;

// A question that the daemon cannot answer at once, as another thread has the answer: to be polled
// until it has a reply. May be dropped at any time; a change that has begun is completed all the
// same.
template <typename T>
using Question = std::function<std::optional<T>()>;
// To be polled until it is true: the setting has taken effect.
using AdminQuestion = std::function<bool()>;

#define SUEDE_VERSION_ROW(X)                                                                \
  X(std::string, version, .Named("suede"))                                                  \
  X(std::string, revision)                                                                  \
  X(std::string, dpdk)                                                                      \
  X(int, protocol, .Note("of this socket"))                                                 \
  X(std::string, name, .Note("of the endpoint or switch"))                                  \
  X(pid_t, pid)                                                                             \
  X(uint64_t, uptime_s, .Unit("s"))                                                         \
  X(std::string, http, .Note("address and port of the web server").OrNull("there is none")) \
  X(std::string, config, .Note("file that it was started with").OrNull("there was none"))
SUEDE_ROW_STRUCT(VersionView, SUEDE_VERSION_ROW);

#define SUEDE_CONFIG_CHANGE_ROW(X) \
  X(std::string, key)              \
  X(std::string, from)             \
  X(std::string, to)               \
  X(bool, at_once, .Named("effect").OneOf("at once|after a restart"))
SUEDE_ROW_STRUCT(ConfigChangeView, SUEDE_CONFIG_CHANGE_ROW);
// Changes are relative to the running configuration.
#define SUEDE_CONFIG_CHECK_ROW(X)                             \
  X(std::vector<std::string>, warnings, .Note("a text each")) \
  X(std::vector<ConfigChangeView>, changes,                   \
    .Note("entries of instances and peers stand for all of their keys, without values"))
SUEDE_ROW_STRUCT(ConfigCheckView, SUEDE_CONFIG_CHECK_ROW);

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
  bool drops = false;  // dropped frames, and not those sent and received
  uint32_t snap_bytes = 0;
  uint32_t frames = 0;                   // maximum number of frames that wait to be written
  uint32_t seconds = 0;                  // 0: until stopped
  std::optional<uint32_t> frames_per_s;  // max frames written; 0: no limit; nullopt: the default
};
#define SUEDE_CAPTURE_ROW(X)                          \
  X(std::string, port)                                \
  X(bool, drops, .Note("of frames that are dropped")) \
  X(uint64_t, written, .Note("frames in the file"))   \
  X(uint64_t, dropped, .Note("frames that found no room"))
SUEDE_ROW_STRUCT(CaptureView, SUEDE_CAPTURE_ROW);

// The end of a link (docs/link.md).
struct LinkView {
  std::string port;
  const LinkCounters* counters = nullptr;  // null: the port sends no link frames
};

// Kinds of daemons. A view belongs to one daemon, and methods that need more than a DaemonView are
// only in the catalog of its kind.
enum class DaemonKind : uint8_t { kEndpoint, kSwitch };
std::string_view NameOf(DaemonKind kind);

// Control thread only. Does not block.
class DaemonView {
 public:
  virtual ~DaemonView() = default;
  DaemonKind kind() const { return kind_; }

  virtual EventLog& Events() = 0;
  virtual VersionView Version() = 0;
  // Returns the text of a file that loads to the effective configuration.
  virtual std::string EffectiveConfig() = 0;
  // Checks a configuration. `place`: the origin of `text`, named in messages.
  virtual absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                                      std::string_view place) = 0;
  // Returns the counters of a scope. The order and number of the sets, and of the counters of a
  // set, are constant. Empty if the kind of daemon does not have the scope.
  virtual std::vector<CounterSetView> Counters(CounterScope scope) = 0;
  virtual absl::Status StartCapture(const CaptureQuery& query, Fd file) = 0;
  virtual absl::StatusOr<CaptureView> StopCapture(std::string_view port, bool drops) = 0;
  virtual std::vector<CaptureView> ListCaptures() = 0;
  // Returns the links of all ports, in the order of the ports.
  virtual std::vector<LinkView> Links() = 0;
  // Returns the neighbours of ports with lldp: on, and the ports.
  virtual LldpView Lldp() = 0;
  virtual absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) = 0;
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
