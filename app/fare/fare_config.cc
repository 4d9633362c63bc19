// SPDX-License-Identifier: Apache-2.0
// Reads a tree into suede-fare's configuration, checks the rules that concern more than one value,
// and dumps it.
#include "fare_config.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "config/config_draft.h"
#include "config/config_dump.h"
#include "config/config_reader.h"

namespace suede {
namespace {

constexpr size_t kMaxPlanes = 4;
constexpr size_t kMaxPeers = 1023;

class FareReader {
 public:
  FareReader(ConfigDraft& draft, FareConfig& config) : config_(config), reader_(draft) {}

  absl::Status Read(const ConfigNode& root) {
    // Evaluation stops at the first failure.
    ReadRoot(root) && reader_.ReadList(root, "", "planes", 1, kMaxPlanes, config_.planes) &&
        reader_.ReadList(root, "", "peers", 1, kMaxPeers, config_.peers) &&
        reader_.ReadSection(root, "bgp", config_.bgp) &&
        reader_.ReadSection(root, "damping", config_.damping) &&
        reader_.ReadSection(root, "log", config_.log);
    return reader_.status();
  }

 private:
  bool ReadRoot(const ConfigNode& root) {
    if (!reader_.CheckVersion(root)) return false;
    return reader_.ReadFields(root, "", {"planes", "peers", "bgp", "damping", "log"}, config_.root);
  }

  FareConfig& config_;
  ConfigReader reader_;
};

// ---- Rules that concern more than one value.

class FareCheck {
 public:
  FareCheck(const ConfigDraft& draft, FareConfig& config) : draft_(draft), config_(config) {}

  absl::Status Check() {
    if (config_.planes.size() == 1) {
      return draft_.Error("planes", "one plane has no weight in relation to others; give 2 to 4");
    }
    for (size_t i = 0; i < config_.planes.size(); ++i) {
      if (absl::Status s = CheckPlane(i); !s.ok()) return s;
    }
    for (size_t i = 0; i < config_.peers.size(); ++i) {
      if (absl::Status s = CheckPeer(i); !s.ok()) return s;
    }
    if (config_.root.scale.value <= 0) {
      return draft_.Error("scale", "0 makes every bandwidth 0; use more, as in 1 or 100");
    }
    const FareDampingConfig& damping = config_.damping;
    if (damping.reuse >= damping.suppress) {
      return draft_.Error("damping.reuse", StrCat(damping.reuse,
                                                  " is not below suppress; use less "
                                                  "than ",
                                                  damping.suppress));
    }
    if (damping.max < damping.suppress) {
      return draft_.Error("damping.most", StrCat(damping.max,
                                                 " is below suppress, so that nothing "
                                                 "would be damped; use ",
                                                 damping.suppress, " or more"));
    }
    return absl::OkStatus();
  }

 private:
  // Returns the index of the first plane with the interface; planes.size(): none.
  size_t PlaneWith(const std::string& interface) const {
    const auto& planes = config_.planes;
    return std::find_if(planes.begin(), planes.end(),
                        [&](const FarePlaneConfig& plane) {
                          return std::count(plane.interfaces.begin(), plane.interfaces.end(),
                                            interface) != 0;
                        }) -
           planes.begin();
  }

  absl::Status CheckPlane(size_t i) const {
    const FarePlaneConfig& plane = config_.planes[i];
    const std::string path = Entry("planes", i);
    for (size_t j = 0; j < i; ++j) {
      if (config_.planes[j].plane != plane.plane) continue;
      return draft_.Error(path + ".plane", StrCat("plane ", plane.plane, " is that of ",
                                                  Entry("planes", j), " already; remove one"));
    }
    if (plane.interfaces.empty()) {
      return draft_.Error(path + ".interfaces",
                          "the list is empty; name the interface through "
                          "which the plane's routes leave");
    }
    for (const std::string& name : plane.interfaces) {
      const size_t first = PlaneWith(name);
      if (first == i && std::count(plane.interfaces.begin(), plane.interfaces.end(), name) == 1) {
        continue;
      }
      return draft_.Error(
          path + ".interfaces",
          StrCat(name, " is an interface of ", Entry("planes", first), " already; remove one"));
    }
    if (plane.bandwidth_gbps.value > 0 && config_.root.source == FareRoot::Source::kKernel) {
      return draft_.Error(path + ".bandwidth_gbps",
                          "the kernel's routes have shares and no bandwidths to compare it with; "
                          "write source: bgp, or remove it");
    }
    return absl::OkStatus();
  }

