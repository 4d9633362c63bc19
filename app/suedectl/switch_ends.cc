// SPDX-License-Identifier: Apache-2.0
// The ports of the switch, and the agreement of the endpoints behind them.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/big_endian.h"
#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "suedectl/frame_text.h"
#include "suedectl/switch_needs.h"

namespace suede::ctl {
namespace {

constexpr std::string_view kElsewhere = "none";  // place of a port that leads to another switch

// An XPU's instance behind a port of the switch.
struct Own {
  size_t port;
  uint32_t instance;
  size_t plane;  // position among the instance's ports
  NetAddress address;
  bool assigned;  // by the neighbour, hence not known
};

std::string KeyOf(const SwitchPort& port, std::string_view key) {
  return StrCat("ports[", port.index, "].", key);
}

template <class Visit>
void VisitInstances(const EndpointFile& file, uint32_t port, Visit visit) {
  for (const InstanceConfig& instance : file.config.instances) {
    for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
      if (instance.ports[plane].port == port) visit(instance, plane);
    }
  }
}

class EndCheck {
 public:
  EndCheck(std::span<const EndpointFile> files, const SwitchOptions& options,
           std::vector<SwitchPort>& ports)
      : files_(files), options_(options), ports_(ports) {}

  absl::Status Run(std::vector<std::string>& assumptions) {
    for (size_t p = 0; p < ports_.size(); ++p) {
      VisitInstances(FileOf(p), ports_[p].index, [&](const InstanceConfig& own, size_t plane) {
        owns_.emplace(own.xpu, Own{p, own.instance, plane, own.ports[plane].address,
                                   own.ports[plane].assigned});
      });
    }
    for (size_t p = 0; p < ports_.size() && status_.ok(); ++p) {
      VisitInstances(FileOf(p), ports_[p].index,
                     [&](const InstanceConfig& own, size_t plane) { FollowPeers(p, own, plane); });
    }
    for (const auto& [key, xpus] : absent_) {
      assumptions.push_back(StrCat(key, ": XPU ", StrJoin(xpus, ", "),
                                   " is behind no given port, so it has no static address; give "
                                   "its endpoint's configuration, too"));
    }
    for (size_t p = 0; p < ports_.size() && status_.ok(); ++p) FindStations(p);
    return status_;
  }

 private:
  const EndpointFile& FileOf(size_t port) const { return files_[ports_[port].file]; }

  void FollowPeers(size_t p, const InstanceConfig& own, size_t plane) {
    const Config& config = FileOf(p).config;
    for (size_t i = 0; i < config.peers.size() && status_.ok(); ++i) {
      const PeerConfig& peer = config.peers[i];
      const PeerPort* at = FindPeerPort(peer, ports_[p].index, own.instance);
      if (at == nullptr) continue;
      const NetAddress address = PeerAddress(config, peer, *at, own.instance);
      const Own* exact = nullptr;
      const Own* likely = nullptr;
      const auto [first, last] = owns_.equal_range(peer.xpu);
      for (auto end = first; end != last; ++end) {
        const Own& other = end->second;
        if (other.port == p) {
          ports_[p].hairpins |= !other.assigned && other.address == address;
          continue;
        }
        if (!other.assigned && other.address == address) exact = &other;
        if (other.instance == own.instance && other.plane == plane) likely = &other;
      }
      const Own* const other = exact != nullptr ? exact : likely;
      if (other != nullptr) {
        Join(p, other->port, peer, *at, exact == nullptr && !other->assigned);
      } else if (first == last) {
        absent_[StrCat(FileOf(p).path, ": peers")].insert(peer.xpu);
      }
    }
  }

  // Compares the two ends of a path: port `p`, and port `q` of the peer.
  void Join(size_t p, size_t q, const PeerConfig& peer, const PeerPort& at, bool wrong_address) {
    if (joined_.insert({p, q}).second) Compare(p, q);
    if (!status_.ok()) return;
    const std::string who =
        StrCat("peers[] of XPU ", peer.xpu, ".ports[] of ", ports_[p].config->name);
    if (wrong_address) {
      status_ = Wrong(FileOf(p).path, ": ", who, ": its address is not that of the XPU in ",
                      FileOf(q).path, ": ", KeyOf(ports_[q], "name"), " ", ports_[q].config->name,
                      "; give both the same");
      return;
    }
    const bool has_mac = TraitsOf(ports_[q].config->encapsulation).macs == MacKind::kAddresses;
    if (!has_mac || options_.routes || !IsUnicast(at.mac)) return;
    const std::optional<MacAddress>& mac = ports_[q].config->mac;
    if (mac && *mac != at.mac) {
      status_ =
          Wrong(FileOf(p).path, ": ", who, ".mac: ", FormatMac(at.mac), ", but ", FileOf(q).path,
                ": ", KeyOf(ports_[q], "mac"), " is ", FormatMac(*mac), "; give both the same");
    }
    learnt_.emplace(q, at.mac);
  }

