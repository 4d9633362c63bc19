// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "base/big_endian.h"
#include "base/sue.h"
#include "suedectl/frame_text.h"
#include "wire/command.h"
#include "wire/control_fields.h"

namespace suede::ctl {
namespace {

using Json = nlohmann::json;                // for input: lookup by name
using OutputJson = nlohmann::ordered_json;  // for output: keeps the order of members

// Names of the messages, in the order of ControlMessage.
constexpr std::string_view kMessages[] = {"ready",          "not_ready", "credit", "congestion",
                                          "session_number", "hello",     "plane",  "fence",
                                          "fenced",         "path",      "repair"};
static_assert(std::size(kMessages) == std::variant_size_v<ControlMessage>);

constexpr std::string_view kPlaneStates[] = {"down", "init", "up"};  // indexed by PlaneState

// Calls visit(name, label, place, field) for each field of a message.
template <class Message>
void VisitMessage(Message& m, const auto& visit) {
  visit("identity", "", ControlPlace{.at = 0, .min = 1}, m.identities.own);
  visit("peer_identity", "", ControlPlace{.at = 8}, m.identities.peer);
  VisitControlFields(m, visit);
}

// Returns the largest number in a field.
template <class Field>
uint64_t MaxIn(const ControlPlace& place, const Field&) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  return std::min({place.max, place.mask(), kAll >> (64 - 8 * ControlValue<Field>::kBytes)});
}

constexpr std::string_view kUseType =
    "; use hello, not_ready, ready, plane, fence, fenced, credit, congestion, session_number, path "
    "or "
    "repair";

// ---- Writing.

OutputJson ValueJson(const FieldRow& row, Encap encap, const NetAddress& value) {
  if (row.kind == FieldKind::kNumber) return value.low;
  if (row.kind == FieldKind::kFlag) return value.low != 0;
  return FormatValue(row.kind, encap, value);
}

OutputJson CommandsJson(const std::vector<FrameCommand>& commands) {
  OutputJson array = OutputJson::array();
  for (const FrameCommand& command : commands) {
    OutputJson object = {{"control", ToHex(command.control)}};
    if (!command.data.empty()) object["data"] = ToHex(command.data);
    array.push_back(std::move(object));
  }
  return array;
}

template <class Number>
OutputJson FieldJson(Number field) {
  return field;
}
// Writes 64 bits as hex, since many JSON parsers lack 64-bit integers.
OutputJson FieldJson(uint64_t number) {
  uint8_t bytes[8];
  StoreBe64(bytes, number);
  return ToHex(bytes);
}
OutputJson FieldJson(Psn psn) { return psn.value(); }
OutputJson FieldJson(PlaneState state) { return kPlaneStates[static_cast<size_t>(state)]; }
template <class Value, size_t kSize>
OutputJson FieldJson(const std::array<Value, kSize>& values) {
  OutputJson array = OutputJson::array();
  for (const Value value : values) array.push_back(FieldJson(value));
  return array;
}

OutputJson FieldJson(const MorePsns& more) {
  OutputJson array = OutputJson::array();
  for (uint32_t i = 0; i < more.count; ++i) array.push_back(FieldJson(more.psns[i]));
  return array;
}

OutputJson FieldJson(const PsnMarks& marks) {
  OutputJson array = OutputJson::array();
  for (uint32_t i = 0; i < marks.count; ++i) {
    array.push_back(FieldJson(marks.words[i].received));
    array.push_back(FieldJson(marks.words[i].wanted));
  }
  return array;
}

OutputJson ControlJson(const ControlPdu& control) {
  OutputJson object = OutputJson::object();
  if (control.message.has_value()) {
    object["type"] = kMessages[control.message->index()];
    std::visit(
        [&object](const auto& message) {
          VisitMessage(message, [&object](const char* name, auto, auto, const auto& field) {
            object[name] = FieldJson(field);
          });
        },
        *control.message);
  }
  if (!control.bytes.empty()) object["bytes"] = ToHex(control.bytes);
  return object;
}

OutputJson SealedJson(const SealedPdu& sealed) {
  const SealShim& shim = sealed.shim;
  OutputJson object = {{"form", shim.hello ? "H" : "S"}, {"secret_id", shim.secret_id}};
  if (shim.hello) {
    object["cipher"] = shim.cipher;
    object["identity"] = FieldJson(shim.identity);
  } else {
    object["epoch"] = sealed.epoch;
    object["echo"] = shim.echo;
    object["stream"] = shim.number.stream();
  }
  object["packet_number"] = FieldJson(shim.number.value());
  object["tag"] = ToHex(sealed.tag);
  return object;
}

// ---- Reading.

// Returns a value for an error message: short and printable; for arrays and objects, whose depth is
// unbounded, only the type.
std::string Quoted(const Json& value) {
  constexpr size_t kMaxChars = 48;
  if (value.is_structured()) return StrCat("an ", value.type_name());
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  if (text.size() > kMaxChars) text = text.substr(0, kMaxChars) + "...";
  return text;
}

absl::StatusOr<uint64_t> ReadNumber(std::string_view name, const Json& value, uint64_t min,
                                    uint64_t max) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number >= min && number <= max) return number;
  }
  return Wrong(name, ": ", Quoted(value), "; use ", min, " to ", max);
}

