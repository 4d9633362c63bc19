// SPDX-License-Identifier: Apache-2.0
//
// The declared cables and the discovered ones each connect a port with at most one other, so both
// together form paths and rings in which they alternate. A ring is an exchange of its declared
// cables; the cables of a path are missing and extra ones.
#include "mesh/validation.h"

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "mesh/discovery.h"

namespace suede::mesh {
namespace {

using DefectKind = CableDefect::Kind;
using Neighbour = ObservedEnd::Neighbour;

struct Declared {
  DevicePort far;
  PlaneIndex plane;
};

struct Observed {
  const ObservedEnd* end = nullptr;
  const HostCables* host = nullptr;
};

std::string CableText(const DevicePort& a, const DevicePort& b) {
  return StrCat(NameOf(a), " - ", NameOf(b));
}

class Comparison {
 public:
  explicit Comparison(uint64_t specification) : specification_(specification) {}

  absl::Status Add(const HostCables& host) {
    devices_.insert(host.devices.begin(), host.devices.end());
    for (const ObservedEnd& end : host.ends) {
      devices_.insert(end.end.device);
      const auto [at, is_new] = observed_.emplace(end.end, Observed{.end = &end, .host = &host});
      if (is_new) continue;
      return absl::InvalidArgumentError(StrCat("cannot compare the cables: ", NameOf(end.end),
                                               " is a port of ", at->second.host->name, " and of ",
                                               host.name, "; name each host once"));
    }
    return absl::OkStatus();
  }

  Validation Compare(std::span<const DeclaredCable> declared, std::span<const HostCables> hosts) {
    for (const DeclaredCable& cable : declared) {
      declared_[cable.a] = {.far = cable.b, .plane = cable.plane};
      declared_[cable.b] = {.far = cable.a, .plane = cable.plane};
    }
    CompareSpecifications(hosts);
    Match();
    ReportContradictions();
    for (const auto& [end, cable] : declared_) {
      if (end < cable.far) CompareDeclared(end, cable);
    }
    for (const auto& [end, far] : found_) {
      if (end <= far) CompareFound(end, far);
    }
    return std::move(result_);
  }

 private:
  bool Knows(const Device& device) const { return devices_.contains(device); }
  void Report(DefectKind kind, std::string text) {
    result_.defects.push_back({.kind = kind, .text = std::move(text)});
  }

  // Returns null if the end sees no other one, or no host has it.
  const Neighbour* NeighbourOf(const DevicePort& end) const {
    const auto at = observed_.find(end);
    if (at == observed_.end() || !at->second.end->neighbour) return nullptr;
    return &*at->second.end->neighbour;
  }

  // Returns what the end sees, for a message.
  std::string ViewOf(const DevicePort& end) const {
    if (const Neighbour* neighbour = NeighbourOf(end)) {
      return StrCat(NameOf(end), " (sees ", NameOf(neighbour->end), ")");
    }
    const auto at = observed_.find(end);
    if (at == observed_.end()) {
      return StrCat(NameOf(end), Knows(end.device) ? " (has no cable)" : " (unknown)");
    }
    const std::string& state = at->second.end->state;
    return StrCat(NameOf(end), " (", state.empty() ? "sees none" : state, ")");
  }
  std::string ViewOf(const DevicePort& a, const DevicePort& b) const {
    return StrCat(ViewOf(a), " - ", ViewOf(b));
  }

  // Returns the plane of a discovered end; `far` is the other end of its cable.
  PlaneIndex PlaneOf(const DevicePort& end, const DevicePort& far) const {
    const auto at = observed_.find(end);
    if (at != observed_.end()) return at->second.end->plane;
    const Neighbour* account = NeighbourOf(far);
    return account == nullptr ? PlaneIndex() : account->plane;
  }

  bool IsDeclared(const DevicePort& a, const DevicePort& b) const {
    const auto at = declared_.find(a);
    return at != declared_.end() && at->second.far == b;
  }
  bool IsFound(const DevicePort& a, const DevicePort& b) const {
    const auto at = found_.find(a);
    return at != found_.end() && at->second == b;
  }

  // ---- Specifications.

  void CompareSpecifications(std::span<const HostCables> hosts) {
    for (const HostCables& host : hosts) {
      if (!Differs(host.specification)) continue;
      Report(DefectKind::kSpecification,
             StrCat("different specification: ", host.name, " has ",
                    SpecificationText(host.specification), " in place of ",
                    SpecificationText(specification_)));
    }
    for (const auto& [end, observed] : observed_) {
      const Neighbour* neighbour = NeighbourOf(end);
      if (neighbour == nullptr || !Differs(neighbour->specification)) continue;
      // A host whose own account agrees is in the list already.
      const auto far = observed_.find(neighbour->end);
      if (far != observed_.end() && far->second.host->specification == neighbour->specification) {
        continue;
      }
      Report(DefectKind::kSpecification,
             StrCat("different specification: ", CableText(end, neighbour->end), ": ",
                    NameOf(neighbour->end), " has ", SpecificationText(neighbour->specification),
                    " in place of ", SpecificationText(specification_)));
    }
  }

  bool Differs(uint64_t specification) const {
    return specification != 0 && specification != specification_;
  }

  // ---- Discovered cables.

  void Connect(const DevicePort& a, const DevicePort& b) {
    found_[a] = b;
    found_[b] = a;
  }

