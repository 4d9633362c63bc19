// SPDX-License-Identifier: Apache-2.0
// Captures of ports' frames to files passed by management clients.
#ifndef SUEDE_APP_DAEMON_CAPTURES_H_
#define SUEDE_APP_DAEMON_CAPTURES_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/logger.h"
#include "dpdk/capture.h"
#include "local/fd.h"
#include "mgmt/daemon_view.h"

namespace suede {

// Control thread only.
class Captures {
 public:
  // Returns the port of that name, or the tap of frames that are dropped there; null if there is
  // none. Ports must outlive this.
  using FindPort = std::function<TappedPort*(std::string_view name, bool drops)>;
  Captures(FindPort find_port, LogSink log)
      : find_port_(std::move(find_port)), log_(std::move(log)) {}

  absl::Status Start(const CaptureQuery& query, Fd file);
  absl::StatusOr<CaptureView> Stop(std::string_view port, bool drops);
  std::vector<CaptureView> List() const;
  // Writes captured frames, and ends captures whose time is over. To be called about every
  // millisecond while there are captures.
  void Drain();
  bool empty() const { return running_.empty(); }

 private:
  struct Running {
    std::unique_ptr<Capture> capture;
    bool drops = false;
    std::chrono::steady_clock::time_point end;
  };
  static CaptureView ViewOf(const Running& running);
  std::vector<Running>::iterator Find(std::string_view port, bool drops);

  const FindPort find_port_;
  const LogSink log_;
  std::vector<Running> running_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_CAPTURES_H_
