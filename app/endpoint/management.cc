// SPDX-License-Identifier: Apache-2.0
#include "endpoint/management.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/secrets.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "endpoint/pipeline_params.h"
#include "mgmt/catalog.h"

namespace suede {
namespace {

CounterSetView ToSet(std::string of, const CounterSnapshot& snapshot) {
  CounterSetView set{.of = std::move(of), .counters = {}};
  AddCounters(set, CounterRows(), [&](size_t i) { return snapshot[i]; });
  return set;
}

CounterSetView ToSet(std::string of, const CounterBlock& block) {
  CounterSnapshot snapshot{};
  block.AddTo(snapshot);
  return ToSet(std::move(of), snapshot);
}

CounterSetView ToSet(std::string of, const PortStats& stats) {
  CounterSetView set{.of = std::move(of), .counters = {}};
#define SUEDE_PORT_STATS_VIEW(id, metric, sentence) \
  set.counters.push_back({.name = metric, .value = stats.id});
  SUEDE_PORT_STATS(SUEDE_PORT_STATS_VIEW)
#undef SUEDE_PORT_STATS_VIEW
  return set;
}

// Returns the counters of the whole daemon.
CounterSetView ToSet(const CounterSnapshot& snapshot, const ShmServerCounters& clients,
                     const ManagementCounters& management) {
  CounterSetView set = ToSet("", snapshot);
#define SUEDE_SHM_COUNTER_VIEW(id, metric, sentence) \
  set.counters.push_back({.name = metric, .value = clients.id});
  SUEDE_SHM_COUNTERS(SUEDE_SHM_COUNTER_VIEW)
#undef SUEDE_SHM_COUNTER_VIEW
  AddCounters(set, management);
  return set;
}

std::string RightsOf(uint8_t rights) {
  std::string out;
  for (const auto& [bit, name] :
       {std::pair(1, "read"), std::pair(2, "write"), std::pair(4, "atomic")}) {
    if ((rights & bit) != 0) absl::StrAppend(&out, out.empty() ? "" : ",", name);
  }
  return out;
}

ConfigCheckView ToView(const ConfigPlan& plan, std::vector<std::string> warnings) {
  ConfigCheckView view{.warnings = std::move(warnings), .changes = {}};
  for (const ConfigChange& change : plan.changes) {
    view.changes.push_back(
        {.key = change.path, .from = change.from, .to = change.to, .at_once = change.at_once});
  }
  return view;
}

Captures::FindPort PortsOf(Endpoint* endpoint) {
  return [endpoint](std::string_view name, bool drops) {
    return drops ? endpoint->dropped_frames(name) : endpoint->tapped_port(name);
  };
}

}  // namespace

std::string EndpointNames() {
  return NamesAsText(ToSet(CounterSnapshot{}, ShmServerCounters{}, ManagementCounters{}),
                     ToSet("", PortStats{}), kEventNames);
}

Management::Management(Endpoint* endpoint, ClientService* clients, Logger* logger,
                       ConfigOrigin origin)
    : DaemonManagement(endpoint->config().name, origin.file, PortsOf(endpoint), logger),
      endpoint_(endpoint),
      clients_(clients),
      changer_(endpoint, std::move(origin)),
      registers_(endpoint, &changer_, [clients] { return clients->server().clients().size(); }),
      lists_(endpoint),
      recorder_(endpoint),
      tracing_(endpoint),
      ping_limits_(endpoint),
      path_runs_(endpoint) {}

absl::StatusOr<std::unique_ptr<Management>> Management::Create(Endpoint* endpoint,
                                                               ClientService* clients,
                                                               Logger* logger,
                                                               ConfigOrigin origin) {
  std::unique_ptr<Management> management(
      new Management(endpoint, clients, logger, std::move(origin)));
  const ManagementConfig& config = endpoint->config().management;
  const absl::Status listens = management->Listen(
      {.path = config.socket, .mode = config.socket_mode, .max_clients = config.max_clients},
      EndpointCatalog());
  if (!listens.ok()) return listens;
  management->changer_.OnChange(
      [m = management.get()](const Config& now, const std::vector<ConfigChange>& changes) {
        m->Adopt(now, changes);
      });
  clients->SetRegisters(&management->registers_);
  auto pages = RegisterPages::Create(endpoint->config().clients, &management->registers_, logger);
  if (!pages.ok()) return pages.status();
  management->pages_ = *std::move(pages);
  return management;
}

std::vector<InstanceView> Management::Instances() {
  const Config& config = endpoint_->config();
  std::vector<InstanceView> all;
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) {
      all.push_back({.xpu = instance.xpu,
                     .instance = instance.instance,
                     .partition = PartitionOf(config, instance),
                     .lcore = config.lcores[instance.lcore].cpu,
                     .port = config.ports[at.port].name,
                     .address = FormatAddress(config.ports[at.port].encapsulation, at.address)});
    }
  }
  return all;
}