  void Differ(size_t p, size_t q, std::string_view of_p, std::string_view of_q,
              const std::string& value, const std::string& other) {
    if (value == other || !status_.ok()) return;
    status_ = Wrong(FileOf(p).path, ": ", of_p, ": ", value, ", but ", FileOf(q).path, ": ", of_q,
                    " is ", other, "; give both the same");
  }

  void Compare(size_t p, size_t q) {
    const PortConfig& one = *ports_[p].config;
    const PortConfig& two = *ports_[q].config;
    const auto differ = [&](std::string_view key, const auto& value, const auto& other) {
      Differ(p, q, KeyOf(ports_[p], key), KeyOf(ports_[q], key), StrCat(value), StrCat(other));
    };
    const auto vid = [](const PortConfig& port) {
      return port.vid.value_or(0) == 0 ? std::string("untagged") : StrCat(*port.vid);
    };
    const auto hex = [](const ConfigMacPrefix& prefix) {
      return FormatMac({prefix[0], prefix[1], prefix[2], prefix[3], 0, 0}).substr(0, 11);
    };
    differ("encapsulation", NameOf(one.encapsulation), NameOf(two.encapsulation));
    differ("vlan.vid", vid(one), vid(two));
    differ("mtu_bytes", one.mtu_bytes, two.mtu_bytes);
    if (kUdp.Has(one.encapsulation)) differ("udp_port", one.udp_port, two.udp_port);
    if (kForwarded.Has(one.encapsulation)) {
      differ("ether_type", FormatEtherType(one.ether_type), FormatEtherType(two.ether_type));
    }
    if (kPrefixed.Has(one.encapsulation)) {
      differ("mac_prefix", hex(one.mac_prefix), hex(two.mac_prefix));
    }
    CompareClasses(p, q);
  }

  void CompareClasses(size_t p, size_t q) {
    const ClassField field = ports_[p].field;
    if (field == ClassField::kNone || ports_[q].field != field) return;
    const ClassesConfig& one = FileOf(p).config.classes;
    const ClassesConfig& two = FileOf(q).config.classes;
    const auto differ = [&](const std::string& key, const TrafficClass& a, const TrafficClass& b) {
      const bool by_pcp = field == ClassField::kPcp;
      const std::string path = StrCat(key, by_pcp ? ".pcp" : ".dscp");
      Differ(p, q, path, path, StrCat(by_pcp ? a.pcp : a.dscp), StrCat(by_pcp ? b.pcp : b.dscp));
    };
    for (size_t vc = 0; vc < one.vc.size(); ++vc) {
      differ(StrCat("classes.vc[", vc, "]"), one.vc[vc], two.vc[vc]);
    }
    differ("classes.ack", one.ack, two.ack);
  }

  // Collects the addresses behind the port.
  void FindStations(size_t p) {
    SwitchPort& port = ports_[p];
    const PortConfig& config = *port.config;
    const EncapTraits& traits = TraitsOf(config.encapsulation);
    std::optional<MacAddress> mac = config.mac;
    if (const auto known = learnt_.find(p); !mac && known != learnt_.end()) mac = known->second;
    VisitInstances(FileOf(p), port.index, [&](const InstanceConfig& own, size_t plane) {
      const NetAddress& address = own.ports[plane].address;
      if (!own.ports[plane].assigned) {
        Take(p, own.xpu, FormatAddress(config.encapsulation, address), address);
      }
      if (traits.macs == MacKind::kAddresses) return;
      Station station{.forwarding_address = static_cast<uint32_t>(address.low), .xpu = own.xpu};
      if (traits.macs == MacKind::kPrefixed) {
        std::ranges::copy(config.mac_prefix, station.mac.begin());
        StoreBe16(station.mac.data() + 4, static_cast<uint16_t>(address.low));
      }
      port.stations.push_back(station);
    });
    const bool own_mac = traits.macs == MacKind::kAddresses || config.tap.has_value();
    port.knows_stations = !own_mac || mac.has_value();
    if (!own_mac || !mac) return;
    const std::vector<InstanceConfig>& instances = FileOf(p).config.instances;
    Take(p, instances[0].xpu, FormatMac(*mac), {.high = 1, .low = MacNumber(*mac)});
    port.stations.push_back({.mac = *mac, .xpu = instances[0].xpu});
  }

  // Notes an address behind a port, and that it is the only one.
  void Take(size_t p, uint32_t xpu, const std::string& text, const NetAddress& address) {
    const auto [taken, is_first] =
        addresses_.emplace(std::tuple(ports_[p].vlan, text, address), std::pair(p, xpu));
    if (is_first || taken->second.first == p || !status_.ok()) return;
    const auto place = [&](size_t port, uint32_t of) {
      return StrCat(FileOf(port).path, ": ", KeyOf(ports_[port], "name"), " ",
                    ports_[port].config->name, " (XPU ", of, ")");
    };
    status_ = Wrong(place(p, xpu), ": address ", text, " is also that of ",
                    place(taken->second.first, taken->second.second),
                    "; give each port's XPUs addresses of their own");
  }

