// SPDX-License-Identifier: Apache-2.0
// The devices of an endpoint as operators see them: events of their cables and of dropped frames,
// and rows of the management socket. Control thread only.
#ifndef SUEDE_APP_ENDPOINT_DEVICE_WATCH_H_
#define SUEDE_APP_ENDPOINT_DEVICE_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/link_follower.h"
#include "endpoint/endpoint_boards.h"
#include "endpoint/router_params.h"
#include "mgmt/endpoint_rows.h"
#include "mgmt/event_log.h"

namespace suede {

class DeviceWatch {
 public:
  // All arguments must outlive this.
  DeviceWatch(const Config& config, const EndpointBoards& boards, EventLog& events);

  // To be called about every 10 ms: raises events.
  void Check();

  std::vector<DeviceView> Devices() const;
  std::vector<CableView> Cables() const;

 private:
  // The last state that an event has reported.
  struct Reported {
    mesh::CableVerdict verdict = mesh::CableVerdict::kSilent;
    uint64_t without_hops = 0;
    uint64_t too_old = 0;
  };
  struct Row {
    const Router* router;
    uint32_t port;      // of its switch
    DeviceCable cable;  // of a centre only `own` is valid, without a port
    bool is_centre = false;
    bool is_outer = false;
    Reported reported{};
    LinkFollower link{};  // of an outer cable
  };
  std::string NameOfPort(const Row& row) const;
  void CheckCable(Row& row);
  void CheckDrops(Row& row);
  void RaiseDrops(EventKind kind, const Row& row, const fabric::DropNote& note, uint64_t& reported);

  const Config& config_;
  const EndpointBoards& boards_;
  EventLog& events_;
  std::vector<Row> rows_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_DEVICE_WATCH_H_
