// SPDX-License-Identifier: Apache-2.0
#include "endpoint/endpoint.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/eal_start.h"
#include "daemon/event_line.h"
#include "daemon/lcore_idle.h"
#include "dpdk/crc.h"
#include "endpoint/pipeline_params.h"
#include "preflight/preflight.h"
#include "wire/rcrc.h"

namespace suede {
namespace {

// The key of an instance's random numbers. See docs/control-pdus.md.
SecretKey DrawSecret() {
  std::random_device random;
  SecretKey key;
  for (uint64_t& word : key) word = uint64_t{random()} << 32 | random();
  return key;
}

}  // namespace

std::string EalFilePrefix(const Config& config) { return absl::StrCat("suede_", config.name); }

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Create(const Config& config, Log log) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(config, std::move(log)));
  if (absl::Status status = endpoint->BeginEal(); !status.ok()) return status;
  if (absl::Status status = endpoint->OpenPorts(); !status.ok()) return status;
  endpoint->BuildPipelines();
  endpoint->administration_ = std::make_unique<Administration>(endpoint.get());
  endpoint->watch_ = std::make_unique<Watch>(endpoint.get());
  return endpoint;
}

Endpoint::Endpoint(const Config& config, Log log) : config_(config), log_(std::move(log)) {
  events_.AddObserver([this](const Event& event) { LogEvent(event, log_); });
}

Endpoint::~Endpoint() {
  Stop();
  pipelines_.clear();
  for (const auto& port : ports_) port->Close();
  ports_.clear();
  if (eal_started_) StopEal();
}

absl::Status Endpoint::BeginEal() {
  EalNeeds needs{.file_prefix = EalFilePrefix(config_),
                 .eal = config_.eal,
                 .lcores = config_.lcores,
                 .pool_bytes = PoolBytesOf(config_)};
  for (const PortConfig& port : config_.ports) {
    needs.devices.push_back({.device = port.device, .socket_mode = port.socket_mode});
  }
  const absl::StatusOr<std::string> arguments = StartEalFor(needs, log_);
  if (!arguments.ok()) return arguments.status();
  eal_arguments_ = *arguments;
  eal_started_ = true;
  if (HasWideCrc() && !AllowsWideVectors()) InstallRcrc(NarrowRcrc());
  clock_ = std::make_unique<TscClock>();
  return absl::OkStatus();
}

void Endpoint::Adopt(Config config) { config_ = std::move(config); }

std::vector<uint64_t> Endpoint::PoolBytesOf(const Config& config) {
  std::vector<uint64_t> bytes;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    bytes.push_back(PoolBytes(PortOptionsOf(config, p)));
  }
  return bytes;
}

absl::Status Endpoint::OpenPorts() {
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    absl::StatusOr<std::unique_ptr<DpdkPort>> opened = DpdkPort::Open(PortOptionsOf(config_, p));
    if (!opened.ok()) return opened.status();
    for (const std::string& warning : (*opened)->warnings()) {
      log_(EalLogLevel::kWarning, "port", warning);
    }
    ports_.push_back(*std::move(opened));
  }
  return absl::OkStatus();
}

std::vector<uint64_t> Endpoint::LinkSpeeds() const {
  std::vector<uint64_t> speeds;
  for (const auto& port : ports_) speeds.push_back(port->link().speed_bps);
  return speeds;
}

VcMask Endpoint::PausedFlows(uint32_t port) const {
  if (pauses_[port] == nullptr) return 0;
  const Time now = clock_->Now();
  uint32_t paused = 0;
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    if (pauses_[port]->until(pauses_[port]->ClassOf(flow)) > now) paused |= 1u << flow;
  }
  return static_cast<VcMask>(paused);
}

