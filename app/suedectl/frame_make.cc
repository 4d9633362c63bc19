// SPDX-License-Identifier: Apache-2.0
// Encoding of a description into a frame: by lib/wire's templates and builder, followed by patches
// of the fields that a suede port always sends with the same value.
#include <algorithm>

#include "absl/status/status.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_text.h"
#include "wire/encap.h"
#include "wire/encap/fields.h"
#include "wire/ethernet.h"
#include "wire/forwarding.h"
#include "wire/frame_builder.h"

namespace suede::ctl {
namespace {

// Returns the RH, with defaults for absent fields.
ReliabilityHeader RhOf(const FrameDescription& d) {
  const FieldValues& v = d.values;
  const bool by_address = TraitsOf(d.encap).holds_rh;
  const uint64_t named = by_address ? v.WordOr(Field::kSrcFwd, 0) % kMaxXpus : 0;
  const RhVersion usual = d.control_pdu.has_value() ? RhVersion::kControl : RhVersion::kData;
  return {.ver = v.NumberOr<uint8_t>(Field::kVer, static_cast<uint64_t>(usual)),
          .op = static_cast<RhOp>(v.WordOr(Field::kOp, static_cast<uint64_t>(RhOp::kNothing))),
          .xpuid = v.NumberOr<uint16_t>(Field::kXpuid, named),
          .psn = Psn(v.NumberOr<uint16_t>(Field::kPsn, 0)),
          .vc = v.NumberOr<uint8_t>(Field::kVc, 0),
          .partition = v.NumberOr<uint16_t>(Field::kPartition, 0),
          .rpsn = Psn(v.NumberOr<uint16_t>(Field::kRpsn, 0))};
}

HeaderSpec SpecOf(const FrameDescription& d, uint32_t xpuid) {
  const FieldValues& v = d.values;
  const bool by_ip = TraitsOf(d.encap).addresses != AddressKind::kForwarding;
  const auto instance = v.NumberOr<uint32_t>(Field::kInstance, 0);
  const auto dst_xpuid = v.NumberOr<uint32_t>(Field::kDstXpuid, 0);
  const NetAddress source{.low = DefaultForwardingAddress(instance, xpuid)};
  const NetAddress destination{.low = DefaultForwardingAddress(instance, dst_xpuid)};
  HeaderSpec spec{
      .source_mac = MacOfWord(v.WordOr(Field::kSmac, 0)),
      .destination_mac = MacOfWord(v.WordOr(Field::kDmac, 0)),
      .tagged = v.Has(Field::kPcp) || v.Has(Field::kDei) || v.Has(Field::kVid),
      .vid = v.NumberOr<uint16_t>(Field::kVid, 0),
      .source = by_ip ? v.AddressOr(Field::kSip, {}) : v.AddressOr(Field::kSrcFwd, source),
      .destination =
          by_ip ? v.AddressOr(Field::kDip, {}) : v.AddressOr(Field::kDstFwd, destination),
      .udp_port = v.NumberOr<uint16_t>(Field::kDport, kDefaultUdpPort),
      .session = v.NumberOr<uint16_t>(Field::kSession, 0),
      .mac_prefix = v.NumberOr<uint32_t>(Field::kMacPrefix, kDefaultMacPrefix),
      .ether_type = v.NumberOr<uint16_t>(Field::kEtherType, 0)};
  spec.traffic_class = {.pcp = v.NumberOr<uint8_t>(Field::kPcp, 0),
                        .dscp = v.NumberOr<uint8_t>(Field::kDscp, 0),
                        .ecn = v.NumberOr<uint8_t>(Field::kEcn, 0)};
  return spec;
}

// Returns the bytes between RH and padding.
Bytes BodyOf(const FrameDescription& d) {
  Bytes body;
  if (d.control_pdu.has_value()) {
    if (!d.control_pdu->bytes.empty() || !d.control_pdu->message.has_value()) {
      return d.control_pdu->bytes;
    }
    body.resize(kMaxControlPduBytes);
    body.resize(EncodeControl(*d.control_pdu->message, body.data()));
  } else if (d.commands.has_value()) {
    for (const FrameCommand& command : *d.commands) {
      body.insert(body.end(), command.control.begin(), command.control.end());
      body.insert(body.end(), command.data.begin(), command.data.end());
      if (command.data.size() % 2 != 0) body.push_back(0);
    }
  }
  return body;
}

// Writes RH, padding and R-CRC around the commands at pdu + kRhBytes; returns the PDU's bytes.
uint32_t Finish(const FrameDescription& d, const ReliabilityHeader& rh, uint32_t header_bytes,
                uint32_t body_bytes, uint8_t* pdu) {
  const FieldValues& v = d.values;
  // Explicit padding is part of the body, and suppresses automatic padding.
  const bool asked = v.Has(Field::kPadding);
  const auto padding = v.NumberOr<uint32_t>(Field::kPadding, 0);
  const uint32_t pdu_bytes =
      FinishPdu(pdu, body_bytes + padding, asked ? kMinFrameBytes : header_bytes, rh);
  if (v.Has(Field::kRsv) || v.Has(Field::kRsvd)) {
    PatchRh(v, pdu);
    StoreRcrc(pdu, pdu_bytes - kRcrcBytes);
  }
  return pdu_bytes;
}

absl::Status Check(const FrameDescription& d, const ReliabilityHeader& rh, const HeaderSpec& spec) {
  const bool control = rh.ver == static_cast<uint8_t>(RhVersion::kControl);
  if (control != d.control_pdu.has_value()) {
    return Wrong("ver: ", rh.ver, control ? " wants control_pdu" : ", but 3 goes with control_pdu");
  }
  if (control && d.commands.has_value() && !d.commands->empty()) {
    return Wrong("commands: a control PDU has none");
  }
  if (!FitsXpuid(d.encap, spec.source.low, rh.xpuid)) {
    return Wrong("xpuid: ", rh.xpuid, ", but src_fwd says ", spec.source.low % kMaxXpus,
                 " in its low 10 bits");
  }
  if (EtherTypeOf(d.encap, spec.ether_type) == 0) {
    return Wrong("ether_type: ", EncapName(d.encap), " has no usual one, give it");
  }
  if (spec.ether_type == kTypeTag) return Wrong("ether_type: ", spec.ether_type, " is a tag's");
  if (!d.trailing.empty() && !TraitsOf(d.encap).has_length) {
    return Wrong("trailing: ", EncapName(d.encap), " has no length, the R-CRC ends the frame");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Bytes> MakeFrame(const FrameDescription& d) {
  const ReliabilityHeader rh = RhOf(d);
  const HeaderSpec spec = SpecOf(d, rh.xpuid);
  if (absl::Status status = Check(d, rh, spec); !status.ok()) return status;
  const Bytes body = BodyOf(d);
  const HeaderTemplate header = MakeTemplate(d.encap, spec);
  const auto padding = d.values.WordOr(Field::kPadding, 0);
  const uint64_t bytes = header.length + kMinPduBytes + body.size() + padding + d.trailing.size();
  if (bytes > kMaxFrameBytes) {
    return Wrong("commands: with headers, padding and trailing a frame of ", bytes, " bytes; ",
                 kMaxFrameBytes, " are possible");
  }
  Bytes buffer(HeaderTemplate::kRoomBytes + std::max<size_t>(bytes, kMinFrameBytes));
  uint8_t* pdu = buffer.data() + HeaderTemplate::kRoomBytes;
  std::copy(body.begin(), body.end(), pdu + kRhBytes);
  const auto body_bytes = static_cast<uint32_t>(body.size());
  const uint32_t pdu_bytes = Finish(d, rh, header.length, body_bytes, pdu);
  uint8_t* frame = WriteHeader(header, pdu, pdu_bytes, /*offload=*/false);
  PatchHeader(d.encap, d.values, {frame, pdu + pdu_bytes});
  Bytes whole(frame, pdu + pdu_bytes);
  whole.insert(whole.end(), d.trailing.begin(), d.trailing.end());
  return whole;
}

}  // namespace suede::ctl