  // Connects ends that see each other; then those that see a free end that sees none.
  void Match() {
    for (const auto& [end, observed] : observed_) {
      const Neighbour* neighbour = NeighbourOf(end);
      if (neighbour == nullptr) continue;
      const Neighbour* back = NeighbourOf(neighbour->end);
      if (back != nullptr && back->end == end) Connect(end, neighbour->end);
    }
    for (const auto& [end, observed] : observed_) {
      const Neighbour* neighbour = NeighbourOf(end);
      if (neighbour == nullptr || found_.contains(end) || found_.contains(neighbour->end)) continue;
      if (NeighbourOf(neighbour->end) == nullptr) Connect(end, neighbour->end);
    }
  }

  // Reports ends that see one that is connected with a third, or sees a third: of declared cables
  // first, as their lines have what both ends see.
  void ReportContradictions() {
    for (const bool of_declared : {true, false}) {
      for (const auto& [end, observed] : observed_) {
        const Neighbour* neighbour = NeighbourOf(end);
        if (neighbour == nullptr || IsFound(end, neighbour->end)) continue;
        const bool is_declared = IsDeclared(end, neighbour->end);
        if (is_declared != of_declared || reported_.contains(end)) continue;
        Report(DefectKind::kOneSided, StrCat("one-sided: ", ViewOf(end, neighbour->end)));
        if (is_declared) reported_.insert({end, neighbour->end});
      }
    }
  }

  // ---- Comparison.

  void CompareDeclared(const DevicePort& end, const Declared& cable) {
    if (reported_.contains(end)) return;
    if (IsFound(end, cable.far)) {
      ComparePair(end, cable);
      return;
    }
    if (ReportSwap(end, cable)) return;
    const bool is_known = Knows(end.device) || Knows(cable.far.device) || found_.contains(end) ||
                          found_.contains(cable.far);
    if (is_known) {
      Report(DefectKind::kMissing, StrCat("missing: ", ViewOf(end, cable.far)));
    } else {
      ++result_.unobserved;
    }
  }

  // Compares a cable between the right ends.
  void ComparePair(const DevicePort& end, const Declared& cable) {
    const bool sees_none = (Knows(end.device) && NeighbourOf(end) == nullptr) ||
                           (Knows(cable.far.device) && NeighbourOf(cable.far) == nullptr);
    const PlaneIndex near = PlaneOf(end, cable.far), far = PlaneOf(cable.far, end);
    if (sees_none) {
      Report(DefectKind::kOneSided, StrCat("one-sided: ", ViewOf(end, cable.far)));
    } else if (near != cable.plane || far != cable.plane) {
      Report(DefectKind::kPlane, StrCat("wrong plane: ", PlanesText(end, cable.far),
                                        " in place of plane ", uint32_t{cable.plane}));
    } else {
      ++result_.good;
    }
  }

  std::string PlanesText(const DevicePort& a, const DevicePort& b) const {
    return StrCat(NameOf(a), " (plane ", uint32_t{PlaneOf(a, b)}, ") - ", NameOf(b), " (plane ",
                  uint32_t{PlaneOf(b, a)}, ")");
  }

  // Reports the exchange that the cable belongs to; false: it belongs to none.
  bool ReportSwap(const DevicePort& end, const Declared& cable) {
    std::vector<DevicePort> ring = {end, cable.far};
    std::vector<std::string> cables = {CableText(end, cable.far)};
    for (DevicePort at = end;;) {
      const auto found = found_.find(at);
      if (found == found_.end() || found->second == at) return false;
      if (found->second == cable.far) break;
      const auto next = declared_.find(found->second);
      if (next == declared_.end()) return false;
      at = next->second.far;
      ring.insert(ring.end(), {at, next->first});
      cables.push_back(CableText(at, next->first));
    }
    reported_.insert(ring.begin(), ring.end());
    exchanged_.insert(ring.begin(), ring.end());
    const std::string last = std::move(cables.back());
    cables.pop_back();
    Report(DefectKind::kSwapped,
           StrCat("swapped: ", StrJoin(cables, ", "), " and ", last, " are exchanged"));
    return true;
  }

  // Reports a discovered cable that is not declared.
  void CompareFound(const DevicePort& end, const DevicePort& far) {
    if (IsDeclared(end, far) || exchanged_.contains(end)) return;
    if (PlaneOf(end, far) != PlaneOf(far, end)) {
      Report(DefectKind::kPlane, StrCat("wrong plane: ", PlanesText(end, far), ", not declared"));
    } else {
      Report(DefectKind::kExtra, StrCat("extra: ", CableText(end, far)));
    }
  }

  const uint64_t specification_;
  std::map<DevicePort, Declared> declared_;  // both ends of each cable
  std::map<DevicePort, Observed> observed_;
  std::map<DevicePort, DevicePort> found_;  // the other end of each discovered cable
  std::set<DevicePort> reported_;           // ends of declared cables in a defect
  std::set<DevicePort> exchanged_;          // ends that are exchanged, of these
  std::set<Device> devices_;                // of all hosts
  Validation result_;
};

}  // namespace

absl::StatusOr<Validation> ValidateCables(std::span<const DeclaredCable> declared,
                                          uint64_t specification,
                                          std::span<const HostCables> hosts) {
  Comparison comparison(specification);
  for (const HostCables& host : hosts) {
    if (absl::Status s = comparison.Add(host); !s.ok()) return s;
  }
  return comparison.Compare(declared, hosts);
}

}  // namespace suede::mesh