  const std::span<const EndpointFile> files_;
  const SwitchOptions& options_;
  std::vector<SwitchPort>& ports_;
  std::multimap<uint32_t, Own> owns_;  // by XPU
  std::set<std::pair<size_t, size_t>> joined_;
  std::map<size_t, MacAddress> learnt_;  // of ports, from the configurations of peers
  std::map<std::string, std::set<uint32_t>> absent_;
  std::map<std::tuple<uint16_t, std::string, NetAddress>, std::pair<size_t, uint32_t>> addresses_;
  absl::Status status_;
};

class Placement {
 public:
  Placement(std::span<const EndpointFile> files, const SwitchOptions& options)
      : files_(files), options_(options), used_(options.places.size()) {}

  absl::StatusOr<std::vector<SwitchPort>> Place(std::vector<std::string>& assumptions) {
    for (uint32_t f = 0; f < files_.size(); ++f) {
      const Config& config = files_[f].config;
      for (uint32_t p = 0; p < config.ports.size(); ++p) {
        if (IsCentre(config.ports[p]) || IsOfCable(config, p)) continue;
        if (absl::Status s = Add(f, p); !s.ok()) return s;
      }
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      const auto& [end, name] = options_.places[i];
      if (!used_[i]) {
        return Wrong("--port ", end, "=", name,
                     ": no endpoint has this port to a switch; there is ", StrJoin(ends_, ", "));
      }
    }
    if (ports_.size() < 2) return Wrong("fewer than two ports lead to the switch; give the others");
    if (options_.places.empty()) {
      assumptions.push_back(StrCat("ports are numbered in the order of the files, from ",
                                   ports_[0].name, " on; state others with --port ", ports_[0].end,
                                   "=NAME"));
    }
    AssumeRates(assumptions);
    return std::move(ports_);
  }

 private:
  absl::Status Add(uint32_t f, uint32_t p) {
    const Config& config = files_[f].config;
    const std::string end = StrCat(config.name, ".", config.ports[p].name);
    ends_.push_back(end);
    const absl::StatusOr<std::string> name = NameOf(end, config);
    if (!name.ok()) return name.status();
    if (*name == kElsewhere) return absl::OkStatus();
    const PortConfig& port = config.ports[p];
    for (const SwitchPort& other : ports_) {
      if (other.name == *name) {
        return Wrong("--port ", end, "=", *name, ": ", other.end,
                     " is there already; give each a port of its own");
      }
    }
    const bool tagged = port.vid.value_or(0) != 0;
    ports_.push_back(
        {.name = *name,
         .end = end,
         .file = f,
         .index = p,
         .config = &port,
         .rate_bps = RateOf(port).value_or(options_.rate_gbps) * uint64_t{1'000'000'000},
         .vlan = tagged ? *port.vid : options_.vlan,
         .tagged = tagged,
         .stations = {},
         .field = ClassFieldOf(port, options_.sees_all)});
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> NameOf(const std::string& end, const Config& config) {
    std::string name;
    for (size_t i = 0; i < options_.places.size(); ++i) {
      const auto& [place, at] = options_.places[i];
      if (place == config.name && config.ports.size() != 1) {
        return Wrong("--port ", place, "=", at, ": this endpoint has ", config.ports.size(),
                     " ports; write ", end, "=", at);
      }
      if (place != end && place != config.name) continue;
      if (!name.empty()) return Wrong("--port ", place, "=", at, ": the port has a place already");
      used_[i] = true;
      name = at;
    }
    if (!name.empty()) return name;
    if (!options_.places.empty()) {
      return Wrong("no place for port ", end, "; add --port ", end, "=NAME, or =none where its ",
                   "cable leads to another switch");
    }
    const uint32_t number =
        options_.default_first + static_cast<uint32_t>(ports_.size()) * options_.default_step;
    return StrCat(options_.default_name, number);
  }

  void AssumeRates(std::vector<std::string>& assumptions) const {
    std::vector<std::string> unknown;
    for (const SwitchPort& port : ports_) {
      if (!RateOf(*port.config)) unknown.push_back(port.end);
    }
    if (unknown.empty()) return;
    assumptions.push_back(StrCat("the rate of ", StrJoin(unknown, ", "), " is ", options_.rate_gbps,
                                 " Gbit/s (--rate_gbps); state ports[].bandwidth_gbps"));
  }

  const std::span<const EndpointFile> files_;
  const SwitchOptions& options_;
  std::vector<bool> used_;  // by place
  std::vector<std::string> ends_;
  std::vector<SwitchPort> ports_;
};

}  // namespace

std::optional<uint32_t> RateOf(const PortConfig& port) {
  if (port.bandwidth_gbps) return port.bandwidth_gbps;
  if (port.link_speeds_gbps.empty()) return std::nullopt;
  return std::ranges::max(port.link_speeds_gbps);
}

absl::StatusOr<std::vector<SwitchPort>> PlacePorts(std::span<const EndpointFile> files,
                                                   const SwitchOptions& options,
                                                   std::vector<std::string>& assumptions) {
  return Placement(files, options).Place(assumptions);
}

absl::Status CheckEnds(std::span<const EndpointFile> files, const SwitchOptions& options,
                       std::vector<SwitchPort>& ports, std::vector<std::string>& assumptions) {
  return EndCheck(files, options, ports).Run(assumptions);
}

}  // namespace suede::ctl
