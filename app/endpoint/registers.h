// SPDX-License-Identifier: Apache-2.0
// The registers of a running endpoint (docs/registers.md), for management socket and clients.
#ifndef SUEDE_APP_ENDPOINT_REGISTERS_H_
#define SUEDE_APP_ENDPOINT_REGISTERS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "endpoint/config_changer.h"
#include "endpoint/endpoint.h"
#include "mgmt/endpoint_view.h"
#include "registers/register_file.h"
#include "shm/client_events.h"

namespace suede {

// Control thread only.
class EndpointRegisters final : public RegisterBackend {
 public:
  // Both must outlive this. `clients`: returns the number of client processes.
  EndpointRegisters(Endpoint* endpoint, ConfigChanger* changer, std::function<size_t()> clients);

  std::vector<RegisterRowView> Rows() const;
  absl::StatusOr<std::vector<RegisterValueView>> Read(std::string_view first, uint32_t count);
  // Implements EndpointView::WriteRegister.
  Question<absl::StatusOr<RegisterValueView>> Write(std::string_view which, uint64_t value);

  // Accesses a register for a client. Returns nullopt if a change has begun: call Written once
  // changing() is false.
  std::optional<absl::StatusOr<uint64_t>> Access(const RegisterRequest& request);
  // Returns the result of a write for which Access returned nullopt, once the change is complete.
  absl::StatusOr<uint64_t> Written(const RegisterRequest& request) const;
  // Whether a change is in progress, of the configuration or of an lcore's ports and planes.
  bool changing();
  // Returns the registers, with all events up to now.
  const RegisterFile& Current() {
    Update();
    return file_;
  }
  // Whether event.summary is 1 and clients may read it.
  bool Interrupts();

  // RegisterBackend.
  const Config& config() const override { return endpoint_->config(); }
  uint64_t Fact(RegisterFact fact, uint32_t index) const override;
  uint64_t CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const override;
  const LinkCounters* Link(uint32_t port) const override { return endpoint_->link_counters(port); }
  absl::Status Set(RegisterFact fact, uint32_t index, uint32_t value) override;

 private:
  // Sets the event bits not set by the endpoint's events: of counters that have changed since the
  // last call.
  void Update();
  // Performs or begins the change requested by a write.
  absl::Status Begin(const RegisterRef& ref, uint64_t value);

  Endpoint* const endpoint_;
  ConfigChanger* const changer_;
  const std::function<size_t()> clients_;
  // Shared with the observer registered at the endpoint's events, which outlive this.
  const std::shared_ptr<RegisterEvents> events_ = std::make_shared<RegisterEvents>();
  std::vector<AdminQuestion> setting_;  // of facts that lcores have not taken up yet
  uint64_t no_frame_ = 0;               // counter value at the last Update
  uint64_t completions_lost_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RegisterFile file_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_REGISTERS_H_
