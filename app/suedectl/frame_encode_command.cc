// SPDX-License-Identifier: Apache-2.0
// suedectl frame encode: frames from JSON, to hex or a capture.
#include <string>

#include "suedectl/frame_arguments.h"
#include "suedectl/frame_commands.h"
#include "suedectl/frame_files.h"
#include "suedectl/frame_input.h"
#include "suedectl/frame_json.h"
#include "suedectl/frame_text.h"
#include "suedectl/wrap_text.h"

namespace suede::ctl {
namespace {

constexpr char kEncodeHelpHead[] =
    "suedectl frame encode: makes frames from JSON objects\n"
    "\n"
    "usage: suedectl frame encode [--output hex|pcap] [-o FILE] [FILE]\n"
    "\n"
    "  --output hex|pcap  hex: a frame a line (default)\n"
    "                     pcap: a capture with nanoseconds\n"
    "  -o FILE            writes there and not to standard output\n"
    "\n"
    "FILE is standard input where it is missing or '-'. It has an object a line, as decode prints\n"
    "them, or one array of objects. \"encap\" says which encapsulation, other fields may be\n"
    "missing:\n"
    "\n";

void PrintEncodeHelp(FILE* out) {
  std::fputs(kEncodeHelpHead, out);
  for (const FieldRow& row : FieldRows()) {
    const std::string name(row.name);
    constexpr size_t kIndent = 16;
    const auto wrapped = [](const std::string& text) {
      return WrapText(text, kIndent, kIndent, kTextColumns);
    };
    const std::string range =
        StrCat(RangeOf(row), "; default: ", row.fallback,
               "; in: ", row.encaps == kEveryEncap ? "all" : JoinEncaps(row.encaps, " ", " "));
    std::fprintf(out, "  %-13s %s\n%s%s\n", name.c_str(),
                 wrapped(std::string(row.sentence)).c_str(), std::string(kIndent, ' ').c_str(),
                 wrapped(range).c_str());
  }
  const EncapSet lengths = EncapsWith([](const EncapTraits& traits) { return traits.has_length; });
  std::fprintf(
      out,
      "\n"
      "  commands      [{\"control\": HEX, \"data\": HEX}, ...]\n"
      "                the control with its type and length bytes; default: none\n"
      "  control_pdu   {\"type\": \"hello\" | \"not_ready\" | \"ready\" | \"plane\" | \"fence\" |\n"
      "                \"fenced\" | \"credit\" | \"congestion\" | \"session_number\" | \"path\", "
      "its fields}\n"
      "                in place of commands\n"
      "  trailing      HEX behind the PDU; %s\n"
      "  frame         ignored, as are fields of other encapsulations\n"
      "\n"
      "Exit codes: 0 done; 1 input or output failed; 2 usage, or an object that makes no frame: "
      "its\n"
      "number and field are named, and the rest is made.\n",
      JoinEncaps(lengths, ", ", ", ").c_str());
}

struct EncodeOptions {
  bool help = false;
  FileChoice files;
};

absl::StatusOr<EncodeOptions> TakeEncodeOptions(std::span<const std::string_view> arguments) {
  EncodeOptions options;
  std::string_view output = "hex";
  const Flag flags[] = {{"output", &output}, {"o", &options.files.output}};
  const absl::StatusOr<Given> given = TakeArguments(arguments, flags);
  if (!given.ok()) return given.status();
  options.help = given->help;
  options.files.input = given->file;
  if (output != "hex" && output != "pcap") {
    return Wrong("--output: '", output, "'; use hex or pcap");
  }
  if (output == "pcap") options.files.format = FrameFormat::kPcap;
  return options;
}

absl::Status EncodeObject(std::string_view text, FrameOutput& output) {
  const absl::StatusOr<FrameDescription> description = FrameFromJson(text);
  if (!description.ok()) return description.status();
  const absl::StatusOr<Bytes> frame = MakeFrame(*description);
  if (!frame.ok()) return frame.status();
  output.WriteFrame(*frame, description->values.WordOr(Field::kTimeNs, 0));
  return absl::OkStatus();
}

void EncodeAll(FILE* in, FrameOutput& output, InputErrors& complaints) {
  ObjectReader objects(in);
  std::string text;
  while (true) {
    const Piece piece = objects.Next(text);
    if (piece == Piece::kEnd) return;
    if (piece == Piece::kUnfinished) return complaints.Add("the array of objects does not end");
    if (piece == Piece::kLeftOver) return complaints.Add("something follows the array of objects");
    const std::string place =
        StrCat("object ", objects.number(), " in line ", objects.line(), ": ");
    if (piece == Piece::kTooLong) {
      complaints.Add(StrCat(place, "longer than ", kMaxPieceBytes, " bytes"));
      continue;
    }
    const absl::Status status = EncodeObject(text, output);
    if (!status.ok()) complaints.Add(StrCat(place, MessageOf(status)));
  }
}

}  // namespace

int RunFrameEncode(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err) {
  InputErrors complaints("frame encode", err);
  const absl::StatusOr<EncodeOptions> options = TakeEncodeOptions(arguments);
  if (!options.ok()) {
    complaints.Add(StrCat(MessageOf(options.status()), "; --help says more"));
    return kExitUsage;
  }
  if (options->help) {
    PrintEncodeHelp(out);
    return kExitDone;
  }
  return WorkOnFiles(options->files, in, out, complaints,
                     [&](FILE* from, FrameOutput& output) { EncodeAll(from, output, complaints); });
}

}  // namespace suede::ctl
