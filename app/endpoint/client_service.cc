// SPDX-License-Identifier: Apache-2.0
#include "endpoint/client_service.h"

#include "absl/strings/str_cat.h"
#include "endpoint/registers.h"

namespace suede {
namespace {

uint32_t Number(ClientId client) { return static_cast<uint32_t>(client); }

HugePages ToHugePages(Hugepages hugepages) {
  switch (hugepages) {
    case Hugepages::kOn: return HugePages::kAlways;
    case Hugepages::kOff: return HugePages::kNever;
    case Hugepages::kAuto: break;
  }
  return HugePages::kAuto;
}

absl::Status ToStatus(const LcoreReply& reply) {
  switch (reply.status) {
    case LcoreStatus::kDone: return absl::OkStatus();
    case LcoreStatus::kBusy:
      return absl::ResourceExhaustedError("the lcore serves as many clients and queues as it can");
    case LcoreStatus::kClaimed:
      return absl::AlreadyExistsError("another client has claimed that instance's VC");
    case LcoreStatus::kUnknown: break;
  }
  return absl::NotFoundError("no such client, queue or instance on the lcore");
}

WindowService::Limits WindowLimitsOf(const ClientsConfig& clients) {
  return {.client_bytes = uint64_t{clients.window_mb} << 20,
          .total_bytes = uint64_t{clients.windows_total_mb} << 20};
}

}  // namespace

SegmentShape SegmentShapeOf(const ClientsConfig& clients) {
  return {.queue_count = clients.max_queues,
          .tx_lines = clients.ring_lines,
          .rx_lines = clients.receive_lines,
          .completion_count = clients.completions,
          .credit_lines = clients.credit_lines,
          .aggregate_lines = clients.aggregate_lines};
}

ClientService::ClientService(Endpoint* endpoint, Endpoint::Log log)
    : endpoint_(endpoint),
      log_(std::move(log)),
      windows_([this](uint32_t lcore, const LcoreRequest& request) { return Ask(lcore, request); },
               SegmentShapeOf(endpoint->config().clients)) {
  windows_.SetLimits(WindowLimitsOf(endpoint->config().clients));
}

absl::StatusOr<std::unique_ptr<ClientService>> ClientService::Create(Endpoint* endpoint,
                                                                     const std::string& version,
                                                                     Endpoint::Log log) {
  std::unique_ptr<ClientService> service(new ClientService(endpoint, std::move(log)));
  const Config& config = endpoint->config();
  ShmServerConfig server{.socket_path = config.clients.socket,
                         .socket_mode = config.clients.socket_mode,
                         .shape = SegmentShapeOf(config.clients),
                         .huge_pages = ToHugePages(config.clients.hugepages),
                         .max_clients = config.clients.max_clients,
                         .pack_limit_bytes = config.packing.limit_bytes,
                         .version = version,
                         .rules = config.clients.rules,
                         .boards = endpoint->wait_boards()};
  for (const InstanceConfig& instance : config.instances) {
    server.instances.push_back({.xpuid = static_cast<uint16_t>(instance.xpu),
                                .instance = static_cast<uint8_t>(instance.instance)});
  }
  absl::StatusOr<std::unique_ptr<ShmServer>> created = ShmServer::Create(server, service.get());
  if (!created.ok()) return created.status();
  service->server_ = *std::move(created);
  service->windows_.SetServer(service->server_.get());
  return service;
}

void ClientService::Poll() {
  server_->Poll();
  for (uint32_t lcore = 0; lcore < endpoint_->pipeline_count(); ++lcore) {
    LcoreReply reply;
    while (endpoint_->pipeline(lcore).mailbox().replies.Pop(reply)) OnReply(reply);
  }
  windows_.Poll();
  server_->waits().SetEventSummary(registers_ != nullptr && registers_->Interrupts());
  if (!writing_.empty() && registers_ != nullptr && !registers_->changing()) {
    for (const Writing& writing : std::exchange(writing_, {})) {
      const absl::StatusOr<uint64_t> value = registers_->Written(writing.request);
      server_->FinishRegister(writing.client, value.status(), value.ok() ? *value : 0);
    }
  }
  for (auto it = unsent_detaches_.begin(); it != unsent_detaches_.end();) {
    // The client's target is detached first.
    const bool sent = !windows_.IsServed(static_cast<ClientId>(it->first)) &&
                      Ask(it->second, request::Detach{.client = it->first}).ok();
    it = sent ? unsent_detaches_.erase(it) : std::next(it);
  }
}

absl::Status ClientService::Ask(uint32_t lcore, const LcoreRequest& request) {
  if (!endpoint_->pipeline(lcore).mailbox().requests.Push(request)) {
    return absl::ResourceExhaustedError("the request queue of the lcore is full; try again");
  }
  ++outstanding_;
  return absl::OkStatus();
}

void ClientService::OnReply(const LcoreReply& reply) {
  const auto client = static_cast<ClientId>(reply.client);
  if (reply.kind != LcoreReplyKind::kDrain) --outstanding_;
  if (WindowService::IsOfTarget(reply)) return windows_.OnReply(reply, ToStatus(reply));
  switch (reply.kind) {
    case LcoreReplyKind::kAttach:
      server_->FinishOpen(client, ToStatus(reply));
      break;
    case LcoreReplyKind::kClaim:
    case LcoreReplyKind::kUnclaim:
      NoteClaim(reply);
      server_->FinishClaim(client, ToStatus(reply));
      break;
    case LcoreReplyKind::kResetQueue:
      server_->FinishReset(client, ToStatus(reply));
      break;
    case LcoreReplyKind::kDetach:
      attached_.erase(reply.client);
      server_->FinishDetach(client);
      break;
    case LcoreReplyKind::kDrain:
      --draining_;
      break;
    case LcoreReplyKind::kSetWindow:
      break;  // only for targets
  }
}

// Records the reply to the client's only pending claim or unclaim.
void ClientService::NoteClaim(const LcoreReply& reply) {
  const auto attached = attached_.find(reply.client);
  if (attached == attached_.end() || reply.status != LcoreStatus::kDone) return;
  Attached& client = attached->second;
  uint32_t& mask = client.claims[client.asked_instance];
  mask =
      reply.kind == LcoreReplyKind::kClaim ? mask | client.asked_mask : mask & ~client.asked_mask;
}

std::string ClientService::ClaimsOf(ClientId client) const {
  const auto attached = attached_.find(Number(client));
  std::string out;
  if (attached == attached_.end()) return out;
  const auto& instances = endpoint_->config().instances;
  for (uint32_t index = 0; index < instances.size(); ++index) {
    const auto claim = attached->second.claims.find(index);
    const uint32_t mask = (claim == attached->second.claims.end() ? 0 : claim->second) |
                          windows_.ServedVcs(client, index);
    if (mask == 0) continue;
    const InstanceConfig& instance = instances[index];
    absl::StrAppend(&out, out.empty() ? "" : " ", instance.xpu, ".", instance.instance);
    char separator = ':';
    for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
      if ((mask & 1u << vc) == 0) continue;
      absl::StrAppend(&out, std::string(1, separator), vc);
      separator = ',';
    }
  }
  return out;
}

