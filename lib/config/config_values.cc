// SPDX-License-Identifier: Apache-2.0
#include "config/config_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/listen_address.h"
#include "base/numbers.h"
#include "base/socket_address.h"
#include "base/text.h"

namespace suede {
namespace {

using std::string_view;

string_view KindName(ConfigNode::Kind kind) {
  constexpr string_view kNames[] = {"no value", "a single value", "a list", "a map of keys"};
  return kNames[static_cast<size_t>(kind)];
}

constexpr string_view kRuleForm =
    "UID:XPU, UID:FIRST-LAST, either with .INSTANCE and with :VC,VC, as in [\"1000:3\", "
    "\"1001:4-7:0,1\", \"1002:3.1\"]";

// The texts and the bound of a list.
struct ListForm {
  string_view list = "a list";
  string_view entries = "entries";
  string_view form;
  size_t max;
};

template <class T>
Problem ReadList(const ConfigNode& node, const ListForm& list, const ValueLimits& limits,
                 std::vector<T>& out) {
  out.clear();
  if (node.kind == ConfigNode::Kind::kNull) return {};
  if (node.kind != ConfigNode::Kind::kList) {
    return StrCat(KindName(node.kind), " where ", list.list, " belongs; write ", list.form);
  }
  if (node.items.size() > list.max) {
    return StrCat(node.items.size(), " ", list.entries, "; use at most ", list.max);
  }
  for (const ConfigNode& item : node.items) {
    if (Problem p = ReadValue(item, limits, out.emplace_back()); !p.empty()) return p;
  }
  return {};
}

// Checks that the node is a scalar; `wanted`: the expected content, for messages.
Problem CheckScalar(const ConfigNode& node, string_view wanted) {
  if (node.kind == ConfigNode::Kind::kScalar) return {};
  return StrCat(KindName(node.kind), " where ", wanted, " belongs; write one, ",
                "or leave the key out for its default");
}

bool AllDigits(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Parses decimal digits without sign or leading zero.
bool ParseDecimal(string_view text, uint64_t& out) {
  if (text.size() > 1 && text[0] == '0') return false;
  const auto number = ParseNumber<uint64_t>(text);
  out = number.value_or(out);
  return number.has_value();
}

// Parses 0x and hexadecimal digits.
bool ParseHex(string_view text, uint64_t& out) {
  if (!text.starts_with("0x")) return false;
  const auto number = ParseNumber<uint64_t>(text.substr(2), UINT64_MAX, 16);
  out = number.value_or(out);
  return number.has_value();
}

Problem ReadOctal(const ConfigNode& node, const ValueLimits& limits, uint64_t& out) {
  if (Problem p = CheckScalar(node, "an octal mode"); !p.empty()) return p;
  const auto mode = ParseNumber<uint64_t>(node.text, limits.max, 8);
  if (!mode || node.text.size() > 4) {
    return absl::StrFormat("%s is not an octal mode; write 0000 to %04o, as in 0660",
                           Quoted(node.text), limits.max);
  }
  out = *mode;
  return {};
}

Problem CheckText(string_view text, const ValueLimits& limits) {
  if (text.size() < limits.min) return "empty; write a value";
  if (text.empty()) return {};
  if (text.size() > limits.max) {
    return StrCat(text.size(), " characters are too long; use at most ", limits.max);
  }
  if (limits.rule == TextRule::kName && (!std::all_of(text.begin(), text.end(), IsNameCharacter) ||
                                         text[0] == '.' || text[0] == '-')) {
    return StrCat(Quoted(text),
                  " is not a name; use letters, digits, _, - and . (no /), and begin with "
                  "a letter, digit or _");
  }
  if (!std::all_of(text.begin(), text.end(), absl::ascii_isprint)) {
    return StrCat(Quoted(text), " holds characters other than printable ASCII; replace them");
  }
  if (limits.rule == TextRule::kAbsolutePath && !text.empty() && text[0] != '/') {
    return StrCat(Quoted(text), " is not an absolute path; begin it with /");
  }
  if (limits.rule == TextRule::kListenAddress && !ParseListenAddress(text)) {
    return StrCat(Quoted(text),
                  " is not an address to listen at; use 127.0.0.1:PORT, another IPv4 "
                  "address of this machine, or \"\" for none");
  }
  if (limits.rule == TextRule::kSocketAddress && !ParseSocketAddress(text)) {
    return StrCat(Quoted(text),
                  " is not ADDRESS:PORT; write it as in 198.18.0.1:7420, an "
                  "IPv6 address as in \"[2001:db8::1]:7420\"");
  }
  return {};
}

// Parses exactly N bytes in hexadecimal, separated by colons.
template <size_t N>
bool ParseBytes(string_view text, std::array<uint8_t, N>& out) {
  bool good = text.size() == 3 * N - 1;
  for (size_t i = 0; good && i < N; ++i) {
    const auto byte = ParseNumber<uint8_t>(text.substr(3 * i, 2), 0xff, 16);
    good = byte && (i + 1 == N || text[3 * i + 2] == ':');
    out[i] = byte.value_or(0);
  }
  return good;
}

template <size_t N>
std::string FormatBytes(const std::array<uint8_t, N>& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    absl::StrAppendFormat(&text, "%s%02x", text.empty() ? "" : ":", byte);
  }
  return text;
}

bool ParseIpv4(string_view text, NetAddress& out) {
  const std::vector<std::string> parts = absl::StrSplit(TextPart(text), '.');
  out = {};
  for (const std::string& part : parts) {
    uint64_t byte = 0;
    if (!ParseDecimal(part, byte) || byte > 255) return false;
    out.low = out.low << 8 | byte;
  }
  return parts.size() == 4;
}

bool ParseIpv6(const std::string& text, NetAddress& out) {
  in6_addr bytes{};
  if (text.find('\0') != std::string::npos || inet_pton(AF_INET6, text.c_str(), &bytes) != 1) {
    return false;
  }
  out = {};
  for (size_t i = 0; i < 8; ++i) {
    out.high = out.high << 8 | bytes.s6_addr[i];
    out.low = out.low << 8 | bytes.s6_addr[8 + i];
  }
  return true;
}

std::string FormatIpv6(const NetAddress& ip) {
  in6_addr bytes{};
  for (size_t i = 0; i < 8; ++i) {
    bytes.s6_addr[i] = static_cast<uint8_t>(ip.high >> (56 - 8 * i));
    bytes.s6_addr[8 + i] = static_cast<uint8_t>(ip.low >> (56 - 8 * i));
  }
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, &bytes, text, sizeof(text));
  return text;
}

bool IsUnicastIpv6(const NetAddress& ip) {
  constexpr uint64_t kMapped = 0xffff;  // ::ffff:0:0/96 are IPv4 addresses
  if (ip.high >> 56 == 0xff) return false;
  return ip.high != 0 || (ip.low > 1 && ip.low >> 32 != kMapped);
}

}  // namespace

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

