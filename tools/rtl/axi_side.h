// SPDX-License-Identifier: Apache-2.0
// The AXI4 interfaces cycle by cycle: valid, ready and reset above a port pair.
#ifndef SUEDE_RTL_AXI_SIDE_H_
#define SUEDE_RTL_AXI_SIDE_H_

#include <optional>
#include <string>

#include "axi_port.h"

namespace suede::rtl {

// A channel that the module receives on. READY stands for a credit of the port.
template <typename Transfer>
class Inlet {
 public:
  bool ready() const { return is_ready_; }
  void Sample(bool valid, const Transfer& transfer) {
    if (valid && is_ready_) pending_ = transfer;
  }
  // Hands the transfer to the port, if that is up, and computes READY for the next edge.
  template <typename Send, typename HasCredit>
  void Drive(bool is_up, Send&& send, HasCredit&& has_credit) {
    if (is_up && pending_) {
      send(*pending_);
      pending_.reset();
    }
    is_ready_ = is_up && !pending_ && has_credit();
  }
  void Clear() {
    pending_.reset();
    is_ready_ = false;
  }

 private:
  bool is_ready_ = false;
  std::optional<Transfer> pending_;  // came at an edge at which the port was not up any more
};

// A channel that the module drives.
template <typename Transfer>
class Outlet {
 public:
  bool valid() const { return is_valid_; }
  const Transfer& transfer() const { return transfer_; }
  void Sample(bool ready) { is_valid_ = is_valid_ && !ready; }
  template <typename Take>
  void Drive(bool is_up, Take&& take) {
    if (is_up && !is_valid_) is_valid_ = take(&transfer_);
  }
  void Clear() { is_valid_ = false; }

 private:
  bool is_valid_ = false;
  Transfer transfer_{};
};

// Signals of the channels that a subordinate, or a manager, receives on.
struct AxiRequests {
  suede_axi_address aw{};
  suede_axi_write_beat w{};
  suede_axi_address ar{};
  bool aw_valid = false;
  bool w_valid = false;
  bool ar_valid = false;
  bool b_ready = false;
  bool r_ready = false;
};
struct AxiAnswers {
  suede_axi_write_response b{};
  suede_axi_read_beat r{};
  bool b_valid = false;
  bool r_valid = false;
  bool aw_ready = false;
  bool w_ready = false;
  bool ar_ready = false;
};

// The subordinate port. One owner, as of its port.
class AxiSubordinateSide {
 public:
  explicit AxiSubordinateSide(AxiPort* port) : port_(port) {}
  // Processes an edge; then the accessors have the outputs up to the next one.
  void Edge(bool in_reset, const AxiRequests& in);

  const Inlet<suede_axi_address>& aw() const { return aw_; }
  const Inlet<suede_axi_write_beat>& w() const { return w_; }
  const Inlet<suede_axi_address>& ar() const { return ar_; }
  const Outlet<suede_axi_write_response>& b() const { return b_; }
  const Outlet<suede_axi_read_beat>& r() const { return r_; }

 private:
  void DriveRequests(bool is_up);

  AxiPort* const port_;
  bool was_in_reset_ = false;
  Inlet<suede_axi_address> aw_;
  Inlet<suede_axi_write_beat> w_;
  Inlet<suede_axi_address> ar_;
  Outlet<suede_axi_write_response> b_;
  Outlet<suede_axi_read_beat> r_;
};

// The manager port.
class AxiManagerSide {
 public:
  AxiManagerSide(std::string name, AxiPort* port) : name_(std::move(name)), port_(port) {}
  void Edge(bool in_reset, const AxiAnswers& in);

  const Outlet<suede_axi_address>& aw() const { return aw_; }
  const Outlet<suede_axi_write_beat>& w() const { return w_; }
  const Outlet<suede_axi_address>& ar() const { return ar_; }
  const Inlet<suede_axi_write_response>& b() const { return b_; }
  const Inlet<suede_axi_read_beat>& r() const { return r_; }

 private:
  void DriveAnswers(bool is_up);
  void Report(const char* channel, uint32_t id) const;

  const std::string name_;
  AxiPort* const port_;
  bool was_in_reset_ = false;
  Outlet<suede_axi_address> aw_;
  Outlet<suede_axi_write_beat> w_;
  Outlet<suede_axi_address> ar_;
  Inlet<suede_axi_write_response> b_;
  Inlet<suede_axi_read_beat> r_;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_AXI_SIDE_H_
