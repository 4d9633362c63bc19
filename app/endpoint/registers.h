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
#include "mgmt/register_view.h"
#include "registers/register_file.h"
#include "shm/client_events.h"

namespace suede {

// Control thread only.
class EndpointRegisters final : public RegisterBackend {
 public:
  // Both outlive it. `clients` says how many client processes there are.
  EndpointRegisters(Endpoint* endpoint, ConfigChanger* changer, std::function<size_t()> clients);

  std::vector<RegisterRowView> Rows() const;
  absl::StatusOr<std::vector<RegisterValueView>> Read(std::string_view first, uint32_t count);
  // The answer of RegisterView::WriteRegister.
  RegisterView::RegisterQuestion Write(std::string_view which, uint64_t value);

  // A client's access: its result, or none yet: ask again once changing() does not hold.
  std::optional<absl::StatusOr<uint64_t>> Access(const RegisterRequest& request);
  // The result of a write that had none yet, once nothing is under way any more.
  absl::StatusOr<uint64_t> Written(const RegisterRequest& request) const;
  bool changing() const { return changer_->busy(); }
  // Whether event.summary is 1, and clients may know of it.
  bool Interrupts();

  // RegisterBackend.
  const Config& config() const override { return endpoint_->config(); }
  uint64_t Fact(RegisterFact fact, uint32_t index) const override;
  uint64_t CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const override;

 private:
  // Sets the event bits that no event of the endpoint sets: of counters that have moved since the
  // last look.
  void Update();
  // Does, or begins, the change that a write asks for.
  absl::Status Begin(const RegisterRef& ref, uint64_t value);

  Endpoint* const endpoint_;
  ConfigChanger* const changer_;
  const std::function<size_t()> clients_;
  // The endpoint's events outlive this, and tell it.
  const std::shared_ptr<RegisterEvents> events_ = std::make_shared<RegisterEvents>();
  uint64_t no_frame_ = 0;  // of the counters, when they were last looked at
  uint64_t completions_lost_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RegisterFile file_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_REGISTERS_H_
