// SPDX-License-Identifier: Apache-2.0
// The boards of a configuration's devices on given ports: routers, centres, the cables between
// them. Independent of DPDK, like EndpointPipelines.
#ifndef SUEDE_APP_ENDPOINT_ENDPOINT_BOARDS_H_
#define SUEDE_APP_ENDPOINT_ENDPOINT_BOARDS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "endpoint/endpoint_pipelines.h"
#include "port/tap_group.h"
#include "router/board.h"
#include "router/cable.h"

namespace suede {

class EndpointBoards {
 public:
  using Device = EndpointPipelines::Device;
  // `devices`: in the order of Config::ports. `draw_secret`: returns the key of each cable's end.
  EndpointBoards(const Config& config, const std::vector<Device>& devices,
                 const std::function<SecretKey()>& draw_secret);

  // Returns the ports for pipelines: those of centres replace the devices' queue pairs.
  std::vector<Device> PipelineDevices(const Config& config, std::vector<Device> devices);
  // Gives the routers the tables of a configuration, as the next epoch. Any thread but lcores.
  void SetTables(const Config& config);
  // Returns the board of Config::lcores[lcore]; null: it runs no device.
  Board* board(uint32_t lcore) const { return boards_[lcore].get(); }
  // Returns the router of Config::devices[device].
  const Router& router(uint32_t device) const { return *routers_[device]; }
  Router& router(uint32_t device) { return *routers_[device]; }
  // Returns a device's port, as in M0D4P2, or the port of a plane for captures; null: there is none
  // of that name.
  TappedPort* tapped_port(std::string_view name);
  // Returns Config::cables[cable]; null: by a port.
  Cable* cable(uint32_t cable) const { return cables_[cable].get(); }

 private:
  void AddBoards(const Config& config, const std::vector<Device>& devices);
  void AddRouter(const Config& config, uint32_t device, const std::vector<Device>& devices,
                 const std::function<SecretKey()>& draw_secret);
  void AddTaps(const Config& config);

  std::vector<std::unique_ptr<Cable>> cables_;  // of Config::cables; null: by a port
  std::vector<Port*> pools_;                    // of each lcore's board
  std::vector<std::unique_ptr<Board>> boards_;
  std::vector<Router*> routers_;
  std::deque<TapGroup> taps_;
  uint32_t epoch_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ENDPOINT_BOARDS_H_