absl::StatusOr<uint64_t> ReadFlag(std::string_view name, const Json& value) {
  if (!value.is_boolean()) return Wrong(name, ": ", Quoted(value), "; use true or false");
  return value.get<bool>() ? 1 : 0;
}

absl::StatusOr<Bytes> ReadHex(std::string_view name, const Json& value) {
  if (value.is_string()) {
    std::optional<Bytes> bytes = ParseHex(value.get_ref<const std::string&>());
    if (bytes.has_value()) return *std::move(bytes);
  }
  return Wrong(name, ": ", Quoted(value), " is not hex");
}

std::string_view TextShape(FieldKind kind) {
  if (kind == FieldKind::kMac) return "a MAC address, 02:00:00:00:00:01";
  if (kind == FieldKind::kMacPrefix) return "4 bytes, 02:53:55:45";
  return "an IP address of the encapsulation's kind";
}

absl::Status ReadField(const FieldRow& row, Encap encap, const Json& value, FieldValues& values) {
  if (row.kind == FieldKind::kNumber || row.kind == FieldKind::kFlag) {
    const absl::StatusOr<uint64_t> number =
        row.kind == FieldKind::kFlag ? ReadFlag(row.name, value)
                                     : ReadNumber(row.name, value, row.min, MaxOf(row, encap));
    if (!number.ok()) return number.status();
    values.Set(row.field, *number);
    return absl::OkStatus();
  }
  if (value.is_string()) {
    const auto parsed = ParseValue(row.kind, encap, value.get_ref<const std::string&>());
    if (parsed.has_value()) {
      values.Set(row.field, *parsed);
      return absl::OkStatus();
    }
  }
  return Wrong(row.name, ": ", Quoted(value), "; use ", TextShape(row.kind));
}

