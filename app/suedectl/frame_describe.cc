// SPDX-License-Identifier: Apache-2.0
// From bytes to a description. The verdict is lib/wire's, in the order in which the pipeline asks;
// the headers are read here too, because a frame that is refused shows what it has of them.
#include <cstddef>
#include <cstring>

#include "base/big_endian.h"
#include "stats/counters.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_text.h"
#include "wire/command.h"
#include "wire/ethernet.h"
#include "wire/rcrc.h"
#include "wire/rh.h"
#include "wire/udp.h"

namespace suede::ctl {
namespace {

constexpr uint16_t kTypeIpv4 = 0x0800;
constexpr uint16_t kTypeIpv6 = 0x86dd;
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kShimBytes = 8;
constexpr uint16_t kDontFragment = 2;

// The middle of the counter's name: rx_drop_rcrc_total, rx_control_unknown_total.
std::string ReasonOf(Counter counter) {
  std::string_view name = CounterRows()[static_cast<size_t>(counter)].name;
  name.remove_prefix(name.starts_with("rx_drop_") ? 8 : 3);
  name.remove_suffix(std::string_view("_total").size());
  return std::string(name);
}

// Sets a field where it is not what a suede port sends.
void SetUnusual(FieldValues& values, Field field, uint64_t value, uint64_t usual) {
  if (value != usual) values.Set(field, value);
}

// Reads headers as far as the frame has them.
class HeaderReader {
 public:
  HeaderReader(const FrameRules& rules, std::span<const uint8_t> frame, FieldValues& values)
      : rules_(rules),
        frame_(frame.data()),
        bytes_(static_cast<uint32_t>(frame.size())),
        l2_(EthernetBytes(frame.data(), bytes_)),
        values_(values) {}

  void Read() {
    if (bytes_ < kEthernetBytes) return;
    switch (rules_.encap) {
      case Encap::kUdp4:
      case Encap::kUdp6: return ReadUdp();
      case Encap::kAfh1:
      case Encap::kAfh1s: return ReadAfh1();
      case Encap::kAfh2:
      case Encap::kAfh2c: return ReadAfh2();
    }
  }

 private:
  uint16_t ether_type() const { return LoadBe16(frame_ + l2_ - 2); }
  bool Reaches(uint32_t bytes) const { return bytes_ >= bytes; }

  void ReadMacs() {
    values_.Set(Field::kDmac, MacWord(frame_));
    values_.Set(Field::kSmac, MacWord(frame_ + 6));
  }

  void ReadTag() {
    if (l2_ <= kEthernetBytes) return;
    const uint32_t tag = LoadBe16(frame_ + kEthernetBytes);
    values_.Set(Field::kPcp, tag >> 13);
    SetUnusual(values_, Field::kDei, tag >> 12 & 1, 0);
    values_.Set(Field::kVid, tag & 0xfff);
  }

  void SetClass(uint32_t ds_byte) {
    values_.Set(Field::kDscp, ds_byte >> 2);
    values_.Set(Field::kEcn, ds_byte & 3);
  }

  void ReadUdp() {
    ReadMacs();
    ReadTag();
    if (l2_ == 0) return;
    if (ether_type() == kTypeIpv4 && rules_.encap == Encap::kUdp4) return ReadIpv4();
    if (ether_type() == kTypeIpv6 && rules_.encap == Encap::kUdp6) return ReadIpv6();
    values_.Set(Field::kEtherType, ether_type());
  }

  void ReadIpv4() {
    const uint8_t* ip = frame_ + l2_;
    if (!Reaches(l2_ + kIpv4Bytes) || ip[0] >> 4 != 4) return;
    SetClass(ip[1]);
    SetUnusual(values_, Field::kIpId, LoadBe16(ip + 4), 0);
    SetUnusual(values_, Field::kIpFlags, ip[6] >> 5, kDontFragment);
    values_.Set(Field::kHopLimit, ip[8]);
    values_.Set(Field::kSip, LoadBe32(ip + 12));
    values_.Set(Field::kDip, LoadBe32(ip + 16));
    if (ip[0] != 0x45) return;
    uint8_t header[kIpv4Bytes];
    std::memcpy(header, ip, kIpv4Bytes);
    StoreBe16(header + 10, 0);
    StoreSum(header + 10, ~FoldSum(InternetSum(header, kIpv4Bytes)));
    SetUnusual(values_, Field::kIpChecksum, LoadBe16(ip + 10), LoadBe16(header + 10));
    const bool later_fragment = (LoadBe16(ip + 6) & 0x1fff) != 0;
    if (ip[9] == kProtocolUdp && !later_fragment) ReadUdpHeader(kIpv4Bytes, LoadBe16(ip + 2), 0);
  }