int ClientService::FindInstance(const InstanceKey& key) const {
  const auto& instances = endpoint_->config().instances;
  for (size_t i = 0; i < instances.size(); ++i) {
    if (instances[i].xpu == key.xpuid && instances[i].instance == key.instance) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int ClientService::BoardOf(const OpenRequest& request) {
  const int instance = FindInstance(request.queues[0]);
  return instance < 0 ? -1
                      : static_cast<int>(endpoint_->pipeline_of(static_cast<uint32_t>(instance)));
}

absl::Status ClientService::OnOpen(ClientId client, const OpenRequest& request, Segment& segment) {
  Attached attached;
  for (size_t q = 0; q < request.queues.size(); ++q) {
    const int instance = FindInstance(request.queues[q]);
    if (instance < 0) return absl::NotFoundError("an instance that this endpoint does not have");
    const uint32_t lcore = endpoint_->pipeline_of(static_cast<uint32_t>(instance));
    if (q != 0 && lcore != attached.lcore) {
      return absl::InvalidArgumentError(
          "the instances of one client must be served by one lcore; connect once for each lcore");
    }
    attached.lcore = lcore;
    attached.vc_masks[q] = request.vc_masks[q];
    attached.instances[q] = endpoint_->number_of(static_cast<uint32_t>(instance));
  }
  Attached& kept = attached_[Number(client)] = attached;
  const absl::Status status =
      Ask(kept.lcore, request::Attach{.client = Number(client),
                                      .queue_instances = kept.instances.data(),
                                      .queue_vc_masks = kept.vc_masks.data(),
                                      .segment = segment.base(),
                                      .shape = &segment.shape()});
  if (!status.ok()) {
    attached_.erase(Number(client));
    return status;
  }
  return status;
}

absl::Status ClientService::OnClaim(ClientId client, const ClaimRequest& request) {
  return Claim(client, request, true);
}

absl::Status ClientService::OnUnclaim(ClientId client, const ClaimRequest& request) {
  return Claim(client, request, false);
}

absl::Status ClientService::Claim(ClientId client, const ClaimRequest& request, bool claim) {
  const int instance = FindInstance(request.instance);
  const auto attached = attached_.find(Number(client));
  if (instance < 0 || attached == attached_.end()) {
    return absl::NotFoundError("an instance that this endpoint does not have");
  }
  if (endpoint_->pipeline_of(static_cast<uint32_t>(instance)) != attached->second.lcore) {
    return absl::InvalidArgumentError(
        "the instance is served by another lcore than the client's queues; connect once for each");
  }
  attached->second.asked_instance = static_cast<uint32_t>(instance);
  attached->second.asked_mask = request.vc_mask;
  const auto vc_mask = static_cast<uint8_t>(request.vc_mask);
  const uint32_t number = endpoint_->number_of(static_cast<uint32_t>(instance));
  if (!claim) {
    return Ask(attached->second.lcore,
               request::Unclaim{.vc_mask = vc_mask, .client = Number(client), .instance = number});
  }
  return Ask(attached->second.lcore,
             request::Claim{.vc_mask = vc_mask, .client = Number(client), .instance = number});
}

absl::Status ClientService::OnServe(ClientId client, const ServeRequest& request) {
  const int index = FindInstance(request.instance);
  const auto attached = attached_.find(Number(client));
  if (index < 0 || attached == attached_.end()) {
    return absl::NotFoundError("an instance that this endpoint does not have");
  }
  const uint32_t lcore = endpoint_->pipeline_of(static_cast<uint32_t>(index));
  if (lcore != attached->second.lcore) {
    return absl::InvalidArgumentError(
        "the instance is served by another lcore than the client's queues; connect once for each");
  }
  return windows_.OnServe(client, request,
                          {.lcore = lcore,
                           .instance = endpoint_->number_of(static_cast<uint32_t>(index)),
                           .index = static_cast<uint32_t>(index)});
}

absl::Status ClientService::OnWindowAdd(ClientId client, const WindowRequest& request, int fd) {
  return windows_.OnWindowAdd(client, request, fd);
}

absl::Status ClientService::OnWindowRemove(ClientId client, uint32_t id) {
  return windows_.OnWindowRemove(client, id);
}

absl::Status ClientService::OnReset(ClientId client, uint32_t queue) {
  const auto attached = attached_.find(Number(client));
  if (attached == attached_.end()) return absl::NotFoundError("no such client");
  return Ask(attached->second.lcore,
             request::ResetQueue{.queue = static_cast<uint16_t>(queue), .client = Number(client)});
}

absl::Status ClientService::OnRegister(ClientId client, const RegisterRequest& request) {
  if (registers_ == nullptr) return absl::UnimplementedError("this endpoint has no registers");
  const std::optional<absl::StatusOr<uint64_t>> result = registers_->Access(request);
  if (!result) {
    writing_.push_back({.client = client, .request = request});
  } else if (result->ok()) {
    server_->FinishRegister(client, absl::OkStatus(), **result);
  } else {
    return result->status();
  }
  return absl::OkStatus();
}

void ClientService::Adopt(const Config& config) {
  server_->SetMaxClients(config.clients.max_clients);
  server_->SetPackLimit(config.packing.limit_bytes);
  server_->SetRules(config.clients.rules);
  windows_.SetLimits(WindowLimitsOf(config.clients));
}

void ClientService::OnGone(ClientId client) {
  const auto attached = attached_.find(Number(client));
  if (attached == attached_.end()) return;
  windows_.OnGone(client);
  // Retried in Poll while the mailbox is full: the segment must stay until the lcore detaches it.
  unsent_detaches_[Number(client)] = attached->second.lcore;
}

void ClientService::OnOpened(const ClientInfo& client) {
  endpoint_->events().Raise(EventKind::kClientConnected,
                            {{EventField::kClient, Number(client.id)},
                             {EventField::kPid, client.pid},
                             {EventField::kUid, client.uid},
                             {EventField::kQueues, client.queue_count}});
}

void ClientService::OnRefused(pid_t pid, uid_t uid, std::string_view reason) {
  endpoint_->events().Raise(EventKind::kClientRefused, {{EventField::kPid, pid},
                                                        {EventField::kUid, uid},
                                                        {EventField::kReason, reason}});
}

void ClientService::OnEnded(const ClientInfo& client, const ClientEnd& end) {
  EventLog& events = endpoint_->events();
  std::vector<EventValue> values = {{EventField::kClient, Number(client.id)},
                                    {EventField::kPid, client.pid}};
  if (!end.error.empty()) {
    values.emplace_back(EventField::kReason, end.error);
    events.Raise(EventKind::kClientError, std::move(values));
  } else if (end.was_open) {
    events.Raise(end.sent_goodbye ? EventKind::kClientLeft : EventKind::kClientDied,
                 std::move(values));
  }
}

void ClientService::BeginDrain() {
  for (uint32_t lcore = 0; lcore < endpoint_->pipeline_count(); ++lcore) {
    if (endpoint_->pipeline(lcore).mailbox().requests.Push(request::Drain{})) {
      ++draining_;
    }
  }
}

}  // namespace suede