  absl::Status CheckPeer(size_t i) {
    FarePeerConfig& peer = config_.peers[i];
    const std::string path = Entry("peers", i);
    if (peer.xpu == config_.root.xpu) {
      return draft_.Error(path + ".xpu", "that is the endpoint's own XPU; remove the entry");
    }
    std::string problem;
    const std::optional<FarePrefix> prefix = ParseFarePrefix(peer.prefix, &problem);
    if (!prefix) return draft_.Error(path + ".prefix", problem);
    peer.parsed = *prefix;
    for (size_t j = 0; j < i; ++j) {
      const bool same_xpu = config_.peers[j].xpu == peer.xpu;
      if (!same_xpu && config_.peers[j].parsed != peer.parsed) continue;
      return draft_.Error(path + (same_xpu ? ".xpu" : ".prefix"),
                          StrCat("the same as of ", Entry("peers", j), "; remove one"));
    }
    return absl::OkStatus();
  }

  const ConfigDraft& draft_;
  FareConfig& config_;
};

// Clears the bits behind the prefix; returns whether all were 0.
bool ClearHostBits(FarePrefix& prefix) {
  bool clear = true;
  for (size_t bit = prefix.bits; bit < 8 * prefix.bytes.size(); ++bit) {
    const auto mask = static_cast<uint8_t>(0x80 >> bit % 8);
    clear &= (prefix.bytes[bit / 8] & mask) == 0;
    prefix.bytes[bit / 8] &= static_cast<uint8_t>(~mask);
  }
  return clear;
}

}  // namespace

std::optional<FarePrefix> ParseFarePrefix(std::string_view text, std::string* problem) {
  const size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  FarePrefix prefix;
  prefix.is_v6 = address.find(':') != std::string::npos;
  const int family = prefix.is_v6 ? AF_INET6 : AF_INET;
  const unsigned longest = prefix.is_v6 ? 128 : 32;
  unsigned bits = longest;
  bool good = inet_pton(family, address.c_str(), prefix.bytes.data()) == 1;
  if (slash != std::string_view::npos) {
    const auto length = ParseNumber<unsigned>(text.substr(slash + 1), longest);
    good &= length.has_value();
    bits = length.value_or(0);
  }
  if (!good) {
    *problem =
        StrCat(Quoted(text), " is no prefix; write it as in 192.0.2.1/32 or 2001:db8::1/128");
    return std::nullopt;
  }
  prefix.bits = static_cast<uint8_t>(bits);
  if (ClearHostBits(prefix)) return prefix;
  char name[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, prefix.bytes.data(), name, sizeof name);
  *problem = StrCat(Quoted(text), " has bits behind the prefix; write ", name, "/", bits);
  return std::nullopt;
}

absl::StatusOr<FareConfig> ParseFareConfig(std::string_view text, std::string_view file_name,
                                           const std::vector<ConfigOverride>& overrides) {
  ConfigDraft draft;
  FareConfig config;
  absl::StatusOr<ConfigNode> root = ParseTree(text, file_name, overrides, draft);
  if (!root.ok()) return root.status();
  if (absl::Status s = FareReader(draft, config).Read(*root); !s.ok()) return s;
  if (absl::Status s = FareCheck(draft, config).Check(); !s.ok()) return s;
  return config;
}

absl::StatusOr<FareConfig> LoadFareConfig(const std::string& path,
                                          const std::vector<ConfigOverride>& overrides) {
  absl::StatusOr<std::string> text = ReadConfigFile(path);
  if (!text.ok()) return text.status();
  return ParseFareConfig(*text, path, overrides);
}

std::string DumpFareConfig(const FareConfig& config) {
  std::string out =
      StrCat("# Effective configuration of suede-fare.\n", StrJoin(Lines(config.root), "\n"), "\n");
  AppendList("planes", config.planes, "", out);
  AppendList("peers", config.peers, "", out);
  AppendSection("bgp", config.bgp, out);
  AppendSection("damping", config.damping, out);
  AppendSection("log", config.log, out);
  return out;
}

}  // namespace suede
