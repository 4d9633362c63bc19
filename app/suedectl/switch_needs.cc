// SPDX-License-Identifier: Apache-2.0
#include "suedectl/switch_needs.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "suedectl/frame_text.h"
#include "wire/ethernet.h"
#include "wire/link_frame.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kBurstFrames = 32;  // frames of a poll iteration, which a pause does not hold
constexpr uint32_t kMinStormMs = 1;
constexpr uint32_t kMaxRouteMbps = 25600;  // FRR's ceiling of a link bandwidth
constexpr uint32_t kTrimIpv4Bytes = fabric::TrimParams{}.ipv4_bytes;
constexpr uint32_t kTrimIpv6Bytes = fabric::TrimParams{}.ipv6_bytes;

uint32_t MaxFrameBytes(const PortConfig& port) {
  const uint32_t shim = port.llr == OnOff::kOn ? kLinkShimBytes : 0;
  return kEthernetBytes + kTagBytes + port.mtu_bytes + shim;
}

bool IsCapable(const TrafficClass& c) { return c.ecn == 1 || c.ecn == 2; }

class Gathering {
 public:
  Gathering(std::span<const EndpointFile> files, const SwitchOptions& options, SwitchNeeds& needs)
      : files_(files), options_(options), needs_(needs) {}

  absl::Status Run() {
    Frames();
    Addresses();
    Classes();
    Lossless();
    Ecn();
    if (absl::Status s = Trimming(); !s.ok()) return s;
    Hash();
    Links();
    Routes();
    return absl::OkStatus();
  }

 private:
  const Config& ConfigOf(const SwitchPort& port) const { return files_[port.file].config; }

  template <class Condition>
  std::string NamesWhere(Condition condition) const {
    std::vector<std::string_view> names;
    for (const SwitchPort& port : needs_.ports) {
      if (condition(port)) names.push_back(port.name);
    }
    return StrJoin(names, ", ");
  }

  void Frames() {
    std::string vlans;
    for (const SwitchPort& port : needs_.ports) {
      const uint32_t shim = port.config->llr == OnOff::kOn ? kLinkShimBytes : 0;
      needs_.mtu_bytes = std::max(needs_.mtu_bytes, port.config->mtu_bytes + shim);
      needs_.vlans.insert(port.vlan);
    }
    needs_[Need::kMtu] = StrCat(needs_.mtu_bytes, " bytes behind the Ethernet header and its tag");
    for (const uint16_t vlan : needs_.vlans) {
      for (const bool tagged : {false, true}) {
        const std::string names =
            NamesWhere([&](const SwitchPort& p) { return p.vlan == vlan && p.tagged == tagged; });
        if (names.empty()) continue;
        StrAppend(&vlans, vlans.empty() ? "" : "; ", vlan, tagged ? " tagged on " : " untagged on ",
                  names);
      }
    }
    needs_[Need::kVlan] = vlans;
  }

  void Addresses() {
    size_t count = 0;
    for (const SwitchPort& port : needs_.ports) {
      count += port.stations.size();
      needs_.broadcasts |= port.config->tap.has_value();
    }
    const std::string unknown = NamesWhere([](const SwitchPort& p) { return !p.knows_stations; });
    const std::string lacking =
        NamesWhere([](const SwitchPort& p) { return LacksMacs(*p.config); });
    needs_.learns = !unknown.empty();
    needs_.floods = needs_.learns || !lacking.empty();
    std::string text = "no learning, frames to unknown addresses are dropped";
    if (needs_.learns) {
      text = StrCat("learning, as the MAC addresses behind ", unknown,
                    " are not known; state ports[].mac of their endpoints for static ones");
    } else if (!lacking.empty()) {
      text = StrCat("no learning, but frames are flooded: their headers have no MAC addresses (",
                    lacking, ")");
    }
    needs_[Need::kUnknown] = text;
    const std::string hairpins = NamesWhere([](const SwitchPort& p) { return p.hairpins; });
    if (!hairpins.empty()) {
      needs_[Need::kHairpin] =
          StrCat("frames may leave by the port on which they came: ", hairpins);
    }
    needs_[Need::kAddresses] = StrCat(count, " addresses");
  }

  void Use(uint32_t c, std::string user) {
    std::vector<std::string>& users = needs_.classes[c].users;
    if (std::ranges::find(users, user) == users.end()) users.push_back(std::move(user));
  }

