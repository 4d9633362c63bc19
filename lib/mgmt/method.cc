// SPDX-License-Identifier: Apache-2.0
#include "mgmt/method.h"

#include <cstdlib>

#include "mgmt/endpoint_view.h"
#include "mgmt/switch_view.h"

namespace suede {

std::string_view NameOf(DaemonKind kind) {
  return kind == DaemonKind::kSwitch ? "switch" : "endpoint";
}

EndpointView& Call::endpoint() const {
  if (daemon.kind() != DaemonKind::kEndpoint) std::abort();
  return static_cast<EndpointView&>(daemon);
}

SwitchView& Call::the_switch() const {
  if (daemon.kind() != DaemonKind::kSwitch) std::abort();
  return static_cast<SwitchView&>(daemon);
}

}  // namespace suede