std::string JoinNames(std::span<const string_view> names) {
  if (names.size() < 2) return StrJoin(names, "");
  return StrCat(StrJoin(names.first(names.size() - 1), ", "), " or ", names.back());
}

std::string FormatIp(const IpText& ip) {
  if (ip.is_v6) return FormatIpv6(ip.value);
  const auto v4 = static_cast<uint32_t>(ip.value.low);
  return absl::StrFormat("%d.%d.%d.%d", v4 >> 24, v4 >> 16 & 255, v4 >> 8 & 255, v4 & 255);
}

std::string FormatMac(const MacAddress& mac) { return FormatBytes(mac); }

uint64_t MacNumber(const MacAddress& mac) {
  uint64_t number = 0;
  for (const uint8_t byte : mac) number = number << 8 | byte;
  return number;
}

std::optional<MacAddress> ParseMac(string_view text) {
  MacAddress mac{};
  return ParseBytes(text, mac) ? std::optional(mac) : std::nullopt;
}

std::string FormatText(string_view text) {
  return StrCat("\"", absl::StrReplaceAll(TextPart(text), {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

bool IsUnicast(const MacAddress& mac) { return (mac[0] & 1) == 0 && mac != MacAddress{}; }

Problem CheckUnicast(const IpText& ip) {
  const uint64_t first = ip.value.low >> 24;  // of IPv4
  const bool good = ip.is_v6 ? IsUnicastIpv6(ip.value) : first != 0 && first != 127 && first < 224;
  if (good) return {};
  return StrCat(FormatIp(ip), " cannot be an endpoint's address; use a unicast one, such as ",
                ip.is_v6 ? "2001:db8::1" : "198.18.0.1");
}

Problem ReadNumber(const ConfigNode& node, const ValueLimits& limits, uint64_t& out) {
  if (limits.octal) return ReadOctal(node, limits, out);
  if (Problem p = CheckScalar(node, "a whole number"); !p.empty()) return p;
  const std::string range =
      StrCat(*WriteNumber(limits.min, limits), " to ", *WriteNumber(limits.max, limits));
  const bool is_number =
      !node.quoted && (ParseDecimal(node.text, out) || (limits.hex && ParseHex(node.text, out)));
  if (!is_number && (node.quoted || !AllDigits(node.text) || node.text[0] == '0')) {
    const string_view mend = limits.hex ? "write decimal digits, or 0x and hexadecimal ones: "
                                        : "write decimal digits only: ";
    return StrCat(Quoted(node.text),
                  node.quoted ? string_view(" is in quotes; leave them out: ")
                              : string_view(" is not a whole number; "),
                  node.quoted ? string_view() : mend, range);
  }
  if (!is_number || out < limits.min || out > limits.max) {
    return StrCat(node.text.substr(0, 24), " is out of range; use ", range);
  }
  if (limits.power_of_two && (out & (out - 1)) != 0) {
    uint64_t below = 1;
    while (below * 2 < out) below *= 2;
    return StrCat(out, " is not a power of two; use ", below, " or ", below * 2);
  }
  return {};
}

Problem ReadName(const ConfigNode& node, std::span<const string_view> names, size_t& index) {
  const std::string choice = JoinNames(names);
  if (Problem p = CheckScalar(node, choice); !p.empty()) return p;
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (found != names.end()) {
    index = static_cast<size_t>(found - names.begin());
    return {};
  }
  return StrCat(Quoted(node.text), " is unknown; use ", choice);
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::string& out) {
  if (Problem p = CheckScalar(node, "a text"); !p.empty()) return p;
  if (Problem p = CheckText(node.text, limits); !p.empty()) return p;
  out = node.text;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits,
                  std::vector<std::string>& out) {
  return ReadList(node, {.form = "[\"--a\", \"--b\"]", .max = 1024}, limits, out);
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, ClientRule& out) {
  if (Problem p = CheckScalar(node, "a rule"); !p.empty()) return p;
  const std::optional<ClientRule> rule = ParseClientRule(node.text);
  if (!rule) return StrCat(Quoted(node.text), " is not a rule; write ", kRuleForm);
  out = *rule;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<ClientRule>& out) {
  return ReadList(node,
                  {.list = "a list of rules", .entries = "rules", .form = kRuleForm, .max = 1024},
                  limits, out);
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Duration& out) {
  uint64_t us = 0;
  if (Problem p = ReadNumber(node, limits, us); !p.empty()) return p;
  out = std::chrono::microseconds(static_cast<int64_t>(us));
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, MacAddress& out) {
  if (Problem p = CheckScalar(node, "a MAC address"); !p.empty()) return p;
  MacAddress mac{};
  if (!ParseBytes(node.text, mac)) {
    return StrCat(Quoted(node.text),
                  " is not a MAC address; write six bytes as in 02:00:00:00:00:01");
  }
  if (!IsUnicast(mac)) {
    return StrCat(FormatMac(mac),
                  mac == MacAddress{} ? " is no address" : " is a multicast MAC address",
                  "; use a unicast one, such as 02:00:00:00:00:01");
  }
  out = mac;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, ConfigMacPrefix& out) {
  if (Problem p = CheckScalar(node, "four bytes of a MAC address"); !p.empty()) return p;
  ConfigMacPrefix prefix{};
  if (!ParseBytes(node.text, prefix)) {
    return StrCat(Quoted(node.text),
                  " is not the start of a MAC address; write four bytes as in 02:53:55:45");
  }
  if ((prefix[0] & 1) != 0 || prefix == ConfigMacPrefix{}) {
    return StrCat(FormatBytes(prefix),
                  prefix == ConfigMacPrefix{} ? " makes no address of forwarding address 0"
                                              : " makes multicast MAC addresses",
                  "; use a first byte that is even and not 0, as in 02:53:55:45");
  }
  out = prefix;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, IpText& out) {
  if (Problem p = CheckScalar(node, "an IP address"); !p.empty()) return p;
  IpText ip{.is_v6 = node.text.find(':') != std::string::npos, .value = {}};
  if (!(ip.is_v6 ? ParseIpv6(node.text, ip.value) : ParseIpv4(node.text, ip.value))) {
    return StrCat(Quoted(node.text),
                  ip.is_v6
                      ? " is not an IPv6 address; write hexadecimal groups, as in 2001:db8::1"
                      : " is not an IP address; write four numbers as in 198.18.0.1, or IPv6's "
                        "groups as in \"2001:db8::1\"");
  }
  if (Problem p = CheckUnicast(ip); !p.empty()) return p;
  out = ip;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, XpuRange& out) {
  if (Problem p = CheckScalar(node, "a range of XPU ids"); !p.empty()) return p;
  const std::vector<std::string> parts = absl::StrSplit(node.text, absl::MaxSplits('-', 1));
  uint64_t first = 0;
  uint64_t last = 0;
  if (parts.size() != 2 || !ParseDecimal(parts[0], first) || !ParseDecimal(parts[1], last)) {
    return StrCat(Quoted(node.text),
                  " is not a range; write FIRST-LAST as in 0-15, or xpu: for a single id");
  }
  if (first > limits.max || last > limits.max) {
    return StrCat(node.text, " is out of range; XPU ids are 0 to ", limits.max);
  }
  if (first > last) {
    return StrCat(node.text, " is reversed; write ", last, "-", first);
  }
  out = {.first = static_cast<uint32_t>(first), .last = static_cast<uint32_t>(last)};
  return {};
}

Written WriteNumber(uint64_t value, const ValueLimits& limits) {
  if (limits.hex) return absl::StrFormat("0x%04X", value);
  return limits.octal ? absl::StrFormat("%04o", value) : StrCat(value);
}
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Decimal& out) {
  double value = 0;
  if (node.kind != ConfigNode::Kind::kScalar || !absl::SimpleAtod(TextPart(node.text), &value) ||
      !std::isfinite(value)) {
    return StrCat(Quoted(node.text), " is no number; write ", limits.min, " to ", limits.max,
                  ", as in 0.01");
  }
  if (value < static_cast<double>(limits.min) || value > static_cast<double>(limits.max)) {
    return StrCat(node.text, " is out of range; use ", limits.min, " to ", limits.max);
  }
  out.value = value;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<uint32_t>& out) {
  return ReadList(node, {.form = "[0, 1]", .max = 4096}, limits, out);
}

Written WriteValue(const Decimal& value, const ValueLimits&) {
  return absl::StrFormat("%.10g", value.value);
}
Written WriteValue(const std::vector<uint32_t>& value, const ValueLimits&) {
  return StrCat("[", StrJoin(value, ", "), "]");
}

Written WriteValue(const std::string& value, const ValueLimits&) { return FormatText(value); }
Written WriteValue(const std::vector<std::string>& value, const ValueLimits&) {
  std::vector<std::string> quoted;
  for (const std::string& item : value) quoted.push_back(FormatText(item));
  return StrCat("[", StrJoin(quoted, ", "), "]");
}
Written WriteValue(const std::vector<ClientRule>& value, const ValueLimits& limits) {
  std::vector<std::string> texts;
  for (const ClientRule& rule : value) texts.push_back(rule.text());
  return WriteValue(texts, limits);
}
Written WriteValue(const Duration& value, const ValueLimits&) {
  return StrCat(std::chrono::duration_cast<std::chrono::microseconds>(value).count());
}
Written WriteValue(const MacAddress& value, const ValueLimits&) {
  return FormatText(FormatMac(value));  // other YAML parsers read 10:20:30:40:50:59 as a number
}
Written WriteValue(const ConfigMacPrefix& value, const ValueLimits&) {
  return FormatText(FormatBytes(value));
}
Written WriteValue(const IpText& value, const ValueLimits&) {
  // Quoted, because YAML would read the last colon of 2001:db8:: as that of a key.
  return value.is_v6 ? FormatText(FormatIp(value)) : FormatIp(value);
}
Written WriteValue(const XpuRange& value, const ValueLimits&) {
  return StrCat(value.first, "-", value.last);
}

}  // namespace suede
