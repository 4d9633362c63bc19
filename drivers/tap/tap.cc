// SPDX-License-Identifier: Apache-2.0
#include "tap/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr char kDevice[] = "/dev/net/tun";

// Returns the error of an operation on a device, with its mend.
absl::Status Failure(const std::string& name, const std::string& what, int error) {
  std::string text = absl::StrCat("tap ", name, ": ", what, ": ", std::strerror(error), "; ");
  switch (error) {
    case EPERM:
    case EACCES:
      return absl::PermissionDeniedError(absl::StrCat(
          text, "TAP devices take CAP_NET_ADMIN: run as root or give it to the daemon, or leave "
          "ports[].tap out"));
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return absl::FailedPreconditionError(
          absl::StrCat(text, "load the driver with 'modprobe tun', or leave ports[].tap out"));
    case EBUSY:
    case EINVAL:
      return absl::FailedPreconditionError(absl::StrCat(
          text,
          "another program or kind of interface has the name: choose another for ports[].tap"));
    default:
      return absl::FailedPreconditionError(
          absl::StrCat(text, "see 'ip -details link show ", name, "'"));
  }
}

ifreq RequestFor(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return request;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tap>> Tap::Open(const TapOptions& options) {
  if (options.name.empty() || options.name.size() >= IFNAMSIZ) {
    return absl::InvalidArgumentError(
        absl::StrCat("tap ", options.name, ": the name of an interface has 1 to 15 characters"));
  }
  const int fd = open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Failure(options.name, kDevice, errno);
  std::unique_ptr<Tap> tap(new Tap(fd, options.name));
  ifreq request = RequestFor(options.name);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(fd, TUNSETIFF, &request) != 0) return Failure(options.name, "making it", errno);
  const int carrier = 0;
  ioctl(fd, TUNSETCARRIER, &carrier);
  if (absl::Status status = tap->Configure(options); !status.ok()) return status;
  return tap;
}

absl::Status Tap::Configure(const TapOptions& options) {
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) return Failure(name_, "socket", errno);
  const auto set = [&](unsigned long what, ifreq request, const char* text) {
    if (ioctl(control, what, &request) == 0) return absl::OkStatus();
    return Failure(name_, text, errno);
  };
  absl::Status status;
  ifreq request = RequestFor(name_);
  if (ioctl(control, SIOCGIFINDEX, &request) != 0) status = Failure(name_, "its index", errno);
  interface_ = static_cast<uint32_t>(request.ifr_ifindex);
  if (status.ok()) {
    request = RequestFor(name_);
    request.ifr_mtu = static_cast<int>(options.mtu_bytes);
    status = set(SIOCSIFMTU, request, "its MTU");
  }
  if (status.ok()) {
    request = RequestFor(name_);
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::copy(options.mac.begin(), options.mac.end(), request.ifr_hwaddr.sa_data);
    status = set(SIOCSIFHWADDR, request, "its MAC address");
  }
  if (status.ok()) {
    request = RequestFor(name_);
    ioctl(control, SIOCGIFFLAGS, &request);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    status = set(SIOCSIFFLAGS, request, "bringing it up");
  }
  close(control);
  return status;
}

Tap::~Tap() { close(fd_); }

void Tap::SetCarrier(bool up) {
  if (up == carrier_) return;
  const int carrier = up ? 1 : 0;
  // Fails while the interface is down; the next call retries.
  if (ioctl(fd_, TUNSETCARRIER, &carrier) == 0) carrier_ = up;
}

uint32_t Tap::Read(std::span<uint8_t> room) {
  const ssize_t n = read(fd_, room.data(), room.size());
  return n > 0 ? static_cast<uint32_t>(n) : 0;
}

bool Tap::Write(std::span<const uint8_t> frame) {
  return write(fd_, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

}  // namespace suede
