// SPDX-License-Identifier: Apache-2.0
#include "endpoint/packet_service.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "config/config_encapsulation.h"
#include "endpoint/lldp_facts.h"

namespace suede {
namespace {

constexpr int kFramesPerPoll = 64;  // from a TAP device
constexpr auto kTick = std::chrono::milliseconds(10);

}  // namespace

absl::StatusOr<std::unique_ptr<PacketService>> PacketService::Create(Endpoint* endpoint,
                                                                     ShmServer* clients,
                                                                     Endpoint::Log log) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("management packets: ", std::strerror(errno), "; raise the open file limit"));
  }
  std::unique_ptr<PacketService> service(
      new PacketService(endpoint, clients, std::move(log), epoll));
  const auto& ports = endpoint->config().ports;
  service->ports_.resize(ports.size());
  for (uint32_t p = 0; p < ports.size(); ++p) {
    service->ports_[p].lane = endpoint->lane(p);
    if (ports[p].lldp == OnOff::kOn) service->AddLldp(p);
    if (!ports[p].tap) continue;
    if (absl::Status status = service->OpenTap(p); !status.ok()) return status;
  }
  clients->SetPacketHandler(service.get());
  return service;
}

PacketService::~PacketService() {
  clients_->SetPacketHandler(nullptr);
  close(epoll_);
}

bool PacketService::Watch(int fd) {
  epoll_event what{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &what) == 0;
}

void PacketService::AddLldp(uint32_t number) {
  const DpdkPort& port = *endpoint_->ports()[number];
  const Config& config = endpoint_->config();
  const AddressWait::Assigned* const assigned = endpoint_->assigned(number);
  std::optional<lldp::Assignment> used;
  if (assigned != nullptr) used = assigned->assignment;
  lldp_.AddPort(number, {.name = port.name(),
                         .source = endpoint_->MacOf(number),
                         .own = LldpFactsOf(config, number, endpoint_->MacOf(0), port.driver()),
                         .addresses = AddressPolicyOf(config, number, used),
                         .link_up = [&port] { return port.link().up; },
                         .send =
                             [this, lane = ports_[number].lane](std::span<const uint8_t> frame) {
                               return lane->Send(frame, endpoint_->clock().Now());
                             }});
  // The neighbour repeats its frame only later.
  if (assigned != nullptr) lldp_.OnFrame(number, assigned->frame, endpoint_->clock().Now());
  ports_[number].lldp = true;
  SetReceiving(number);
}

absl::Status PacketService::OpenTap(uint32_t number) {
  const PortConfig& config = endpoint_->config().ports[number];
  Port& port = ports_[number];
  absl::StatusOr<std::unique_ptr<Tap>> tap = Tap::Open(
      {.name = *config.tap, .mac = endpoint_->MacOf(number), .mtu_bytes = config.mtu_bytes});
  if (!tap.ok()) return tap.status();
  port.tap = *std::move(tap);
  if (absl::Status status = GiveAddresses(number); !status.ok()) return status;
  if (LearnsNeighbours(config)) {
    absl::StatusOr<std::unique_ptr<PeerResolver>> resolver =
        PeerResolver::Create(endpoint_, number, port.tap->interface(), log_);
    if (!resolver.ok()) return resolver.status();
    port.resolver = *std::move(resolver);
  }
  if (!Watch(port.tap->fd()) || (port.resolver != nullptr && !Watch(port.resolver->fd()))) {
    return absl::InternalError(absl::StrCat("tap ", *config.tap, ": ", std::strerror(errno)));
  }
  SetReceiving(number);
  log_(EalLogLevel::kInfo, "tap", absl::StrCat("made tap=", *config.tap, " port=", config.name));
  return absl::OkStatus();
}

// Returns the prefix length of an own address on the TAP device; nullopt: it has no such address.
std::optional<uint32_t> PacketService::PrefixOf(const InstancePort& at) const {
  const PortConfig& port = endpoint_->config().ports[at.port];
  if (!at.assigned || port.vid.value_or(0) != 0) return port.tap_prefix;
  return endpoint_->assigned(at.port)->assignment.prefix;
}

