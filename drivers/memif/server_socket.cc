// SPDX-License-Identifier: Apache-2.0
#include "memif/server_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "local/call_limit.h"
#include "local/passing.h"

namespace suede::memif {
namespace {

constexpr size_t kMaxGuests = 16;
constexpr int kAcceptsPerPoll = 32;
constexpr int kMessagesPerPoll = 32;
// A peer that polls its socket every 10 ms needs 1.3 s for 64 rings in each direction.
constexpr int64_t kHandshakeNs = 5'000'000'000;

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

// A name in the abstract namespace has no zero byte at its end.
Address AddressOf(const std::string& socket, bool is_abstract) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const size_t first = is_abstract ? 1 : 0;
  const size_t length = std::min(socket.size(), sizeof address.name.sun_path - 1);
  socket.copy(address.name.sun_path + first, length);
  address.bytes = static_cast<socklen_t>(is_abstract ? offsetof(sockaddr_un, sun_path) + 1 + length
                                                     : sizeof address.name);
  return address;
}

}  // namespace

int ConnectTo(const std::string& socket, bool is_abstract) {
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = AddressOf(socket, is_abstract);
  if (!fd.ok() ||
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0) {
    return -1;
  }
  return fd.Release();
}

absl::StatusOr<std::shared_ptr<ServerSocket>> ServerSocket::Get(const DeviceOptions& options) {
  using Key = std::pair<bool, std::string>;
  static std::map<Key, std::weak_ptr<ServerSocket>>* const sockets =
      new std::map<Key, std::weak_ptr<ServerSocket>>;
  std::weak_ptr<ServerSocket>& known = (*sockets)[{options.is_abstract, options.socket}];
  if (std::shared_ptr<ServerSocket> socket = known.lock()) return socket;
  auto socket = std::make_shared<ServerSocket>();
  if (options.is_abstract) {
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Address address = AddressOf(options.socket, true);
    constexpr int kBacklog = 64;
    if (!fd.ok() ||
        bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 ||
        listen(fd.get(), kBacklog) != 0) {
      return absl::UnavailableError(absl::StrCat(
          "abstract socket ", options.socket, ": ", std::strerror(errno),
          errno == EADDRINUSE ? "; another program listens there: stop it or choose another name"
                              : "; raise the open file limit"));
    }
    socket->abstract_ = std::move(fd);
  } else {
    // A directory that is missing is a mistake of the configuration.
    const std::filesystem::path directory = std::filesystem::path(options.socket).parent_path();
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("socket ", options.socket, ": the directory ", directory.string(),
                       " is not there; make it: mkdir -p ", directory.string()));
    }
    absl::StatusOr<std::unique_ptr<Listener>> listener =
        Listener::Create(options.socket, options.socket_mode);
    if (!listener.ok()) return listener.status();
    socket->listener_ = *std::move(listener);
  }
  known = socket;
  return socket;
}

absl::Status ServerSocket::Add(Device* device) {
  for (const Device* other : devices_) {
    if (other->options_.id != device->options_.id) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("socket ", device->options_.socket, " has an interface with id ",
                     device->options_.id, " already; use another id or socket"));
  }
  devices_.push_back(device);
  return absl::OkStatus();
}

void ServerSocket::Remove(Device* device) {
  std::erase(devices_, device);
  std::erase_if(guests_, [device](const Guest& guest) { return guest.device == device; });
}

void ServerSocket::Poll(int64_t now_ns) {
  Accept(now_ns);
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    bool stays = Serve(*guest);
    if (stays && now_ns >= guest->deadline_ns) {
      End(*guest, Refusal::kTimeout);
      stays = false;
    }
    guest = stays ? std::next(guest) : guests_.erase(guest);
  }
}

