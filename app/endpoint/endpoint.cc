#include "endpoint/endpoint.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/big_endian.h"
#include "dpdk/crc.h"
#include "dpdk/hugepages.h"
#include "endpoint/log_line.h"
#include "endpoint/version.h"
#include "pipeline/lcore_loop.h"
#include "preflight/preflight.h"
#include "wire/rcrc.h"

namespace suede {
namespace {

bool IsVdev(const std::string& device) { return device.rfind("net_", 0) == 0; }

struct LcoreWaiter {
  void Pause() { CpuPause(); }
  void Yield() { YieldCpu(); }
  void Sleep(int64_t ns) { SleepNs(ns); }
};

IdleStrategy ToIdle(LcoreConfig::Idle idle) {
  switch (idle) {
    case LcoreConfig::Idle::kYield: return IdleStrategy::kYield;
    case LcoreConfig::Idle::kSleep: return IdleStrategy::kSleep;
    case LcoreConfig::Idle::kSpin: break;
  }
  return IdleStrategy::kSpin;
}

TransportParams ToTransport(const TransportConfig& config) {
  return {.psn_scope = config.psn_scope == TransportConfig::PsnScope::kVc ? PsnScope::kVc
                                                                          : PsnScope::kPort,
          .window_pdus = config.window_pdus,
          .window_bytes = config.window_bytes,
          .ack_every_pdus = config.ack_every_pdus,
          .ack_delay = config.ack_delay,
          .nack_timeout = config.nack_timeout,
          .rto_initial = config.rto_initial,
          .rto_min = config.rto_min,
          .rto_max = config.rto_max,
          .max_tries = config.max_tries,
          .not_ready_backoff = config.not_ready_backoff,
          .hello_timeout = config.hello_timeout,
          .hello_tries = config.hello_tries};
}

TrafficClass ToClass(const ConfigClass& c) { return {.pcp = c.pcp, .dscp = c.dscp, .ecn = c.ecn}; }

NetAddress ToAddress(const ConfigAddress& address) {
  return {.high = address.high, .low = address.low};
}

EalLogLevel ToLogLevel(EventSeverity severity) {
  switch (severity) {
    case EventSeverity::kInfo: return EalLogLevel::kInfo;
    case EventSeverity::kWarning: return EalLogLevel::kWarning;
    case EventSeverity::kError: break;
  }
  return EalLogLevel::kError;
}

// The two enumerations name the same things in the same order.
static_assert(static_cast<int>(PortConfig::Encapsulation::kAfh2c) ==
              static_cast<int>(Encap::kAfh2c));

FrameRules ToRules(const PortConfig& port) {
  return {.encap = static_cast<Encap>(port.encapsulation),
          .udp_port = port.udp_port,
          .mac_prefix = LoadBe32(port.mac_prefix.data()),
          .ether_type = port.ether_type};
}

// What an AFH Gen 1 frame to the instance has where MAC addresses are.
MacAddress AfhMac(const ConfigMacPrefix& prefix, const ConfigAddress& address) {
  return {prefix[0], prefix[1], prefix[2], prefix[3], static_cast<uint8_t>(address.low >> 8),
          static_cast<uint8_t>(address.low)};
}

// Which boot this is: grows with time in steps of 32 ms, never 0. See docs/control-pdus.md.
uint32_t BootEpoch() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  return std::max(1u, static_cast<uint32_t>(ms / 32));
}

}  // namespace

std::string EalFilePrefix(const Config& config) { return absl::StrCat("suede_", config.name); }

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Create(const Config& config, Log log) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(config, std::move(log)));
  endpoint->epoch_ = BootEpoch();
  if (absl::Status status = endpoint->StartEalFor(); !status.ok()) return status;
  if (absl::Status status = endpoint->OpenPorts(); !status.ok()) return status;
  endpoint->BuildPipelines();
  endpoint->administration_ = std::make_unique<Administration>(endpoint.get());
  endpoint->watch_ = std::make_unique<Watch>(endpoint.get());
  return endpoint;
}

