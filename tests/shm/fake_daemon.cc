// SPDX-License-Identifier: Apache-2.0
#include "fake_daemon.h"

#include <poll.h>

#include <cstdlib>
#include <cstring>

namespace suede {

TestDirectory::TestDirectory() {
  char name[] = "/tmp/suede-shm-XXXXXX";
  path_ = mkdtemp(name);
}

TestDirectory::~TestDirectory() { (void)!system(("rm -rf " + path_).c_str()); }

ShmServerConfig TestConfig(const std::string& socket) {
  return {.socket_path = socket,
          .shape = {.queue_count = 4,
                    .tx_lines = 512,
                    .rx_lines = 256,
                    .completion_count = 256,
                    .credit_lines = 64,
                    .aggregate_lines = 512},  // an XPU may have more than its 64, and another one beside it
          .huge_pages = HugePages::kAuto,
          .max_clients = 4,
          .version = "0.1-test",
          .instances = {{1, 0}, {2, 0}, {2, 1}}};
}

FakeDaemon::FakeDaemon(ShmServerConfig config, bool has_board) {
  if (has_board) {
    board_ = WaitBoard::Create();
    config.boards.push_back(board_.get());
  }
  absl::StatusOr<std::unique_ptr<ShmServer>> server = ShmServer::Create(config, this);
  if (!server.ok()) {
    status = server.status();
    return;
  }
  server_ = std::move(*server);
  server_->SetPacketHandler(this);
  thread_ = std::thread([this] { Run(); });
}

void FakeDaemon::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  clients_.clear();
  server_.reset();
}

ShmServerCounters FakeDaemon::counters() {
  return Ask<ShmServerCounters>([](ShmServer& server) { return server.counters(); });
}

size_t FakeDaemon::client_count() {
  return Ask<size_t>([](ShmServer& server) { return server.clients().size(); });
}

void FakeDaemon::Pause() {
  Ask<int>([this](ShmServer&) {
    paused_ = true;
    return 0;
  });
}

void FakeDaemon::SetState(uint32_t queue, uint32_t state) {
  Ask<int>([&](ShmServer&) {
    for (auto& [id, client] : clients_) SetQueueState(client.segment->base(), queue, state);
    return 0;
  });
}

void FakeDaemon::SetReceiveState(uint32_t vc, uint32_t state) {
  Ask<int>([&](ShmServer&) {
    for (auto& [id, client] : clients_) suede::SetReceiveState(client.segment->base(), vc, state);
    return 0;
  });
}

void FakeDaemon::ShowLoad(InstanceKey instance, const LoadState& state,
                          const DestinationMap& unreachable) {
  Ask<int>([&](ShmServer&) {
    for (auto& [id, client] : clients_) {
      for (Queue& queue : client.queues) {
        if (!(queue.source == instance)) continue;
        queue.load.Show(state);
        queue.load.ShowMaps(unreachable, {});
      }
    }
    return 0;
  });
}

absl::Status FakeDaemon::OnOpen(ClientId id, const OpenRequest& request, Segment& segment) {
  if (refuse_open) return absl::ResourceExhaustedError("refused by the test");
  vc_masks_ = request.vc_masks;
  Attached& client = clients_[id];
  client.segment = &segment;
  for (uint32_t q = 0; q < request.queues.size(); ++q) {
    client.queues.push_back({.source = request.queues[q],
                             .tx = {segment.base(), segment.shape(), q},
                             .credits = {segment.base(), segment.shape(), q},
                             .completions = {segment.base(), segment.shape(), q},
                             .load = {segment.base(), segment.shape(), q}});
  }
  if (is_old) static_cast<suede_segment*>(segment.base())->load = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc)
    client.rx[vc] = {segment.base(), segment.shape(), vc};
  server_->FinishOpen(id, absl::OkStatus());
  return absl::OkStatus();
}

absl::Status FakeDaemon::OnClaim(ClientId id, const ClaimRequest& request) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const auto owner = claims_.find({request.instance.xpuid, vc});
    if ((request.vc_mask & 1u << vc) != 0 && owner != claims_.end() && owner->second != id) {
      return absl::AlreadyExistsError("claimed by another client");
    }
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((request.vc_mask & 1u << vc) != 0) claims_[{request.instance.xpuid, vc}] = id;
  }
  later_.push_back([this, id] { server_->FinishClaim(id, absl::OkStatus()); });
  return absl::OkStatus();
}

absl::Status FakeDaemon::OnUnclaim(ClientId id, const ClaimRequest& request) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((request.vc_mask & 1u << vc) != 0) claims_.erase({request.instance.xpuid, vc});
  }
  later_.push_back([this, id] { server_->FinishClaim(id, absl::OkStatus()); });
  return absl::OkStatus();
}

absl::Status FakeDaemon::OnRegister(ClientId id, const RegisterRequest& request) {
  if (request.width_bits != 32) return absl::InvalidArgumentError("has 32 bits");
  switch (request.address) {
    case 8: break;
    case 12: return absl::PermissionDeniedError("is read-only");
    case 16: return absl::FailedPreconditionError("after a restart");
    case 20: return absl::UnavailableError("another is under way");
    default: return absl::NotFoundError("no such register");
  }
  if (request.is_write) register_value = request.value;
  server_->FinishRegister(id, absl::OkStatus(), register_value);
  return absl::OkStatus();
}

