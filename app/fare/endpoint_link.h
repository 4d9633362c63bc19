// SPDX-License-Identifier: Apache-2.0
// The management socket of the endpoint, for the weights of its planes. One thread.
#ifndef SUEDE_APP_FARE_ENDPOINT_LINK_H_
#define SUEDE_APP_FARE_ENDPOINT_LINK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "suedectl/daemon.h"

namespace suede::fare {

class EndpointLink {
 public:
  EndpointLink(std::vector<std::string> paths, uint32_t xpu, uint32_t instance)
      : paths_(std::move(paths)), xpu_(xpu), instance_(instance) {}

  bool connected() const { return daemon_.has_value(); }
  // Readable when the daemon has gone: it says nothing unasked. -1: not connected.
  int fd() const { return daemon_ ? daemon_->fd() : -1; }
  absl::Status Connect();
  void Close() { daemon_.reset(); }
  // Without `weight`, restores the weight as if none had been set. kAborted: the daemon refuses;
  // other errors: the daemon has gone, and the link is closed.
  absl::Status SetWeight(uint32_t plane, uint32_t peer, std::optional<uint32_t> weight);

 private:
  const std::vector<std::string> paths_;
  const uint32_t xpu_;
  const uint32_t instance_;
  std::optional<ctl::Daemon> daemon_;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_ENDPOINT_LINK_H_
