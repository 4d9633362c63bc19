// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/big_endian.h"
#include "lldp/lldpdu.h"
#include "lldp/tlv.h"

namespace suede::lldp {
namespace {

// The value of a TLV that is being written.
class Value {
 public:
  Value& Byte(uint8_t byte) {
    bytes_.push_back(byte);
    return *this;
  }
  Value& Be16(uint16_t value) {
    return Byte(static_cast<uint8_t>(value >> 8)).Byte(static_cast<uint8_t>(value));
  }
  Value& Be32(uint32_t value) {
    return Be16(static_cast<uint16_t>(value >> 16)).Be16(static_cast<uint16_t>(value));
  }
  template <class Octets>
  Value& All(const Octets& octets) {
    bytes_.insert(bytes_.end(), octets.begin(), octets.end());
    return *this;
  }
  Value& Organization(uint32_t oui, uint8_t subtype) {
    return Byte(static_cast<uint8_t>(oui >> 16)).Be16(static_cast<uint16_t>(oui)).Byte(subtype);
  }
  Value& Ip(const IpAddress& address) {
    if (address.is_v6) {
      Be32(static_cast<uint32_t>(address.high >> 32)).Be32(static_cast<uint32_t>(address.high));
      Be32(static_cast<uint32_t>(address.low >> 32));
    }
    return Be32(static_cast<uint32_t>(address.low));
  }
  // Appends the checksum of the octets before it.
  Value& Checksum() { return Be16(InternetChecksum(bytes_)); }
  void AppendTo(std::vector<uint8_t>& frame, TlvType type) const {
    const auto head = static_cast<uint16_t>(static_cast<uint32_t>(type) << 9 | bytes_.size());
    frame.push_back(static_cast<uint8_t>(head >> 8));
    frame.push_back(static_cast<uint8_t>(head));
    frame.insert(frame.end(), bytes_.begin(), bytes_.end());
  }

 private:
  std::vector<uint8_t> bytes_;
};

std::string_view Cut(const std::string& text) {
  return std::string_view(text).substr(0, kMaxTextOctets);
}

void AppendId(std::vector<uint8_t>& frame, TlvType type, const Id& id) {
  Value().Byte(id.subtype).All(Cut(id.value)).AppendTo(frame, type);
}

void AppendText(std::vector<uint8_t>& frame, TlvType type, const std::optional<std::string>& text) {
  if (text) Value().All(Cut(*text)).AppendTo(frame, type);
}

void AppendEts(std::vector<uint8_t>& frame, uint8_t subtype, const Ets& ets) {
  Value value;
  value.Organization(kOui8021, subtype);
  value.Byte(subtype == kEtsRecommendation
                 ? uint8_t{0}
                 : static_cast<uint8_t>((ets.willing ? 0x80 : 0) | (ets.credit_shaper ? 0x40 : 0) |
                                        (ets.max_classes & 7)));
  for (uint32_t priority = 0; priority < kPriorities; priority += 2) {
    value.Byte(static_cast<uint8_t>(ets.class_of_priority[priority] << 4 |
                                    (ets.class_of_priority[priority + 1] & 0xf)));
  }
  value.All(ets.percent).All(ets.selection).AppendTo(frame, TlvType::kOrganization);
}

void AppendPfc(std::vector<uint8_t>& frame, const Pfc& pfc) {
  Value()
      .Organization(kOui8021, kPfcConfiguration)
      .Byte(static_cast<uint8_t>((pfc.willing ? 0x80 : 0) | (pfc.bypass ? 0x40 : 0) |
                                 (pfc.max_classes & 0xf)))
      .Byte(pfc.classes)
      .AppendTo(frame, TlvType::kOrganization);
}

void AppendApplications(std::vector<uint8_t>& frame, const std::vector<Application>& all) {
  Value value;
  value.Organization(kOui8021, kApplicationPriority).Byte(0);
  const size_t count = std::min<size_t>(all.size(), Lldpdu::kMaxApplications);
  for (size_t i = 0; i < count; ++i) {
    value.Byte(static_cast<uint8_t>(all[i].priority << 5 | (all[i].selector & 7)))
        .Be16(all[i].protocol);
  }
  value.AppendTo(frame, TlvType::kOrganization);
}

void AppendLink(std::vector<uint8_t>& frame, const LinkOptions& link) {
  Value value;
  value.Organization(kOuiSuede, kLinkOptions)
      .Byte(kLinkOptionsVersion)
      .Byte(static_cast<uint8_t>(
          (link.llr ? kFlagLlr : 0) | (link.cbfc_sender ? kFlagCbfcSender : 0) |
          (link.cbfc_receiver ? kFlagCbfcReceiver : 0) | (link.by_pcp ? kFlagByPcp : 0)))
      .Be16(link.ether_type)
      .Be16(link.credit_octets)
      .All(link.link_vc_of);
  for (const uint32_t credits : link.credits) value.Be32(credits);
  value.AppendTo(frame, TlvType::kOrganization);
}

void AppendAssignment(std::vector<uint8_t>& frame, const Assignment& assignment) {
  const bool is_v6 = assignment.address.is_v6;
  Value()
      .Organization(kOuiSuede, kAssignedAddress)
      .Byte(kAssignedAddressVersion)
      .Byte(is_v6 ? 6 : 4)
      .Byte(assignment.prefix)
      .Byte(0)
      .Ip(assignment.address)
      .Ip(assignment.gateway.value_or(IpAddress{.is_v6 = is_v6}))
      .Checksum()
      .AppendTo(frame, TlvType::kOrganization);
}

void AppendOptional(std::vector<uint8_t>& frame, const Lldpdu& pdu) {
  AppendText(frame, TlvType::kPortDescription, pdu.port_description);
  AppendText(frame, TlvType::kSystemName, pdu.system_name);
  AppendText(frame, TlvType::kSystemDescription, pdu.system_description);
  if (pdu.max_frame_bytes) {
    Value()
        .Organization(kOui8023, kMaxFrameSize)
        .Be16(*pdu.max_frame_bytes)
        .AppendTo(frame, TlvType::kOrganization);
  }
  if (pdu.ets) AppendEts(frame, kEtsConfiguration, *pdu.ets);
  if (pdu.recommended_ets) AppendEts(frame, kEtsRecommendation, *pdu.recommended_ets);
  if (pdu.pfc) AppendPfc(frame, *pdu.pfc);
  if (pdu.applications) AppendApplications(frame, *pdu.applications);
  if (pdu.link) AppendLink(frame, *pdu.link);
  if (pdu.assignment) AppendAssignment(frame, *pdu.assignment);
}

}  // namespace

std::vector<uint8_t> Encode(const Lldpdu& pdu, const Mac& source) {
  std::vector<uint8_t> frame(kGroup.begin(), kGroup.end());
  frame.insert(frame.end(), source.begin(), source.end());
  frame.push_back(kEtherType >> 8);
  frame.push_back(kEtherType & 0xff);
  AppendId(frame, TlvType::kChassisId, pdu.chassis);
  AppendId(frame, TlvType::kPortId, pdu.port);
  Value().Be16(pdu.ttl_s).AppendTo(frame, TlvType::kTtl);
  if (pdu.ttl_s != 0) AppendOptional(frame, pdu);
  Value().AppendTo(frame, TlvType::kEnd);
  frame.resize(std::max<size_t>(frame.size(), kMinFrameBytes));
  return frame;
}

}  // namespace suede::lldp
