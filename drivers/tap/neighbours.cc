// SPDX-License-Identifier: Apache-2.0
#include "tap/neighbours.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/big_endian.h"

namespace suede {
namespace {

constexpr size_t kMessageBytes = 256;     // of sent messages
constexpr size_t kReceiveBytes = 32'768;  // of a part of a dump
constexpr int kMessagesPerPoll = 16;
// States in which the MAC address of an entry is usable.
constexpr uint16_t kUsable = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT;

uint8_t FamilyOf(const LinkAddress& address) { return address.is_v6 ? AF_INET6 : AF_INET; }

// Adds the address as an attribute.
void PutAddress(nlmsghdr* message, uint16_t type, const LinkAddress& address) {
  uint8_t bytes[16];
  StoreBe64(bytes, address.high);
  StoreBe64(bytes + 8, address.low);
  if (address.is_v6) {
    mnl_attr_put(message, type, sizeof bytes, bytes);
  } else {
    mnl_attr_put(message, type, 4, bytes + 12);
  }
}

// Returns false if the attribute does not hold an address.
bool GetAddress(const nlattr* attribute, uint8_t family, LinkAddress& address) {
  const auto* bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(attribute));
  const uint16_t length = mnl_attr_get_payload_len(attribute);
  address = {.is_v6 = family == AF_INET6};
  if (address.is_v6 && length == 16) {
    address.high = LoadBe64(bytes);
    address.low = LoadBe64(bytes + 8);
    return true;
  }
  if (family != AF_INET || length != 4) return false;
  address.low = LoadBe32(bytes);
  return true;
}

absl::Status NetlinkError(const char* what) {
  return absl::UnavailableError(absl::StrCat("netlink: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status AddAddress(uint32_t interface, const LinkAddress& address, uint32_t prefix_bits) {
  mnl_socket* socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == nullptr) return NetlinkError("socket");
  alignas(nlmsghdr) char buffer[kMessageBytes * 4] = {};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = RTM_NEWADDR;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK;
  auto* head = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifaddrmsg)));
  head->ifa_family = FamilyOf(address);
  head->ifa_prefixlen = static_cast<uint8_t>(prefix_bits);
  // Skips duplicate address detection: the address is configured, like SUE's.
  head->ifa_flags = address.is_v6 ? IFA_F_NODAD : 0;
  head->ifa_index = interface;
  PutAddress(message, IFA_LOCAL, address);
  PutAddress(message, IFA_ADDRESS, address);
  absl::Status status;
  if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
      mnl_socket_sendto(socket, message, message->nlmsg_len) < 0) {
    status = NetlinkError("an address");
  } else {
    const ssize_t n = mnl_socket_recvfrom(socket, buffer, sizeof buffer);
    if (n < 0 || mnl_cb_run(buffer, static_cast<size_t>(n), 0, mnl_socket_get_portid(socket),
                            nullptr, nullptr) < 0) {
      status = NetlinkError("the kernel refuses an address");
    }
  }
  mnl_socket_close(socket);
  return status;
}

absl::StatusOr<std::unique_ptr<Neighbours>> Neighbours::Open(uint32_t interface) {
  mnl_socket* socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket == nullptr) return NetlinkError("socket");
  std::unique_ptr<Neighbours> neighbours(new Neighbours(socket, interface));
  if (mnl_socket_bind(socket, RTMGRP_NEIGH, MNL_SOCKET_AUTOPID) < 0) {
    return NetlinkError("the neighbours' notifications");
  }
  neighbours->RequestDump();
  return neighbours;
}

Neighbours::~Neighbours() { mnl_socket_close(socket_); }

int Neighbours::fd() const { return mnl_socket_get_fd(socket_); }

void Neighbours::RequestDump() {
  alignas(nlmsghdr) char buffer[kMessageBytes] = {};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = RTM_GETNEIGH;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message->nlmsg_seq = ++sequence_;
  auto* head = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
  head->ndm_family = AF_UNSPEC;
  mnl_socket_sendto(socket_, message, message->nlmsg_len);
}

void Neighbours::Poll(const Found& found) {
  alignas(nlmsghdr) static thread_local char buffer[kReceiveBytes];
  for (int i = 0; i < kMessagesPerPoll; ++i) {
    const ssize_t n = mnl_socket_recvfrom(socket_, buffer, sizeof buffer);
    if (n < 0 && errno == ENOBUFS) {
      RequestDump();  // notifications were lost
      continue;
    }
    if (n <= 0) return;
    int left = static_cast<int>(n);
    for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer);
         mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
      OnMessage(message, found);
    }
  }
}

void Neighbours::OnMessage(const nlmsghdr* message, const Found& found) const {
  if (message->nlmsg_type != RTM_NEWNEIGH ||
      message->nlmsg_len < mnl_nlmsg_size(sizeof(ndmsg))) {
    return;
  }
  const auto* head = static_cast<const ndmsg*>(mnl_nlmsg_get_payload(message));
  if (head->ndm_ifindex != static_cast<int>(interface_) || (head->ndm_state & kUsable) == 0) return;
  LinkAddress address;
  Mac mac{};
  bool has_address = false;
  bool has_mac = false;
  const auto* end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(message));
  for (const auto* attribute =
           static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(message, sizeof(ndmsg)));
       mnl_attr_ok(attribute,
                   static_cast<int>(end - reinterpret_cast<const char*>(attribute)));
       attribute = mnl_attr_next(attribute)) {
    if (mnl_attr_get_type(attribute) == NDA_DST) {
      has_address = GetAddress(attribute, head->ndm_family, address);
    } else if (mnl_attr_get_type(attribute) == NDA_LLADDR &&
               mnl_attr_get_payload_len(attribute) == mac.size()) {
      const auto* bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(attribute));
      std::copy_n(bytes, mac.size(), mac.begin());
      has_mac = true;
    }
  }
  if (has_address && has_mac) found(address, mac);
}

// Creates the entry if there is none (NTF_USE), as if the kernel had a packet to send there.
void Neighbours::Resolve(const LinkAddress& address) {
  alignas(nlmsghdr) char buffer[kMessageBytes] = {};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = RTM_NEWNEIGH;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE;
  message->nlmsg_seq = ++sequence_;
  auto* head = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
  head->ndm_family = FamilyOf(address);
  head->ndm_ifindex = static_cast<int>(interface_);
  head->ndm_state = NUD_NONE;
  head->ndm_flags = NTF_USE;
  PutAddress(message, NDA_DST, address);
  mnl_socket_sendto(socket_, message, message->nlmsg_len);
}

}  // namespace suede
