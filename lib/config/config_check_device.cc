// SPDX-License-Identifier: Apache-2.0
// DPDK's drivers of virtual devices hardly validate their arguments: an argument without a value is
// a null pointer in most of them, and net_memif ignores all of its arguments because of one unknown
// argument. So all arguments are checked before EAL gets them.
#include <sys/un.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/device_string.h"
#include "base/numbers.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_values.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

struct ArgumentRule {
  enum class Kind : uint8_t { kNumber, kChoice, kText, kMac };
  std::string_view key;
  Kind kind;
  uint64_t min = 0;  // of a number; of a text: its bytes
  uint64_t max = 0;
  std::string_view choices{};
};
using Kind = ArgumentRule::Kind;

constexpr size_t kMaxSocket = sizeof(sockaddr_un::sun_path) - 1;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kUsualSlotBytes = 2048;  // default of framesz of net_af_packet
constexpr uint64_t kUsualSlots = 512;       // default of framecnt

constexpr ArgumentRule kMemif[] = {
    {"id", Kind::kNumber, 0, UINT32_MAX},
    {"role", Kind::kChoice, 0, 0, "server|client|master|slave"},
    {"bsize", Kind::kNumber, 1, UINT16_MAX},
    {"rsize", Kind::kNumber, 1, 14},
    {"queues", Kind::kNumber, 1, 64},
    {"socket", Kind::kText, 1, kMaxSocket},
    {"socket-abstract", Kind::kChoice, 0, 0, "yes|no"},
    {"mac", Kind::kMac},
    {"zero-copy", Kind::kChoice, 0, 0, "yes|no"},
    {"secret", Kind::kText, 1, 23},
};
constexpr ArgumentRule kAfPacket[] = {
    {"iface", Kind::kText, 1, 15},
    {"qpairs", Kind::kNumber, 1, 1024},
    {"blocksz", Kind::kNumber, kPageBytes, 1u << 30},
    {"framesz", Kind::kNumber, 128, 1u << 20},
    {"framecnt", Kind::kNumber, 1, 1u << 20},
    {"qdisc_bypass", Kind::kNumber, 0, 1},
};

// Returns the arguments of a driver; empty: its arguments are not all known.
std::span<const ArgumentRule> ArgumentsOf(std::string_view driver) {
  if (driver == "net_memif") return kMemif;
  if (driver == "net_af_packet") return kAfPacket;
  return {};
}

std::string RangeOf(const ArgumentRule& argument) {
  switch (argument.kind) {
    case Kind::kNumber: return StrCat(argument.min, " to ", argument.max);
    case Kind::kText:
      return StrCat("a text of ", argument.min, " to ", argument.max, " bytes");
    case Kind::kMac: return "a MAC address such as 02:00:00:00:00:01";
    case Kind::kChoice: break;
  }
  return StrJoin(Split(argument.choices, '|'), " or ");
}

