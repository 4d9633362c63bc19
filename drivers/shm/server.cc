// SPDX-License-Identifier: Apache-2.0
// Connections: accepting, greeting, ending, the timer. requests.cc serves requests.
#include "shm/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "shm/client.h"

namespace suede {
namespace {

constexpr uint64_t kListenerEvent = 0;  // no ClientId
constexpr uint64_t kTimerEvent = ~uint64_t{0};
constexpr uint64_t kBoardEvent = ~uint64_t{1};
constexpr int kAcceptsPerPoll = 16;

bool Watch(int epoll, int fd, uint64_t event) {
  epoll_event what{.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = event}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &what) == 0;
}

// Returns the identifier of a counter; empty: none.
std::string_view NameOf(uint64_t ShmServerCounters::* counter) {
#define SUEDE_SHM_COUNTER_NAME(id, name, sentence) \
  if (counter == &ShmServerCounters::id) return #id;
  SUEDE_SHM_COUNTERS(SUEDE_SHM_COUNTER_NAME)
#undef SUEDE_SHM_COUNTER_NAME
  return {};
}

}  // namespace

int64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

ClientInfo ShmClient::info() const {
  return {.id = id,
          .pid = pid,
          .uid = uid,
          .queue_count = is_open ? segment->shape().queue_count : 0,
          .has_packets = has_packets,
          .is_gone = is_gone()};
}

absl::StatusOr<std::unique_ptr<ShmServer>> ShmServer::Create(const ShmServerConfig& config,
                                                             ClientHandler* handler) {
  if (!config.shape.IsValid() || config.max_clients < 1 || config.max_clients > 1000 ||
      config.instances.empty()) {
    return absl::InvalidArgumentError("client server: a number is out of its range");
  }
  absl::StatusOr<std::unique_ptr<Listener>> listener =
      Listener::Create(config.socket_path, config.socket_mode);
  if (!listener.ok()) return listener.status();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  std::unique_ptr<ShmServer> server(
      new ShmServer(config, handler, std::move(*listener), epoll, timer));
  if (epoll < 0 || timer < 0 || !Watch(epoll, server->listener_->fd(), kListenerEvent) ||
      !Watch(epoll, timer, kTimerEvent)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("client server: ", std::strerror(errno), "; raise the open file limit"));
  }
  for (const WaitBoard* const board : config.boards) {
    if (!Watch(epoll, board->fd(), kBoardEvent)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("client server: ", std::strerror(errno), "; raise the open file limit"));
    }
  }
  server->waits_.StartTimer();
  return server;
}

ShmServer::ShmServer(const ShmServerConfig& config, ClientHandler* handler,
                     std::unique_ptr<Listener> listener, int epoll, int timer)
    : config_(config),
      handler_(handler),
      listener_(std::move(listener)),
      epoll_(epoll),
      waits_(clients_, config_.boards, counters_, Fd(timer)) {}

ShmServer::~ShmServer() { close(epoll_); }

void ShmServer::Poll() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.u64 == kListenerEvent) {
      AcceptClients();
    } else if (event.data.u64 == kTimerEvent) {
      OnTimer();
    } else if (event.data.u64 == kBoardEvent) {
      waits_.OnBoard();
    } else if (Client* client = Find(ClientId{event.data.u64}); client != nullptr) {
      Serve(*client);
    }
  }
  Reap();
}

void ShmServer::AcceptClients() {
  for (int i = 0; i < kAcceptsPerPoll; ++i) {
    bool turned_away;
    const int socket = listener_->Accept(&turned_away);
    if (turned_away) ++counters_.refused;
    if (socket < 0) return;
    auto client = std::make_unique<Client>(TokenBucket::QuarterAtOnce(config_.max_requests_per_s));
    client->socket = Fd(socket);
    ucred peer{};
    socklen_t size = sizeof peer;
    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    if (const absl::Status room = MakeRoom(peer); !room.ok()) {
      ++counters_.refused;
      ReplyTo(*client, protocol::Type::kHello, 0, room);
      handler_->OnRefused(peer.pid, peer.uid, std::string(room.message()));
      continue;
    }
    client->id = ClientId{next_id_++};
    client->pid = peer.pid;
    client->uid = peer.uid;
    client->connected_ms = NowMs();
    if (!Watch(epoll_, socket, static_cast<uint64_t>(client->id))) continue;
    ++counters_.accepted;
    clients_.push_back(std::move(client));
    Greet(*clients_.back());
  }
}

