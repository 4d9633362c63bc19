// SPDX-License-Identifier: Apache-2.0
// suedectl frame decode: frames from hex or a capture, to JSON or a capture.
#include <memory>
#include <string>

#include "suedectl/frame_arguments.h"
#include "suedectl/frame_commands.h"
#include "suedectl/frame_files.h"
#include "suedectl/frame_input.h"
#include "suedectl/frame_json.h"
#include "suedectl/frame_open.h"
#include "suedectl/frame_text.h"
#include "wire/ethernet.h"

namespace suede::ctl {
namespace {

constexpr char kDecodeHelpHead[] =
    "suedectl frame decode: reads frames as a port does, prints each as a JSON object\n"
    "\n"
    "usage: suedectl frame decode --encap E [FLAGS] [FILE]\n"
    "\n";
constexpr char kDecodeHelpTail[] =
    "  --input hex|pcap      hex: a frame a line; '#' starts a comment (default)\n"
    "                        pcap: a pcap or pcapng file\n"
    "  --output json|pcap    json: an object a line (default)\n"
    "                        pcap: the frames as they are, with nanoseconds; with --keys, those\n"
    "                        that were opened as plain ones\n"
    "  --keys FILE           opens sealed PDUs with the secrets in FILE, a file of "
    "sealing.secrets\n"
    "  -o FILE               writes there and not to standard output\n"
    "\n"
    "FILE is standard input where it is missing or '-'. A frame that a port would drop has an\n"
    "\"error\" in its object: NAME of the counter suede_rx_drop_NAME_total. docs/frames.md lists\n"
    "the fields.\n"
    "\n"
    "Exit codes: 0 done, with any frames; 1 input or output failed; 2 usage, or input\n"
    "that is no frame: it is named, and the rest is read.\n";

// Returns the default EtherType, and those of the encapsulations that differ, with their names.
std::string EtherTypes() {
  std::string text;
  uint16_t first = 0;
  for (const EncapTraits& traits : kEncapTraits) {
    if (traits.addresses != AddressKind::kForwarding || traits.ether_type == 0 ||
        traits.ether_type == first) {
      continue;
    }
    char type[8];
    std::snprintf(type, sizeof type, "0x%04x", traits.ether_type);
    if (first != 0) StrAppend(&text, "; ", traits.name, " ");
    StrAppend(&text, type);
    if (first == 0) first = traits.ether_type;
  }
  return text;
}

void PrintDecodeHelp(FILE* out) {
  const FieldRow& prefix = FieldRows()[static_cast<size_t>(Field::kMacPrefix)];
  std::fputs(kDecodeHelpHead, out);
  std::fprintf(out,
               "  --encap E             %s\n"
               "  --udp_port N          UDP port of SUE (default 3333)\n"
               "  --mac_prefix A:B:C:D  first bytes of the MAC addresses, %s (02:53:55:45)\n"
               "  --ether_type N        EtherType, all but udp* (default %s)\n",
               JoinEncaps(kEveryEncap, ", ", " or ").c_str(),
               JoinEncaps(prefix.encaps, ", ", " and ").c_str(), EtherTypes().c_str());
  std::fputs(kDecodeHelpTail, out);
}

struct DecodeOptions {
  bool help = false;
  FileChoice files;
  FrameRules rules;
  FrameFormat input = FrameFormat::kHex;
  std::unique_ptr<FrameOpener> opener;  // with --keys
};

absl::Status WrongValue(std::string_view flag, std::string_view value, std::string_view use) {
  return Wrong(flag, ": '", value, "'; use ", use);
}

absl::Status TakeNumber(std::string_view flag, std::string_view text, uint64_t min,
                        uint16_t* number) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<uint64_t> parsed = ParseNumber(text);
  if (!parsed.has_value() || *parsed < min || *parsed > 0xffff) {
    return WrongValue(flag, text, StrCat(min, " to 65535"));
  }
  *number = static_cast<uint16_t>(*parsed);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FrameOpener>> OpenerOf(std::string_view keys) {
  absl::StatusOr<FileSecrets> secrets = ReadSecrets(std::string(keys), SecretsFileRule::kAnybodys);
  if (!secrets.ok()) return secrets.status();
  return FrameOpener::Create(*secrets);
}

absl::StatusOr<DecodeOptions> TakeDecodeOptions(std::span<const std::string_view> arguments) {
  DecodeOptions options{.files = {.format = FrameFormat::kJson}};
  std::string_view encap, udp_port, mac_prefix, ether_type, keys, input = "hex", output = "json";
  const Flag flags[] = {{"encap", &encap},
                        {"udp_port", &udp_port},
                        {"mac_prefix", &mac_prefix},
                        {"ether_type", &ether_type},
                        {"input", &input},
                        {"output", &output},
                        {"keys", &keys},
                        {"o", &options.files.output}};
  const absl::StatusOr<Given> given = TakeArguments(arguments, flags);
  if (!given.ok()) return given.status();
  options.help = given->help;
  options.files.input = given->file;
  if (given->help) return options;
  const std::optional<Encap> known = ParseEncap(encap);
  if (!known.has_value()) {
    return WrongValue("--encap", encap, JoinEncaps(kEveryEncap, ", ", " or "));
  }
  options.rules.encap = *known;
  absl::Status status = TakeNumber("--udp_port", udp_port, 1, &options.rules.udp_port);
  status.Update(TakeNumber("--ether_type", ether_type, 0x600, &options.rules.ether_type));
  if (!status.ok()) return status;
  if (EtherTypeOf(*known, options.rules.ether_type) == 0) {
    return WrongValue("--ether_type", ether_type, StrCat("a number: ", encap, " has no usual one"));
  }
  if (options.rules.ether_type == kTypeTag) {
    return WrongValue("--ether_type", ether_type, "another; that is a tag's");
  }
  if (!mac_prefix.empty()) {
    const auto prefix = ParseValue(FieldKind::kMacPrefix, *known, std::string(mac_prefix));
    if (!prefix.has_value()) return WrongValue("--mac_prefix", mac_prefix, "A:B:C:D in hex");
    options.rules.mac_prefix = static_cast<uint32_t>(prefix->low);
  }
  if (input != "hex" && input != "pcap") return WrongValue("--input", input, "hex or pcap");
  if (output != "json" && output != "pcap") return WrongValue("--output", output, "json or pcap");
  if (input == "pcap") options.input = FrameFormat::kPcap;
  if (output == "pcap") options.files.format = FrameFormat::kPcap;
  if (!keys.empty()) {
    absl::StatusOr<std::unique_ptr<FrameOpener>> opener = OpenerOf(keys);
    if (!opener.ok()) return opener.status();
    options.opener = *std::move(opener);
  }
  return options;
}

class Decoder {
 public:
  Decoder(const FrameRules& rules, FrameOpener* opener, FrameOutput& output,
          InputErrors& complaints)
      : rules_(rules), opener_(opener), output_(output), complaints_(complaints) {}

