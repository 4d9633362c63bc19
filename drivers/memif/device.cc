// SPDX-License-Identifier: Apache-2.0
#include "memif/device.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/device_string.h"
#include "local/passing.h"
#include "memif/server_socket.h"

namespace suede::memif {
namespace {

constexpr int64_t kRetryNs = 100'000'000;
// However long a busy server takes: DPDK's server crashes if it accepts a connection that its
// client has closed already.
constexpr int64_t kClientHandshakeNs = 30'000'000'000;
constexpr int kMessagesPerAttempt = 32;

// Memory of connections whose lcore never left its burst: it stays mapped.
std::vector<Connection>& Abandoned() {
  static std::vector<Connection>* const connections = new std::vector<Connection>;
  return *connections;
}

}  // namespace

DeviceOptions ParseDevice(std::string_view device) {
  const auto text = [device](std::string_view key, std::string_view otherwise) {
    const std::string_view value = DeviceArgument(device, key);
    return std::string(value.empty() ? otherwise : value);
  };
  const auto number = [&text](std::string_view key, uint32_t otherwise) {
    uint32_t value = 0;
    return absl::SimpleAtoi(text(key, ""), &value) ? value : otherwise;
  };
  DeviceOptions options;
  options.name = std::string(DeviceHead(device));
  options.is_server = IsMemifServer(device);
  options.id = number("id", options.id);
  options.socket = text("socket", options.socket);
  options.is_abstract = text("socket-abstract", "yes") != "no";
  options.secret = text("secret", "");
  options.log2_slots = static_cast<uint8_t>(number("rsize", options.log2_slots));
  options.buffer_bytes = number("bsize", options.buffer_bytes);
  options.queues = static_cast<uint16_t>(number("queues", options.queues));
  return options;
}

Device::Device(const DeviceOptions& options) : options_(options) {
  for (uint16_t i = 0; i < options.queues; ++i) {
    queues_.push_back(std::make_unique<Queue>(options.max_frame_bytes));
  }
}

absl::StatusOr<std::unique_ptr<Device>> Device::Open(const DeviceOptions& options) {
  std::unique_ptr<Device> device(new Device(options));
  if (!options.is_server) return device;
  absl::StatusOr<std::shared_ptr<ServerSocket>> server = ServerSocket::Get(options);
  if (!server.ok()) return server.status();
  if (absl::Status status = (*server)->Add(device.get()); !status.ok()) return status;
  device->server_ = *std::move(server);
  return device;
}

Device::~Device() {
  if (server_ != nullptr) server_->Remove(this);
  Disconnect(Refusal::kDown);
}

InterfaceRules Device::rules() const {
  return {.id = options_.id,
          .secret = options_.secret,
          .rings = static_cast<uint16_t>(queues_.size()),
          .taken = claimed_ || connection_.has_value(),
          .down = held_down_};
}

void Device::Count(Refusal reason, std::string text) {
  ++refused_[static_cast<size_t>(reason)];
  if (reason != Refusal::kNone) text = TextOf(reason);
  if (text.empty() || (server_ == nullptr && text == last_text_)) return;
  last_text_ = text;
  ending_ = {.reason = reason, .text = std::move(text)};
}

void Device::SetLink(bool up) {
  held_down_ = !up;
  next_attempt_ns_ = 0;
  if (!up) Disconnect(Refusal::kDown);
}

void Device::Poll(int64_t now_ns) {
  if (server_ != nullptr) server_->Poll(now_ns);
  if (connection_) {
    PollConnection();
  } else if (server_ == nullptr && !held_down_) {
    PollClient(now_ns);
  }
}

// Ends a connection whose peer hangs up, sends anything, or breaks a ring, or whose memory fails.
void Device::PollConnection() {
  const auto& queues = queues_;
  if (std::any_of(queues.begin(), queues.end(), [](const auto& q) { return q->broken(); })) {
    return Disconnect(Refusal::kRingState);
  }
  const auto& regions = connection_->regions;
  if (std::any_of(regions.begin(), regions.end(), [](const Region& r) { return r.broken(); })) {
    return Disconnect(Refusal::kRegionMemory);
  }
  uint8_t bytes[kMessageBytes];
  const ReceivedPacket packet = ReceivePacketWithFd(connection_->socket.get(), bytes, sizeof bytes);
  if (packet.bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const size_t size = static_cast<size_t>(packet.bytes) == kMessageBytes ? kMessageBytes : 0;
  const bool leaves =
      packet.bytes <= 0 || bytes[0] == static_cast<uint8_t>(MessageType::kDisconnect);
  Disconnect(leaves ? Refusal::kNone : Refusal::kUnexpected, ReasonIn({bytes, size}));
}

RingView Device::ViewOf(const RingPlan& plan, size_t ring, uint64_t buffers_offset) {
  RingView view{.header = reinterpret_cast<RingHeader*>(connection_->regions[plan.region].base() +
                                                        plan.offset),
                .log2_slots = plan.log2_slots};
  for (size_t i = 0; i < connection_->regions.size(); ++i) {
    view.regions[i] = {.base = connection_->regions[i].base(),
                       .bytes = connection_->plan.regions[i]};
  }
  if (!options_.is_server) {
    const uint64_t ring_bytes = uint64_t{options_.buffer_bytes} << plan.log2_slots;
    view.buffers = BufferOrder(buffers_offset + ring * ring_bytes, 1u << plan.log2_slots,
                               options_.buffer_bytes);
    view.buffer_bytes = options_.buffer_bytes;
  }
  return view;
}

Refusal Device::Connect(Connection connection, uint64_t buffers_offset) {
  connection_.emplace(std::move(connection));
  const ConnectionPlan& plan = connection_->plan;
  const size_t pairs = queues_.size();
  if (plan.c2s.size() < pairs || plan.s2c.size() < pairs) return Refusal::kRings;
  std::vector<std::pair<RingView, RingView>> views;  // c2s and s2c
  for (size_t i = 0; i < pairs; ++i) {
    views.emplace_back(ViewOf(plan.c2s[i], i, buffers_offset),
                       ViewOf(plan.s2c[i], plan.c2s.size() + i, buffers_offset));
    (options_.is_server ? views.back().second : views.back().first).event =
        connection_->events[i].get();
    for (const RingView* view : {&views.back().first, &views.back().second}) {
      if (view->header->cookie != kRingCookie) return Refusal::kRing;
    }
  }
  for (size_t i = 0; i < pairs; ++i) {
    const auto& [c2s, s2c] = views[i];
    queues_[i]->Connect(options_.is_server ? c2s : s2c, options_.is_server ? s2c : c2s);
    queues_[i]->gate().Open();
  }
  connected_queues_ = static_cast<uint32_t>(pairs);
  ++connections_;
  last_text_.clear();
  up_.store(true, std::memory_order_release);
  return Refusal::kNone;
}

void Device::Disconnect(Refusal reason, std::string text) {
  if (attempt_) {
    SendWithFd(attempt_->socket.get(), BytesOf(MakeDisconnect(reason)), -1);
    attempt_.reset();
  }
  if (!connection_) return;
  Count(reason, std::move(text));
  up_.store(false, std::memory_order_release);
  bool left = true;
  for (; connected_queues_ > 0; --connected_queues_) {
    left = queues_[connected_queues_ - 1]->gate().Close() && left;
  }
  if (reason != Refusal::kNone) {
    SendWithFd(connection_->socket.get(), BytesOf(MakeDisconnect(reason)), -1);
  }
  connection_->socket.Reset();
  if (!left) Abandoned().push_back(*std::move(connection_));
  connection_.reset();
}

// ---- Client ----

void Device::PollClient(int64_t now_ns) {
  if (!attempt_) {
    if (now_ns < next_attempt_ns_) return;
    next_attempt_ns_ = now_ns + kRetryNs;
    Fd socket(ConnectTo(options_.socket, options_.is_abstract));
    if (!socket.ok()) return;
    attempt_.emplace(
        Attempt{.socket = std::move(socket),
                .channel = ClientChannel({.id = options_.id,
                                          .secret = options_.secret,
                                          .interface = options_.name,
                                          .rings = static_cast<uint16_t>(queues_.size()),
                                          .log2_slots = options_.log2_slots,
                                          .buffer_bytes = options_.buffer_bytes}),
                .deadline_ns = now_ns + kClientHandshakeNs});
  }
  OnClientMessage();
  if (attempt_ && now_ns >= attempt_->deadline_ns) {
    Count(Refusal::kTimeout);
    Disconnect(Refusal::kTimeout);
  }
}

// Creates the memory of the handshake, with its rings.
bool Device::StartClient() {
  const ConnectionPlan& plan = attempt_->channel.plan();
  std::optional<Region> region = Region::Create(plan.regions[0]);
  if (!region) return false;
  for (const std::vector<RingPlan>* rings : {&plan.c2s, &plan.s2c}) {
    for (const RingPlan& ring : *rings) {
      reinterpret_cast<RingHeader*>(region->base() + ring.offset)->cookie = kRingCookie;
      attempt_->events.emplace_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
      if (!attempt_->events.back().ok()) return false;
    }
  }
  attempt_->regions.push_back(*std::move(region));
  return true;
}

void Device::OnClientMessage() {
  for (int i = 0; i < kMessagesPerAttempt; ++i) {
    Attempt& attempt = *attempt_;
    uint8_t bytes[kMessageBytes];
    const ReceivedPacket packet = ReceivePacketWithFd(attempt.socket.get(), bytes, sizeof bytes);
    if (packet.bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (packet.bytes <= 0) return attempt_.reset();
    const size_t size = static_cast<size_t>(packet.bytes) == kMessageBytes ? kMessageBytes : 0;
    Step step = attempt.channel.OnMessage({bytes, size});
    if (step.action == Action::kMakeMemory) {
      if (!StartClient()) {
        Count(Refusal::kNoMemory);
        return Disconnect(Refusal::kNoMemory);
      }
      step.reply = attempt.channel.Start(attempt.regions[0].bytes());
    }
    if (step.action == Action::kConnected) {
      Connection connection{.socket = std::move(attempt.socket),
                            .regions = std::move(attempt.regions),
                            .events = std::move(attempt.events),
                            .plan = attempt.channel.plan()};
      // The server has mapped the memory.
      for (Region& region : connection.regions) region.Seal();
      const uint64_t buffers_offset = attempt.channel.buffers_offset();
      peer_ = attempt.channel.peer();
      attempt_.reset();
      const Refusal refusal = Connect(std::move(connection), buffers_offset);
      if (refusal != Refusal::kNone) Disconnect(refusal);
      return;
    }
    int fd = -1;
    if (attempt.channel.sends_memory()) fd = attempt.regions[0].fd();
    if (const auto ring = attempt.channel.sent_ring()) fd = attempt.events[*ring].get();
    const bool sent =
        !step.reply || SendWithFd(attempt.socket.get(), BytesOf(*step.reply), fd) >= 0;
    if (step.action != Action::kClose && sent) continue;
    if (step.action == Action::kClose) Count(step.refusal, ReasonIn({bytes, size}));
    return attempt_.reset();
  }
}

}  // namespace suede::memif