  void Classes() {
    for (const SwitchPort& port : needs_.ports) {
      if (port.field != ClassFieldOf(*port.config, true)) {
        const bool can_be_tagged = TraitsOf(port.config->encapsulation).can_be_tagged;
        needs_.assumptions.push_back(StrCat(
            files_[port.file].path, ": ports[", port.index,
            "]: this switch does not see the DSCP of ", NameOf(port.config->encapsulation),
            can_be_tagged ? "; set vlan (vid 0 for a priority tag), pfc_class: pcp, and a pcp for "
                            "each VC"
                          : "; use another header for classes, or suede-switch"));
      }
      const ClassesConfig& classes = ConfigOf(port).classes;
      for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
        Use(ClassAt(port.field, classes.vc[vc]), StrCat("VC ", vc));
      }
      Use(ClassAt(port.field, classes.ack), "acknowledgements");
    }
    std::string text;
    for (const uint32_t c : needs_.UsedClasses()) {
      ClassNeeds& of = needs_.classes[c];
      of.strict = of.users.size() == 1 && of.users[0] == "acknowledgements";
      StrAppend(&text, text.empty() ? "" : "; ", c, ": ", StrJoin(of.users, ", "),
                of.strict ? " (served first)" : "");
    }
    for (const auto& [field, how] :
         {std::pair(ClassField::kDscp, "upper three bits of the DSCP"),
          std::pair(ClassField::kPcp, "PCP of the tag"),
          std::pair(ClassField::kNone, "no field: all are of class 0")}) {
      const std::string names = NamesWhere([f = field](const auto& p) { return p.field == f; });
      if (!names.empty()) StrAppend(&text, "; by ", how, " on ", names);
    }
    needs_[Need::kClasses] = text;
  }

  void Lossless() {
    needs_.cable_m = options_.cable_m;
    std::string headrooms;
    Duration storm{};
    bool watches = false;
    bool software = false;
    for (SwitchPort& port : needs_.ports) {
      if (port.config->pfc == PortConfig::Pfc::kOff) continue;
      const uint32_t frame = MaxFrameBytes(*port.config);
      port.headroom_bytes = fabric::HeadroomBytes(port.rate_bps, options_.cable_m, frame);
      if (port.config->pfc == PortConfig::Pfc::kSoftware) {
        port.headroom_bytes += (kBurstFrames + port.config->tx_descriptors) * frame;
        software = true;
      }
      StrAppend(&headrooms, headrooms.empty() ? "" : ", ", port.headroom_bytes, " bytes on ",
                port.name);
      const ClassesConfig& classes = ConfigOf(port).classes;
      for (const TrafficClass& c : classes.vc) Protect(ClassAt(port.field, c));
      Protect(ClassAt(port.field, classes.ack));
      const Duration of_port = ConfigOf(port).pfc.storm;
      watches |= of_port > Duration{};
      storm = std::max(storm, of_port);
    }
    if (headrooms.empty()) return;
    needs_[Need::kLossless] =
        StrCat("classes ", StrJoin(needs_.ClassesWith(&ClassNeeds::lossless), ", "),
               " by PFC; headroom of each with cables of ", options_.cable_m, " m: ", headrooms);
    if (software) {
      needs_.assumptions.push_back(
          "headrooms hold the 32 frames and the ports[].tx_descriptors that an endpoint with "
          "pfc: software does not hold back; state fewer, or pfc: device, for less");
    }
    if (!watches) return;
    using Ms = std::chrono::milliseconds;
    needs_.storm_ms =
        std::max(kMinStormMs, static_cast<uint32_t>(std::chrono::ceil<Ms>(storm).count()));
    needs_[Need::kWatchdog] =
        StrCat("a class that is paused for ", needs_.storm_ms, " ms is dropped until it is not");
  }

  void Protect(uint32_t c) { needs_.classes[c].lossless = true; }

  static bool Uses(const Config& config, CongestionControl control) {
    return std::ranges::any_of(config.instances, [control](const InstanceConfig& instance) {
      return instance.congestion == control;
    });
  }

  void Ecn() {
    Duration rtt{};
    std::set<uint32_t> marked;
    bool credit = false;
    for (const SwitchPort& port : needs_.ports) {
      const Config& config = ConfigOf(port);
      credit |= Uses(config, CongestionControl::kRccc);
      if (!Uses(config, CongestionControl::kNscc)) continue;
      rtt = std::max(rtt, config.congestion.base_rtt);
      bool capable = false;
      for (const ConfigVcClass& c : config.classes.vc) {
        if (!IsCapable(c) || kWithoutClass.Has(port.config->encapsulation)) continue;
        marked.insert(ClassAt(port.field, c));
        capable = true;
      }
      if (!capable) {
        needs_.assumptions.push_back(
            StrCat(files_[port.file].path, ": classes.vc[].ecn: 0, so NSCC gets no marks on ",
                   port.end, "; set ecn to 1 or 2 in a header with ECN for marks"));
      }
    }
    if (marked.empty()) {
      if (credit) {
        needs_[Need::kEcn] = "none: each port is a last hop, whose queue RCCC keeps short";
      }
      return;
    }
    std::string thresholds;
    for (SwitchPort& port : needs_.ports) {
      const uint64_t bdp = port.rate_bps / 8 * static_cast<uint64_t>(rtt.count()) / 1'000'000'000;
      port.ecn_min_bytes = bdp / 5;
      port.ecn_max_bytes = bdp / 5 * 4;
      StrAppend(&thresholds, thresholds.empty() ? "" : ", ", port.ecn_min_bytes, " to ",
                port.ecn_max_bytes, " bytes on ", port.name);
    }
    for (const uint32_t c : marked) needs_.classes[c].marked = true;
    WarnOfIncapable();
    needs_[Need::kEcn] = StrCat("classes ", StrJoin(marked, ", "), " for NSCC: ", thresholds);
  }

  // A switch drops frames without ECN where it marks the others.
  void WarnOfIncapable() {
    std::set<std::string> users;
    for (const SwitchPort& port : needs_.ports) {
      const ClassesConfig& classes = ConfigOf(port).classes;
      const auto check = [&](const TrafficClass& c, const std::string& key) {
        if (needs_.classes[ClassAt(port.field, c)].marked && !IsCapable(c)) users.insert(key);
      };
      for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
        check(classes.vc[vc], StrCat("classes.vc[", vc, "]"));
      }
      check(classes.ack, "classes.ack");
    }
    if (users.empty()) return;
    needs_.assumptions.push_back(StrCat(StrJoin(users, ", "),
                                        ": ecn: 0 in a class with marks, where "
                                        "switches drop frames that they cannot mark; set ecn to 1 "
                                        "or 2, or use another class"));
  }

  absl::Status Trimming() {
    const SwitchPort* first = nullptr;
    TrimNeeds trim;
    for (const SwitchPort& port : needs_.ports) {
      if (!port.config->trimmed_dscp) continue;
      const uint8_t dscp = *port.config->trimmed_dscp;
      const std::string key = StrCat("ports[", port.index, "].trimmed_dscp");
      if (first != nullptr && dscp != trim.dscp) {
        return Wrong(files_[port.file].path, ": ", key, ": ", dscp, ", but ",
                     files_[first->file].path, ": ports[", first->index, "].trimmed_dscp is ",
                     trim.dscp, "; give both the same, as a switch has one");
      }
      first = &port;
      trim.dscp = dscp;
      trim.bytes = std::max(trim.bytes,
                            IsIpv6(port.config->encapsulation) ? kTrimIpv6Bytes : kTrimIpv4Bytes);
    }
    if (first == nullptr) return absl::OkStatus();
    trim.class_of = trim.dscp / 8;
    for (const SwitchPort& port : needs_.ports) {
      for (const TrafficClass& c : ConfigOf(port).classes.vc) {
        ClassNeeds& of = needs_.classes[ClassAt(port.field, c)];
        if (of.lossless || !kTrimmable.Has(port.config->encapsulation)) continue;
        of.trimmed = true;
        trim.dscps.insert(c.dscp);
      }
    }
    if (trim.dscps.empty()) {
      return Wrong(files_[first->file].path, ": ports[", first->index,
                   "].trimmed_dscp: no class can be trimmed, as all are lossless or without a "
                   "DSCP; remove it, or set pfc: off");
    }
    Use(trim.class_of, "trimmed frames");
    needs_[Need::kTrimming] =
        StrCat("frames of DSCP ", StrJoin(Numbers(trim.dscps), ", "), " to ", trim.bytes,
               " bytes, DSCP ", trim.dscp, ", class ", trim.class_of);
    needs_.trim = std::move(trim);
    return absl::OkStatus();
  }

  static std::vector<uint32_t> Numbers(const std::set<uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
  }

  void Hash() {
    std::string text;
    for (const SwitchPort& port : needs_.ports) {
      if (ConfigOf(port).sessions.max <= 1 || !kWithSession.Has(port.config->encapsulation))
        continue;
      const bool by_port = kUdp.Has(port.config->encapsulation);
      text = by_port ? "the UDP source port, which has the session, beside the addresses"
                     : "the session in the header, beside the addresses";
    }
    needs_[Need::kHash] = text;
  }

  void Links() {
    for (const SwitchPort& port : needs_.ports) {
      if (port.config->llr == OnOff::kOn) needs_.retry = ConfigOf(port).llr;
      if (port.config->cbfc == OnOff::kOn) needs_.credit = ConfigOf(port).cbfc;
    }
    const std::string retry = NamesWhere([](const auto& p) { return p.config->llr == OnOff::kOn; });
    const std::string credit =
        NamesWhere([](const auto& p) { return p.config->cbfc == OnOff::kOn; });
    if (!retry.empty()) {
      needs_[Need::kRetry] = StrCat("on ", retry, ": up to ", needs_.retry.window_frames,
                                    " frames and ", needs_.retry.window_octets, " bytes held");
    }
    if (!credit.empty()) needs_[Need::kCredit] = StrCat("on ", credit);
  }

  void Routes() {
    uint64_t max_mbps = 0;
    bool has_planes = false;
    for (const EndpointFile& file : files_) {
      for (const InstanceConfig& instance : file.config.instances) {
        has_planes |= instance.ports.size() > 1;
      }
    }
    // Planes of other switches count, too: all leaves divide by the same number.
    for (const EndpointFile& file : files_) {
      for (const PortConfig& port : file.config.ports) {
        max_mbps = std::max(max_mbps, 1000 * uint64_t{RateOf(port).value_or(options_.rate_gbps)});
      }
    }
    while (max_mbps / needs_.route_scale > kMaxRouteMbps) needs_.route_scale *= 10;
    for (SwitchPort& port : needs_.ports) {
      port.link_mbps = std::max<uint32_t>(
          1, static_cast<uint32_t>(port.rate_bps / 1'000'000 / needs_.route_scale));
    }
    if (!has_planes && !options_.routes) return;
    needs_[Need::kRoutes] =
        StrCat("the addresses of the servers, with the bandwidth of the plane toward each, in ",
               needs_.route_scale, " Mb/s");
    if (!has_planes) {
      needs_.assumptions.push_back(
          "no instance has several planes, so weights by routes have no effect");
    }
  }

  const std::span<const EndpointFile> files_;
  const SwitchOptions& options_;
  SwitchNeeds& needs_;
};

}  // namespace

