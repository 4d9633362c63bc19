// SPDX-License-Identifier: Apache-2.0
#include "port_pair.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <span>

using suede::axi::AddressMap;
using suede::axi::Manager;
using suede::axi::ManagerParams;
using suede::axi::Subordinate;
using suede::axi::SubordinateParams;

namespace {

constexpr uint32_t kMaxInterfaces = 16;
constexpr uint32_t kMinTransactions = 16;
constexpr uint32_t kMaxTransactions = 4096;
constexpr uint32_t kMaxPlaces = 256;
constexpr uint32_t kAnswersOfPoll = 64;  // commands of an interface in one poll

void SetDefault(uint32_t* value, uint32_t otherwise) {
  if (*value == 0) *value = otherwise;
}

void FillIn(suede_axi_params* params) {
  SetDefault(&params->bus_bytes, 32);
  SetDefault(&params->timeout_ms, 5000);
  SetDefault(&params->deadline_ms, 3000);
  SetDefault(&params->transactions, 256);
  SetDefault(&params->transactions_to_target, std::min(params->transactions, 64u));
  SetDefault(&params->manager_transactions, 1024);
  SetDefault(&params->transactions_per_source, std::min(params->manager_transactions, 128u));
  SetDefault(&params->manager_ids, 64);
  SetDefault(&params->address_places, 16);
  SetDefault(&params->beat_places, 32);
  if (params->request_vc == 0 && params->answer_vc == 0) params->answer_vc = 1;
}

constexpr bool IsIn(uint32_t value, uint32_t min, uint32_t max) {
  return value >= min && value <= max;
}

// Returns the sentence on the first parameter that is out of range; null: all are valid.
const char* FindInvalid(const suede_axi_params& params) {
  if (!std::has_single_bit(params.bus_bytes) || !IsIn(params.bus_bytes, 4, 128)) {
    return "cannot open: no such bus_bytes; use 4, 8, 16, 32, 64 or 128";
  }
  if (params.interface_count > kMaxInterfaces ||
      (params.interface_count != 0 && params.interfaces == nullptr)) {
    return "cannot open: no such interfaces; name 1 to 16 instances";
  }
  if (params.route_count != 0 && params.routes == nullptr) {
    return "cannot open: routes is NULL; pass route_count entries";
  }
  if (!std::has_single_bit(params.transactions) ||
      !IsIn(params.transactions, kMinTransactions, kMaxTransactions)) {
    return "cannot open: transactions is out of range; use a power of 2 from 16 to 4096";
  }
  if (!IsIn(params.transactions_to_target, 1, params.transactions)) {
    return "cannot open: transactions_to_target is out of range; use 1 to transactions";
  }
  if (!IsIn(params.manager_transactions, kMinTransactions, kMaxTransactions)) {
    return "cannot open: manager_transactions is out of range; use 16 to 4096";
  }
  if (!IsIn(params.transactions_per_source, 1, params.manager_transactions)) {
    return "cannot open: transactions_per_source is out of range; use 1 to manager_transactions";
  }
  if (!IsIn(params.manager_ids, 1, kMaxTransactions)) {
    return "cannot open: manager_ids is out of range; use 1 to 4096";
  }
  if (!IsIn(params.address_places, 1, kMaxPlaces) || !IsIn(params.beat_places, 1, kMaxPlaces)) {
    return "cannot open: the places of a channel are out of range; use 1 to 256";
  }
  if (params.write_user_bytes > suede::axi::kMaxBeatUserBytes ||
      params.read_user_bytes > suede::axi::kMaxBeatUserBytes) {
    return "cannot open: WUSER and RUSER have at most 4 bytes; use 0 to 4";
  }
  if (params.exclusive > SUEDE_AXI_REFUSE || params.unordered > 1) {
    return "cannot open: exclusive or unordered is out of range; use 0 or 1";
  }
  if (params.request_vc >= suede::kVcCount || params.answer_vc >= suede::kVcCount ||
      params.request_vc == params.answer_vc) {
    return "cannot open: request_vc and answer_vc are not two VCs; use two of 0 to 3";
  }
  return AddressMap::FindInvalid({params.routes, params.route_count},
                                 std::max(params.interface_count, 1u));
}

}  // namespace

