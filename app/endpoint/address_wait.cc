// SPDX-License-Identifier: Apache-2.0
#include "endpoint/address_wait.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "endpoint/lldp_facts.h"

namespace suede {
namespace {

constexpr uint32_t kReceived = 32;

}  // namespace

std::vector<uint32_t> AddressWait::PortsOf(const Config& config) {
  std::vector<uint32_t> ports;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    if (AssignedPlane(config, p) != nullptr) ports.push_back(p);
  }
  return ports;
}

uint32_t AddressWait::MaxSeconds(const Config& config) {
  uint32_t seconds = 0;
  for (const uint32_t p : PortsOf(config)) seconds = std::max(seconds, config.ports[p].lldp_wait_s);
  return seconds;
}

AddressWait::AddressWait(Config* config, Log log, std::vector<PortFacts> ports, Time now)
    : config_(config), log_(std::move(log)), start_(now) {
  for (PortFacts& facts : ports) {
    Waiting& port = *ports_.emplace_back(std::make_unique<Waiting>());
    port.facts = std::move(facts);
    port.agent = std::make_unique<lldp::Agent>(port.facts.own, port.facts.source,
                                               lldp::AgentParams{}, &port.counters);
    log_(EalLogLevel::kInfo, "lldp",
         StrCat("waiting for an address port=", ConfigOf(port).name,
                " seconds=", ConfigOf(port).lldp_wait_s));
  }
}

bool AddressWait::Poll(Time now) {
  bool done = true;
  for (const std::unique_ptr<Waiting>& port : ports_) {
    if (port->done) continue;
    Port& first = *port->facts.pairs.front();
    port->agent->OnLink(first.link().up, now);
    port->agent->Poll(now);
    if (const auto frame = port->agent->TakeFrame(now); !frame.empty()) Send(first, frame);
    Receive(*port, now);
    done &= port->done;
  }
  return done;
}

// Sends a frame, unless the pool or the queue has no room: the agent repeats it.
void AddressWait::Send(Port& pair, std::span<const uint8_t> bytes) {
  Frame* frame = nullptr;
  if (pair.Allocate(&frame, 1) == 0) return;
  if (Frame::kCommandOffset + bytes.size() + Frame::kSlackBytes > frame->capacity ||
      bytes.size() > pair.max_frame_bytes()) {
    return pair.Release(&frame, 1);
  }
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = static_cast<uint32_t>(bytes.size());
  frame->tx_offload = TxOffload::kNone;
  std::memcpy(frame->data, bytes.data(), bytes.size());
  if (pair.Give(&frame, 1) == 0) pair.Release(&frame, 1);
}

void AddressWait::Receive(Waiting& port, Time now) {
  for (Port* const pair : port.facts.pairs) {
    Frame* frames[kReceived];
    const uint32_t count = pair->Receive(frames, kReceived);
    for (uint32_t i = 0; i < count; ++i) {
      OnFrame(port, {frames[i]->data, frames[i]->length}, now);
    }
    pair->Release(frames, count);
  }
}

void AddressWait::OnFrame(Waiting& port, std::span<const uint8_t> frame, Time now) {
  if (!lldp::IsLldp(frame)) return;
  port.agent->OnFrame(frame, now);
  while (const std::optional<lldp::Report> report = port.agent->TakeReport()) {
    if (report->assigns && !port.done) Consider(port, report->neighbour.pdu, frame);
  }
}

void AddressWait::Consider(Waiting& port, const lldp::Lldpdu& pdu, std::span<const uint8_t> frame) {
  const uint32_t number = port.facts.number;
  const lldp::Assignment& assignment = *pdu.assignment;
  const std::string text = lldp::AssignmentText(assignment);
  const std::string of =
      StrCat(" port=", ConfigOf(port).name, " address=", text,
             " chassis=", lldp::ChassisText(pdu.chassis), " port_id=", lldp::PortText(pdu.port));
  const lldp::AddressVerdict verdict =
      lldp::Classify(AddressPolicyOf(*config_, number, std::nullopt), assignment);
  if (verdict != lldp::AddressVerdict::kUsable) {
    port.refused = StrCat("refused ", text, ": ", lldp::NameOf(verdict));
    return log_(EalLogLevel::kWarning, "lldp",
                StrCat("refused an address", of, " reason=", lldp::NameOf(verdict)));
  }
  AssignedPlane(*config_, number)->address = {.high = assignment.address.high,
                                              .low = assignment.address.low};
  assigned_.push_back(
      {.port = number, .assignment = assignment, .frame = {frame.begin(), frame.end()}});
  port.done = true;
  log_(EalLogLevel::kInfo, "lldp", StrCat("took an address", of));
}

absl::Status AddressWait::Check(Time now) const {
  for (const std::unique_ptr<Waiting>& port : ports_) {
    const uint32_t seconds = ConfigOf(*port).lldp_wait_s;
    if (port->done || now - start_ < std::chrono::seconds(seconds)) continue;
    std::string why = port->refused;
    if (!port->agent->link_up()) {
      why = "the link is down";
    } else if (why.empty()) {
      why = port->agent->neighbours().empty() ? "no LLDP frame came" : "its frames have none";
    }
    return absl::FailedPreconditionError(StrCat(
        "port ", ConfigOf(*port).name, ": the neighbour assigned no address within ", seconds,
        " s (", why, "); set ports[].lldp_assign at the switch, or ip of the instance here"));
  }
  return absl::OkStatus();
}

}  // namespace suede
