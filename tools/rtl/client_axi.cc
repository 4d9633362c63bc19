// SPDX-License-Identifier: Apache-2.0
#include "client_axi.h"

#include <cerrno>
#include <cstdio>

namespace suede::rtl {
namespace {

constexpr std::chrono::milliseconds kRetryInterval(20);

}  // namespace

ClientAxiPort::~ClientAxiPort() {
  if (call_.valid()) call_.wait();
  ReportStatuses();
  suede_axi_close(axi_);
}

bool ClientAxiPort::Poll() {
  is_up_ = Use();
  return is_up_;
}

bool ClientAxiPort::Use() {
  if (call_.valid()) {
    if (call_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    const Result result = call_.get();
    if (result.error != last_error_ || result.error == 0) Report(result);
    last_error_ = result.error;
    is_lost_ = result.error != 0;
    retry_at_ = Clock::now() + kRetryInterval;
    ApplyResets();
  }
  if (axi_ == nullptr) {
    if (Clock::now() >= retry_at_) Run([this] { return Open(); });
    return false;
  }
  if (suede_axi_poll(axi_) != -ECONNRESET) return true;
  // Transactions end before the first attempt, and between attempts.
  if (!is_lost_) retry_at_ = Clock::now() + kRetryInterval;
  is_lost_ = true;
  if (Clock::now() < retry_at_) return true;
  Run([this] { return suede_axi_reconnect(axi_); });
  return false;
}

void ClientAxiPort::ResetSubordinate() {
  wants_subordinate_reset_ = true;
  if (is_up_) ApplyResets();
}

void ClientAxiPort::ResetManager(bool in_reset) {
  wants_manager_reset_ = true;
  manager_in_reset_ = in_reset;
  if (is_up_) ApplyResets();
}

void ClientAxiPort::ApplyResets() {
  if (axi_ == nullptr) return;
  if (wants_subordinate_reset_) suede_axi_reset_subordinate(axi_);
  if (wants_manager_reset_) suede_axi_reset_manager(axi_, 1);
  if (wants_manager_reset_ && !manager_in_reset_) suede_axi_reset_manager(axi_, 0);
  wants_subordinate_reset_ = wants_manager_reset_ = false;
}

int ClientAxiPort::Open() {
  suede_axi_params params{};
  params.size = sizeof params;
  params.bus_bytes = params_.bus_bytes;
  params.interface_count = params_.is_first ? 0 : 1;
  params.interfaces = &params_.own;
  params.write_user_bytes = params_.write_user_bytes;
  params.read_user_bytes = params_.read_user_bytes;
  params.deadline_ms = params_.deadline_ms;
  params.route_count = static_cast<uint32_t>(params_.routes.size());
  params.routes = params_.routes.data();
  return suede_axi_open(params_.endpoint.c_str(), &params, &axi_);
}

void ClientAxiPort::Run(std::function<int()> call) {
  call_ = std::async(std::launch::async, [call = std::move(call)] {
    const int error = call();
    return Result{.error = error, .text = error == 0 ? "" : suede_axi_error_text()};
  });
}

void ClientAxiPort::Report(const Result& result) {
  if (result.error == 0) {
    std::fprintf(stderr, "%s: connected to %s\n", params_.name.c_str(), params_.endpoint.c_str());
  } else {
    std::fprintf(stderr, "%s: cannot use %s: %s; trying again\n", params_.name.c_str(),
                 params_.endpoint.c_str(), result.text.c_str());
  }
}

// B and R do not tell the statuses apart.
void ClientAxiPort::ReportStatuses() const {
  suede_axi_counters counters{};
  counters.size = sizeof counters;
  if (suede_axi_get_counters(axi_, &counters) != 0) return;
  for (uint32_t status = 1; status < SUEDE_AXI_STATUSES; ++status) {
    if (counters.ended[status] == 0) continue;
    std::fprintf(stderr, "%s: %llu transactions ended with status %u\n", params_.name.c_str(),
                 static_cast<unsigned long long>(counters.ended[status]), status);
  }
}

}  // namespace suede::rtl
