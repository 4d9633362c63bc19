#include "control/config_values.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "control/config_text.h"

namespace suede {
namespace {

using std::string_view;

constexpr string_view kHugepages[] = {"auto", "on", "off"};
constexpr string_view kIdles[] = {"spin", "yield", "sleep"};
constexpr string_view kEncapsulations[] = {"udp4"};
constexpr string_view kLaterEncapsulations[] = {"udp6", "afh1", "afh1s", "afh2", "afh2c"};
constexpr string_view kPsnScopes[] = {"port", "vc"};
constexpr string_view kLevels[] = {"debug", "info", "warning", "error"};
constexpr string_view kFormats[] = {"text", "json"};

string_view KindName(ConfigNode::Kind kind) {
  switch (kind) {
    case ConfigNode::Kind::kNull:
      return "no value";
    case ConfigNode::Kind::kScalar:
      return "a single value";
    case ConfigNode::Kind::kList:
      return "a list";
    case ConfigNode::Kind::kMap:
      return "a map of keys";
  }
  return "";
}

// Whether there is a scalar; `wanted` says in messages what it should hold.
Problem CheckScalar(const ConfigNode& node, string_view wanted) {
  if (node.kind == ConfigNode::Kind::kScalar) return {};
  return StrCat(KindName(node.kind), " where ", wanted, " belongs; write one, ",
                "or leave the key out for its default");
}

bool AllDigits(string_view text, char highest) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [=](char c) { return c >= '0' && c <= highest; });
}

// Decimal digits without sign or leading zero.
bool ParseDecimal(string_view text, uint64_t& out) {
  if (!AllDigits(text, '9') || (text.size() > 1 && text[0] == '0')) return false;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && last == text.data() + text.size();
}

Problem ReadOctal(const ConfigNode& node, const ValueLimits& limits, uint64_t& out) {
  if (Problem p = CheckScalar(node, "an octal mode"); !p.empty()) return p;
  if (!AllDigits(node.text, '7') || node.text.size() > 4 ||
      std::from_chars(node.text.data(), node.text.data() + node.text.size(), out, 8).ec !=
          std::errc() ||
      out > limits.max) {
    return absl::StrFormat("%s is not an octal mode; write 0000 to %04o, as in 0660",
                           Quoted(node.text), limits.max);
  }
  return {};
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

Problem CheckText(string_view text, const ValueLimits& limits) {
  if (text.size() < limits.min) return "empty; write a value";
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
  if (limits.rule == TextRule::kAbsolutePath && text[0] != '/') {
    return StrCat(Quoted(text), " is not an absolute path; begin it with /");
  }
  return {};
}

}  // namespace

std::span<const string_view> NamesOf(Hugepages) { return kHugepages; }
std::span<const string_view> NamesOf(LcoreConfig::Idle) { return kIdles; }
std::span<const string_view> NamesOf(PortConfig::Encapsulation) { return kEncapsulations; }
std::span<const string_view> NamesOf(TransportConfig::PsnScope) { return kPsnScopes; }
std::span<const string_view> NamesOf(LogConfig::Level) { return kLevels; }
std::span<const string_view> NamesOf(LogConfig::Format) { return kFormats; }
std::span<const string_view> LaterNamesOf(PortConfig::Encapsulation) {
  return kLaterEncapsulations;
}

std::string JoinNames(std::span<const string_view> names) {
  if (names.size() < 2) return StrJoin(names, "");
  return StrCat(StrJoin(names.first(names.size() - 1), ", "), " or ", names.back());
}