absl::Status CheckCommand(std::string_view place, const FrameCommand& command) {
  const size_t control_bytes = command.control.size();
  if (control_bytes < 2) return Wrong(place, ".control: has a type and a length byte at least");
  const CommandShape shape = ReadCommandShape(command.control[0], command.control[1]);
  if (shape.control_bytes == 0) {
    return Wrong(place, ".control: a control length of ", command.control[0] & 15,
                 " units in the first byte; 1 to 9 are possible");
  }
  if (shape.control_bytes != control_bytes) {
    return Wrong(place, ".control: ", control_bytes, " bytes, and the first one says ",
                 shape.control_bytes);
  }
  if (shape.data_bytes != command.data.size()) {
    return Wrong(place, ".data: ", command.data.size(), " bytes, and the control says ",
                 shape.data_bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<FrameCommand> ReadCommand(std::string_view place, const Json& object) {
  if (!object.is_object()) return Wrong(place, ": not an object");
  FrameCommand command;
  for (const auto& [key, value] : object.items()) {
    if (key != "control" && key != "data") {
      return Wrong(place, ": ", Quoted(key), " is no field of a command");
    }
    absl::StatusOr<Bytes> bytes = ReadHex(StrCat(place, ".", key), value);
    if (!bytes.ok()) return bytes.status();
    (key == "control" ? command.control : command.data) = *std::move(bytes);
  }
  if (absl::Status status = CheckCommand(place, command); !status.ok()) return status;
  return command;
}

absl::Status ReadCommands(const Json& array, FrameDescription& out) {
  if (!array.is_array()) return Wrong("commands: not an array");
  std::vector<FrameCommand>& commands = out.commands.emplace();
  for (const Json& object : array) {
    absl::StatusOr<FrameCommand> command =
        ReadCommand(StrCat("commands[", commands.size(), "]"), object);
    if (!command.ok()) return command.status();
    commands.push_back(*std::move(command));
  }
  return absl::OkStatus();
}

// Reads the value of a message's field.
template <class Number>
absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      Number& field) {
  const absl::StatusOr<uint64_t> number =
      std::is_same_v<Number, bool> ? ReadFlag(place, value) : ReadNumber(place, value, min, max);
  if (number.ok()) field = static_cast<Number>(*number);
  return number.status();
}

absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      Psn& field) {
  uint16_t number = 0;
  absl::Status status = ReadInto(place, value, min, max, number);
  field = Psn(number);
  return status;
}

absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t,
                      uint64_t& field) {
  const absl::StatusOr<Bytes> bytes = ReadHex(place, value);
  if (bytes.ok() && bytes->size() == sizeof field) {
    field = LoadBe64(bytes->data());
    if (field >= min) return absl::OkStatus();
  }
  return Wrong(place, ": ", Quoted(value), "; use 16 hex digits", min == 0 ? "" : ", not all 0");
}

