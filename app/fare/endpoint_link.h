// SPDX-License-Identifier: Apache-2.0
// The endpoint's management socket, for the weights of its planes. For use by one thread.
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
  // Readable when the daemon has closed the connection, as it sends nothing unrequested; -1: not
  // connected.
  int fd() const { return daemon_ ? daemon_->fd() : -1; }
  absl::Status Connect();
  void Close() { daemon_.reset(); }
  // Sets the weight of a plane to a peer; without `weight`, restores the default. kAborted: the
  // daemon rejects it; other errors: the connection is lost, and the link closed.
  absl::Status SetWeight(uint32_t plane, uint32_t peer, std::optional<uint32_t> weight);

 private:
  const std::vector<std::string> paths_;
  const uint32_t xpu_;
  const uint32_t instance_;
  std::optional<ctl::Daemon> daemon_;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_ENDPOINT_LINK_H_