std::string FormatIp(ConfigIp ip) {
  return absl::StrFormat("%d.%d.%d.%d", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

std::string FormatMac(const ConfigMac& mac) {
  return absl::StrFormat("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
                         mac[5]);
}

std::string FormatText(string_view text) {
  return StrCat("\"", absl::StrReplaceAll(TextPart(text), {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

bool IsUnicast(const ConfigMac& mac) { return (mac[0] & 1) == 0 && mac != ConfigMac{}; }

Problem ReadNumber(const ConfigNode& node, const ValueLimits& limits, uint64_t& out) {
  if (limits.octal) return ReadOctal(node, limits, out);
  if (Problem p = CheckScalar(node, "a whole number"); !p.empty()) return p;
  const bool is_number = !node.quoted && ParseDecimal(node.text, out);
  if (!is_number && (node.quoted || !AllDigits(node.text, '9') || node.text[0] == '0')) {
    return StrCat(Quoted(node.text),
                  node.quoted ? " is in quotes; leave them out: "
                              : " is not a whole number; write decimal digits only: ",
                  limits.min, " to ", limits.max);
  }
  if (!is_number || out < limits.min || out > limits.max) {
    return StrCat(node.text.substr(0, 24), " is out of range; use ", limits.min, " to ",
                  limits.max);
  }
  if (limits.power_of_two && (out & (out - 1)) != 0) {
    uint64_t below = 1;
    while (below * 2 < out) below *= 2;
    return StrCat(out, " is not a power of two; use ", below, " or ", below * 2);
  }
  return {};
}

Problem ReadName(const ConfigNode& node, std::span<const string_view> names,
                 std::span<const string_view> later, size_t& index) {
  const std::string choice = JoinNames(names);
  if (Problem p = CheckScalar(node, choice); !p.empty()) return p;
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (found != names.end()) {
    index = static_cast<size_t>(found - names.begin());
    return {};
  }
  if (std::find(later.begin(), later.end(), node.text) != later.end()) {
    return StrCat(node.text, " is not built yet; use ", choice);
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
  constexpr size_t kMaxEntries = 64;
  out.clear();
  if (node.kind == ConfigNode::Kind::kNull) return {};
  if (node.kind != ConfigNode::Kind::kList) {
    return StrCat(KindName(node.kind), " where a list belongs; write [\"--a\", \"--b\"]");
  }
  if (node.items.size() > kMaxEntries) {
    return StrCat(node.items.size(), " entries; use at most ", kMaxEntries);
  }
  for (const ConfigNode& item : node.items) {
    if (Problem p = ReadValue(item, limits, out.emplace_back()); !p.empty()) return p;
  }
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Duration& out) {
  uint64_t us = 0;
  if (Problem p = ReadNumber(node, limits, us); !p.empty()) return p;
  out = std::chrono::microseconds(static_cast<int64_t>(us));
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, ConfigMac& out) {
  constexpr size_t kMacCharacters = 17;
  if (Problem p = CheckScalar(node, "a MAC address"); !p.empty()) return p;
  bool good = node.text.size() == kMacCharacters;
  ConfigMac mac{};
  for (size_t i = 0; good && i < mac.size(); ++i) {
    const char* at = node.text.data() + 3 * i;
    good = std::from_chars(at, at + 2, mac[i], 16).ptr == at + 2 &&
           (i + 1 == mac.size() || at[2] == ':');
  }
  if (!good) {
    return StrCat(Quoted(node.text),
                  " is not a MAC address; write six octets as in 02:00:00:00:00:01");
  }
  if (!IsUnicast(mac)) {
    return StrCat(FormatMac(mac),
                  mac == ConfigMac{} ? " is no address" : " is a multicast MAC address",
                  "; use a unicast one, such as 02:00:00:00:00:01");
  }
  out = mac;
  return {};
}

Problem ReadValue(const ConfigNode& node, const ValueLimits&, IpText& out) {
  if (Problem p = CheckScalar(node, "an IPv4 address"); !p.empty()) return p;
  const std::vector<std::string> parts = absl::StrSplit(node.text, '.');
  bool good = parts.size() == 4;
  ConfigIp ip = 0;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    uint64_t octet = 0;
    good = ParseDecimal(parts[i], octet) && octet <= 255;
    ip = ip << 8 | static_cast<uint32_t>(octet & 255);
  }
  if (!good) {
    return StrCat(Quoted(node.text),
                  " is not an IPv4 address; write four numbers as in 198.18.0.1");
  }
  const uint32_t first = ip >> 24;
  if (first == 0 || first == 127 || first >= 224) {
    return StrCat(FormatIp(ip),
                  " cannot be an endpoint's address; use a unicast one, such as 198.18.0.1");
  }
  out.value = ip;
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
  return limits.octal ? absl::StrFormat("%04o", value) : StrCat(value);
}
Written WriteValue(const std::string& value, const ValueLimits&) { return FormatText(value); }
Written WriteValue(const std::vector<std::string>& value, const ValueLimits&) {
  std::vector<std::string> quoted;
  for (const std::string& item : value) quoted.push_back(FormatText(item));
  return StrCat("[", StrJoin(quoted, ", "), "]");
}
Written WriteValue(const Duration& value, const ValueLimits&) {
  return StrCat(std::chrono::duration_cast<std::chrono::microseconds>(value).count());
}
Written WriteValue(const ConfigMac& value, const ValueLimits&) {
  return FormatText(FormatMac(value));  // other YAML readers take 10:20:30:40:50:59 for a number
}
Written WriteValue(const IpText& value, const ValueLimits&) { return FormatIp(value.value); }
Written WriteValue(const XpuRange& value, const ValueLimits&) {
  return StrCat(value.first, "-", value.last);
}

}  // namespace suede
