// SPDX-License-Identifier: Apache-2.0
// A port pair at a daemon. Calls that wait run in a thread of their own.
#ifndef SUEDE_RTL_CLIENT_AXI_H_
#define SUEDE_RTL_CLIENT_AXI_H_

#include <chrono>
#include <functional>
#include <future>

#include "axi_port.h"

namespace suede::rtl {

class ClientAxiPort final : public AxiPort {
 public:
  explicit ClientAxiPort(AxiParams params) : params_(std::move(params)) {}
  ~ClientAxiPort() override;

  bool Poll() override;
  bool is_up() const override { return is_up_; }

  uint32_t Credit(uint32_t channel) const override { return suede_axi_credit(axi_, channel); }
  void SendAw(const suede_axi_address& address) override { suede_axi_send_aw(axi_, &address); }
  void SendW(const suede_axi_write_beat& beat) override { suede_axi_send_w(axi_, &beat); }
  void SendAr(const suede_axi_address& address) override { suede_axi_send_ar(axi_, &address); }
  bool TakeB(suede_axi_write_response* to) override { return suede_axi_take_b(axi_, to) == 1; }
  bool TakeR(suede_axi_read_beat* to) override { return suede_axi_take_r(axi_, to) == 1; }
  void ResetSubordinate() override;

  bool TakeAw(suede_axi_address* to) override { return suede_axi_take_aw(axi_, to) == 1; }
  bool TakeW(suede_axi_write_beat* to) override { return suede_axi_take_w(axi_, to) == 1; }
  bool TakeAr(suede_axi_address* to) override { return suede_axi_take_ar(axi_, to) == 1; }
  bool SendB(const suede_axi_write_response& b) override { return suede_axi_send_b(axi_, &b) == 0; }
  bool SendR(const suede_axi_read_beat& r) override { return suede_axi_send_r(axi_, &r) == 0; }
  void ResetManager(bool in_reset) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Result {
    int error = 0;
    std::string text;
  };
  bool Use();
  int Open();
  void ApplyResets();
  void Run(std::function<int()> call);
  void Report(const Result& result);
  void ReportStatuses() const;

  AxiParams params_;
  suede_axi* axi_ = nullptr;
  bool is_up_ = false;
  bool is_lost_ = false;
  // Resets while a call ran, or before the connection.
  bool wants_subordinate_reset_ = false;
  bool wants_manager_reset_ = false;
  bool manager_in_reset_ = false;
  int last_error_ = 0;
  Clock::time_point retry_at_{};
  std::future<Result> call_;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_CLIENT_AXI_H_
