// SPDX-License-Identifier: Apache-2.0
// From a description to bytes: lib/wire's templates and builder, and then the fields that a suede
// port always sends alike.
#include <algorithm>

#include "absl/status/status.h"
#include "base/big_endian.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_text.h"
#include "wire/ethernet.h"
#include "wire/forwarding.h"
#include "wire/frame_builder.h"
#include "wire/udp.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kIpv4Bytes = 20;
constexpr uint8_t kUsualHopLimit = 64;

// The RH with what the description leaves open.
ReliabilityHeader RhOf(const FrameDescription& d) {
  const FieldValues& v = d.values;
  const uint64_t named = d.encap == Encap::kAfh2c ? v.WordOr(Field::kSrcFwd, 0) % kMaxXpus : 0;
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
  const bool udp = d.encap == Encap::kUdp4 || d.encap == Encap::kUdp6;
  const auto instance = v.NumberOr<uint32_t>(Field::kInstance, 0);
  const auto dst_xpuid = v.NumberOr<uint32_t>(Field::kDstXpuid, 0);
  const NetAddress source{.low = DefaultForwardingAddress(instance, xpuid)};
  const NetAddress destination{.low = DefaultForwardingAddress(instance, dst_xpuid)};
  HeaderSpec spec{
      .source_mac = MacOfWord(v.WordOr(Field::kSmac, 0)),
      .destination_mac = MacOfWord(v.WordOr(Field::kDmac, 0)),
      .tagged = v.Has(Field::kPcp) || v.Has(Field::kDei) || v.Has(Field::kVid),
      .vid = v.NumberOr<uint16_t>(Field::kVid, 0),
      .source = udp ? v.AddressOr(Field::kSip, {}) : v.AddressOr(Field::kSrcFwd, source),
      .destination = udp ? v.AddressOr(Field::kDip, {}) : v.AddressOr(Field::kDstFwd, destination),
      .udp_port = v.NumberOr<uint16_t>(Field::kDport, kDefaultUdpPort),
      .session = v.NumberOr<uint16_t>(Field::kSession, 0),
      .mac_prefix = v.NumberOr<uint32_t>(Field::kMacPrefix, kDefaultMacPrefix),
      .ether_type = v.NumberOr<uint16_t>(Field::kEtherType, 0)};
  spec.traffic_class = {.pcp = v.NumberOr<uint8_t>(Field::kPcp, 0),
                        .dscp = v.NumberOr<uint8_t>(Field::kDscp, 0),
                        .ecn = v.NumberOr<uint8_t>(Field::kEcn, 0)};
  return spec;
}

// What stands between RH and padding.
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
  // Padding that is asked for is part of the body, which then gets no more than that.
  const bool asked = v.Has(Field::kPadding);
  const auto padding = v.NumberOr<uint32_t>(Field::kPadding, 0);
  const uint32_t pdu_bytes =
      FinishPdu(pdu, body_bytes + padding, asked ? kMinFrameBytes : header_bytes, rh);
  const uint64_t reserved = v.WordOr(Field::kRsv, 0) << 58 | v.WordOr(Field::kRsvd, 0) << 26;
  if (reserved != 0) {
    StoreBe64(pdu, LoadBe64(pdu) | reserved);
    StoreRcrc(pdu, pdu_bytes - kRcrcBytes);
  }
  return pdu_bytes;
}

void PatchIpv4(const FieldValues& v, uint8_t* ip) {
  StoreBe16(ip + 4, v.NumberOr<uint16_t>(Field::kIpId, 0));
  if (v.Has(Field::kIpFlags)) ip[6] = static_cast<uint8_t>(v.WordOr(Field::kIpFlags, 0) << 5);
  ip[8] = v.NumberOr<uint8_t>(Field::kHopLimit, kUsualHopLimit);
  StoreBe16(ip + 2, v.NumberOr<uint16_t>(Field::kIpLength, LoadBe16(ip + 2)));
  StoreBe16(ip + 10, 0);
  StoreSum(ip + 10, ~FoldSum(InternetSum(ip, kIpv4Bytes)));
  StoreBe16(ip + 10, v.NumberOr<uint16_t>(Field::kIpChecksum, LoadBe16(ip + 10)));
  if (v.WordOr(Field::kUdpChecksum, 0) == 0) return;
  uint8_t* udp = ip + kIpv4Bytes;
  const uint32_t udp_bytes = LoadBe16(udp + 4);
  const uint32_t sum = FoldSum(InternetSum(ip + 12, 8) + SumOf(kProtocolUdp) + SumOf(udp_bytes) +
                               InternetSum(udp, udp_bytes));
  StoreSum(udp + 6, sum == 0xffff ? 0xffff : ~sum);  // 0 would say that there is none
}

// No field that is set here counts in the UDP checksum.
void PatchIpv6(const FieldValues& v, uint8_t* ip) {
  StoreBe32(ip, LoadBe32(ip) | v.NumberOr<uint32_t>(Field::kFlowLabel, 0));
  StoreBe16(ip + 4, v.NumberOr<uint16_t>(Field::kIpLength, LoadBe16(ip + 4)));
  ip[7] = v.NumberOr<uint8_t>(Field::kHopLimit, kUsualHopLimit);
}

// `frame` is one that WriteHeader wrote; `l2` are the bytes of its Ethernet header.
void Patch(const FrameDescription& d, uint32_t l2, uint8_t* frame) {
  const FieldValues& v = d.values;
  if (v.WordOr(Field::kDei, 0) != 0) frame[kEthernetBytes] |= 0x10;
  uint8_t* inner = frame + l2;
  switch (d.encap) {
    case Encap::kUdp4: return PatchIpv4(v, inner);
    case Encap::kUdp6: return PatchIpv6(v, inner);
    case Encap::kAfh1s:
      inner[0] = v.NumberOr<uint8_t>(Field::kShimReserved, 0);
      inner[2] = v.NumberOr<uint8_t>(Field::kHopLimit, kUsualHopLimit);
      return;
    case Encap::kAfh2: frame[1] = v.NumberOr<uint8_t>(Field::kHopLimit, kUsualHopLimit); return;
    case Encap::kAfh1:
    case Encap::kAfh2c: return;
  }
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
  if (spec.ether_type == kTypeTag) return Wrong("ether_type: ", spec.ether_type, " is a tag's");
  const bool has_length =
      d.encap == Encap::kUdp4 || d.encap == Encap::kUdp6 || d.encap == Encap::kAfh1s;
  if (!d.trailing.empty() && !has_length) {
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
  const uint64_t bytes = header.length + kLeastPduBytes + body.size() + padding + d.trailing.size();
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
  Patch(d, header.l2_length, frame);
  Bytes whole(frame, pdu + pdu_bytes);
  whole.insert(whole.end(), d.trailing.begin(), d.trailing.end());
  return whole;
}

}  // namespace suede::ctl
