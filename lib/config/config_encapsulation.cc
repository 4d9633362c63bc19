// SPDX-License-Identifier: Apache-2.0
#include "config/config_encapsulation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "config/config_values.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

constexpr uint32_t kXpuBits = 10;
constexpr uint32_t kPduBytes = 8 + 4;  // RH, R-CRC

std::vector<std::string_view> NamesIn(const EncapsulationSet& set) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kEncapCount; ++i) {
    if (set.Has(static_cast<Encapsulation>(i))) names.push_back(kEncapNames[i]);
  }
  return names;
}

// Groups the encapsulations of `set` by their number, in the order of the first with each number.
template <class NumberOf>
std::vector<std::pair<uint32_t, EncapsulationSet>> GroupBy(const EncapsulationSet& set,
                                                           NumberOf number_of) {
  std::vector<std::pair<uint32_t, EncapsulationSet>> groups;
  for (size_t i = 0; i < kEncapCount; ++i) {
    const auto e = static_cast<Encapsulation>(i);
    if (!set.Has(e)) continue;
    const uint32_t number = number_of(e);
    auto group = groups.begin();
    while (group != groups.end() && group->first != number) ++group;
    if (group == groups.end()) group = groups.insert(group, {number, EncapsulationSet()});
    group->second.Add(e);
  }
  return groups;
}

// Returns the numbers of header bytes, each with the names of the encapsulations that have it.
std::string Overheads() {
  const auto groups = GroupBy(kAnyEncapsulation, OverheadBytes);
  std::vector<std::string> parts;
  for (const auto& [bytes, set] : groups) {
    parts.push_back(StrCat(bytes, " (", StrJoin(NamesIn(set), ", "), ")"));
  }
  return JoinNames(std::vector<std::string_view>(parts.begin(), parts.end()));
}

// Returns "X, or Y PREPOSITION NAMES" for the encapsulations of `set`: the most frequent number
// first.
template <class NumberOf, class Format>
std::string OrExceptions(const EncapsulationSet& set, NumberOf number_of, Format format,
                         std::string_view preposition) {
  auto groups = GroupBy(set, number_of);
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return NamesIn(a.second).size() > NamesIn(b.second).size();
  });
  std::string text = format(groups[0].first);
  for (size_t i = 1; i < groups.size(); ++i) {
    StrAppend(&text, ", or ", format(groups[i].first), preposition, JoinNames(groups[i].second));
  }
  return text;
}

// Returns the names of encapsulations with a session but no UDP port, with the session's maximum if
// it has fewer than 16 bits.
std::string Entropies() {
  std::string text;
  for (const std::string_view name : NamesIn(kWithSession)) {
    const Encapsulation e = *ParseEncap(name);
    if (kUdp.Has(e)) continue;
    const bool by_label = e == Encapsulation::kEsun;
    StrAppend(&text, text.empty() ? "" : ", ", by_label ? "flow label of " : "entropy of ", name);
    if (MaxSession(e) != 65535) StrAppend(&text, " (up to ", MaxSession(e), ")");
  }
  return text;
}

std::string And(const EncapsulationSet& set) { return JoinEncaps(set, ", ", " and "); }

std::string ValueOf(std::string_view name) {
  if (name == "overheads") return Overheads();
  if (name == "entropies") return Entropies();
  if (name == "ether_types") {
    const EncapsulationSet with_default = EncapsWith([](const EncapTraits& t) {
      return t.addresses == AddressKind::kForwarding && t.ether_type != 0;
    });
    return StrCat(
        OrExceptions(
            with_default, [](Encapsulation e) { return uint32_t{TraitsOf(e).ether_type}; },
            [](uint32_t type) { return FormatEtherType(static_cast<uint16_t>(type)); }, " for "),
        "; none for ", And(kWithoutEtherType));
  }
  if (name == "forwarding_bits") {
    return OrExceptions(
        kForwarded, [](Encapsulation e) { return uint32_t{TraitsOf(e).forwarding_bits}; },
        [](uint32_t bits) { return StrCat(bits, bits == 16 ? " bits" : ""); }, " with ");
  }
  if (name == "hop_limits") {
    return OrExceptions(
        kWithHopLimit, [](Encapsulation e) { return HopLimitIn(e, kDefaultHopLimit); },
        [](uint32_t limit) { return StrCat(limit); }, " for ");
  }
  if (name == "untagged") return And(kUntagged);
  if (name == "classless") return And(kWithoutClass);
  return StrCat("{", name, "}");  // unknown name: unchanged
}

}  // namespace

uint32_t OverheadBytes(Encapsulation e) {
  return TraitsOf(e).header_bytes - kEthernetBytes + kPduBytes;
}

std::string JoinNames(const EncapsulationSet& set) { return JoinNames(NamesIn(set)); }

std::string ExpandTraits(std::string_view text) {
  std::string out;
  for (size_t from = text.find('{'); from != text.npos; from = text.find('{')) {
    const size_t to = text.find('}', from);
    StrAppend(&out, text.substr(0, from), ValueOf(text.substr(from + 1, to - from - 1)));
    text.remove_prefix(to + 1);
  }
  return StrCat(out, text);
}

std::string FormatEtherType(uint16_t ether_type) { return absl::StrFormat("0x%04X", ether_type); }

std::string FormatForwardingAddress(uint64_t address) { return absl::StrFormat("0x%04X", address); }

std::string FormatAddress(Encapsulation e, const NetAddress& address) {
  if (kForwarded.Has(e)) return FormatForwardingAddress(address.low);
  return FormatIp({.is_v6 = IsIpv6(e), .value = address});
}

NetAddress DefaultConfigAddress(const PortConfig& port, uint32_t xpu, uint32_t instance) {
  return {.low = uint64_t{port.plane.value_or(0)} << mesh::Address::kPlaneShift |
                 uint64_t{instance} << kXpuBits | xpu};
}

bool IsOfCable(const Config& config, uint32_t port) {
  return std::ranges::any_of(config.cables,
                             [port](const CableConfig& cable) { return cable.port == port; });
}

uint32_t MeshPlanesOf(const Config& config) {
  return static_cast<uint32_t>(std::ranges::count_if(config.ports, IsCentre));
}

bool LearnsNeighbours(const PortConfig& port) {
  return kUdp.Has(port.encapsulation) && port.tap && port.vid.value_or(0) == 0;
}

const PeerPort* FindPeerPort(const PeerConfig& peer, uint32_t port, uint32_t instance) {
  const PeerPort* for_all = nullptr;
  for (const PeerPort& at : peer.ports) {
    if (at.port != port) continue;
    if (at.instance == instance) return &at;
    if (!at.instance) for_all = &at;
  }
  return for_all;
}

const InstancePort* AssignedPlane(const Config& config, uint32_t port) {
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      if (at.port == port && at.assigned) return &at;
    }
  }
  return nullptr;
}

InstancePort* AssignedPlane(Config& config, uint32_t port) {
  return const_cast<InstancePort*>(AssignedPlane(std::as_const(config), port));
}

NetAddress PeerAddress(const Config& config, const PeerConfig& peer, const PeerPort& at,
                       uint32_t instance) {
  return at.address.value_or(DefaultConfigAddress(config.ports[at.port], peer.xpu, instance));
}

}  // namespace suede