int suede_axi::Open(const char* name_or_path, const suede_axi_params& given) {
  suede_axi_params params = given;
  FillIn(&params);
  if (const char* const mistake = FindInvalid(params)) return suede::Fail(-EINVAL, mistake);
  request_vc_ = params.request_vc;
  answer_vc_ = params.answer_vc;
  uint32_t first_number;
  if (const int error = suede::Draw(&first_number); error != 0) return error;
  const std::span<const suede_instance> interfaces(params.interfaces, params.interface_count);
  const int error = planes_.Open(name_or_path, interfaces, params.timeout_ms,
                                 1u << request_vc_ | 1u << answer_vc_);
  if (error != 0) return error;
  const suede::Duration deadline = std::chrono::milliseconds(params.deadline_ms);
  polled_at_ = suede::TimeFromNs(suede::CoarseNs());
  max_step_ = deadline / 4;
  subordinate = std::make_unique<Subordinate>(
      SubordinateParams{.interfaces = planes_.size(),
                        .bus_bytes = params.bus_bytes,
                        .transactions = params.transactions,
                        .transactions_to_target = params.transactions_to_target,
                        .address_places = params.address_places,
                        .beat_places = params.beat_places,
                        .write_user_bytes = params.write_user_bytes,
                        .is_unordered = params.unordered != 0,
                        .request_vc = request_vc_,
                        .deadline = deadline,
                        .first_number = first_number},
      AddressMap({params.routes, params.route_count}));
  manager = std::make_unique<Manager>(
      ManagerParams{.interfaces = planes_.size(),
                    .bus_bytes = params.bus_bytes,
                    .transactions = params.manager_transactions,
                    .transactions_per_source = params.transactions_per_source,
                    .ids = params.manager_ids,
                    .address_places = params.address_places,
                    .beat_places = params.beat_places,
                    .read_user_bytes = params.read_user_bytes,
                    .has_monitor = params.exclusive == SUEDE_AXI_MONITOR,
                    .is_unordered = params.unordered != 0,
                    .answer_vc = answer_vc_,
                    .deadline = deadline});
  memory = std::make_unique<suede::axi::Memory>(params.bus_bytes);
  return 0;
}

int suede_axi::Reconnect() {
  uint32_t reconnected = 0;
  return planes_.Reconnect(&reconnected);
}

bool suede_axi::Receive(uint32_t index, suede::Time now) {
  const suede::PlaneIndex plane(index);
  // Answers first: a completion may say that requests of which an answer has come are in doubt.
  uint32_t commands = planes_.TakeCommands(plane, suede::Vc(answer_vc_), kAnswersOfPoll,
                                           [this](const suede::Route& from, auto... command) {
                                             subordinate->OnCommand(from, command...);
                                           });
  planes_.TakeCompletions(index, [&](const suede_completion& each) {
    subordinate->OnCompletion(
        {.xpuid = each.xpuid, .plane = static_cast<uint8_t>(index), .vc = each.vc},
        static_cast<uint32_t>(each.tag), each.status);
  });
  const uint32_t room = std::min(manager->room(), kAnswersOfPoll);
  if (room != 0) {
    commands += planes_.TakeCommands(plane, suede::Vc(request_vc_), room,
                                     [&](const suede::Route& from, auto... command) {
                                       manager->OnCommand(from, command..., now, planes_);
                                     });
  }
  return commands != 0;
}

suede::Time suede_axi::Advance() {
  const suede::Time now = suede::TimeFromNs(suede::CoarseNs());
  now_ += std::min(now - polled_at_, max_step_);
  polled_at_ = now;
  return now_;
}

int suede_axi::Poll() {
  const suede::Time now = Advance();
  bool has_moved = false;
  bool is_lost = false;
  for (uint32_t i = 0; i < planes_.size(); ++i) {
    if (planes_[i].is_connected()) has_moved |= Receive(i, now);
    if (planes_[i].is_connected()) continue;
    is_lost = true;
    subordinate->OnInterfaceLost(i);
    manager->OnInterfaceLost(i);
  }
  has_moved |= subordinate->Pump(planes_, now);
  has_moved |= manager->Pump(planes_, now);
  planes_.Flush();
  if (is_lost) return suede::FailPlaneGone();
  return has_moved ? 1 : 0;
}

int suede_axi::Wait(int timeout_ms) {
  // With several interfaces, and while deadlines may pass, the wait is short.
  constexpr int kMaxMs = 10;
  const int64_t end = suede::DeadlineOf(timeout_ms);
  const int max_ms = planes_.size() == 1 ? kMaxMs : 1;
  for (uint32_t i = 0;; i = (i + 1) % planes_.size()) {
    const int64_t left_ms = (end - suede::NowNs()) / 1'000'000;
    if (left_ms < 0) return 0;
    const bool has_unsent = subordinate->HasUnsent() || manager->HasAnswers();
    const suede_wait_set want{.credit_queues = has_unsent ? 1u : 0u,
                              .completion_queues = 1,
                              .rx_vcs = 1u << request_vc_ | 1u << answer_vc_};
    const int wait_ms = static_cast<int>(std::min<int64_t>(left_ms, max_ms));
    const int result = suede_wait(planes_[i].client(), &want, nullptr, wait_ms);
    if (result < 0) return suede::FailAsSuede(result);
    if (result > 0 || subordinate->open() != 0 || manager->open() != 0) return 1;
    if (timeout_ms >= 0 && suede::NowNs() >= end) return 0;
  }
}