Endpoint::Endpoint(const Config& config, Log log) : config_(config), log_(std::move(log)) {
  events_.AddObserver([this](const Event& event) { LogEvent(event); });
}

void Endpoint::LogEvent(const Event& event) const {
  const EventRow& row = event.row();
  std::string line(row.name);
  for (const EventValue& value : event.values) {
    const std::string_view name = RowOf(value.field).name;
    std::visit([&](const auto& v) { AppendLogField(&line, name, v); }, value.value);
  }
  AppendLogField(&line, "sequence", static_cast<int64_t>(event.sequence));
  log_(ToLogLevel(row.severity), row.component, line);
}

Endpoint::~Endpoint() {
  Stop();
  pipelines_.clear();
  for (const auto& port : ports_) port->Close();
  ports_.clear();
  if (eal_started_) StopEal();
}

// What EAL is given where it has no hugepages: the pools, and what captures and devices take.
uint32_t Endpoint::PlainMemoryMb(const Config& config) {
  constexpr uint64_t kLeastMb = 512;
  constexpr uint64_t kOthersMb = 128;
  const std::vector<uint64_t> pools = PoolBytesOf(config);
  const uint64_t sum = std::accumulate(pools.begin(), pools.end(), uint64_t{0});
  return static_cast<uint32_t>(std::max(kLeastMb, (sum >> 20) + kOthersMb));
}

absl::Status Endpoint::StartEalFor() {
  EalOptions options;
  options.file_prefix = EalFilePrefix(config_);
  options.memory_mb = config_.eal.memory_mb;
  options.extra = config_.eal.args;
  options.no_huge = config_.eal.hugepages == Hugepages::kOff;
  if (config_.eal.hugepages == Hugepages::kAuto) {
    uint64_t free_bytes = 0;
    for (const auto& pages : ReadHugepages()) free_bytes += pages.free * pages.page_bytes;
    // Without hugetlbfs only root takes them: others' limits are hardly made for it.
    options.no_huge = free_bytes < HugepageBytes(Hugepages::kAuto, PoolBytesOf(config_)) ||
                      (geteuid() != 0 && HugetlbfsMount().empty());
    if (options.no_huge) {
      log_(EalLogLevel::kWarning, "eal",
           "too few free hugepages: running without; reserve some with "
           "'echo 512 > /proc/sys/vm/nr_hugepages'");
    }
  }
  if (options.no_huge && options.memory_mb == 0) options.memory_mb = PlainMemoryMb(config_);
  for (const LcoreConfig& lcore : config_.lcores) options.cpus.push_back(lcore.cpu);
  for (const PortConfig& port : config_.ports) {
    (IsVdev(port.device) ? options.vdevs : options.pci).push_back(port.device);
  }
  options.log = [log = log_](EalLogLevel level, std::string_view line) { log(level, "eal", line); };
  const absl::StatusOr<std::vector<std::string>> arguments = EalArguments(options);
  if (!arguments.ok()) return arguments.status();
  eal_arguments_ = JoinArguments(*arguments);
  log_(EalLogLevel::kInfo, "suede",
       absl::StrCat("starting version=", kVersion, " commit=", kRevision, " dpdk=\"", DpdkVersion(),
                    "\" eal=\"", eal_arguments_, "\""));
  if (absl::Status status = StartEal(options); !status.ok()) return status;
  eal_started_ = true;
  InstallRcrc(DpdkCrc32);
  clock_ = std::make_unique<TscClock>();
  return absl::OkStatus();
}

Settings Endpoint::SettingsOf(const Config& config) {
  Settings settings{.partition = static_cast<uint16_t>(config.partition),
                    .ack_class = ToClass(config.classes.ack),
                    .pack_limit_bytes = config.packing.limit_bytes,
                    .inflight_pdus = config.transport.inflight_pdus,
                    .unclaimed_pdus = config.clients.unclaimed_pdus,
                    .transport = ToTransport(config.transport)};
  for (uint32_t vc = 0; vc < kVcCount; ++vc) settings.classes[vc] = ToClass(config.classes.vc[vc]);
  return settings;
}