void Endpoint::BuildPipelines() {
  lanes_.resize(config_.ports.size());
  pauses_.resize(config_.ports.size());
  port_places_.resize(config_.ports.size());
  for (size_t l = 0; l < config_.lcores.size(); ++l) {
    pipelines_.push_back(std::make_unique<Pipeline>());
  }
  for (uint32_t p = 0; p < config_.ports.size(); ++p) AddPort(p);
  const std::vector<uint64_t> speeds = LinkSpeeds();
  for (uint32_t i = 0; i < config_.instances.size(); ++i) {
    const InstanceConfig& instance = config_.instances[i];
    InstanceParams params = InstanceParamsOf(config_, instance);
    params.secret = DrawSecret();
    const std::vector<uint32_t> weights = PlaneWeightsOf(config_, instance, speeds);
    for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
      params.planes[plane].port = PortNumber(instance.ports[plane].port, i);
      params.planes[plane].weight = weights[plane];
    }
    numbers_.push_back(pipelines_[instance.lcore]->AddInstance(params));
  }
  for (uint32_t p = 0; p < config_.ports.size(); ++p) JoinLcores(p);
}

// Gives each lcore of the port its queue pairs, and the first one the management packets.
void Endpoint::AddPort(uint32_t p) {
  const PortConfig& port = config_.ports[p];
  if (port.pfc == PortConfig::Pfc::kSoftware) {
    pauses_[p] = std::make_unique<PortPauses>(PauseParamsOf(config_, port));
  }
  std::vector<PortPlace>& places = port_places_[p];
  for (const PairUse& use : PairsOf(config_, p)) {
    Port* const pair = &ports_[p]->pair(static_cast<uint32_t>(places.size()));
    Pipeline& pipeline = *pipelines_[use.lcore];
    if (places.empty()) {
      lanes_[p] = std::make_unique<PacketLane>(RulesOf(port), ports_[p]->max_frame_bytes(),
                                               config_.management.packet_burst);
    }
    const auto same_lcore =
        std::find_if(places.begin(), places.end(),
                     [&use](const PortPlace& place) { return place.lcore == use.lcore; });
    const uint32_t number =
        same_lcore != places.end()
            ? pipeline.AddPair(same_lcore->number, pair)
            : pipeline.AddPort(pair, PortParamsOf(config_, port, ports_[p]->mac()),
                               places.empty() ? lanes_[p].get() : nullptr);
    if (pauses_[p] != nullptr) pipeline.SetPauses(number, pauses_[p].get(), places.empty());
    places.push_back({.lcore = use.lcore, .number = number});
  }
}

// Lets the lcores of a port hand each other frames that are not theirs.
void Endpoint::JoinLcores(uint32_t p) {
  std::vector<PortPlace> lcores;  // the first place of each
  for (const PortPlace& place : port_places_[p]) {
    if (lcores.empty() || lcores.back().lcore != place.lcore) lcores.push_back(place);
  }
  const auto count = static_cast<uint32_t>(lcores.size());
  if (count < 2) return;
  std::vector<HandoverRing*> rings(count * count);  // [from * count + to]
  for (uint32_t i = 0; i < rings.size(); ++i) {
    if (i / count == i % count) continue;
    rings[i] = handovers_.emplace_back(std::make_unique<HandoverRing>()).get();
  }
  for (uint32_t one = 0; one < count; ++one) {
    for (uint32_t other = 0; other < count; ++other) {
      if (one == other) continue;
      pipelines_[lcores[one].lcore]->SharePort(
          lcores[one].number,
          {.from = rings[other * count + one],
           .to = rings[one * count + other],
           .addresses = AddressesOf(config_, p, lcores[other].lcore),
           .packets = other == 0 ? lanes_[p].get() : nullptr});
    }
  }
}

// The number, in its lcore's pipeline, of the queue pair of Config::ports[p] that an instance has.
uint32_t Endpoint::PortNumber(uint32_t p, uint32_t instance) const {
  const std::vector<PairUse> pairs = PairsOf(config_, p);
  return port_places_[p][static_cast<size_t>(PairOf(pairs, instance) - pairs.begin())].number;
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
    if (lanes_[p] != nullptr && port_places_[p].front().lcore == lcore) {
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
