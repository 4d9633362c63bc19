// SPDX-License-Identifier: Apache-2.0
#include "perf/client_endpoint.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/programs.h"

namespace suede::perf {
namespace {

absl::Status Explain(int error, const Options& options, absl::string_view doing) {
  return StatusOfCall(
      error, absl::StrCat(doing, " at endpoint \"", options.endpoint, "\": ", suede_error_text()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientSession>> ClientSession::Open(const Options& options) {
  suede_open_params params{};
  params.size = sizeof params;
  params.queue_count = options.queues;
  if (options.xpuid >= 0) {
    params.instance_count = 1;
    params.instances[0] = {.xpuid = static_cast<uint16_t>(options.xpuid),
                           .instance = static_cast<uint8_t>(options.instance),
                           .reserved = 0};
  }
  suede_client* client = nullptr;
  const int error = suede_connect(options.endpoint.c_str(), &params, &client);
  if (error != 0) return Explain(error, options, "connecting");
  std::unique_ptr<ClientSession> session(new ClientSession(client));
  session->own_ = params.instances[0];
  if (absl::Status status = session->ReadLimits(); !status.ok()) return status;
  if (options.xpuid < 0 && suede_get_instance(client, 0, &session->own_) != 0) {
    return absl::InternalError("the daemon names no instance");
  }
  if (absl::Status status = session->Claim(options); !status.ok()) return status;
  return session;
}

absl::Status ClientSession::ReadLimits() {
  suede_limits limits{};
  limits.size = sizeof limits;
  if (suede_get_limits(client_.get(), &limits) != 0) {
    return absl::InternalError(suede_error_text());
  }
  completion_limit_ = limits.completion_count;
  pack_limit_ = limits.pack_limit;
  daemon_version_ = limits.daemon_version;
  return absl::OkStatus();
}

absl::Status ClientSession::Claim(const Options& options) {
  const int error = suede_claim(client_.get(), own_.xpuid, own_.instance, MaskOf(options.vcs));
  if (error != 0) return Explain(error, options, absl::StrCat("claiming XPU ", own_.xpuid));
  return absl::OkStatus();
}

SendResult ClientEndpoint::OnError(int result) {
  switch (result) {
    case -EAGAIN: return SendResult::kWouldBlock;
    case -EINVAL: return SendResult::kInvalid;
    case -EBUSY: return SendResult::kInReset;
    default: lost_ = true; return SendResult::kBroken;
  }
}

SendResult ClientEndpoint::Reserve(const ClientShape& shape, uint32_t count, CommandSpan* span,
                                   uint32_t /*lane*/) {
  const bool has_data = (shape.type & 0x10) != 0;
  const suede_shape with{.size = sizeof with,
                         .xpuid = shape.xpuid,
                         .vc = shape.vc,
                         .flags = shape.flags,
                         .tag = shape.tag,
                         .control_bytes = static_cast<uint16_t>((shape.type & 0x0f) * 2),
                         .data_bytes = static_cast<uint16_t>(has_data ? shape.length + 1 : 0),
                         .type = static_cast<uint8_t>(shape.type & 0xe0),
                         .reserved = {}};
  suede_span reserved;
  const int result = suede_reserve(queue_, &with, count, &reserved);
  if (result <= 0) return OnError(result == 0 ? -EAGAIN : result);
  *span = {.control = reserved.control,
           .data = reserved.data,
           .stride = reserved.stride,
           .count = reserved.count};
  return SendResult::kOk;
}

void ClientEndpoint::Wait(uint32_t vc_mask) {
  const uint32_t queue = 1u << queue_number_;
  const suede_wait_set want{.credit_queues = 0, .completion_queues = queue, .rx_vcs = vc_mask};
  CountOf(suede_wait(client_, &want, nullptr, 20));
}

absl::StatusOr<std::unique_ptr<BalancedEndpoint>> BalancedEndpoint::Create(
    const std::deque<std::unique_ptr<ClientSession>>& sessions, uint32_t policy,
    const TscClock& clock) {
  std::unique_ptr<BalancedEndpoint> endpoint(new BalancedEndpoint);
  std::vector<suede_queue*> queues;
  for (const auto& session : sessions) {
    endpoint->lanes_.emplace_back(*session, 0, clock);
    queues.push_back(endpoint->lanes_.back().queue());
  }
  suede_balancer* balancer = nullptr;
  if (suede_balancer_create(queues.data(), static_cast<uint32_t>(queues.size()), policy,
                            &balancer) != 0) {
    return absl::InvalidArgumentError(suede_error_text());
  }
  endpoint->balancer_.reset(balancer);
  endpoint->tries_others_ = policy != SUEDE_BALANCE_HASH;
  return endpoint;
}

}  // namespace suede::perf
