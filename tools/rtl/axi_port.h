// SPDX-License-Identifier: Apache-2.0
// The port pair of an XPU behind the modules of AXI4: libsuede-axi, or the network in the
// simulation.
#ifndef SUEDE_RTL_AXI_PORT_H_
#define SUEDE_RTL_AXI_PORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "suede/axi.h"

namespace suede::rtl {

struct AxiParams {
  std::string name;      // begins messages
  std::string endpoint;  // name, or path of the socket
  bool is_first = true;  // the endpoint's first instance; otherwise `own`
  suede_instance own{};  // its XPU is also the one of the network in the simulation
  uint32_t bus_bytes = 32;
  uint32_t write_user_bytes = 0;
  uint32_t read_user_bytes = 0;
  uint32_t deadline_ms = 0;  // 0: the default of libsuede-axi; not of the network in the simulation
  std::vector<suede_axi_route> routes;
};

// As the functions of axi.h; resets at any time, all else only between a Poll that returns true and
// the next one.
class AxiPort {
 public:
  virtual ~AxiPort() = default;

  // Moves transactions; to be called in each cycle. False: the port has no connection yet, or is
  // making a new one.
  virtual bool Poll() = 0;
  // Whether the last Poll returned true.
  virtual bool is_up() const = 0;

  virtual uint32_t Credit(uint32_t channel) const = 0;
  virtual void SendAw(const suede_axi_address& address) = 0;
  virtual void SendW(const suede_axi_write_beat& beat) = 0;
  virtual void SendAr(const suede_axi_address& address) = 0;
  virtual bool TakeB(suede_axi_write_response* response) = 0;
  virtual bool TakeR(suede_axi_read_beat* beat) = 0;
  virtual void ResetSubordinate() = 0;

  virtual bool TakeAw(suede_axi_address* address) = 0;
  virtual bool TakeW(suede_axi_write_beat* beat) = 0;
  virtual bool TakeAr(suede_axi_address* address) = 0;
  // Return false where no transaction of the ID waits.
  virtual bool SendB(const suede_axi_write_response& response) = 0;
  virtual bool SendR(const suede_axi_read_beat& beat) = 0;
  virtual void ResetManager(bool in_reset) = 0;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_AXI_PORT_H_
