// SPDX-License-Identifier: Apache-2.0
// The members of a vector are those that docs/axi.md names.
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "absl/strings/escaping.h"
#include "vectors.h"

namespace suede::axi {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBursts[] = {"FIXED", "INCR", "WRAP"};
constexpr const char* kResponses[] = {"OKAY", "EXOKAY", "SLVERR", "DECERR"};
constexpr std::pair<Status, const char*> kStatuses[] = {{Status::kOk, "OK"},
                                                        {Status::kBusy, "BUSY"},
                                                        {Status::kMalformed, "MALFORMED"},
                                                        {Status::kReset, "RESET"}};
constexpr std::pair<Outcome, const char*> kOutcomes[] = {{Outcome::kComplete, "transaction"},
                                                         {Outcome::kMalformed, "malformed"},
                                                         {Outcome::kForeign, "foreign"}};

template <size_t kCount>
uint8_t NumberOf(const char* const (&names)[kCount], const std::string& name) {
  for (uint8_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return i;
  }
  throw std::runtime_error("unknown name " + name);
}

template <typename Value, size_t kCount>
const char* NameOf(const std::pair<Value, const char*> (&names)[kCount], Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

template <typename Value, size_t kCount>
Value ValueOf(const std::pair<Value, const char*> (&names)[kCount], const std::string& name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  throw std::runtime_error("unknown name " + name);
}

std::string Hex(std::span<const uint8_t> octets) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(octets.data()), octets.size()});
}

Bytes FromHex(const Json& hex) {
  const std::string octets = absl::HexStringToBytes(hex.get<std::string>());
  return {octets.begin(), octets.end()};
}

std::string HexWord(uint64_t word) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(word));
  return digits.data();
}

// 128 bits, the most significant digit first.
std::string HexUser(const uint64_t user[2]) { return HexWord(user[1]) + HexWord(user[0]); }

void UserFromHex(const Json& hex, uint64_t user[2]) {
  const auto digits = hex.get<std::string>();
  user[1] = std::stoull(digits.substr(0, 16), nullptr, 16);
  user[0] = std::stoull(digits.substr(16), nullptr, 16);
}

Json FromAddress(const Address& address) {
  return {{"address", HexWord(address.address)},
          {"id", address.id},
          {"len", address.len},
          {"size", address.size},
          {"burst", kBursts[address.burst]},
          {"lock", address.lock},
          {"cache", address.cache},
          {"prot", address.prot},
          {"qos", address.qos},
          {"region", address.region},
          {"user", HexUser(address.user)}};
}

Address ToAddress(const Json& json) {
  Address address = {.address = std::stoull(json["address"].get<std::string>(), nullptr, 16),
                     .id = json["id"],
                     .len = json["len"],
                     .size = json["size"],
                     .burst = NumberOf(kBursts, json["burst"]),
                     .lock = json["lock"],
                     .cache = json["cache"],
                     .prot = json["prot"],
                     .qos = json["qos"],
                     .region = json["region"]};
  UserFromHex(json["user"], address.user);
  return address;
}

Json FromBeats(const Transaction& transaction) {
  Json beats = Json::array();
  const uint32_t bus_bytes = transaction.bus_bytes;
  for (const WriteBeat& beat : transaction.write_beats) {
    const std::string strobes = HexUser(beat.strobes);
    beats.push_back({{"data", Hex({beat.data, bus_bytes})},
                     {"strobes", strobes.substr(strobes.size() - bus_bytes / 4)},
                     {"user", beat.user}});
  }
  for (const ReadBeat& beat : transaction.read_beats) {
    beats.push_back({{"data", Hex({beat.data, bus_bytes})},
                     {"response", kResponses[beat.response]},
                     {"user", beat.user}});
  }
  return beats;
}

void ToBeats(const Json& json, Transaction& transaction) {
  for (const Json& beat : json) {
    const Bytes data = FromHex(beat["data"]);
    if (transaction.is_answer) {
      ReadBeat read = {.user = beat["user"], .response = NumberOf(kResponses, beat["response"])};
      std::ranges::copy(data, read.data);
      transaction.read_beats.push_back(read);
      continue;
    }
    WriteBeat written = {.user = beat["user"]};
    std::ranges::copy(data, written.data);
    const auto digits = beat["strobes"].get<std::string>();
    UserFromHex(std::string(32 - digits.size(), '0') + digits, written.strobes);
    transaction.write_beats.push_back(written);
  }
}

bool HasBeats(const Transaction& transaction) {
  return !transaction.write_beats.empty() || !transaction.read_beats.empty();
}

Json FromVector(const Vector& vector) {
  const Transaction& transaction = vector.transaction;
  const bool is_read = transaction.direction == Direction::kRead;
  const bool is_complete = vector.outcome == Outcome::kComplete;
  Json json = {
      {"name", vector.name},
      {"kind", std::string(is_read ? "read" : "write") + (transaction.is_answer ? "_answer" : "")},
      {"expected", NameOf(kOutcomes, vector.outcome)}};
  if (is_complete) json["number"] = transaction.number;
  if (transaction.is_answer ? is_read : is_complete) {
    json["request"] = FromAddress(transaction.address);
  }
  if (is_complete && transaction.is_answer) {
    json["status"] = NameOf(kStatuses, transaction.status);
    json["response"] = kResponses[transaction.response];
    if (!is_read) json["user"] = HexUser(transaction.user);
  }
  if (is_complete && HasBeats(transaction)) {
    json["width"] = transaction.bus_bytes * 8;
    json["beat_user_octets"] = transaction.beat_user_bytes;
    json["beats"] = FromBeats(transaction);
  }
  json["commands"] = Json::array();
  for (const Coded& command : vector.commands) {
    json["commands"].push_back(
        {{"control", ToHex(command.control)}, {"data", ToHex(command.data)}});
  }
  return json;
}

Vector ToVector(const Json& json) {
  Vector vector = {.name = json["name"], .outcome = ValueOf(kOutcomes, json["expected"])};
  Transaction& transaction = vector.transaction;
  const auto kind = json["kind"].get<std::string>();
  transaction.direction = kind.starts_with("read") ? Direction::kRead : Direction::kWrite;
  transaction.is_answer = kind.ends_with("_answer");
  transaction.number = json.value("number", 0u);
  if (json.contains("request")) transaction.address = ToAddress(json["request"]);
  if (json.contains("status")) {
    transaction.status = ValueOf(kStatuses, json["status"]);
    transaction.response = NumberOf(kResponses, json["response"]);
  }
  if (json.contains("user")) UserFromHex(json["user"], transaction.user);
  if (json.contains("beats")) {
    transaction.bus_bytes = json["width"].get<uint32_t>() / 8;
    transaction.beat_user_bytes = json["beat_user_octets"];
    ToBeats(json["beats"], transaction);
  }
  for (const Json& command : json["commands"]) {
    vector.commands.push_back(
        {.control = FromHex(command["control"]), .data = FromHex(command["data"])});
  }
  return vector;
}

}  // namespace

std::string ToHex(const Bytes& octets) { return Hex(octets); }

std::string ToJson(const std::vector<Vector>& vectors) {
  std::string text = "[";
  for (const Vector& vector : vectors) {
    text += (text == "[" ? "\n" : ",\n") + FromVector(vector).dump();
  }
  return text + "\n]\n";
}

std::vector<Vector> FromJson(const std::string& text) {
  std::vector<Vector> vectors;
  for (const Json& json : Json::parse(text)) vectors.push_back(ToVector(json));
  return vectors;
}

}  // namespace suede::axi