template <class Value, size_t kSize>
absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      std::array<Value, kSize>& field) {
  if (!value.is_array() || value.size() != field.size()) {
    return Wrong(place, ": ", Quoted(value), "; use an array of ", field.size(),
                 std::is_same_v<Value, Psn> ? " PSNs" : " numbers");
  }
  for (size_t vc = 0; vc < field.size(); ++vc) {
    const absl::Status status =
        ReadInto(StrCat(place, "[", vc, "]"), value[vc], min, max, field[vc]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      MorePsns& field) {
  if (!value.is_array() || value.size() > MorePsns::kMax) {
    return Wrong(place, ": ", Quoted(value), "; use an array of up to ", MorePsns::kMax, " PSNs");
  }
  field.count = static_cast<uint8_t>(value.size());
  for (uint32_t i = 0; i < field.count; ++i) {
    absl::Status status = ReadInto(StrCat(place, "[", i, "]"), value[i], min, max, field.psns[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      PsnMarks& field) {
  if (!value.is_array() || value.size() % 2 != 0 || value.size() > 2 * kPsnWords) {
    return Wrong(place, ": ", Quoted(value), "; use an array of up to ", kPsnWords,
                 " pairs of words");
  }
  field.count = static_cast<uint8_t>(value.size() / 2);
  for (uint32_t i = 0; i < value.size(); ++i) {
    PsnMarks::Word& word = field.words[i / 2];
    absl::Status status = ReadInto(StrCat(place, "[", i, "]"), value[i], min, max,
                                   i % 2 == 0 ? word.received : word.wanted);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadInto(std::string_view place, const Json& value, uint64_t min, uint64_t max,
                      PlaneState& field) {
  for (uint64_t state = min; state <= max; ++state) {
    if (value == kPlaneStates[state]) {
      field = static_cast<PlaneState>(state);
      return absl::OkStatus();
    }
  }
  return Wrong(place, ": ", Quoted(value), "; use down, init or up");
}

// Reads the fields of the message of the type from `object`. Rejects other members.
template <size_t kIndex = 0>
absl::StatusOr<ControlMessage> ReadMessage(const Json& object, const Json& type) {
  if constexpr (kIndex == std::size(kMessages)) {
    return Wrong("control_pdu.type: ", Quoted(type), kUseType);
  } else {
    if (type != kMessages[kIndex]) return ReadMessage<kIndex + 1>(object, type);
    std::variant_alternative_t<kIndex, ControlMessage> message;
    message.identities = {.own = 1, .peer = 0};  // 0 is malformed, here and as a nonce
    if constexpr (requires { message.nonce; }) message.nonce = 1;
    absl::Status status;
    size_t known = object.count("type") + object.count("bytes");
    VisitMessage(message, [&](const char* name, auto, const ControlPlace& at, auto& field) {
      const auto member = object.find(name);
      if (member == object.end()) return;
      ++known;
      status.Update(
          ReadInto(StrCat("control_pdu.", name), *member, at.min, MaxIn(at, field), field));
    });
    if (!status.ok()) return status;
    if (known == object.size()) return message;
    return Wrong("control_pdu: has a field that is none of ", kMessages[kIndex]);
  }
}

absl::Status ReadControl(const Json& object, FrameDescription& out) {
  if (!object.is_object()) return Wrong("control_pdu: not an object");
  ControlPdu& control = out.control_pdu.emplace();
  const auto bytes = object.find("bytes");
  if (bytes != object.end()) {
    absl::StatusOr<Bytes> read = ReadHex("control_pdu.bytes", *bytes);
    if (!read.ok()) return read.status();
    control.bytes = *std::move(read);
  }
  const auto type = object.find("type");
  if (type == object.end()) {
    if (bytes != object.end() && object.size() == 1) return absl::OkStatus();
    return Wrong("control_pdu.type: missing", kUseType);
  }
  const absl::StatusOr<ControlMessage> message = ReadMessage(object, *type);
  if (message.ok()) control.message = *message;
  return message.status();
}

absl::Status ReadTrailing(const Json& value, FrameDescription& out) {
  absl::StatusOr<Bytes> bytes = ReadHex("trailing", value);
  if (bytes.ok()) out.trailing = *std::move(bytes);
  return bytes.status();
}

absl::Status ReadMember(const std::string& key, const Json& value, FrameDescription& out) {
  if (key == "encap" || key == "frame" || key == "sealed") return absl::OkStatus();
  if (key == "commands") return ReadCommands(value, out);
  if (key == "control_pdu") return ReadControl(value, out);
  if (key == "trailing") return ReadTrailing(value, out);
  if (key == "error") return Wrong("error: decode refused this frame: ", Quoted(value));
  if (key == "detail" || key == "comment") return absl::OkStatus();
  for (const FieldRow& row : FieldRows()) {
    if (row.name != key) continue;
    return row.In(out.encap) ? ReadField(row, out.encap, value, out.values) : absl::OkStatus();
  }
  return Wrong(Quoted(key), ": there is no such field");
}

}  // namespace

std::string FrameToJson(const FrameDescription& description) {
  OutputJson object = {{"encap", EncapName(description.encap)}};
  for (const FieldRow& row : FieldRows()) {
    const auto& value = description.values[row.field];
    if (!value.has_value()) continue;
    object[std::string(row.name)] = ValueJson(row, description.encap, *value);
  }
  if (description.commands.has_value()) object["commands"] = CommandsJson(*description.commands);
  if (description.control_pdu.has_value()) {
    object["control_pdu"] = ControlJson(*description.control_pdu);
  }
  if (description.sealed.has_value()) object["sealed"] = SealedJson(*description.sealed);
  if (!description.trailing.empty()) object["trailing"] = ToHex(description.trailing);
  if (!description.error.empty()) object["error"] = description.error;
  if (!description.detail.empty()) object["detail"] = description.detail;
  if (!description.comment.empty()) object["comment"] = description.comment;
  return object.dump();
}

absl::StatusOr<FrameDescription> FrameFromJson(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Wrong("not JSON");
  if (!object.is_object()) return Wrong("not a JSON object");
  const auto named = object.find("encap");
  const std::optional<Encap> encap = named != object.end() && named->is_string()
                                         ? ParseEncap(named->get_ref<const std::string&>())
                                         : std::nullopt;
  if (!encap.has_value()) {
    return Wrong("encap: ", named == object.end() ? "missing" : Quoted(*named), "; use ",
                 JoinEncaps(kEveryEncap, ", ", " or "));
  }
  FrameDescription description{.encap = *encap};
  for (const auto& [key, value] : object.items()) {
    if (absl::Status status = ReadMember(key, value, description); !status.ok()) return status;
  }
  return description;
}

}  // namespace suede::ctl