absl::Status PacketService::GiveAddresses(uint32_t number) {
  const Config& config = endpoint_->config();
  const PortConfig& port = config.ports[number];
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      if (at.port != number) continue;
      const std::optional<uint32_t> prefix = PrefixOf(at);
      if (!prefix) continue;
      const LinkAddress address{
          .is_v6 = IsIpv6(port.encapsulation), .high = at.address.high, .low = at.address.low};
      absl::Status status = AddAddress(ports_[number].tap->interface(), address, *prefix);
      if (status.ok()) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "tap ", *port.tap, ": ", FormatAddress(port.encapsulation, at.address), ": ",
          std::string(status.message()), "; see 'ip address', or leave ports[].tap_prefix out"));
    }
  }
  return absl::OkStatus();
}

void PacketService::SetReceiving(uint32_t number) {
  Port& port = ports_[number];
  const bool receiving = port.IsReceiving();
  if (receiving && !port.lane->receiving()) {
    // Drops packets queued for former receivers.
    while (!port.lane->Received().empty()) port.lane->PopReceived();
  }
  // The group of LLDP is one of those with which the port was opened.
  if (port.TakesAll()) endpoint_->ports()[number]->ReceiveGroups();
  port.lane->SetReceiving(receiving);
}

bool PacketService::busy() const {
  return std::any_of(ports_.begin(), ports_.end(),
                     [](const Port& port) { return port.TakesAll(); });
}

void PacketService::Poll() {
  const auto now = std::chrono::steady_clock::now();
  const bool tick = now >= next_tick_;
  if (tick) next_tick_ = now + kTick;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    if (!port.IsReceiving()) continue;
    if (port.tap != nullptr) {
      const bool link_up = endpoint_->ports()[p]->link().up;
      if (tick) port.tap->SetCarrier(link_up);
      TakeFromTap(port);
      if (port.resolver != nullptr) port.resolver->Poll(link_up, now);
    }
    HandUp(p);
  }
  lldp_.Poll(endpoint_->clock().Now());
}

void PacketService::TakeFromTap(Port& port) {
  for (int i = 0; i < kFramesPerPoll; ++i) {
    const uint32_t bytes = port.tap->Read(room_);
    if (bytes == 0) return;
    port.lane->Send({room_.data(), bytes}, endpoint_->clock().Now());
  }
}

// Delivers received packets to all clients that receive on the port, to its TAP device and to its
// LLDP agent.
void PacketService::HandUp(uint32_t number) {
  Port& port = ports_[number];
  CounterBlock& counters = port.lane->control_counters();
  for (uint32_t i = 0; i < kLanePackets; ++i) {
    const std::span<const uint8_t> frame = port.lane->Received();
    if (frame.empty()) return;
    PacketCopies copies;
    if (port.receivers != 0) copies = clients_->DeliverPacket(number, frame);
    if (port.tap != nullptr) ++(port.tap->Write(frame) ? copies.taken : copies.lost);
    if (lldp_.OnFrame(number, frame, endpoint_->clock().Now())) ++copies.taken;
    port.lane->PopReceived();
    counters.Add(Counter::kMgmtRxCopies, copies.taken);
    counters.Add(Counter::kMgmtRxCopiesLost, copies.lost);
  }
}

MacAddress PacketService::LearntMac(uint32_t port, const NetAddress& address) const {
  const auto& resolver = ports_[port].resolver;
  return resolver != nullptr ? resolver->MacOf(address) : MacAddress{};
}

absl::StatusOr<PacketPort> PacketService::FindPacketPort(std::string_view name, uint32_t index) {
  const auto& ports = endpoint_->config().ports;
  if (!name.empty()) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [name](const PortConfig& port) { return port.name == name; });
    index = static_cast<uint32_t>(found - ports.begin());
  }
  if (index >= ports.size()) {
    return absl::NotFoundError("no such port here; 'suedectl ports list' names them");
  }
  if (ports_[index].lane == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no lcore serves port ", ports[index].name, ", because no instance is on it"));
  }
  return PacketPort{.index = index,
                    .name = ports[index].name,
                    .max_bytes = ports_[index].lane->frame_bytes(),
                    .mtu_bytes = ports[index].mtu_bytes,
                    .mac = endpoint_->MacOf(index)};
}

void PacketService::OnPacketReceivers(uint32_t port, uint32_t count) {
  ports_[port].receivers = count;
  SetReceiving(port);
}

void PacketService::OnPacket(uint32_t port, std::span<const uint8_t> frame) {
  ports_[port].lane->Send(frame, endpoint_->clock().Now());
}

}  // namespace suede