void Endpoint::Adopt(Config config) { config_ = std::move(config); }

InstanceParams Endpoint::MakeInstanceParams(const InstanceConfig& instance, uint32_t port) const {
  InstanceParams params{.xpuid = static_cast<uint16_t>(instance.xpu),
                        .instance = static_cast<uint8_t>(instance.instance),
                        .planes = {{.port = port, .address = ToAddress(instance.ports[0].address)}},
                        .partition = static_cast<uint16_t>(config_.partition)};
  const Settings settings = SettingsOf(config_);
  params.classes = settings.classes;
  params.ack_class = settings.ack_class;
  params.pack_limit_bytes = settings.pack_limit_bytes;
  params.inflight_pdus = settings.inflight_pdus;
  params.unclaimed_pdus = settings.unclaimed_pdus;
  params.epoch = epoch_;
  params.transport = settings.transport;
  for (const PeerConfig& peer : config_.peers) {
    const PeerPort* at = FindPeerPort(peer, instance.ports[0].port, instance.instance);
    if (at == nullptr) continue;
    const ConfigAddress address = PeerAddress(peer, *at, instance.instance);
    if (address == instance.ports[0].address) continue;  // an instance is no peer of its own
    params.peers.push_back({.xpuid = static_cast<uint16_t>(peer.xpu),
                            .planes = {{.address = ToAddress(address),
                                        .mac = at->mac,
                                        .resolving = at->mac == ConfigMac{} &&
                                                     LearnsNeighbours(config_.ports[at->port])}}});
  }
  return params;
}

PortOptions Endpoint::MakePortOptions(uint32_t p) const {
  // Clients' packed commands may take a frame each at worst; beyond this many a stuck destination
  // costs a wait, not a frame more.
  constexpr uint32_t kMostPackedFrames = 4096;
  using Encapsulation = PortConfig::Encapsulation;
  const PortConfig& port = config_.ports[p];
  const Encapsulation encap = port.encapsulation;
  std::vector<InstanceParams> instances;
  std::vector<MacAddress> addresses;
  for (const InstanceConfig& instance : config_.instances) {
    if (instance.ports[0].port != p) continue;
    instances.push_back(MakeInstanceParams(instance, 0));
    if (encap == Encapsulation::kAfh1 || encap == Encapsulation::kAfh1s) {
      addresses.push_back(AfhMac(port.mac_prefix, instance.ports[0].address));
    }
  }
  const uint32_t packed =
      std::min(config_.clients.aggregate_lines * config_.clients.max_queues, kMostPackedFrames);
  // The kernel may have VLANs of its own on a TAP device.
  const uint32_t tag_bytes = port.vid.has_value() || port.tap.has_value() ? 4 : 0;
  return {.name = port.name,
          .device = port.device,
          .mtu = static_cast<uint16_t>(port.mtu_bytes),
          .frame_bytes = std::max<uint32_t>(kMinFrameBytes, 14 + tag_bytes + port.mtu_bytes),
          .rx_descriptors = static_cast<uint16_t>(port.rx_descriptors),
          .tx_descriptors = static_cast<uint16_t>(port.tx_descriptors),
          .mac = port.mac,
          .addresses = std::move(addresses),
          .promiscuous = encap == Encapsulation::kAfh2 || encap == Encapsulation::kAfh2c,
          .numa_node = -1,
          .pool_frames =
              FramesNeeded(instances, packed, port.rx_descriptors, port.tx_descriptors)};
}

std::vector<uint64_t> Endpoint::PoolBytesOf(const Config& config) {
  const Endpoint unstarted(config, nullptr);
  std::vector<uint64_t> bytes;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    bytes.push_back(PoolBytes(unstarted.MakePortOptions(p)));
  }
  return bytes;
}

