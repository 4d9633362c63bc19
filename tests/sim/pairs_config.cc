// SPDX-License-Identifier: Apache-2.0
#include "pairs_config.h"

#include "absl/strings/str_cat.h"
#include "config/config_values.h"

namespace suede {
namespace {

using absl::StrAppend;
using absl::StrCat;

// The address of an XPU on a plane, as its key and value.
std::string AddressOf(const PairsRow& row, uint32_t xpu, uint32_t plane) {
  const uint32_t net = row[Factor::kPlanes] == level::kOneAddressPair ? 0 : plane;
  const std::string encapsulation = row.Text(Factor::kEncapsulation);
  if (encapsulation == "udp4") return StrCat("ip: 198.18.", net, ".", xpu + 1);
  if (encapsulation == "udp6") return StrCat("ip: \"fd53:5545:", net, "::", xpu + 1, "\"");
  return StrCat("forwarding_address: ", (net + 1) << 10 | xpu);
}

bool IsUdp(const PairsRow& row) {
  return std::string(row.Text(Factor::kEncapsulation)).starts_with("udp");
}

std::string EtherTypeOf(const PairsRow& row) {
  if (std::string(row.Text(Factor::kEncapsulation)) != "esun") return "";
  return StrCat(", ether_type: ", kPairsEsunType);
}

std::string PortsOf(const PairsRow& row, uint32_t machine) {
  std::string text = "ports:\n";
  for (uint32_t plane = 0; plane < PlanesOf(row); ++plane) {
    StrAppend(&text, "- {name: p", plane, ", device: \"0000:00:0", plane,
              ".0\", encapsulation: ", row.Text(Factor::kEncapsulation), EtherTypeOf(row),
              ", mac: \"", FormatMac(PairsMac(machine, plane)),
              "\", tx_descriptors: ", kPairsTxDescriptors);
    switch (row[Factor::kLink]) {
      case level::kLlr:
        StrAppend(&text, ", llr: on");
        break;
      case level::kCbfc:
        StrAppend(&text, ", cbfc: on");
        break;
      case level::kPfc:
        StrAppend(&text, ", pfc: software");
        break;
      default:
        break;
    }
    if (row[Factor::kLcores] == level::kQueuePairs) StrAppend(&text, ", queues: instance");
    if (row[Factor::kNetwork] == level::kTrims) {
      StrAppend(&text, ", trimmed_dscp: ", kPairsTrimmedDscp);
    }
    StrAppend(&text, "}\n");
  }
  return text;
}

std::string InstancesOf(const PairsRow& row, uint32_t machine) {
  const bool two_lcores =
      row[Factor::kLcores] == level::kSteered || row[Factor::kLcores] == level::kHandingOver;
  std::string text = two_lcores ? "lcores: [{cpu: 0}, {cpu: 1}]\n" : "lcores: [{cpu: 0}]\n";
  StrAppend(&text, "instances:\n");
  for (uint32_t i = 0; i < kPairsXpusOfMachine; ++i) {
    const uint32_t xpu = machine * kPairsXpusOfMachine + i;
    StrAppend(&text, "- {xpu: ", xpu, ", lcore: ", two_lcores ? i : 0,
              ", congestion: ", row.Text(Factor::kCongestion),
              ", sealing: ", row.Text(Factor::kSealing),
              ", ordering: ", row.Text(Factor::kOrdering), ", ports: [");
    for (uint32_t plane = 0; plane < PlanesOf(row); ++plane) {
      StrAppend(&text, plane == 0 ? "" : ", ", "{port: p", plane, ", ", AddressOf(row, xpu, plane),
                "}");
    }
    StrAppend(&text, "]}\n");
  }
  return text;
}

// The XPUs of the other machines.
std::string PeersOf(const PairsRow& row, uint32_t machine) {
  std::string text = "peers:\n";
  for (uint32_t xpu = 0; xpu < kPairsXpus; ++xpu) {
    if (MachineOf(xpu) == machine) continue;
    StrAppend(&text, "- {xpu: ", xpu, ", ports: [");
    for (uint32_t plane = 0; plane < PlanesOf(row); ++plane) {
      StrAppend(&text, plane == 0 ? "" : ", ", "{port: p", plane, ", ", AddressOf(row, xpu, plane));
      if (IsUdp(row)) {
        StrAppend(&text, ", mac: \"", FormatMac(PairsMac(MachineOf(xpu), plane)), "\"");
      }
      StrAppend(&text, "}");
    }
    StrAppend(&text, "]}\n");
  }
  return text;
}

}  // namespace

uint32_t PlanesOf(const PairsRow& row) {
  constexpr uint32_t kCounts[] = {1, 2, 2, 4};
  return kCounts[row[Factor::kPlanes]];
}

MacAddress PairsMac(uint32_t machine, uint32_t plane) {
  return {0x02, 0, 0, 0, static_cast<uint8_t>(plane), static_cast<uint8_t>(machine + 16)};
}

absl::StatusOr<Config> PairsConfig(const PairsRow& row, uint32_t machine, uint32_t limit_bytes) {
  std::string text = StrCat("version: 1\nname: machine", machine, "\npartition: 7\n");
  StrAppend(&text, PortsOf(row, machine), InstancesOf(row, machine), PeersOf(row, machine));
  StrAppend(&text, "packing: {limit_bytes: ", limit_bytes, "}\n");
  StrAppend(&text,
            "clients: {ring_lines: 1024, receive_lines: 2048, completions: 1024, "
            "credit_lines: 256, aggregate_lines: 1024}\n");
  StrAppend(&text, "transport: {psn_scope: ", row.Text(Factor::kScope), "}\n");
  StrAppend(&text, "sessions: {max: ", row.Text(Factor::kSessions), "}\n");
  if (row[Factor::kSealing] != level::kUnsealed) {
    StrAppend(&text, "sealing: {secrets: /nowhere/secrets, rotate_pdus: 300}\n");
  }
  return ParseConfig(text, StrCat("machine ", machine), {.cpu_count = 2});
}

}  // namespace suede