  void ReadIpv6() {
    const uint8_t* ip = frame_ + l2_;
    if (!Reaches(l2_ + kIpv6Bytes) || ip[0] >> 4 != 6) return;
    SetClass(LoadBe16(ip) >> 4 & 0xff);
    SetUnusual(values_, Field::kFlowLabel, LoadBe32(ip) & 0xfffff, 0);
    values_.Set(Field::kHopLimit, ip[7]);
    values_.Set(Field::kSip, {.high = LoadBe64(ip + 8), .low = LoadBe64(ip + 16)});
    values_.Set(Field::kDip, {.high = LoadBe64(ip + 24), .low = LoadBe64(ip + 32)});
    if (ip[6] == kProtocolUdp) ReadUdpHeader(kIpv6Bytes, LoadBe16(ip + 4), kIpv6Bytes);
  }

  // `ip_length` is what IP says, without `uncounted` bytes of its header.
  void ReadUdpHeader(uint32_t ip_bytes, uint32_t ip_length, uint32_t uncounted) {
    if (!Reaches(l2_ + ip_bytes + kUdpBytes)) return;
    const uint8_t* udp = frame_ + l2_ + ip_bytes;
    const uint32_t counted = ip_bytes - uncounted + LoadBe16(udp + 4);
    SetUnusual(values_, Field::kIpLength, ip_length, counted);
    values_.Set(Field::kDport, LoadBe16(udp + 2));
    values_.Set(Field::kSession, static_cast<uint16_t>(LoadBe16(udp) - kFirstSourcePort));
    if (uncounted == 0 && LoadBe16(udp + 6) != 0) values_.Set(Field::kUdpChecksum, 1);
  }

  void ReadAfh1() {
    ReadTag();
    if (l2_ != 0) values_.Set(Field::kEtherType, ether_type());
    if (LoadBe32(frame_) != rules_.mac_prefix || LoadBe32(frame_ + 6) != rules_.mac_prefix) {
      return ReadMacs();
    }
    values_.Set(Field::kMacPrefix, rules_.mac_prefix);
    values_.Set(Field::kDstFwd, LoadBe16(frame_ + 4));
    values_.Set(Field::kSrcFwd, LoadBe16(frame_ + 10));
    if (rules_.encap == Encap::kAfh1 || l2_ == 0 || !Reaches(l2_ + kShimBytes)) return;
    if (ether_type() != EtherTypeOf(rules_.encap, rules_.ether_type)) return;
    const uint8_t* shim = frame_ + l2_;
    SetUnusual(values_, Field::kShimReserved, shim[0] & 15, 0);
    SetClass(shim[1]);
    values_.Set(Field::kHopLimit, shim[2]);
    values_.Set(Field::kSession, LoadBe16(shim + 4));
  }

  void ReadAfh2() {
    values_.Set(Field::kEtherType, LoadBe16(frame_ + 12));
    if (LoadBe16(frame_ + 12) != EtherTypeOf(rules_.encap, rules_.ether_type)) return;
    const bool normal = rules_.encap == Encap::kAfh2;
    if ((frame_[0] & 0xfe) != (normal ? 0x02 : 0x82)) return;
    SetClass(frame_[6]);
    if (!normal) {
      values_.Set(Field::kDstFwd, LoadBe16(frame_ + 4));
      values_.Set(Field::kSrcFwd, LoadBe16(frame_ + 10));
      return;
    }
    values_.Set(Field::kHopLimit, frame_[1]);
    values_.Set(Field::kDstFwd, LoadBe32(frame_ + 2));
    values_.Set(Field::kSession, frame_[7]);
    values_.Set(Field::kSrcFwd, LoadBe32(frame_ + 8));
  }

