// SPDX-License-Identifier: Apache-2.0
// Parsing of a frame into a description. lib/wire performs the checks, in the order of the receive
// pipeline. Headers are read by the declarations of their fields, so that the description of a
// dropped frame contains its fields.
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/big_endian.h"
#include "link/link_credit.h"
#include "stats/counters.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_open.h"
#include "suedectl/frame_text.h"
#include "wire/command.h"
#include "wire/encap.h"
#include "wire/encap/fields.h"
#include "wire/link_frame.h"
#include "wire/pfc.h"
#include "wire/rcrc.h"
#include "wire/rh.h"

namespace suede::ctl {
namespace {

// Returns the part of a counter's name that denotes the reason: "rcrc" of rx_drop_rcrc_total,
// "control_unknown" of rx_control_unknown_total.
std::string ReasonOf(Counter counter) {
  std::string_view name = CounterRows()[static_cast<size_t>(counter)].name;
  name.remove_prefix(name.starts_with("rx_drop_") ? 8 : 3);
  name.remove_suffix(std::string_view("_total").size());
  return std::string(name);
}

// Describes a parse error. `at`: the command that does not parse; `left`: bytes from there to the
// R-CRC.
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
    case CommandError::kNone:
      break;
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

// Returns the length of a control PDU's head and body, extended to the last non-zero byte, since
// padding need not be zero.
uint32_t ControlBytes(const uint8_t* begin, uint32_t bytes) {
  const uint32_t min = kControlHeadBytes + LoadBe16(begin + 2);
  while (bytes > min && begin[bytes - 1] == 0) --bytes;
  return bytes;
}

void ReadControl(const uint8_t* begin, uint32_t bytes, FrameDescription& out) {
  ControlMessage message;
  switch (DecodeControl(begin, bytes, message)) {
    case ControlError::kNone:
      break;
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
    case RhVersion::kData:
      return ReadCommands(begin, bytes, out);
    case RhVersion::kControl:
      return ReadControl(begin, bytes, out);
  }
  out.error = ReasonOf(Counter::kRxVersion);
}

void Refuse(Counter reason, std::string detail, FrameDescription& out) {
  out.error = ReasonOf(reason);
  out.detail = std::move(detail);
}

void ReadSealed(const ParsedFrame& parsed, FrameOpener* opener, FrameDescription& out) {
  const std::span<const uint8_t> pdu(parsed.pdu, parsed.pdu_bytes);
  ReadRh(parsed.pdu, out.values);
  const std::optional<SealShim> shim =
      DecodeShim(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes);
  if (!shim || (shim->hello && parsed.pdu[0] >> 6 != SealedVersion(3))) {
    // A port without sealing checks only the version.
    return Refuse(opener == nullptr ? Counter::kRxVersion : Counter::kRxSealMalformed,
                  "a sealed PDU that is too short, or whose shim is malformed", out);
  }
  out.sealed = {.shim = *shim, .epoch = shim->epoch};
  out.sealed->tag.assign(pdu.end() - kSealTagBytes, pdu.end());
  if (opener == nullptr) return Refuse(Counter::kRxVersion, "a sealed PDU: use --keys", out);
  const OpenedPdu opened = opener->Open(
      {.source = parsed.source, .destination = parsed.destination, .session = parsed.session},
      *shim, pdu);
  if (opened.pdu.empty()) return Refuse(opened.reason, opened.detail, out);
  out.sealed->epoch = opened.epoch;
  ReadPdu(opened.pdu.data(), static_cast<uint32_t>(opened.pdu.size()), out);
}

// Describes the pauses that a PFC frame requests (docs/pfc.md); "" for other frames.
std::string PfcSentence(std::span<const uint8_t> frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  if (!ClaimsPfc(frame.data(), bytes)) return "";
  const std::optional<PfcFrame> pfc = DecodePfc(frame.data(), bytes);
  if (!pfc) return "a PFC frame that is too short, or to another address than 01-80-C2-00-00-01";
  std::string text = "a PFC frame:";
  for (uint32_t c = 0; c < kPfcClasses; ++c) {
    if ((pfc->classes >> c & 1) == 0) continue;
    StrAppend(&text, text.back() == ':' ? " class " : ", class ", c);
    if (pfc->quanta[c] == 0) {
      text += " goes on";
    } else {
      StrAppend(&text, " pauses for ", pfc->quanta[c], " quanta");
    }
  }
  return text.back() == ':' ? text + " no class" : text;
}

std::string_view NameOf(LinkKind kind) {
  switch (kind) {
    case LinkKind::kData:
      return "shim";
    case LinkKind::kHello:
      return "HELLO";
    case LinkKind::kAck:
      return "ACK";
    case LinkKind::kNack:
      return "NACK";
    case LinkKind::kCfUpdate:
      return "CF_UPDATE";
    case LinkKind::kCcUpdate:
      return "CC_UPDATE";
  }
  return "";
}

// Describes the credit that a HELLO grants: ", CBFC with credits of 128 bytes: VC 0 120, VC 1 120".
std::string CreditOffer(const LinkOffer& offer) {
  if (!offer.cbfc) return "";
  std::string text = StrCat(", CBFC with credits of ", offer.credit_octets, " bytes");
  if (offer.credit_overhead != 0) StrAppend(&text, ", overhead ", offer.credit_overhead);
  const char* separator = ": ";
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    if (offer.credits[vc] == 0) continue;
    StrAppend(&text, separator, "VC ", vc, " ", offer.credits[vc]);
    separator = ", ";
  }
  return text;
}

// Describes the place that a HELLO announces: ", place M0D2P1 in plane 0, specification
// 0123456789ab".
std::string PlaceText(const std::optional<LinkPlace>& place) {
  if (!place) return "";
  std::string text = StrCat(", place M", place->mesh, "D", place->device, "P", int{place->port},
                            " in plane ", int{place->plane});
  if (place->specification == 0) return text;
  return StrCat(text, ", specification ", absl::Hex(place->specification, absl::kZeroPad12));
}

std::string CreditUpdateSentence(std::span<const uint8_t> frame, const LinkWord& word) {
  const std::string_view name = NameOf(word.kind);
  const auto update = DecodeCreditUpdate(frame.data() + kLinkBodyAt,
                                         static_cast<uint32_t>(frame.size()) - kLinkBodyAt);
  if (!update) return StrCat("a link frame: a malformed ", name);
  std::string text =
      StrCat("a link frame: ", name, ", serial ", word.sequence, ", tag ", word.tag, ":");
  const char* separator = " ";
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    if ((update->vcs >> vc & 1) == 0) continue;
    StrAppend(&text, separator, "VC ", vc, " ", update->counters[vc].value(),
              (update->starts >> vc & 1) != 0 ? " (start)" : "");
    separator = ", ";
  }
  return text;
}