std::vector<uint32_t> SwitchNeeds::ClassesWith(bool ClassNeeds::*member) const {
  std::vector<uint32_t> found;
  for (uint32_t c = 0; c < classes.size(); ++c) {
    if (classes[c].*member) found.push_back(c);
  }
  return found;
}

std::vector<uint32_t> SwitchNeeds::UsedClasses() const {
  std::vector<uint32_t> used;
  for (uint32_t c = 0; c < classes.size(); ++c) {
    if (!classes[c].users.empty()) used.push_back(c);
  }
  return used;
}

uint32_t ClassAt(ClassField field, const TrafficClass& c) {
  switch (field) {
    case ClassField::kNone:
      return 0;
    case ClassField::kPcp:
      return c.pcp;
    case ClassField::kDscp:
      return c.dscp / 8u;
  }
  return 0;
}

ClassField ClassFieldOf(const PortConfig& port, bool sees_all) {
  const bool has_class =
      !kWithoutClass.Has(port.encapsulation) && (sees_all || kUdp.Has(port.encapsulation));
  const bool by_pcp = port.pfc_class == PortConfig::PfcClass::kPcp || !has_class;
  if (port.vid && by_pcp) return ClassField::kPcp;
  return has_class ? ClassField::kDscp : ClassField::kNone;
}

bool LacksMacs(const PortConfig& port) {
  return TraitsOf(port.encapsulation).macs == MacKind::kOther;
}

std::string NamesWithoutIp(const SwitchNeeds& needs) {
  std::vector<std::string> names;
  for (const SwitchPort& port : needs.ports) {
    if (kUdp.Has(port.config->encapsulation)) continue;
    names.push_back(StrCat(port.name, " (", NameOf(port.config->encapsulation), ")"));
  }
  return StrJoin(names, ", ");
}

absl::StatusOr<SwitchNeeds> NeedsOf(std::span<const EndpointFile> files,
                                    const SwitchOptions& options) {
  SwitchNeeds needs;
  absl::StatusOr<std::vector<SwitchPort>> ports = PlacePorts(files, options, needs.assumptions);
  if (!ports.ok()) return ports.status();
  needs.ports = *std::move(ports);
  if (absl::Status s = CheckEnds(files, options, needs.ports, needs.assumptions); !s.ok()) return s;
  if (absl::Status s = Gathering(files, options, needs).Run(); !s.ok()) return s;
  return needs;
}

}  // namespace suede::ctl