absl::Status ShmServer::MakeRoom(const ucred& peer) {
  Reap();
  std::vector<Guest> guests;
  guests.reserve(clients_.size());
  for (const std::unique_ptr<Client>& client : clients_) {
    // Counts disconnected clients until they are detached, as they still hold memory.
    const bool is_quiet = !client->is_gone() && !client->is_attached && !client->has_packets;
    guests.push_back(
        {.uid = client->uid, .quiet_since_ms = is_quiet ? client->connected_ms : int64_t{-1}});
  }
  const Admission admission = Admit(guests, peer.uid, NowMs(),
                                    {.places = config_.max_clients,
                                     .setting = "clients.max_clients",
                                     .is_privileged = config_.is_privileged});
  if (admission.verdict == Admission::Verdict::kRefuse) {
    return absl::ResourceExhaustedError(admission.reason);
  }
  if (admission.verdict == Admission::Verdict::kReplace) {
    Drop(*clients_[admission.replaced], &ShmServerCounters::displaced);
    Reap();
  }
  return absl::OkStatus();
}

void ShmServer::Greet(Client& client) {
  protocol::Hello hello;
  hello.max_queues = config_.shape.queue_count;
  hello.tx_lines = config_.shape.tx_lines;
  hello.rx_lines = config_.shape.rx_lines;
  hello.completion_count = config_.shape.completion_count;
  hello.credit_lines = config_.shape.credit_lines;
  hello.aggregate_lines = config_.shape.aggregate_lines;
  hello.pack_limit = config_.pack_limit_bytes;
  std::strncpy(hello.daemon_version, config_.version.c_str(), sizeof hello.daemon_version - 1);
  hello.instance_count = static_cast<uint32_t>(config_.instances.size());
  const size_t told = std::min<size_t>(config_.instances.size(), protocol::kMaxHelloInstances);
  for (size_t i = 0; i < told; ++i) {
    hello.instances[i] = {.xpuid = config_.instances[i].xpuid,
                          .instance = config_.instances[i].instance};
  }
  Send(client, &hello, sizeof hello, nullptr, 0);
}

void ShmServer::Send(Client& client, const void* message, size_t bytes, const int* fds,
                     int fd_count) {
  if (client.is_gone()) return;
  iovec data{.iov_base = const_cast<void*>(message), .iov_len = bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fd_count != 0) {
    const size_t fd_bytes = static_cast<size_t>(fd_count) * sizeof(int);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fd_bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fd_bytes);
    std::memcpy(CMSG_DATA(rights), fds, fd_bytes);
  }
  if (sendmsg(client.socket.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    Drop(client, errno == EPIPE || errno == ECONNRESET ? nullptr : &ShmServerCounters::not_reading);
  }
}

void ShmServer::Drop(Client& client, Counter reason) {
  if (client.is_gone()) return;
  if (reason != nullptr) ++(counters_.*reason);
  ++counters_.gone;
  const ClientInfo info = client.info();
  const ClientEnd end{
      .was_open = client.is_open, .sent_goodbye = client.sent_goodbye, .error = NameOf(reason)};
  client.socket.Reset();  // also removes it from epoll
  client.bell.reset();
  client.place.TakeDown();
  client.is_waiting = client.is_open = client.has_pending = client.has_packets = false;
  if (client.is_attached) handler_->OnGone(client.id);
  if (client.receives_packets) {
    client.receives_packets = false;
    PublishReceivers(client.packet_port);
  }
  handler_->OnEnded(info, end);
}

void ShmServer::DropPunched(ClientId id) {
  if (Client* client = Find(id); client != nullptr) Drop(*client, &ShmServerCounters::punched);
}

void ShmServer::Disconnect(ClientId id) {
  if (Client* client = Find(id); client != nullptr) Drop(*client, nullptr);
}

// Removes clients only here, so that a reference to a client stays valid during its request.
void ShmServer::Reap() {
  std::erase_if(clients_, [](const std::unique_ptr<Client>& client) {
    return client->is_gone() && !client->is_attached;
  });
}

void ShmServer::OnTimer() {
  waits_.OnTimer();
  const int64_t now = NowMs();
  for (size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[i];
    if (!client.is_attached && !client.has_packets &&
        now - client.connected_ms > config_.open_timeout_ms) {
      Drop(client, &ShmServerCounters::open_timeout);
    } else if (client.segment != nullptr && client.segment->broken()) {
      Drop(client, &ShmServerCounters::punched);
    }
  }
}

ShmServer::Client* ShmServer::Find(ClientId id) {
  // A linear search is enough: few clients, rare requests.
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client->id == id) return client.get();
  }
  return nullptr;
}

Segment* ShmServer::segment(ClientId id) {
  Client* client = Find(id);
  return client != nullptr ? client->segment.get() : nullptr;
}

std::vector<ClientInfo> ShmServer::clients() const {
  std::vector<ClientInfo> all;
  for (const std::unique_ptr<Client>& client : clients_) {
    all.push_back(client->info());
  }
  return all;
}

}  // namespace suede