// Describes a link frame, recognized by the default EtherType (docs/link.md); "" for other frames.
std::string LinkSentence(std::span<const uint8_t> frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  if (!HasLinkType(frame.data(), bytes, kDefaultLinkEtherType)) return "";
  if (bytes < kLinkBodyAt) return "a link frame that is too short";
  const LinkWord word = LoadLinkWord(frame.data());
  const std::string_view name = NameOf(word.kind);
  if (name.empty()) return StrCat("a link frame of the unknown kind ", static_cast<int>(word.kind));
  if (word.kind == LinkKind::kHello) {
    const auto hello = DecodeLinkHello(frame.data(), bytes);
    if (!hello) return "a link frame: a malformed HELLO";
    return StrCat("a link frame: HELLO, nonce ", hello->nonce, ", echo ", hello->echo,
                  hello->offer.llr ? ", LLR" : "", CreditOffer(hello->offer),
                  PlaceText(hello->place));
  }
  if (word.kind == LinkKind::kData) {
    return StrCat("the shim of link-level retry in 8 bytes behind the addresses: number ",
                  word.sequence, ", acknowledged ", word.acknowledged, ", tag ", word.tag);
  }
  if (word.kind == LinkKind::kCfUpdate || word.kind == LinkKind::kCcUpdate) {
    return CreditUpdateSentence(frame, word);
  }
  return StrCat("a link frame: ", name, ", acknowledged ", word.acknowledged, ", tag ", word.tag);
}

}  // namespace

FrameDescription DescribeFrame(const FrameRules& rules, std::span<const uint8_t> frame,
                               FrameOpener* opener) {
  FrameDescription out{.encap = rules.encap};
  ReadHeader(rules, frame, out.values);
  Bytes bytes(frame.begin(), frame.end());  // a copy, since ParseFrame of afh2c writes to it
  const auto length = static_cast<uint32_t>(bytes.size());
  const ParsedFrame parsed = ParseFrame(rules, bytes.data(), length, /*checksums_good=*/false);
  if (parsed.error != FrameError::kNone) {
    out.error = FrameErrorName(parsed.error);
    out.detail = PfcSentence(frame);
    if (out.detail.empty()) out.detail = LinkSentence(frame);
    return out;
  }
  const uint8_t* end = bytes.data() + length;
  out.trailing.assign(parsed.pdu + parsed.pdu_bytes, end);
  const RhWord rh(parsed.pdu);
  if (opener != nullptr) opener->Note(parsed.source, rh.xpuid());
  if (IsSealedVersion(rh.ver())) {
    ReadSealed(parsed, opener, out);
  } else {
    ReadPdu(parsed.pdu, parsed.pdu_bytes, out);
  }
  return out;
}

}  // namespace suede::ctl