  void ReadHex(FILE* in) {
    CharacterReader characters(in);
    LineReader lines(characters);
    std::string line;
    for (Piece piece = lines.Next(line); piece != Piece::kEnd; piece = lines.Next(line)) {
      const std::string place = StrCat("line ", lines.number());
      if (piece == Piece::kTooLong) {
        complaints_.Add(StrCat(place, ": longer than ", kMaxPieceBytes, " bytes"));
        continue;
      }
      const std::string_view text = std::string_view(line).substr(0, line.find('#'));
      const std::optional<Bytes> bytes = ParseHex(text);
      if (!bytes.has_value()) {
        complaints_.Add(StrCat(place, ": not hex"));
      } else if (!bytes->empty()) {
        Take(place, {.bytes = *bytes, .wire_bytes = static_cast<uint32_t>(bytes->size())});
      }
    }
  }

  void ReadCapture(FILE* in) {
    absl::StatusOr<CaptureReader> capture = CaptureReader::Open(in);
    if (!capture.ok()) return complaints_.Add(MessageOf(capture.status()));
    for (uint64_t number = 1;; ++number) {
      const std::string place = StrCat("frame ", number);
      const auto frame = capture->Next();
      if (!frame.ok()) {
        return complaints_.Add(StrCat(place, ": ", MessageOf(frame.status())));
      }
      if (!frame->has_value()) return;
      Take(place, **frame);
    }
  }

 private:
  void Take(std::string_view place, const CapturedFrame& frame) {
    if (frame.bytes.size() > kMaxFrameBytes) {
      return complaints_.Add(StrCat(place, ": ", frame.bytes.size(), " bytes; a frame has ",
                                    kMaxFrameBytes, " at most"));
    }
    const uint64_t time_ns = frame.time_ns.value_or(0);
    if (output_.takes_frames() && opener_ == nullptr) {
      return output_.WriteFrame(frame.bytes, time_ns);
    }
    FrameDescription description = DescribeFrame(rules_, frame.bytes, opener_);
    if (output_.takes_frames()) return WriteOpened(frame.bytes, description, time_ns);
    description.comment = frame.comment;
    if (frame.time_ns.has_value()) description.values.Set(Field::kTimeNs, *frame.time_ns);
    if (!description.error.empty() && frame.bytes.size() < frame.wire_bytes) {
      description.detail = StrCat("the capture has ", frame.bytes.size(), " of the frame's ",
                                  frame.wire_bytes, " bytes");
    }
    output_.WriteLine(FrameToJson(description));
  }

  // Writes the decrypted frame if the PDU was opened, otherwise the frame as captured.
  void WriteOpened(std::span<const uint8_t> bytes, const FrameDescription& description,
                   uint64_t time_ns) {
    if (description.sealed.has_value() && description.error.empty()) {
      if (const absl::StatusOr<Bytes> plain = MakeFrame(description); plain.ok()) {
        return output_.WriteFrame(*plain, time_ns);
      }
    }
    output_.WriteFrame(bytes, time_ns);
  }

  const FrameRules rules_;
  FrameOpener* const opener_;  // null: sealed PDUs stay closed
  FrameOutput& output_;
  InputErrors& complaints_;
};

}  // namespace

int RunFrameDecode(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err) {
  InputErrors complaints("frame decode", err);
  const absl::StatusOr<DecodeOptions> options = TakeDecodeOptions(arguments);
  if (!options.ok()) {
    complaints.Add(StrCat(MessageOf(options.status()), "; --help says more"));
    return kExitUsage;
  }
  if (options->help) {
    PrintDecodeHelp(out);
    return kExitDone;
  }
  return WorkOnFiles(options->files, in, out, complaints, [&](FILE* from, FrameOutput& output) {
    Decoder decoder(options->rules, options->opener.get(), output, complaints);
    if (options->input == FrameFormat::kPcap) {
      decoder.ReadCapture(from);
    } else {
      decoder.ReadHex(from);
    }
  });
}

}  // namespace suede::ctl