  const FrameRules& rules_;
  const uint8_t* const frame_;
  const uint32_t bytes_;
  const uint32_t l2_;  // 0: the Ethernet header is not whole
  FieldValues& values_;
};

void ReadRh(const uint8_t* pdu, FieldValues& values) {
  const ReliabilityHeader rh = DecodeRh(pdu);
  const uint64_t word = LoadBe64(pdu);
  values.Set(Field::kVer, rh.ver);
  values.Set(Field::kOp, word >> 60 & 3);  // DecodeRh reads 3 as 2
  SetUnusual(values, Field::kRsv, word >> 58 & 3, 0);
  values.Set(Field::kXpuid, rh.xpuid);
  values.Set(Field::kPsn, rh.psn.value());
  values.Set(Field::kVc, rh.vc);
  SetUnusual(values, Field::kRsvd, word >> 26 & 15, 0);
  values.Set(Field::kPartition, rh.partition);
  values.Set(Field::kRpsn, rh.rpsn.value());
}

// `at` is the command that does not parse, `left` the bytes from there to the R-CRC.
std::string Sentence(CommandError error, size_t number, const uint8_t* at, ptrdiff_t left,
                     uint32_t bytes) {
  const std::string place =
      StrCat("command ", number, ", at byte ", bytes - left, " behind the RH: ");
  switch (error) {
    case CommandError::kBadLength:
      return StrCat(place, "its control length is ", at[0] & 15, " units, of 1 to 9");
    case CommandError::kOverrun:
      return StrCat(place, "it has ", ReadCommandShape(at[0], at[1]).packed_bytes(),
                    " bytes and runs past the R-CRC");
    case CommandError::kTooLong:
      return StrCat("the commands have ", bytes - left, " bytes, and ", kMaxPackBytes,
                    " are the most of a PDU");
    case CommandError::kBadPadding:
    case CommandError::kNone: break;
  }
  if (left < 2 || (at[0] & 15) == 0) return StrCat(place, "padding that is not zero");
  return StrCat(place, "the byte that makes its length even is not zero");
}

void ReadCommands(const uint8_t* begin, uint32_t bytes, FrameDescription& out) {
  std::vector<FrameCommand>& commands = out.commands.emplace();
  CommandReader reader(begin, bytes);
  while (reader.Next()) {
    const uint8_t* data = reader.command() + reader.shape().control_bytes;
    commands.push_back(
        {Bytes(reader.command(), data), Bytes(data, data + reader.shape().data_bytes)});
  }
  const ptrdiff_t left = begin + bytes - reader.command();
  if (reader.error() == CommandError::kNone) {
    out.values.Set(Field::kPadding, static_cast<uint64_t>(left));
    return;
  }
  out.error = ReasonOf(Counter::kRxMalformed);
  out.detail = Sentence(reader.error(), commands.size(), reader.command(), left, bytes);
}

// Head and body; and what follows them up to the last byte that is not zero, as nothing asks for
// zeros there.
uint32_t ControlBytes(const uint8_t* begin, uint32_t bytes) {
  const uint32_t least = kControlHeadBytes + LoadBe16(begin + 2);
  while (bytes > least && begin[bytes - 1] == 0) --bytes;
  return bytes;
}

void ReadControl(const uint8_t* begin, uint32_t bytes, FrameDescription& out) {
  ControlMessage message;
  switch (DecodeControl(begin, bytes, message)) {
    case ControlError::kNone: break;
    case ControlError::kUnknownType:
      out.error = ReasonOf(Counter::kRxControlUnknown);
      out.detail = StrCat("a control PDU of type ", begin[0]);
      return;
    case ControlError::kMalformed:
      out.error = ReasonOf(Counter::kRxControlMalformed);
      out.detail = "a body that is too short for its type or its length, or a value out of range";
      return;
  }
  ControlPdu& control = out.control_pdu.emplace();
  control.message = message;
  const uint32_t used = ControlBytes(begin, bytes);
  out.values.Set(Field::kPadding, bytes - used);
  uint8_t usual[kMaxControlPduBytes];
  const uint32_t usual_bytes = EncodeControl(message, usual);
  if (used != usual_bytes || std::memcmp(begin, usual, used) != 0) {
    control.bytes.assign(begin, begin + used);
  }
}

void ReadPdu(const uint8_t* pdu, uint32_t pdu_bytes, FrameDescription& out) {
  ReadRh(pdu, out.values);
  const uint32_t covered = pdu_bytes - kRcrcBytes;
  if (!RcrcGood(pdu, pdu_bytes)) {
    uint8_t right[kRcrcBytes];
    const uint32_t crc = Rcrc(pdu, covered);
    std::memcpy(right, &crc, sizeof crc);
    out.error = ReasonOf(Counter::kRxRcrc);
    out.detail = StrCat("the R-CRC is ", ToHex({pdu + covered, kRcrcBytes}), ", and ", ToHex(right),
                        " would be right");
    return;
  }
  const uint8_t* begin = pdu + kRhBytes;
  const uint32_t bytes = covered - kRhBytes;
  switch (static_cast<RhVersion>(pdu[0] >> 6)) {
    case RhVersion::kData: return ReadCommands(begin, bytes, out);
    case RhVersion::kControl: return ReadControl(begin, bytes, out);
  }
  out.error = ReasonOf(Counter::kRxVersion);
}

}  // namespace

FrameDescription DescribeFrame(const FrameRules& rules, std::span<const uint8_t> frame) {
  FrameDescription out{.encap = rules.encap};
  HeaderReader(rules, frame, out.values).Read();
  Bytes bytes(frame.begin(), frame.end());  // which afh2c writes into
  const auto length = static_cast<uint32_t>(bytes.size());
  const ParsedFrame parsed = ParseFrame(rules, bytes.data(), length, /*checksums_good=*/false);
  if (parsed.error != FrameError::kNone) {
    out.error = FrameErrorName(parsed.error);
    return out;
  }
  const uint8_t* end = bytes.data() + length;
  out.trailing.assign(parsed.pdu + parsed.pdu_bytes, end);
  ReadPdu(parsed.pdu, parsed.pdu_bytes, out);
  return out;
}

}  // namespace suede::ctl
