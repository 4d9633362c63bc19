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

constexpr Duration kCheckInterval = std::chrono::milliseconds(50);

bool Seals(const InstanceConfig& instance) {
  return instance.sealing != InstanceConfig::Sealing::kOff;
}

// Returns the IP addresses of the peers that can be sealed.
std::set<std::string> HostsOf(const std::vector<PeerConfig>& peers) {
  std::set<std::string> hosts;
  for (const PeerConfig& peer : peers) {
    const std::optional<SocketAddress> address = ParseSocketAddress(peer.control);
    if (address && peer.hello != PeerConfig::Hello::kNever) hosts.insert(address->host());
  }
  return hosts;
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
             .counts = {}},
      lobby_(HostsOf(config.peers)) {
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
    if (peer.hello == PeerConfig::Hello::kNever) continue;  // cannot be sealed
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
        StrCat("sealing.tls.listen: ", config_.listen, " is not ADDRESS:PORT"));
  }
  const int on = 1;
  listener_ = socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ >= 0) setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener_ >= 0 && address->family() == AF_INET6) {
    setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (listener_ >= 0 && bind(listener_, address->get(), address->bytes()) == 0 &&
      listen(listener_, SOMAXCONN) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             StrCat("sealing.tls.listen: cannot listen at ", config_.listen));
}

// Restarts all pairs: none has a secret of this partition.
void SealAgreements::Start(uint32_t partition, Time now) {
  lobby_.Clear();
  peers_.connections.clear();
  others_.connections.clear();
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
  Admit(now);
  if (now >= next_draw_) DrawInner(now);
  if (now >= next_check_) ConnectDue(now);
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
      state_.EmitRefused(config_.listen, std::strerror(errno));
      return;
    }
    SendAtOnce(fd);
    for (const SealLobby::Guest& ended : lobby_.Add(Fd(fd), SocketAddress(storage), now)) {
      state_.EmitRefused(ended.address.text(),
                         StrCat("it gives its place to a newer one: there are ", SealLobby::kPlaces,
                                " connections that say nothing"));
    }
  }
}

// Begins TLS on the connections that have sent data, as far as the rate limits permit.
void SealAgreements::Admit(Time now) {
  for (const SealLobby::Guest& silent : lobby_.TakeSilent(now - SealConnection::kIdleLimit)) {
    state_.EmitRefused(silent.address.text(), "no data for 10 s");
  }
  std::vector<pollfd> fds;
  for (const SealLobby::Guest& guest : lobby_.guests()) {
    fds.push_back({.fd = guest.fd.get(), .events = POLLIN, .revents = 0});
  }
  if (fds.empty() || poll(fds.data(), fds.size(), 0) <= 0) return;
  std::set<int> speaking;
  for (const pollfd& each : fds) {
    if (each.revents != 0) speaking.insert(each.fd);
  }
  std::vector<SealLobby::Guest> admitted = lobby_.TakeSpeaking(
      [&](const SealLobby::Guest& guest) { return speaking.contains(guest.fd.get()); },
      [&](const SealLobby::Guest& guest) { return KindOf(guest).handshakes.Take(now); });
  for (SealLobby::Guest& guest : admitted) Serve(std::move(guest), now);
}

void SealAgreements::Serve(SealLobby::Guest guest, Time now) {
  Served& served = KindOf(guest);
  std::unique_ptr<TlsConnection> tls =
      TlsConnection::Make(context_, guest.fd.Release(), TlsConnection::Role::kServer);
  if (tls == nullptr) return;
  if (served.connections.size() == served.places) MakeRoom(served, now);
  served.connections.push_back(
      std::make_unique<SealServerConnection>(state_, std::move(tls), guest.address, now));
}

// Ends the oldest unfinished connection of the source with the most connections, else its oldest.
void SealAgreements::MakeRoom(Served& served, Time now) {
  const size_t index = IndexOfLeaver(
      served.connections,
      [](const auto& connection) -> const SocketAddress& { return connection->address(); },
      [](const auto& connection) { return !connection->established(); });
  served.connections[index]->GiveUp(
      now, SealFailure::kConnection,
      StrCat("it gives its place to a newer one: there are ", served.places, " connections"));
  served.connections.erase(served.connections.begin() + static_cast<std::ptrdiff_t>(index));
}

// Advances the connections whose sockets are ready or whose deadlines have passed.
void SealAgreements::AdvanceAll(Time now) {
  std::vector<SealConnection*> connections;
  for (const Served* served : {&peers_, &others_}) {
    for (const auto& connection : served->connections) connections.push_back(connection.get());
  }
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
  std::erase_if(peers_.connections, is_over);
  std::erase_if(others_.connections, is_over);
  for (Group& group : groups_) {
    if (group.connection == nullptr || !is_over(group.connection)) continue;
    group.connection.reset();
    --connecting_;
  }
}

void SealAgreements::ConnectDue(Time now) {
  next_check_ = now + kCheckInterval;
  for (Group& group : groups_) {
    if (group.connection != nullptr) continue;
    if (connecting_ == kMaxConnecting) return;
    std::vector<AgreementPair*> due;
    for (AgreementPair* const pair : group.pairs) {
      if (pair->due() <= now && state_.deliveries.IsDone(*pair)) due.push_back(pair);
    }
    if (!due.empty()) Connect(group, std::move(due), now);
  }
}

// Binds to the listening address, by which the peer recognizes the connection as a peer's. On an
// error the kernel chooses the address.
void SealAgreements::BindToListen(int fd, int family) const {
  const std::optional<SocketAddress> listen = ParseSocketAddress(config_.listen);
  if (!listen || listen->is_any() || listen->family() != family) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const SocketAddress own = listen->without_port();
  static_cast<void>(bind(fd, own.get(), own.bytes()));
}

void SealAgreements::Connect(Group& group, std::vector<AgreementPair*> pairs, Time now) {
  const SocketAddress& address = group.address;
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    SendAtOnce(fd);
    BindToListen(fd, address.family());
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
    state_.EmitFailed(*pairs.front(), address, SealFailure::kConnection, std::strerror(error));
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

// Generates the secrets of pairs of two own XPUs.
void SealAgreements::DrawInner(Time now) {
  next_draw_ = now + kCheckInterval;
  for (auto& [key, pair] : inner_.all()) {
    if (!state_.deliveries.IsDone(pair)) return;  // retried later
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
      return;  // retried later
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