void ServerSocket::Accept(int64_t now_ns) {
  for (int i = 0; i < kAcceptsPerPoll; ++i) {
    int client = -1;
    bool turned_away = false;
    if (listener_ != nullptr) {
      client = listener_->Accept(&turned_away);
    } else {
      const CallLimit limit;
      client = accept4(abstract_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (client < 0) return;
    // A stranger that sends nothing loses its place first.
    if (guests_.size() >= kMaxGuests) {
      const auto stranger = std::find_if(guests_.begin(), guests_.end(),
                                         [](const Guest& g) { return g.device == nullptr; });
      const auto loser = stranger != guests_.end() ? stranger : guests_.begin();
      End(*loser, Refusal::kTimeout);
      guests_.erase(loser);
    }
    guests_.push_back({.socket = Fd(client), .deadline_ns = now_ns + kHandshakeNs});
    SendWithFd(client, BytesOf(ServerChannel::Greeting()), -1);
  }
}

void ServerSocket::End(Guest& guest, Refusal reason) {
  if (reason != Refusal::kNone) {
    SendWithFd(guest.socket.get(), BytesOf(MakeDisconnect(reason)), -1);
  }
  if (guest.device != nullptr) {
    guest.device->claimed_ = false;
    guest.device->Count(reason);
    return;
  }
  // The first interface counts strangers.
  if (!devices_.empty()) devices_.front()->Count(reason);
}

bool ServerSocket::Serve(Guest& guest) {
  for (int i = 0; i < kMessagesPerPoll; ++i) {
    uint8_t bytes[kMessageBytes];
    ReceivedPacket packet = ReceivePacketWithFd(guest.socket.get(), bytes, sizeof bytes);
    if (packet.bytes < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (packet.bytes <= 0) {
      End(guest, Refusal::kNone);
      return false;
    }
    std::vector<InterfaceRules> rules;
    if (!guest.channel.claimed()) {
      for (const Device* device : devices_) rules.push_back(device->rules());
    }
    const size_t size = static_cast<size_t>(packet.bytes) == kMessageBytes ? kMessageBytes : 0;
    const Step step = guest.channel.OnMessage({bytes, size}, packet.fd.ok(), rules);
    switch (step.action) {
      case Action::kClaim:
        guest.device = devices_[step.interface];
        guest.device->claimed_ = true;
        break;
      case Action::kAddRegion:
        guest.regions.push_back(std::move(packet.fd));
        break;
      case Action::kAddEvent:
        guest.events.push_back(std::move(packet.fd));
        break;
      case Action::kConnect:
        return Finish(guest);
      case Action::kClose:
        End(guest, step.refusal);
        return false;
      default:
        break;
    }
    // A peer that does not read its socket is disconnected.
    if (step.reply && SendWithFd(guest.socket.get(), BytesOf(*step.reply), -1) < 0) {
      End(guest, Refusal::kNone);
      return false;
    }
  }
  return true;
}

// Returns false: the guest is no longer one.
bool ServerSocket::Finish(Guest& guest) {
  Connection connection{.events = std::move(guest.events), .plan = guest.channel.plan()};
  for (size_t i = 0; i < guest.regions.size(); ++i) {
    std::optional<Region> region =
        Region::Map(std::move(guest.regions[i]), connection.plan.regions[i]);
    if (!region) {
      End(guest, Refusal::kRegionMemory);
      return false;
    }
    connection.regions.push_back(*std::move(region));
  }
  Device* const device = guest.device;
  const Message answer = guest.channel.Accept(device->options_.name);
  const int socket = guest.socket.get();
  connection.socket = std::move(guest.socket);
  device->peer_ = guest.channel.peer();
  device->claimed_ = false;
  const Refusal refusal = device->Connect(std::move(connection), 0);
  if (refusal != Refusal::kNone) {
    device->Disconnect(refusal);
  } else if (SendWithFd(socket, BytesOf(answer), -1) < 0) {
    device->Disconnect(Refusal::kNone);
  }
  return false;
}

}  // namespace suede::memif