std::vector<PortView> Management::Ports() {
  const Config& config = endpoint_->config();
  std::vector<PortView> all;
  for (size_t p = 0; p < config.ports.size(); ++p) {
    const PortConfig& port = config.ports[p];
    const DpdkPort& device = *endpoint_->ports()[p];
    const LinkState link = device.link();
    std::vector<uint32_t> cpus;
    for (const Endpoint::PortPlace& place : endpoint_->places_of_port(static_cast<uint32_t>(p))) {
      const uint32_t cpu = config.lcores[place.lcore].cpu;
      if (cpus.empty() || cpus.back() != cpu) cpus.push_back(cpu);
    }
    all.push_back({.name = port.name,
                   .driver = device.driver(),
                   .mac = FormatMac(port.mac.value_or(device.mac())),
                   .mtu_bytes = port.mtu_bytes,
                   .encapsulation = std::string(NameOf(port.encapsulation)),
                   .admin_up = endpoint_->administration().port_up(static_cast<uint32_t>(p)),
                   .link_up = link.up,
                   .speed_bps = link.speed_bps,
                   .fec = std::string(NameOf(device.fec())),
                   .pool_frames = device.pool_frames(),
                   .pool_free = device.FreeFrames(),
                   .lcores = std::move(cpus),
                   .queue_pairs = device.queues(),
                   .steering = std::string(NameOf(device.steering())),
                   .paused = FlowNames(endpoint_->PausedFlows(static_cast<uint32_t>(p))),
                   .device = HideSecrets(port.device),
                   .id = device.memif() == nullptr ? std::optional(device.id()) : std::nullopt});
  }
  return all;
}

std::vector<CapabilityView> Management::Capabilities() {
  const Config& config = endpoint_->config();
  std::vector<CapabilityView> all;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    if (IsCentre(config.ports[p])) continue;  // no device
    const DpdkPort& device = *endpoint_->ports()[p];
    for (DeviceCapability& one : CapabilitiesOf(device.facts(), PortOptionsOf(config, p))) {
      all.push_back({.port = config.ports[p].name,
                     .driver = device.driver(),
                     .capability = std::string(one.name),
                     .value = std::move(one.value),
                     .consequence = std::move(one.consequence)});
    }
  }
  return all;
}

std::vector<DeviceView> Management::Devices() {
  const DeviceWatch* const devices = endpoint_->devices();
  return devices != nullptr ? devices->Devices() : std::vector<DeviceView>();
}

std::vector<CableView> Management::Cables() {
  const DeviceWatch* const devices = endpoint_->devices();
  return devices != nullptr ? devices->Cables() : std::vector<CableView>();
}

std::vector<PeerView> Management::Peers() {
  const Config& config = endpoint_->config();
  std::vector<PeerView> all;
  for (const PeerConfig& peer : config.peers) {
    for (const PeerPort& at : peer.ports) {
      const NetAddress address = PeerAddress(config, peer, at, at.instance.value_or(0));
      MacAddress mac = at.mac;
      const bool learnt = mac == MacAddress{} && LearnsNeighbours(config.ports[at.port]);
      if (learnt && packets_ != nullptr) mac = packets_->LearntMac(at.port, address);
      all.push_back({.xpu = peer.xpu,
                     .port = config.ports[at.port].name,
                     .address = FormatAddress(config.ports[at.port].encapsulation, address),
                     .mac = mac == MacAddress{} ? "" : FormatMac(mac),
                     .resolving = learnt && mac == MacAddress{},
                     .name = peer.name});
    }
  }
  return all;
}

std::vector<ClientView> Management::Clients() {
  std::vector<ClientView> all;
  for (const ClientInfo& client : clients_->server().clients()) {
    all.push_back({.id = static_cast<uint64_t>(client.id),
                   .pid = client.pid,
                   .uid = client.uid,
                   .queues = client.queue_count,
                   .state = ClientService::StateOf(client),
                   .claims = clients_->ClaimsOf(client.id)});
  }
  return all;
}

std::vector<WindowView> Management::Windows() {
  std::vector<WindowView> all;
  for (const WindowService::View& view : clients_->windows().Windows()) {
    const InstanceConfig& instance = endpoint_->config().instances[view.index];
    const WindowRequest& window = view.window;
    WindowView& shown = all.emplace_back();
    shown.client = static_cast<uint64_t>(view.client);
    shown.xpu = instance.xpu;
    shown.instance = instance.instance;
    shown.window = window.id;
    shown.served_by = window.is_program ? "program" : "lcore";
    if (window.is_program) continue;
    shown.rights = RightsOf(window.rights);
    shown.has_key = window.key != 0;
    if (window.partition != WindowRequest::kAnyPartition) shown.partition = window.partition;
    shown.size_bytes = window.bytes;
    shown.page_bytes = view.page_bytes;
    if (view.numa_node >= 0) shown.numa_node = static_cast<uint32_t>(view.numa_node);
  }
  return all;
}