absl::Status Endpoint::OpenPorts() {
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    absl::StatusOr<std::unique_ptr<DpdkPort>> opened = DpdkPort::Open(MakePortOptions(p));
    if (!opened.ok()) return opened.status();
    for (const std::string& warning : (*opened)->warnings()) {
      log_(EalLogLevel::kWarning, "port", warning);
    }
    ports_.push_back(*std::move(opened));
  }
  return absl::OkStatus();
}

void Endpoint::BuildPipelines() {
  lanes_.resize(config_.ports.size());
  std::vector<std::vector<uint32_t>> numbers(config_.lcores.size());
  for (size_t l = 0; l < config_.lcores.size(); ++l) {
    pipelines_.push_back(std::make_unique<Pipeline>());
    numbers[l].assign(config_.ports.size(), ~0u);
  }
  port_places_.resize(config_.ports.size());
  for (const InstanceConfig& instance : config_.instances) {
    Pipeline& pipeline = *pipelines_[instance.lcore];
    const uint32_t p = instance.ports[0].port;
    const PortConfig& port = config_.ports[p];
    uint32_t& number = numbers[instance.lcore][p];
    if (number == ~0u) {
      lanes_[p] = std::make_unique<PacketLane>(ToRules(port), ports_[p]->max_frame_bytes(),
                                               config_.management.packet_burst);
      number = pipeline.AddPort(ports_[p].get(),
                                {.rules = ToRules(port),
                                 .session = port.session,
                                 .tagged = port.vid.has_value(),
                                 .vid = port.vid.value_or(0),
                                 .mac = port.mac.value_or(ports_[p]->mac())},
                                lanes_[p].get());
      port_places_[p] = PortPlace{.lcore = instance.lcore, .number = number};
    }
    numbers_.push_back(pipeline.AddInstance(MakeInstanceParams(instance, number)));
  }
}

absl::Status Endpoint::Start() {
  stop_ = false;
  for (uint32_t l = 0; l < pipelines_.size(); ++l) {
    const LcoreConfig& lcore = config_.lcores[l];
    const absl::Status status = LaunchOnCpu(lcore.cpu, [this, l, idle = ToIdle(lcore.idle)] {
      LcoreWaiter waiter;
      RunLoop(*pipelines_[l], *clock_, waiter, idle, stop_);
      return 0;
    });
    if (!status.ok()) return status;
    running_ = true;
  }
  return absl::OkStatus();
}

void Endpoint::Stop() {
  if (!running_) return;
  stop_ = true;
  WaitForLcores();
  running_ = false;
}

uint64_t Endpoint::Progress(uint32_t lcore) const {
  const CounterBlock& counters = pipelines_[lcore]->port_counters();
  return counters.Get(Counter::kBusyCycles) + counters.Get(Counter::kIdleCycles);
}

template <typename Each>
void Endpoint::ForEachBlock(Each each) const {
  for (const auto& pipeline : pipelines_) {
    each(pipeline->port_counters());
    for (uint32_t i = 0; i < pipeline->instance_count(); ++i) each(pipeline->counters(i));
  }
  for (const auto& lane : lanes_) {
    if (lane != nullptr) each(std::as_const(*lane).control_counters());
  }
}

CounterSnapshot Endpoint::Counters() const {
  CounterSnapshot sum{};
  ForEachBlock([&sum](const CounterBlock& block) { block.AddTo(sum); });
  return sum;
}

CounterSnapshot Endpoint::LcoreCounters(uint32_t lcore) const {
  CounterSnapshot sum{};
  pipelines_[lcore]->port_counters().AddTo(sum);
  for (size_t p = 0; p < lanes_.size(); ++p) {
    if (lanes_[p] != nullptr && port_places_[p]->lcore == lcore) {
      lanes_[p]->control_counters().AddTo(sum);
    }
  }
  return sum;
}

uint64_t Endpoint::SumOf(Counter counter) const {
  uint64_t sum = 0;
  ForEachBlock([&sum, counter](const CounterBlock& block) { sum += block.Get(counter); });
  return sum;
}

}  // namespace suede
