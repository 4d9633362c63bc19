// SPDX-License-Identifier: Apache-2.0
#include "memory_play.h"

#include <algorithm>

#include "base/big_endian.h"

namespace suede::mem {
namespace {

constexpr Duration kDeadline{1000};

std::string Number(const char* name, uint64_t value) {
  return std::string(" ") + name + " " + std::to_string(value);
}

}  // namespace

std::string Describe(const Step& step) {
  static const char* const kKinds[] = {"operation",    "many",           "write barrier",
                                       "read barrier", "restart target", "unreachable",
                                       "lose plane"};
  const Call& call = step.call;
  std::string text = kKinds[static_cast<int>(step.kind)];
  text += Number("opcode", static_cast<uint64_t>(call.opcode)) + Number("to", call.xpuid) +
          Number("window", call.window) + Number("offset", call.offset) +
          Number("bytes", call.bytes) + Number("counter", call.counter) +
          Number("wide", call.is_wide) + Number("operand", call.operand) +
          Number("boundary", call.boundary) + (step.has_stale_key ? " stale" : "");
  for (const uint16_t target : step.targets) text += Number("&", target);
  return text;
}

MemoryPlay::MemoryPlay(uint64_t seed, bool is_unordered, bool is_served_by_lcore)
    : is_unordered_(is_unordered), is_elsewhere_(is_served_by_lcore), random_(seed) {
  for (uint16_t i = 0; i < kNodes; ++i) {
    Node& node = nodes_[i];
    node.play = this;
    node.xpuid = i;
    node.initiator = std::make_unique<Initiator>(
        InitiatorParams{.requests = 64u << Draw(2),
                        .requests_to_target = 1 + Draw(64),
                        .operations = 40,
                        .request_vcs = kRequestVcs,
                        .response_vc = kResponseVc,
                        .is_unordered = is_unordered,
                        .first_number = static_cast<uint32_t>(random_())});
    MakeTarget(node);
  }
}

// The target has windows of every kind, and a key that no earlier life had.
void MemoryPlay::MakeTarget(Node& node) {
  // Few places, so that they fill up; an lcore has many.
  const uint32_t notice_places = is_elsewhere_ ? 4096 : 4;
  node.target = std::make_unique<Target>(TargetParams{.notice_places = notice_places});
  node.model.notices.clear();
  node.model.notice_places = notice_places;
  node.model.partition = 4;
  node.model.windows = {
      {.id = 1, .begin = 0, .bytes = 1024, .key = next_key_++},
      {.id = 2, .begin = 1024, .bytes = 512, .can_write = false, .can_atomic = false},
      {.id = 3, .begin = 1536, .bytes = 256, .partition = 5},
      {.id = 4, .begin = 1792, .bytes = 256, .partition = 4, .can_read = false}};
  node.target->windows().SetPartition(4);
  for (const ModelWindow& window : node.model.windows) {
    const int rights = (window.can_read ? Window::kRead : 0) |
                       (window.can_write ? Window::kWrite : 0) |
                       (window.can_atomic ? Window::kAtomic : 0);
    node.target->windows().Add(
        window.id, {.base = node.memory + window.begin,
                    .bytes = window.bytes,
                    .key = window.key,
                    .partition = static_cast<uint16_t>(window.partition < 0 ? Window::kAnyPartition
                                                                            : window.partition),
                    .rights = static_cast<uint8_t>(rights),
                    .is_served_by_lcore = is_elsewhere_});
  }
}

// ---- Commands that enter the network.

int MemoryPlay::Node::Send(const Burst& burst) {
  const LaneKey key = {xpuid, burst.to.xpuid, burst.to.vc};
  uint32_t taken = 0;
  for (; taken < burst.count && play->Draw(16) != 0; ++taken) {
    Command command;
    const uint8_t* control = burst.controls + taken * kRequestControlBytes;
    command.control.assign(control, control + kRequestControlBytes);
    const uint8_t* data = burst.data + size_t{taken} * burst.data_bytes;
    if (burst.data_bytes != 0) command.data.assign(data, data + burst.data_bytes);
    command.number = LoadBe32(control + 3);
    command.wants_completion = burst.wants_completion;
    if (!play->OfferRequest(key, command)) break;
    play->CheckSent(key, command);
  }
  return static_cast<int>(taken);
}

bool MemoryPlay::Node::Send(const Route& to, const uint8_t* control, uint32_t control_bytes,
                            const uint8_t* data, uint32_t data_bytes) {
  if (to.vc != kResponseVc) play->Wrong("a response on a VC of requests");
  if (play->Draw(8) == 0) return false;
  Command command;
  command.control.assign(control, control + control_bytes);
  if (data_bytes != 0) command.data.assign(data, data + data_bytes);
  return play->OfferResponse({xpuid, to.xpuid, to.vc}, command);
}

bool MemoryPlay::MatchesNext(const Tracked& operation, const Command& command) const {
  const Call& call = operation.call;
  const auto opcode = static_cast<Opcode>(command.control[2] >> 4);
  const uint64_t offset = uint64_t{command.control[13]} << 32 | LoadBe32(&command.control[14]);
  const uint64_t left = call.bytes - operation.sent_bytes;
  const bool has_immediate = call.opcode == Opcode::kPutImmediate && left <= 248;
  const Opcode expected =
      call.opcode == Opcode::kPutImmediate && !has_immediate ? Opcode::kPut : call.opcode;
  if (opcode != expected || offset != call.offset + operation.sent_bytes) return false;
  const uint64_t bytes = std::min<uint64_t>(left, 256);
  if (opcode == Opcode::kGet) return uint64_t{command.control[1]} + 1 == bytes;
  if (IsAtomic(opcode)) return true;
  const size_t head = has_immediate ? 8 : 0;
  return command.data.size() == bytes + head &&
         std::equal(command.data.begin() + static_cast<int64_t>(head), command.data.end(),
                    operation.octets.begin() + static_cast<int64_t>(operation.sent_bytes));
}

// Requests are sent in the order of the calls, split as the page says.
void MemoryPlay::CheckSent(const LaneKey& key, const Command& command) {
  std::deque<Tracked*>& to_send = to_send_[key];
  while (!to_send.empty() && !MatchesNext(*to_send.front(), command)) {
    if (!to_send.front()->is_disturbed) return Wrong("a request out of order");
    to_send.pop_front();
  }
  if (to_send.empty()) return Wrong("a request of no operation");
  Tracked& operation = *to_send.front();
  const auto opcode = static_cast<Opcode>(command.control[2] >> 4);
  const uint64_t left = operation.call.bytes - operation.sent_bytes;
  operation.sent_bytes += std::min<uint64_t>(left, 256);
  operation.numbers.push_back(command.number);
  operation.is_sent = IsAtomic(opcode) || opcode == Opcode::kPutImmediate ||
                      (operation.sent_bytes == operation.call.bytes &&
                       operation.call.opcode != Opcode::kPutImmediate);
  by_number_[{operation.source, command.number}] = &operation;
  if (operation.is_sent) to_send.pop_front();
}

// ---- Commands that leave it.

void MemoryPlay::Check(const LaneKey& key, const Command& command) {
  Node& node = nodes_[key[1]];
  const Verdict verdict = node.model.Execute(key[0], command.control, command.data);
  if (!verdicts_.emplace(std::pair{key[0], command.number}, verdict).second) {
    Wrong("a request was executed twice");
  }
  if (command.control[2] >> 4 == 2 && verdict.status == 0) CheckNotice(key[0], command.number);
}

void MemoryPlay::OnRequest(const LaneKey& key, const Command& command) {
  Check(key, command);
  Node& node = nodes_[key[1]];
  // Exactly as long as they are, so that sanitizers see what lies behind them.
  const std::vector<uint8_t> data(command.data);
  node.target->OnCommand({.xpuid = key[0], .plane = 0, .vc = static_cast<uint8_t>(key[2])},
                         command.control.data(), kRequestControlBytes, data.data(),
                         static_cast<uint32_t>(data.size()), node);
  if (Draw(4) == 0) node.target->Flush(node);
}

// A put with immediate says so when all of it is in memory.
void MemoryPlay::CheckNotice(uint16_t source, uint32_t number) {
  const Tracked& operation = *by_number_[{source, number}];
  for (const uint32_t each : operation.numbers) {
    if (!verdicts_.contains({source, each})) Wrong("a notice before the octets");
  }
}

void MemoryPlay::OnResponse(const LaneKey& key, const Command& command) {
  const uint32_t number = LoadBe32(&command.control[4]);
  const int kind = command.control[2] >> 4;
  const uint32_t count = kind == 1 ? LoadBe16(&command.control[8]) : 1u;
  for (uint32_t i = 0; i < count; ++i) {
    const auto found = verdicts_.find({key[1], number + i});
    if (found == verdicts_.end()) return Wrong("an answer to a request that was not executed");
    Verdict answered{.status = command.control[3]};
    if (kind == 2) answered.data = command.data;
    if (kind == 3) {
      answered.has_value = true;
      answered.value = LoadBe64(&command.control[8]);
    }
    if (answered != found->second) return Wrong("an answer is not the model's");
    if (answered.status != 0) Disturb(key[1], number + i);
  }
  nodes_[key[1]].initiator->OnCommand(
      {.xpuid = key[0], .plane = 0, .vc = kResponseVc}, command.control.data(),
      static_cast<uint32_t>(command.control.size()), command.data.data(),
      static_cast<uint32_t>(command.data.size()));
}

void MemoryPlay::OnCompletion(const LaneKey& key, uint32_t number, int status) {
  nodes_[key[0]].initiator->OnCompletion(
      {.xpuid = key[1], .plane = 0, .vc = static_cast<uint8_t>(key[2])}, number,
      static_cast<uint8_t>(status));
}

void MemoryPlay::Disturb(uint16_t source, uint32_t number) {
  const auto found = by_number_.find({source, number});
  if (found != by_number_.end()) found->second->is_disturbed = true;
}

void MemoryPlay::ForgetUnsent(uint16_t source) {
  for (auto& [key, operations] : to_send_) {
    if (key[0] == source) operations.clear();
  }
}

// ---- Programs.

Tracked& MemoryPlay::Record(Node& node, const Call& call, const Step& step) {
  Tracked& operation = operations_.emplace_back();
  operation.source = node.xpuid;
  operation.call = call;
  if (!IsAtomic(call.opcode)) operation.octets.resize(call.bytes);
  if (call.opcode == Opcode::kPut || call.opcode == Opcode::kPutImmediate) {
    for (size_t i = 0; i < operation.octets.size(); ++i) {
      operation.octets[i] = static_cast<uint8_t>(step.fill + i * 3 + i / 256);
    }
  }
  operation.call.source = operation.octets.data();
  operation.call.room = operation.octets.data();
  operation.call.result = &operation.result;
  operation.call.deadline = now_ + kDeadline;
  if (call.window == 1) {
    operation.call.key = nodes_[call.xpuid].model.windows[0].key - (step.has_stale_key ? 1 : 0);
  }
  return operation;
}

void MemoryPlay::StartStep(Node& node, const Step& step) {
  Tracked& operation = Record(node, step.call, step);
  if (step.kind == Step::Kind::kOperation) {
    if (node.initiator->Start(operation.call, nullptr) != Started::kOk) {
      return Wrong("an operation was not started");
    }
    const bool is_empty = operation.call.bytes == 0 && (operation.call.opcode == Opcode::kPut ||
                                                        operation.call.opcode == Opcode::kGet);
    if (is_empty)
      operation.is_sent = true;
    else
      to_send_[{node.xpuid, step.call.xpuid, operation.result.vc}].push_back(&operation);
    return;
  }
  if (node.initiator->StartMany(operation.call, step.targets, nullptr) != Started::kOk) {
    return Wrong("a multicast was not started");
  }
  operation.is_sent = true;
  for (const uint16_t target : step.targets) {
    Call call = step.call;
    call.xpuid = target;
    Tracked& part = Record(node, call, step);
    part.is_part = true;
    part.is_sent = call.bytes == 0;
    if (!part.is_sent) {
      to_send_[{node.xpuid, target, static_cast<uint16_t>(call.vc)}].push_back(&part);
    }
  }
}

// False: the program waits at a barrier, or for room.
bool MemoryPlay::DoStep(Node& node, const Step& step) {
  switch (step.kind) {
    case Step::Kind::kOperation:
    case Step::Kind::kMany:
      // Room for a multicast to all.
      if (node.initiator->open_operations() > 2) return false;
      StartStep(node, step);
      node.initiator->Pump(node);
      return true;
    case Step::Kind::kWriteBarrier:
      if (node.initiator->pending_writes(step.call.counter) != 0) return false;
      CheckBarrier(node, step);
      return true;
    case Step::Kind::kReadBarrier:
      if (node.initiator->pending_reads(step.call.counter) != 0) return false;
      CheckBarrier(node, step);
      return true;
    case Step::Kind::kRestartTarget:
      RestartTarget(nodes_[step.call.xpuid]);
      return true;
    case Step::Kind::kUnreachable:
      MakeUnreachable(step.call.xpuid);
      return true;
    case Step::Kind::kLosePlane:
      LosePlane(node);
      return true;
  }
  return true;
}

// Sends all that can be sent. Whether anything is under way then.
bool MemoryPlay::MovesAtAll() {
  for (int turn = 0; turn < 20; ++turn) {
    for (Node& node : nodes_) {
      node.initiator->Pump(node);
      node.target->Flush(node);
    }
  }
  return IsMoving();
}

std::string MemoryPlay::Run(const std::array<Program, kNodes>& programs) {
  for (const Program& program : programs) {
    for (const Step& step : program) has_faults_ |= step.IsFault();
  }
  uint32_t idle = 0;
  while (error_.empty()) {
    Node& node = nodes_[Draw(kNodes)];
    bool is_busy = false;
    switch (Draw(4)) {
      case 0: {
        const Program& program = programs[node.xpuid];
        if (node.next_step < program.size() && DoStep(node, program[node.next_step])) {
          ++node.next_step;
          is_busy = true;
        }
        break;
      }
      case 1:
        node.initiator->Pump(node);
        break;
      case 2:
        node.target->Flush(node);
        break;
      default:
        is_busy = MoveOn();
    }
    if (is_busy) {
      idle = 0;
    } else if (++idle == 100 && !MovesAtAll()) {
      // Open operations were lost.
      now_ += kDeadline;
      bool goes_on = false;
      for (Node& each : nodes_) {
        const uint32_t open = each.initiator->open_operations();
        goes_on |= open != 0 || each.next_step < programs[each.xpuid].size();
        if (open != 0 && !has_faults_) Wrong("an operation hangs");
        each.initiator->OnTime(now_);
      }
      to_send_.clear();
      if (!goes_on) break;
      idle = 0;
    } else if (idle == 100) {
      idle = 0;
    }
  }
  if (error_.empty()) CheckEnd();
  return error_;
}

// ---- Checks.

void MemoryPlay::CheckBarrier(const Node& node, const Step& step) {
  const bool of_reads = step.kind == Step::Kind::kReadBarrier;
  for (const Tracked& operation : operations_) {
    if (operation.source == node.xpuid && operation.call.counter == step.call.counter &&
        IsRead(operation.call.opcode) == of_reads) {
      CheckOperation(operation, /*is_complete=*/true);
    }
  }
}

void MemoryPlay::CheckOperation(const Tracked& operation, bool is_complete) {
  const uint32_t status = operation.result.status;
  if (operation.is_part) return;
  if (is_complete && status == SUEDE_MEM_PENDING) return Wrong("a barrier passed too early");
  if (status >= SUEDE_MEM_UNREACHABLE && !has_faults_) return Wrong("a failure without a fault");
  bool refused_so = false;
  std::vector<uint8_t> got;
  for (const uint32_t number : operation.numbers) {
    const auto found = verdicts_.find({operation.source, number});
    if (found == verdicts_.end()) {
      if (status == SUEDE_MEM_OK) return Wrong("OK, and not all was executed");
      continue;
    }
    const Verdict& verdict = found->second;
    if (status == SUEDE_MEM_UNREACHABLE) return Wrong("unreachable, and yet executed");
    if (status == SUEDE_MEM_OK && verdict.status != 0) return Wrong("refused, and yet OK");
    refused_so |= verdict.status == status;
    got.insert(got.end(), verdict.data.begin(), verdict.data.end());
    if (verdict.has_value && status == SUEDE_MEM_OK && operation.result.value != verdict.value) {
      return Wrong("a wrong value");
    }
  }
  if (status == SUEDE_MEM_OK && !operation.is_sent) return Wrong("OK before all was sent");
  const bool is_many = operation.numbers.empty();
  if (status >= 16 && status < SUEDE_MEM_UNREACHABLE && !refused_so && !is_many) {
    return Wrong("no request was refused for that");
  }
  if (status == SUEDE_MEM_OK && operation.call.opcode == Opcode::kGet && got != operation.octets) {
    return Wrong("a get has other octets than the memory had");
  }
}

void MemoryPlay::CheckEnd() {
  for (const Tracked& operation : operations_) CheckOperation(operation, /*is_complete=*/true);
  for (Node& node : nodes_) {
    if (node.initiator->open_requests() != 0) Wrong("requests are left");
    if (node.target->counters().dropped != 0) Wrong("requests were dropped");
    if (!std::equal(std::begin(node.memory), std::end(node.memory), node.model.memory.begin())) {
      Wrong("the memory is not the model's");
    }
    Notice notice;
    while (node.target->TakeNotice(&notice)) {
      const ModelNotice taken{.source = notice.source,
                              .window = notice.window,
                              .offset = notice.offset,
                              .bytes = notice.bytes,
                              .immediate = notice.immediate};
      if (node.model.notices.empty() || node.model.notices.front() != taken) {
        return Wrong("a notice is not the model's");
      }
      node.model.notices.pop_front();
    }
    if (!node.model.notices.empty()) Wrong("a notice is missing");
    node.initiator->CheckInvariants();
    node.target->CheckInvariants();
  }
}

}  // namespace suede::mem