std::vector<CounterSetView> Management::Counters(CounterScope scope) {
  const Config& config = endpoint_->config();
  std::vector<CounterSetView> sets;
  switch (scope) {
    case CounterScope::kTotal:
      sets.push_back(ToSet(endpoint_->Counters(), clients_->server().counters(), counters()));
      break;
    case CounterScope::kInstance:
      for (uint32_t i = 0; i < config.instances.size(); ++i) {
        const Pipeline& pipeline = endpoint_->pipeline(endpoint_->pipeline_of(i));
        sets.push_back(
            ToSet(absl::StrCat(config.instances[i].xpu, ".", config.instances[i].instance),
                  pipeline.counters(endpoint_->number_of(i))));
      }
      break;
    case CounterScope::kLcore:
      for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
        sets.push_back(ToSet(absl::StrCat(config.lcores[l].cpu), endpoint_->LcoreCounters(l)));
      }
      break;
    case CounterScope::kPort:
      for (const auto& port : endpoint_->ports()) {
        sets.push_back(ToSet(port->name(), port->Stats()));
      }
      break;
    case CounterScope::kClass:
      break;  // not on an endpoint
  }
  return sets;
}

std::vector<LinkView> Management::Links() {
  std::vector<LinkView> links;
  for (uint32_t p = 0; p < endpoint_->ports().size(); ++p) {
    links.push_back(
        {.port = endpoint_->ports()[p]->name(), .counters = endpoint_->link_counters(p)});
  }
  return links;
}

LldpView Management::Lldp() {
  if (packets_ == nullptr) return {};
  return packets_->lldp().View(endpoint_->clock().Now());
}

std::vector<SealedPeerView> Management::SealedPeers() {
  const Config& config = endpoint_->config();
  std::vector<SealedPeerView> views;
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& own = config.instances[i];
    const Instance& instance = endpoint_->instance_pipeline(i).instance(endpoint_->number_of(i));
    for (size_t peer = 0; peer < instance.sealing.cells.size(); ++peer) {
      const SealCell::State state = instance.sealing.cells[peer].Get();
      views.push_back({.xpu = own.xpu,
                       .instance = own.instance,
                       .peer = instance.params.peers[peer].xpuid,
                       .sealing = NamesOf(own.sealing)[static_cast<size_t>(own.sealing)],
                       .sealed = state.sealed,
                       .secret_id = state.secret_id,
                       .tx_epoch = state.tx_epoch,
                       .rx_epoch = state.rx_epoch});
    }
  }
  return views;
}

absl::StatusOr<uint32_t> Management::RotateKeys() {
  if (endpoint_->RotateKeys()) {
    const std::vector<SealedPeerView> peers = SealedPeers();
    return static_cast<uint32_t>(std::count_if(
        peers.begin(), peers.end(), [](const SealedPeerView& peer) { return peer.sealed; }));
  }
  return absl::UnavailableError("the request queue of an lcore is full; try again");
}

absl::StatusOr<EndpointView::DrainQuestion> Management::DrainPlane(const PlaneName& name) {
  Administration& administration = endpoint_->administration();
  const absl::StatusOr<AdminQuestion> set = administration.SetPlane(name, PlaneSetting::kDrain);
  if (!set.ok()) return set.status();
  const uint32_t instance = *administration.Find(name);
  using Left = absl::StatusOr<std::optional<uint64_t>>;
  return
      [&administration, name, instance, load = lists_.PlaneLoad(instance, name.plane)]() -> Left {
        if (administration.PlaneOf(instance, name.plane).admin == PlaneSetting::kDrain) {
          return load();
        }
        return absl::FailedPreconditionError("the plane was set up or down meanwhile");
      };
}

std::string Management::FilePrefix() {
  return EalTakesSecondProcesses() ? EalFilePrefix(endpoint_->config()) : "";
}

// ---- Configuration.

void Management::Adopt(const Config& config, const std::vector<ConfigChange>& changes) {
  clients_->Adopt(config);
  server().SetMaxClients(config.management.max_clients);
  for (const ConfigChange& change : changes) {
    endpoint_->events().Raise(EventKind::kConfigChanged,
                              {{EventField::kKey, change.path}, {EventField::kValue, change.to}});
  }
  logger().SetLevel(config.log.level);  // last: the change is logged at the former level
}

std::string Management::EffectiveConfig() { return HideSecrets(DumpConfig(changer_.Effective())); }

absl::StatusOr<ConfigCheckView> Management::CheckConfig(std::string_view text,
                                                        std::string_view place) {
  std::vector<std::string> warnings;
  const absl::StatusOr<ConfigPlan> plan = changer_.PlanText(text, place, &warnings);
  if (!plan.ok()) return plan.status();
  return ToView(*plan, std::move(warnings));
}

Question<absl::StatusOr<ConfigCheckView>> Management::LoadConfig(std::string_view text,
                                                                 std::string_view place) {
  using Result = std::optional<absl::StatusOr<ConfigCheckView>>;
  std::vector<std::string> warnings;
  const absl::StatusOr<ConfigPlan> plan = changer_.PlanText(text, place, &warnings);
  const absl::Status begun = plan.ok() ? changer_.Begin(plan->config) : plan.status();
  if (!begun.ok()) return [begun]() -> Result { return begun; };
  return [this, view = ToView(*plan, std::move(warnings))]() -> Result {
    changer_.Poll();
    if (changer_.busy()) return std::nullopt;
    return view;
  };
}

}  // namespace suede
