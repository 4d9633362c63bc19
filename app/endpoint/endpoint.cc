// SPDX-License-Identifier: Apache-2.0
#include "endpoint/endpoint.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/config_rates.h"
#include "daemon/draw_secret.h"
#include "daemon/eal_start.h"
#include "daemon/event_line.h"
#include "daemon/lcore_idle.h"
#include "dpdk/crc.h"
#include "endpoint/lldp_facts.h"
#include "endpoint/pipeline_params.h"
#include "endpoint/router_params.h"
#include "preflight/preflight.h"
#include "wire/rcrc.h"

namespace suede {

namespace {

constexpr auto kWaitStep = std::chrono::milliseconds(5);

// Whether a blocked signal that ends the daemon waits.
bool EndIsPending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

// The work of an lcore that runs devices.
struct BoardAndPipeline {
  Board& board;
  Pipeline& pipeline;

  void CountCycles(bool busy, uint64_t cycles) { pipeline.CountCycles(busy, cycles); }
  bool Poll(Time now) {
    const bool routed = board.Poll(now);
    return pipeline.Poll(now) || routed;
  }
};

}  // namespace

std::string EalFilePrefix(const Config& config) { return absl::StrCat("suede_", config.name); }

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Create(const Config& config, Log log) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(config, std::move(log)));
  if (absl::Status status = endpoint->BeginEal(); !status.ok()) return status;
  if (absl::Status status = endpoint->OpenPorts(); !status.ok()) return status;
  if (absl::Status status = endpoint->OpenKeys(); !status.ok()) return status;
  if (absl::Status status = endpoint->AssignAddresses(); !status.ok()) return status;
  endpoint->BuildPipelines();
  if (absl::Status status = endpoint->AddWaitPollers(); !status.ok()) return status;
  endpoint->administration_ = std::make_unique<Administration>(endpoint.get());
  endpoint->watch_ = std::make_unique<Watch>(endpoint.get());
  if (endpoint->boards_ != nullptr) {
    endpoint->devices_ =
        std::make_unique<DeviceWatch>(endpoint->config_, *endpoint->boards_, endpoint->events_);
  }
  return endpoint;
}

Endpoint::Endpoint(const Config& config, Log log) : config_(config), log_(std::move(log)) {
  events_.AddObserver([this](const Event& event) { LogEvent(event, log_); });
}

Endpoint::~Endpoint() {
  Stop();
  built_.reset();
  boards_.reset();
  seal_agreements_.reset();
  seal_keys_.reset();
  for (const auto& port : ports_) {
    if (port != nullptr) port->Close();  // null: the start has failed
  }
  ports_.clear();
  if (eal_started_) StopEal();
}

absl::Status Endpoint::BeginEal() {
  EalNeeds needs{.file_prefix = EalFilePrefix(config_),
                 .eal = config_.eal,
                 .lcores = config_.lcores,
                 .pool_bytes = PoolBytesOf(config_)};
  for (const PortConfig& port : config_.ports) {
    needs.devices.push_back(DeviceOf(port));
  }
  const absl::StatusOr<std::string> arguments = StartEalFor(needs, log_);
  if (!arguments.ok()) return arguments.status();
  eal_arguments_ = *arguments;
  eal_started_ = true;
  if (HasWideCrc() && !AllowsWideVectors()) InstallRcrc(NarrowRcrc());
  clock_ = std::make_unique<TscClock>();
  return absl::OkStatus();
}

void Endpoint::Adopt(Config config) {
  const bool new_tables = config.devices != config_.devices;
  config_ = std::move(config);
  if (new_tables) boards_->SetTables(config_);
}

std::vector<uint64_t> Endpoint::PoolBytesOf(const Config& config) {
  std::vector<uint64_t> bytes;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    const PortOptions options = PortOptionsOf(config, p);
    const bool has_pool = options.pool.empty() || config.ports[p].plane == 0;
    bytes.push_back(has_pool ? PoolBytes(options) : 0);
  }
  return bytes;
}

absl::Status Endpoint::OpenPorts() {
  ports_.resize(config_.ports.size());
  // The first port of a pool decides how long its frames are, and centres want the least.
  for (const bool is_centre : {false, true}) {
    for (uint32_t p = 0; p < config_.ports.size(); ++p) {
      if (IsCentre(config_.ports[p]) != is_centre) continue;
      absl::StatusOr<std::unique_ptr<DpdkPort>> opened = DpdkPort::Open(PortOptionsOf(config_, p));
      if (!opened.ok()) return opened.status();
      for (const std::string& warning : (*opened)->warnings()) {
        log_(EalLogLevel::kWarning, "port", warning);
      }
      ports_[p] = *std::move(opened);
    }
  }
  return CheckRates();
}

