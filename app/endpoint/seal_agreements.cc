// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_agreements.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "openssl/openssl_crypto.h"

namespace suede {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(50);
constexpr int kBacklog = 128;  // of the kernel

bool Seals(const InstanceConfig& instance) {
  return instance.sealing != InstanceConfig::Sealing::kOff;
}

void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SealAgreements>> SealAgreements::Open(const Config& config,
                                                                     EventLog* events) {
  std::unique_ptr<SealAgreements> made;
  const bool seals = std::any_of(config.instances.begin(), config.instances.end(), Seals);
  if (!seals || !config.sealing.tls.enabled()) return made;
  made.reset(new SealAgreements(config, events));
  absl::StatusOr<std::unique_ptr<Crypto>> kdf = OpenOpensslCrypto();
  if (!kdf.ok()) return kdf.status();
  made->state_.kdf = *std::move(kdf);
  if (absl::Status status = made->Reload(); !status.ok()) return status;
  if (absl::Status status = made->Listen(); !status.ok()) return status;
  return made;
}

SealAgreements::SealAgreements(const Config& config, EventLog* events)
    : config_(config.sealing.tls),
      state_{.partition = config.partition,
             .refresh = std::chrono::seconds(config.sealing.tls.refresh_s),
             .pairs = {},
             .deliveries = SealDeliveries(config),
             .kdf = nullptr,
             .events = events,
             .counts = {}} {
  AddPairs(config);
}

SealAgreements::~SealAgreements() {
  if (listener_ >= 0) close(listener_);
}

void SealAgreements::AddPairs(const Config& config) {
  std::set<uint32_t> own;
  for (const InstanceConfig& instance : config.instances) {
    if (Seals(instance)) own.insert(instance.xpu);
  }
  std::map<std::string_view, size_t> places;  // of addresses in groups_
  for (const PeerConfig& peer : config.peers) {
    if (peer.hello == PeerConfig::Hello::kNever) continue;  // it cannot be sealed
    const std::optional<SocketAddress> address = ParseSocketAddress(peer.control);
    for (const uint32_t xpu : own) {
      const auto from = static_cast<uint16_t>(xpu);
      const auto to = static_cast<uint16_t>(peer.xpu);
      if (own.contains(peer.xpu)) {
        inner_.Add(from, to, false);
        inner_.Add(to, from, false);
        continue;
      }
      state_.pairs.Add(from, to, address.has_value());
      if (!address) continue;
      const auto [place, is_new] = places.try_emplace(peer.control, groups_.size());
      if (is_new) groups_.push_back({.address = *address, .pairs = {}, .connection = nullptr});
      groups_[place->second].pairs.push_back(state_.pairs.Find(from, to));
    }
  }
}

absl::Status SealAgreements::Reload() {
  absl::StatusOr<std::shared_ptr<TlsContext>> context = TlsContext::Open(
      {.certificate = config_.certificate, .key = config_.key, .ca = config_.ca}, kAgreementAlpn);
  if (!context.ok()) return context.status();
  context_ = *std::move(context);
  return absl::OkStatus();
}

absl::Status SealAgreements::Listen() {
  const std::optional<SocketAddress> address = ParseSocketAddress(config_.listen);
  if (!address) {
    return absl::InvalidArgumentError(
        StrCat("sealing.tls.listen: ", config_.listen, " is no address and port"));
  }
  const int on = 1;
  listener_ = socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ >= 0) setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener_ >= 0 && address->family() == AF_INET6) {
    setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (listener_ >= 0 && bind(listener_, address->get(), address->bytes()) == 0 &&
      listen(listener_, kBacklog) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             StrCat("sealing.tls.listen: cannot listen at ", config_.listen));
}

// All pairs are as new: none has a secret of this partition.
void SealAgreements::Start(uint32_t partition, Time now) {
  served_.clear();
  for (Group& group : groups_) group.connection.reset();
  connecting_ = 0;
  state_.partition = partition;
  state_.pairs.Start(now);
  inner_.Start(now);
  if (started_) {
    for (const auto& [key, pair] : state_.pairs.all()) state_.deliveries.Add(pair);
  }
  next_draw_ = inner_.empty() ? kNever : now;
  started_ = true;
}

void SealAgreements::Tick(const EndpointPipelines& pipelines, uint32_t partition, Time now) {
  if (!started_ || partition != state_.partition) Start(partition, now);
  AdvanceAll(now);
  if (has_waiting_) Accept(now);
  if (now >= next_draw_) DrawInner(now);
  if (now >= next_look_) ConnectDue(now);
  state_.deliveries.Tick(pipelines, static_cast<uint16_t>(state_.partition));
}

void SealAgreements::Accept(Time now) {
  while (accepts_.Take(now)) {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    const int fd = accept4(listener_, reinterpret_cast<sockaddr*>(&storage), &bytes,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      state_.TellRefused(config_.listen, std::strerror(errno));
      return;
    }
    SendAtOnce(fd);
    std::unique_ptr<TlsConnection> tls =
        TlsConnection::Make(context_, fd, TlsConnection::Role::kServer);
    if (tls == nullptr) return;
    if (served_.size() == kMostServed) MakeRoom(now);
    served_.push_back(std::make_unique<SealServerConnection>(state_, std::move(tls),
                                                             SocketAddress(storage), now));
  }
}