bool IsGood(const ArgumentRule& argument, std::string_view value) {
  switch (argument.kind) {
    case Kind::kNumber: {
      const auto number = ParseNumber<uint64_t>(value);
      return number && *number >= argument.min && *number <= argument.max;
    }
    case Kind::kText: return value.size() >= argument.min && value.size() <= argument.max;
    case Kind::kMac:
      return ParseMac(value).has_value();
    case Kind::kChoice: break;
  }
  const auto choices = Split(argument.choices, '|');
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

// Values of arguments by key.
using Values = std::map<std::string_view, std::string_view>;

class DeviceCheck {
 public:
  DeviceCheck(const ConfigDraft& draft, size_t port)
      : draft_(draft),
        path_(Entry("ports", port) + ".device"),
        parts_(Split(draft.config.ports[port].device, ',')),
        driver_(parts_[0]) {
    // EAL strips the number at the end, which distinguishes devices of a driver.
    driver_ = driver_.substr(0, driver_.find_first_of(" \t"));
    while (!driver_.empty() && driver_.back() >= '0' && driver_.back() <= '9') {
      driver_.remove_suffix(1);
    }
  }

  Status CheckFrameRoom(uint32_t frame_bytes) {
    if (driver_ != "net_af_packet") return OkStatus();
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (Status s = Take(parts_[i], kAfPacket); !s.ok()) return s;
    }
    constexpr uint64_t kRingHeader = 66;  // of a TPACKET2 slot, rounded up
    const uint64_t slot = Number("framesz", kUsualSlotBytes);
    if (slot >= frame_bytes + kRingHeader) return OkStatus();
    const uint64_t needed = (frame_bytes + kRingHeader + kPageBytes - 1) / kPageBytes * kPageBytes;
    return Error(StrCat("its ring slots of ", slot, " bytes (framesz) do not hold frames of ",
                        frame_bytes, " and ", kRingHeader, " bytes; add framesz=", needed,
                        ",blocksz=", needed));
  }

  Status Run() {
    if (Status s = CheckBlanks(); !s.ok()) return s;
    const auto known = ArgumentsOf(driver_);
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (Status s = Take(parts_[i], known); !s.ok()) return s;
    }
    if (driver_ == "net_memif") return CheckMemif();
    if (driver_ == "net_af_packet") return CheckAfPacket();
    return OkStatus();
  }

 private:
  Status Error(const std::string& problem) const { return draft_.Error(path_, problem); }

  Status Take(std::string_view part, std::span<const ArgumentRule> known) {
    const size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos || key.empty()) {
      return Error(StrCat("'", part, "' is no argument of ", driver_, ", which crashes over it; write ",
                          key.empty() ? "KEY" : key, "=VALUE"));
    }
    const std::string_view value = part.substr(equals + 1);
    if (!values_.emplace(key, value).second) {
      return Error(StrCat(key, " is given twice; leave one of them out"));
    }
    if (known.empty()) return OkStatus();
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const ArgumentRule& one) { return one.key == key; });
    if (at == known.end()) {
      std::vector<std::string_view> keys;
      for (const ArgumentRule& one : known) keys.push_back(one.key);
      return Error(StrCat(driver_, " has no argument ", key, "; use ", StrJoin(keys, ", ")));
    }
    if (IsGood(*at, value)) return OkStatus();
    const bool is_secret = StrCat(key, "=") == kSecretArgument;
    return Error(StrCat(key, "=", is_secret ? kHiddenSecret : value, " is wrong; use ",
                        RangeOf(*at)));
  }

  // EAL takes the text up to the first comma as the name, and a driver takes the text behind '=' as
  // the value.
  Status CheckBlanks() const {
    const bool knows_all = !ArgumentsOf(driver_).empty();
    for (size_t i = 0; i < (knows_all ? parts_.size() : 1); ++i) {
      if (parts_[i].find_first_of(" \t") == std::string_view::npos) continue;
      return Error(StrCat("'", HideSecrets(std::string(parts_[i])),
                          "' has a blank; separate arguments by commas, as in "
                          "net_memif0,role=server"));
    }
    return OkStatus();
  }

  std::string_view Value(std::string_view key, std::string_view otherwise = "") const {
    const auto at = values_.find(key);
    return at == values_.end() ? otherwise : at->second;
  }
  uint64_t Number(std::string_view key, uint64_t otherwise) const {
    return ParseNumber<uint64_t>(Value(key)).value_or(otherwise);
  }

  Status CheckMemif() const {
    if (Value("secret") == kHiddenSecret) {
      return Error("the secret was left out where this configuration was written; write it here");
    }
    if (Value("socket-abstract", "yes") == "no" && Value("socket").find('/') != 0) {
      return Error("socket-abstract=no takes a socket with its full path; write "
                   "socket=/run/suede/NAME.sock");
    }
    return OkStatus();
  }

  // Checks the kernel's rules for packet rings.
  Status CheckAfPacket() const {
    if (Value("iface").empty()) return Error("iface is missing; write iface=INTERFACE");
    const uint64_t block = Number("blocksz", kPageBytes);
    const uint64_t slot = Number("framesz", kUsualSlotBytes);
    const uint64_t slots = Number("framecnt", kUsualSlots);
    if (block % kPageBytes != 0) {
      return Error(StrCat("blocksz=", block, " is no multiple of ", kPageBytes, "; use one"));
    }
    if (slot % 16 != 0) return Error(StrCat("framesz=", slot, " is no multiple of 16; use one"));
    if (slot > block) {
      return Error(StrCat("framesz=", slot, " does not fit a block of ", block, "; add blocksz=",
                          (slot + kPageBytes - 1) / kPageBytes * kPageBytes));
    }
    if (slots % (block / slot) != 0) {
      return Error(StrCat("framecnt=", slots, " does not fill blocks of ", block / slot,
                          " frames; use a multiple of that"));
    }
    return OkStatus();
  }

  const ConfigDraft& draft_;
  const std::string path_;
  const std::vector<std::string_view> parts_;
  std::string_view driver_;
  Values values_;
};

}  // namespace

Status CheckFrameRoom(const ConfigDraft& draft, size_t port, uint32_t frame_bytes) {
  return DeviceCheck(draft, port).CheckFrameRoom(frame_bytes);
}

Status CheckDevice(const ConfigDraft& draft, size_t port) {
  const std::string& device = draft.config.ports[port].device;
  if (IsVdev(device)) {
    if (Status s = DeviceCheck(draft, port).Run(); !s.ok()) return s;
  }
  const std::string path = Entry("ports", port) + ".socket_mode";
  constexpr uint32_t kOfOthers = 07;
  if ((draft.config.ports[port].socket_mode & kOfOthers) != 0) {
    return draft.Error(
        path,
        "a process that may open a memif's socket can take the peer's place; permit its "
        "user and group alone, as in 0660");
  }
  if (!draft.Has(path) || IsMemifServer(device) ||
      draft.config.ports[port].socket_mode == PortConfig{}.socket_mode) {
    return OkStatus();
  }
  return draft.Error(path, "only the server of a memif makes a socket; remove socket_mode");
}

}  // namespace suede