absl::Status Endpoint::CheckRate(uint32_t port) const {
  const auto use =
      MissingRate(config_, port, [this](uint32_t p) { return ports_[p]->link().speed_bps != 0; });
  if (!use) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("port ", ports_[port]->name(), " (",
                                                 ports_[port]->driver(),
                                                 "): ", MissingRateText(config_, port, *use)));
}

// Checks ports whose links are up: a link that is down may report a speed later.
absl::Status Endpoint::CheckRates() const {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if (!ports_[p]->link().up) continue;
    if (absl::Status status = CheckRate(p); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Endpoint::NoteLinkUp(uint32_t port) const {
  if (const absl::Status status = CheckRate(port); !status.ok()) {
    log_(EalLogLevel::kWarning, "port",
         absl::StrCat(status.message(), "; until then 100 Gbit/s are assumed"));
  }
}

TappedPort* Endpoint::tapped_port(std::string_view name) const {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    // No frame passes the device of a centre.
    if (ports_[p]->name() == name && !IsCentre(config_.ports[p])) return ports_[p].get();
  }
  return boards_ != nullptr ? boards_->tapped_port(name) : nullptr;
}

TappedPort* Endpoint::dropped_frames(std::string_view port) {
  const auto tap = std::ranges::find(drop_taps_, port, &TapGroup::name);
  return tap == drop_taps_.end() ? nullptr : &*tap;
}

absl::Status Endpoint::OpenKeys() {
  absl::StatusOr<std::unique_ptr<SealKeys>> opened = SealKeys::Open(config_);
  if (!opened.ok()) return opened.status();
  seal_keys_ = *std::move(opened);
  for (const std::string& warning : seal_keys_->warnings()) {
    log_(EalLogLevel::kWarning, "control", warning);
  }
  absl::StatusOr<std::unique_ptr<SealAgreements>> agreements =
      SealAgreements::Open(config_, &events_);
  if (!agreements.ok()) return agreements.status();
  seal_agreements_ = *std::move(agreements);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Endpoint::ReloadSecrets() {
  absl::StatusOr<uint32_t> secrets = seal_keys_->Reload();
  if (!secrets.ok() || seal_agreements_ == nullptr) return secrets;
  if (absl::Status status = seal_agreements_->Reload(); !status.ok()) return status;
  return secrets;
}

void Endpoint::Tick() {
  watch_->Tick();
  if (devices_ != nullptr) devices_->Check();
  const auto now_s = static_cast<int64_t>(std::time(nullptr));
  const std::optional<uint32_t> secrets = seal_keys_->Tick(*built_, config_, now_s);
  if (secrets) events_.Raise(EventKind::kSecretsChanged, {{EventField::kCount, *secrets}});
  if (seal_agreements_ != nullptr) {
    seal_agreements_->Tick(*built_, config_.partition, clock_->Now());
  }
}

std::vector<uint64_t> Endpoint::LinkSpeeds() const {
  std::vector<uint64_t> speeds;
  for (const auto& port : ports_) speeds.push_back(port->link().speed_bps);
  return speeds;
}

VcMask Endpoint::PausedFlows(uint32_t port) const {
  const PortPauses* const own = pauses(port);
  if (own == nullptr) return 0;
  const Time now = clock_->Now();
  uint32_t paused = 0;
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    if (own->until(own->ClassOf(flow)) > now) paused |= 1u << flow;
  }
  return static_cast<VcMask>(paused);
}

absl::Status Endpoint::AssignAddresses() {
  std::vector<AddressWait::PortFacts> facts;
  for (const uint32_t p : AddressWait::PortsOf(config_)) {
    AddressWait::PortFacts& port =
        facts.emplace_back(AddressWait::PortFacts{.number = p, .source = MacOf(p)});
    const size_t pairs = PairsOf(config_, p).size();
    for (uint32_t pair = 0; pair < pairs; ++pair) port.pairs.push_back(&ports_[p]->pair(pair));
    port.own = LldpFactsOf(config_, p, MacOf(0), ports_[p]->driver());
  }
  if (facts.empty()) return absl::OkStatus();
  AddressWait wait(&config_, log_, std::move(facts), clock_->Now());
  while (!wait.Poll(clock_->Now())) {
    if (absl::Status status = wait.Check(clock_->Now()); !status.ok()) return status;
    if (EndIsPending()) return absl::CancelledError("ended while waiting for an address");
    for (const auto& port : ports_) port->RefreshLink();
    std::this_thread::sleep_for(kWaitStep);
  }
  assigned_ = wait.assigned();
  return absl::OkStatus();
}

const AddressWait::Assigned* Endpoint::assigned(uint32_t port) const {
  const auto at = std::ranges::find(assigned_, port, &AddressWait::Assigned::port);
  return at != assigned_.end() ? &*at : nullptr;
}

void Endpoint::BuildPipelines() {
  std::vector<EndpointPipelines::Device> devices;
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    DpdkPort& port = *ports_[p];
    devices.push_back({.pairs = {},
                       .mac = port.mac(),
                       .max_frame_bytes = port.max_frame_bytes(),
                       .speed_bps = port.link().speed_bps});
    const auto users = static_cast<uint32_t>(PairsOf(config_, p).size());
    const uint32_t pairs = IsOfCable(config_, p) ? 1 : users;
    for (uint32_t pair = 0; pair < pairs; ++pair) devices[p].pairs.push_back(&port.pair(pair));
  }
  if (!config_.devices.empty()) {
    boards_ = std::make_unique<EndpointBoards>(config_, devices, DrawSecret);
    devices = boards_->PipelineDevices(config_, std::move(devices));
  }
  built_ =
      std::make_unique<EndpointPipelines>(config_, devices, DrawSecret, seal_keys_->libraries());
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    std::vector<TapPoint*> points;
    for (const PortPlace& place : places_of_port(p)) {
      points.push_back(&pipeline(place.lcore).drop_tap(place.number));
    }
    if (!points.empty()) drop_taps_.emplace_back(config_.ports[p].name, std::move(points));
  }
}