absl::Status FakeDaemon::OnReset(ClientId id, uint32_t index) {
  Attached& client = clients_[id];
  Queue& queue = client.queues[index];
  SetQueueState(client.segment->base(), index, SUEDE_QUEUE_IN_RESET);
  TxRecord records[32];
  for (uint32_t n; (n = queue.tx.Poll(records, 32)) > 0;) {
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t r = 0; r < records[i].count; ++r) {
        Complete(queue, records[i], SUEDE_STATUS_RESET);
      }
    }
  }
  queue.completions.Publish();
  queue.tx.Restart();
  queue.credits.Restart();
  SetQueueState(client.segment->base(), index, SUEDE_QUEUE_READY);
  later_.push_back([this, id] { server_->FinishReset(id, absl::OkStatus()); });
  return absl::OkStatus();
}

void FakeDaemon::OnGone(ClientId id) {
  clients_.erase(id);
  std::erase_if(claims_, [id](const auto& claim) { return claim.second == id; });
  if (!hold_detach) later_.push_back([this, id] { server_->FinishDetach(id); });
  ++gone;
}

absl::StatusOr<PacketPort> FakeDaemon::FindPacketPort(std::string_view name, uint32_t index) {
  if (!name.empty()) index = name == "p0" ? 0 : name == "p1" ? 1 : 2;
  if (index > 1) return absl::NotFoundError("no such port here");
  return PacketPort{.index = index,
                    .name = index == 0 ? "p0" : "p1",
                    .max_bytes = 1518,
                    .mtu_bytes = 1500,
                    .mac = {2, 0, 0, 0, 0, static_cast<uint8_t>(index)}};
}

void FakeDaemon::OnPacket(uint32_t port, std::span<const uint8_t> frame) {
  ++packets;
  copies_lost += server_->DeliverPacket(port, frame).lost;
}

void FakeDaemon::Complete(Queue& queue, const TxRecord& record, uint8_t status) {
  if ((record.flags() & SUEDE_RECORD_COMPLETION) == 0) return;
  queue.completions.Push(record.tag(), record.xpuid(), record.vc(), status);
}

void FakeDaemon::Run() {
  while (!stop_) {
    pollfd what{.fd = server_->fd(), .events = POLLIN, .revents = 0};
    poll(&what, 1, 0);
    server_->Poll();
    for (auto& act : std::exchange(later_, {})) act();
    std::vector<std::function<void()>> questions;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      questions.swap(questions_);
    }
    for (auto& question : questions) question();
    if (!paused_) Turn();
    if (board_ != nullptr) board_->Poll();
    usleep(20);
  }
}

void FakeDaemon::Turn() {
  for (auto& [id, client] : clients_) {
    for (uint32_t q = 0; q < client.queues.size(); ++q) {
      Serve(client.queues[q]);
      if (client.queues[q].tx.broken()) {
        SetQueueState(client.segment->base(), q, SUEDE_QUEUE_BROKEN);
      }
    }
  }
}

void FakeDaemon::Serve(Queue& queue) {
  if (const std::optional<Wish> wish = queue.load.NextWish()) {
    queue.load.Answer(*wish,
                      {.flags = SUEDE_DESTINATION_KNOWN, .inflight_pdus = wish->xpuid() * 10u});
  }
  TxRecord records[32];
  const uint32_t count = queue.tx.Poll(records, 32);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t r = 0; r < records[i].count; ++r) {
      TxRecord record = records[i];
      record.line += size_t{r} * record.lines * SUEDE_LINE_BYTES;
      Serve(queue, record);
    }
  }
  queue.tx.Release();
  queue.completions.Publish();
}

void FakeDaemon::Serve(Queue& queue, const TxRecord& record) {
  if (record.verdict != RecordVerdict::kCommand) {
    const bool malformed = record.verdict == RecordVerdict::kMalformed;
    Complete(queue, record, malformed ? SUEDE_STATUS_MALFORMED : SUEDE_STATUS_ERROR_MARK);
    return;
  }
  if (!queue.credits.Take(record.xpuid(), record.vc(), record.lines)) {
    Complete(queue, record, SUEDE_STATUS_NO_CREDIT);
    return;
  }
  queue.credits.Return(record.xpuid(), record.vc(), record.lines);
  Complete(queue, record, Deliver(queue.source, record));
}

uint8_t FakeDaemon::Deliver(InstanceKey source, const TxRecord& record) {
  const auto claim = claims_.find({record.xpuid(), record.vc()});
  if (claim == claims_.end()) return SUEDE_STATUS_UNREACHABLE;
  RxRingWriter& writer = clients_[claim->second].rx[record.vc()];
  uint8_t* to = writer.Reserve(record.lines);
  if (to == nullptr) return SUEDE_STATUS_UNREACHABLE;
  std::memset(to, 0, SUEDE_RECORD_CONTROL);
  to[0] = (record.type_and_length() & 0x10) != 0 ? SUEDE_KIND_COMMAND_DATA : SUEDE_KIND_COMMAND;
  to[1] = record.vc();
  std::memcpy(to + 2, &source.xpuid, 2);
  const uint16_t xpuid = record.xpuid();
  std::memcpy(to + 4, &xpuid, sizeof xpuid);
  std::memcpy(to + SUEDE_RECORD_CONTROL, record.line + SUEDE_RECORD_CONTROL, record.bytes);
  writer.Publish();
  return SUEDE_STATUS_OK;
}

}  // namespace suede
