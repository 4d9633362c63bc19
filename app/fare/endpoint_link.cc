// SPDX-License-Identifier: Apache-2.0
#include "endpoint_link.h"

#include <utility>

#include "base/text.h"

namespace suede::fare {
namespace {

constexpr int kTimeoutS = 5;  // longer than a method waits for an lcore

}  // namespace

absl::Status EndpointLink::Connect() {
  absl::StatusOr<ctl::Daemon> daemon = ctl::Daemon::Connect(
      paths_, kTimeoutS, "start the endpoint, or name its socket by the keys endpoint or socket");
  if (!daemon.ok()) return daemon.status();
  if (daemon->kind() != DaemonKind::kEndpoint) {
    return absl::FailedPreconditionError(
        "the socket is that of a switch; name the endpoint's by the keys endpoint or socket");
  }
  daemon_ = *std::move(daemon);
  return absl::OkStatus();
}

absl::Status EndpointLink::SetWeight(uint32_t plane, uint32_t peer,
                                     std::optional<uint32_t> weight) {
  ForeignJson params = {{"xpu", xpu_}, {"instance", instance_}, {"plane", plane}, {"peer", peer}};
  if (weight) {
    params["weight"] = *weight;
  } else {
    params["weight"] = "default";
  }
  const absl::StatusOr<Json> answer = daemon_->Call("planes.set_weight", params);
  if (!answer.ok() && !absl::IsAborted(answer.status())) Close();
  return answer.status();
}

}  // namespace suede::fare