absl::Status Endpoint::AddWaitPollers() {
  for (uint32_t l = 0; l < pipeline_count(); ++l) {
    std::unique_ptr<WaitBoard> board = WaitBoard::Create();
    if (board == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no descriptor for an lcore: ", std::strerror(errno), "; raise the open file limit"));
    }
    pipeline(l).SetWaitPoller(wait_pollers_.emplace_back(new WaitPoller(std::move(board))).get());
  }
  return absl::OkStatus();
}

std::vector<WaitBoard*> Endpoint::wait_boards() const {
  std::vector<WaitBoard*> boards;
  for (const auto& wait_poller : wait_pollers_) boards.push_back(wait_poller->board());
  return boards;
}

absl::Status Endpoint::Start() {
  stop_ = false;
  for (uint32_t l = 0; l < pipeline_count(); ++l) {
    const LcoreConfig& lcore = config_.lcores[l];
    const absl::Status status = LaunchOnCpu(lcore.cpu, [this, l, idle = ToIdle(lcore.idle)] {
      LcoreWaiter waiter;
      Board* const board = boards_ != nullptr ? boards_->board(l) : nullptr;
      if (board != nullptr) {
        BoardAndPipeline both{.board = *board, .pipeline = pipeline(l)};
        RunLoop(both, *clock_, waiter, idle, stop_);
      } else {
        RunLoop(pipeline(l), *clock_, waiter, idle, stop_);
      }
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
  const CounterBlock& counters = pipeline(lcore).port_counters();
  return counters.Get(Counter::kBusyCycles) + counters.Get(Counter::kIdleCycles);
}

template <typename Each>
void Endpoint::ForEachBlock(Each each) const {
  for (uint32_t l = 0; l < pipeline_count(); ++l) {
    each(pipeline(l).port_counters());
    for (uint32_t i = 0; i < pipeline(l).instance_count(); ++i) each(pipeline(l).counters(i));
  }
  for (uint32_t p = 0; p < built_->lane_count(); ++p) {
    const PacketLane* const lane = built_->lane(p);
    if (lane != nullptr) each(lane->control_counters());
  }
}

CounterSnapshot Endpoint::Counters() const {
  CounterSnapshot sum{};
  ForEachBlock([&sum](const CounterBlock& block) { block.AddTo(sum); });
  return sum;
}

CounterSnapshot Endpoint::LcoreCounters(uint32_t lcore) const {
  CounterSnapshot sum{};
  pipeline(lcore).port_counters().AddTo(sum);
  for (uint32_t p = 0; p < built_->lane_count(); ++p) {
    const PacketLane* const lane = built_->lane(p);
    if (lane != nullptr && places_of_port(p).front().lcore == lcore) {
      lane->control_counters().AddTo(sum);
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