// Ends the oldest unfinished connection of the source that has the most, else its oldest one.
void SealAgreements::MakeRoom(Time now) {
  std::map<uint64_t, size_t> counts;
  for (const auto& connection : served_) ++counts[connection->address().network()];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto is_its = [&](const auto& c) { return c->address().network() == most->first; };
  auto victim = std::find_if(served_.begin(), served_.end(),
                             [&](const auto& c) { return is_its(c) && !c->established(); });
  if (victim == served_.end()) victim = std::find_if(served_.begin(), served_.end(), is_its);
  (*victim)->GiveUp(
      now, SealFailure::kConnection,
      StrCat("it gives its place to a newer one: there are ", kMostServed, " connections"));
  served_.erase(victim);
}

// Goes on with the connections whose sockets have something for them.
void SealAgreements::AdvanceAll(Time now) {
  std::vector<SealConnection*> connections;
  for (const auto& connection : served_) connections.push_back(connection.get());
  for (const Group& group : groups_) {
    if (group.connection != nullptr) connections.push_back(group.connection.get());
  }
  std::vector<pollfd> fds{{.fd = listener_, .events = POLLIN, .revents = 0}};
  for (const SealConnection* connection : connections) {
    fds.push_back({.fd = connection->fd(), .events = connection->events(), .revents = 0});
  }
  if (poll(fds.data(), fds.size(), 0) < 0) return;
  has_waiting_ = fds[0].revents != 0;
  std::vector<const SealConnection*> over;
  for (size_t i = 0; i < connections.size(); ++i) {
    const bool goes_on = fds[i + 1].revents == 0 && !connections[i]->IsDue(now);
    if (!goes_on && !connections[i]->Advance(now)) over.push_back(connections[i]);
  }
  const auto is_over = [&](const std::unique_ptr<SealConnection>& connection) {
    return std::find(over.begin(), over.end(), connection.get()) != over.end();
  };
  if (over.empty()) return;
  std::erase_if(served_, is_over);
  for (Group& group : groups_) {
    if (group.connection == nullptr || !is_over(group.connection)) continue;
    group.connection.reset();
    --connecting_;
  }
}

void SealAgreements::ConnectDue(Time now) {
  next_look_ = now + kLookEvery;
  for (Group& group : groups_) {
    if (group.connection != nullptr) continue;
    if (connecting_ == kMostConnecting) return;
    std::vector<AgreementPair*> due;
    for (AgreementPair* const pair : group.pairs) {
      if (pair->due() <= now && state_.deliveries.IsDone(*pair)) due.push_back(pair);
    }
    if (!due.empty()) Connect(group, std::move(due), now);
  }
}

void SealAgreements::Connect(Group& group, std::vector<AgreementPair*> pairs, Time now) {
  const SocketAddress& address = group.address;
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    SendAtOnce(fd);
    if (connect(fd, address.get(), address.bytes()) != 0 && errno != EINPROGRESS) error = errno;
  }
  std::unique_ptr<TlsConnection> tls;
  if (error == 0) {
    tls = TlsConnection::Make(context_, fd, TlsConnection::Role::kClient);
    if (tls == nullptr) error = ENOMEM;
  } else if (fd >= 0) {
    close(fd);
  }
  if (tls == nullptr) {
    state_.TellFailed(*pairs.front(), address, SealFailure::kConnection, std::strerror(error));
    for (AgreementPair* const pair : pairs) {
      pair->OnBegun();
      pair->OnFailed(now);
    }
    return;
  }
  ++connecting_;
  group.connection = std::make_unique<SealClientConnection>(state_, std::move(tls), address,
                                                            std::move(pairs), now);
}

// Draws the secrets of pairs of two own XPUs.
void SealAgreements::DrawInner(Time now) {
  next_draw_ = now + kLookEvery;
  for (auto& [key, pair] : inner_.all()) {
    if (!state_.deliveries.IsDone(pair)) return;  // later
  }
  for (auto& [key, pair] : inner_.all()) {
    if (key.first > key.second) continue;
    AgreementPair& back = *inner_.Find(key.second, key.first);
    const uint8_t last = pair.secrets().last();
    const uint8_t id = NextAgreedId(pair.secrets(), last);
    Secret there;
    Secret here;
    if (!there.Make() || !here.Make() ||
        getrandom(there.bytes().data(), Secret::kBytes, 0) !=
            static_cast<ssize_t>(Secret::kBytes)) {
      return;  // later
    }
    std::memcpy(here.bytes().data(), there.bytes().data(), Secret::kBytes);
    pair.OnAgreed(now, state_.refresh, id, std::move(there), last);
    state_.deliveries.Add(pair);
    if (&back == &pair) continue;
    back.OnAgreed(now, state_.refresh, id, std::move(here), last);
    state_.deliveries.Add(back);
  }
  next_draw_ = now + state_.refresh;
}

}  // namespace suede
