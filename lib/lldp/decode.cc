// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/big_endian.h"
#include "lldp/lldpdu.h"
#include "lldp/tlv.h"

namespace suede::lldp {
namespace {

constexpr size_t kHeaderBytes = 14;

using Octets = std::span<const uint8_t>;

enum class TlvVerdict : uint8_t { kTaken, kLength, kValue, kDuplicate, kChecksum, kUnknown };

std::string StringOf(Octets octets) { return {octets.begin(), octets.end()}; }

bool ReadId(Octets value, Id& id) {
  if (value.size() < 2 || value.size() > 1 + kMaxTextOctets) return false;
  id = {.subtype = value[0], .value = StringOf(value.subspan(1))};
  return true;
}

TlvVerdict ReadText(Octets value, std::optional<std::string>& text) {
  if (value.size() > kMaxTextOctets) return TlvVerdict::kLength;
  if (text) return TlvVerdict::kDuplicate;
  text = StringOf(value);
  return TlvVerdict::kTaken;
}

bool IsSelection(uint8_t algorithm) {
  return algorithm <= Ets::kWeighted || algorithm == Ets::kVendor;
}

// Whether the classes exist, and the percentages are a division of the rate.
bool IsPossible(const Ets& ets) {
  const auto is_class = [](uint8_t one) { return one < kPriorities; };
  const uint32_t sum = std::accumulate(ets.percent.begin(), ets.percent.end(), 0u);
  return std::ranges::all_of(ets.class_of_priority, is_class) &&
         std::ranges::all_of(ets.selection, IsSelection) && (sum == 100 || sum == 0);
}

TlvVerdict ReadEts(Octets value, bool recommended, std::optional<Ets>& out) {
  if (value.size() != 21) return TlvVerdict::kLength;
  Ets ets;
  if (!recommended) {
    ets.willing = (value[0] & 0x80) != 0;
    ets.credit_shaper = (value[0] & 0x40) != 0;
    ets.max_classes = value[0] & 7;
  }
  for (uint32_t priority = 0; priority < kPriorities; ++priority) {
    const uint8_t pair = value[1 + priority / 2];
    ets.class_of_priority[priority] =
        static_cast<uint8_t>(priority % 2 == 0 ? pair >> 4 : pair & 0xf);
  }
  std::copy_n(value.begin() + 5, kPriorities, ets.percent.begin());
  std::copy_n(value.begin() + 13, kPriorities, ets.selection.begin());
  if (!IsPossible(ets)) return TlvVerdict::kValue;
  if (out) return TlvVerdict::kDuplicate;
  out = ets;
  return TlvVerdict::kTaken;
}

TlvVerdict ReadPfc(Octets value, std::optional<Pfc>& out) {
  if (value.size() != 2) return TlvVerdict::kLength;
  const Pfc pfc{.willing = (value[0] & 0x80) != 0,
                .bypass = (value[0] & 0x40) != 0,
                .max_classes = static_cast<uint8_t>(value[0] & 0xf),
                .classes = value[1]};
  if (pfc.max_classes > kPriorities) return TlvVerdict::kValue;
  if (out) return TlvVerdict::kDuplicate;
  out = pfc;
  return TlvVerdict::kTaken;
}

TlvVerdict ReadApplications(Octets value, std::optional<std::vector<Application>>& out) {
  if (value.empty() || value.size() % 3 != 1) return TlvVerdict::kLength;
  std::vector<Application> all;
  for (size_t at = 1; at < value.size(); at += 3) {
    const Application one{.selector = static_cast<uint8_t>(value[at] & 7),
                          .protocol = LoadBe16(&value[at + 1]),
                          .priority = static_cast<uint8_t>(value[at] >> 5)};
    if (one.selector == 0 || one.selector > Application::kDscp) return TlvVerdict::kValue;
    all.push_back(one);
  }
  if (out) return TlvVerdict::kDuplicate;
  out = std::move(all);
  return TlvVerdict::kTaken;
}

TlvVerdict ReadMaxFrame(Octets value, std::optional<uint16_t>& out) {
  if (value.size() != 2) return TlvVerdict::kLength;
  if (out) return TlvVerdict::kDuplicate;
  out = LoadBe16(value.data());
  return TlvVerdict::kTaken;
}

// A later version may append octets.
TlvVerdict ReadLink(Octets value, std::optional<LinkOptions>& out) {
  constexpr size_t kVcsAt = 6;
  constexpr size_t kCreditsAt = kVcsAt + kVcs;
  constexpr size_t kBytes = kCreditsAt + 4 * kPriorities;
  if (value.size() < kBytes) return TlvVerdict::kLength;
  if (value[0] < kLinkOptionsVersion) return TlvVerdict::kValue;
  LinkOptions link{.llr = (value[1] & kFlagLlr) != 0,
                   .cbfc_sender = (value[1] & kFlagCbfcSender) != 0,
                   .cbfc_receiver = (value[1] & kFlagCbfcReceiver) != 0,
                   .by_pcp = (value[1] & kFlagByPcp) != 0,
                   .ether_type = LoadBe16(&value[2]),
                   .credit_octets = LoadBe16(&value[4])};
  std::copy_n(value.begin() + kVcsAt, kVcs, link.link_vc_of.begin());
  for (uint32_t vc = 0; vc < kPriorities; ++vc) {
    link.credits[vc] = LoadBe32(&value[kCreditsAt + 4 * vc]);
  }
  if (out) return TlvVerdict::kDuplicate;
  out = link;
  return TlvVerdict::kTaken;
}

IpAddress ReadIp(Octets octets) {
  if (octets.size() == 4) return {.low = LoadBe32(octets.data())};
  return {.is_v6 = true, .high = LoadBe64(octets.data()), .low = LoadBe64(octets.data() + 8)};
}

// `whole`: with OUI and subtype, which the checksum covers. A later version may append octets.
TlvVerdict ReadAssignment(Octets whole, std::optional<Assignment>& out) {
  constexpr size_t kAddressAt = kOrganizationOctets + 4;
  if (whole.size() < kAddressAt) return TlvVerdict::kLength;
  const Octets value = whole.subspan(kOrganizationOctets);
  const bool is_v6 = value[1] == 6;
  if (value[0] < kAssignedAddressVersion || (value[1] != 4 && !is_v6)) return TlvVerdict::kValue;
  const size_t address_octets = is_v6 ? 16 : 4;
  const size_t checksum_at = kAddressAt + 2 * address_octets;
  if (whole.size() < checksum_at + 2) return TlvVerdict::kLength;
  if (InternetChecksum(whole.first(checksum_at)) != LoadBe16(&whole[checksum_at])) {
    return TlvVerdict::kChecksum;
  }
  Assignment assignment{.address = ReadIp(whole.subspan(kAddressAt, address_octets)),
                        .prefix = value[2]};
  if (assignment.prefix == 0 || assignment.prefix > 8 * address_octets) return TlvVerdict::kValue;
  const IpAddress gateway = ReadIp(whole.subspan(kAddressAt + address_octets, address_octets));
  if (gateway.high != 0 || gateway.low != 0) assignment.gateway = gateway;
  if (out) return TlvVerdict::kDuplicate;
  out = assignment;
  return TlvVerdict::kTaken;
}

TlvVerdict ReadOrganization(Octets value, Lldpdu& pdu) {
  if (value.size() < kOrganizationOctets) return TlvVerdict::kLength;
  const uint32_t oui = LoadBe32(value.data()) >> 8;
  const uint8_t subtype = value[3];
  if (oui == kOuiSuede && subtype == kAssignedAddress) {
    return ReadAssignment(value, pdu.assignment);
  }
  value = value.subspan(kOrganizationOctets);
  if (oui == kOui8023 && subtype == kMaxFrameSize) return ReadMaxFrame(value, pdu.max_frame_bytes);
  if (oui == kOuiSuede && subtype == kLinkOptions) return ReadLink(value, pdu.link);
  if (oui != kOui8021) return TlvVerdict::kUnknown;
  switch (subtype) {
    case kEtsConfiguration:
      return ReadEts(value, false, pdu.ets);
    case kEtsRecommendation:
      return ReadEts(value, true, pdu.recommended_ets);
    case kPfcConfiguration:
      return ReadPfc(value, pdu.pfc);
    case kApplicationPriority:
      return ReadApplications(value, pdu.applications);
    default:
      return TlvVerdict::kUnknown;
  }
}

TlvVerdict ReadOptional(TlvType type, Octets value, Lldpdu& pdu) {
  switch (type) {
    case TlvType::kPortDescription:
      return ReadText(value, pdu.port_description);
    case TlvType::kSystemName:
      return ReadText(value, pdu.system_name);
    case TlvType::kSystemDescription:
      return ReadText(value, pdu.system_description);
    case TlvType::kOrganization:
      return ReadOrganization(value, pdu);
    default:
      return TlvVerdict::kUnknown;
  }
}

void Count(TlvVerdict verdict, TlvFaults& faults) {
  switch (verdict) {
    case TlvVerdict::kTaken:
      break;
    case TlvVerdict::kLength:
      ++faults.length;
      break;
    case TlvVerdict::kValue:
      ++faults.value;
      break;
    case TlvVerdict::kDuplicate:
      ++faults.duplicate;
      break;
    case TlvVerdict::kChecksum:
      ++faults.checksum;
      break;
    case TlvVerdict::kUnknown:
      ++faults.unknown;
      break;
  }
}

// Reads the first three TLVs, which have a fixed order. `place`: 0 to 2.
FrameFault ReadMandatory(uint32_t place, TlvType type, Octets value, Lldpdu& pdu) {
  if (static_cast<uint32_t>(type) != place + 1) return FrameFault::kOrder;
  bool is_valid = false;
  if (type == TlvType::kTtl) {
    is_valid = value.size() >= 2;
    if (is_valid) pdu.ttl_s = LoadBe16(value.data());
  } else {
    is_valid = ReadId(value, type == TlvType::kChassisId ? pdu.chassis : pdu.port);
  }
  return is_valid ? FrameFault::kNone : FrameFault::kMandatory;
}

}  // namespace

bool IsLldp(std::span<const uint8_t> frame) {
  return frame.size() >= kHeaderBytes && std::equal(kGroup.begin(), kGroup.end(), frame.begin()) &&
         LoadBe16(&frame[12]) == kEtherType;
}

Decoded Decode(std::span<const uint8_t> frame) {
  Decoded out;
  Octets rest = frame.subspan(kHeaderBytes);
  for (uint32_t place = 0;; ++place) {
    if (rest.empty()) {
      out.fault = place < 3 ? FrameFault::kOrder : FrameFault::kNoEnd;
      return out;
    }
    const uint16_t head = rest.size() < 2 ? uint16_t{0} : LoadBe16(rest.data());
    const size_t bytes = 2 + size_t{head & 0x1ffu};
    if (rest.size() < bytes) {
      out.fault = FrameFault::kTruncated;
      return out;
    }
    const auto type = static_cast<TlvType>(head >> 9);
    const Octets value = rest.first(bytes).subspan(2);
    rest = rest.subspan(bytes);
    if (place < 3) {
      out.fault = ReadMandatory(place, type, value, out.pdu);
    } else if (type == TlvType::kEnd) {
      if (!value.empty()) out.fault = FrameFault::kMandatory;
      return out;
    } else if (type <= TlvType::kTtl) {
      out.fault = FrameFault::kDuplicate;
    } else {
      Count(ReadOptional(type, value, out.pdu), out.tlvs);
    }
    if (out.fault != FrameFault::kNone) return out;
  }
}

}  // namespace suede::lldp
