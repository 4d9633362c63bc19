// SPDX-License-Identifier: Apache-2.0
#include "lab_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lab_watch.h"

namespace suede::lab {
namespace {

// A turn of a machine that has work takes so long, and up to so much more.
constexpr uint64_t kTurnNs = 200;
constexpr uint64_t kTurnMoreNs = 200;
// One that has none looks again after so long, after twice as long, up to eight times as long, and
// when a frame arrives.
constexpr uint64_t kIdleNs = 1000;
constexpr uint32_t kMaxIdle = 3;
constexpr Duration kTurn{kTurnNs};
constexpr Duration kEnd = std::chrono::seconds(60);   // for loads that are told to end
constexpr Duration kDrain = std::chrono::seconds(2);  // for what is under way then
constexpr uint64_t kReportTurns = 1 << 16;
constexpr uint64_t kOverTurns = 64;  // whether it is over, which takes a look at all

Time At(Duration since_begin) { return Time{} + since_begin; }

}  // namespace

absl::StatusOr<std::unique_ptr<LabRun>> LabRun::Build(const Plan& plan) {
  std::unique_ptr<LabRun> run(new LabRun(plan));
  if (absl::Status status = run->Make(); !status.ok()) return status;
  return run;
}

LabRun::LabRun(const Plan& plan) : plan_(plan), random_(fabric::SeedOf(plan.seed, 0x1ab)) {}

LabRun::~LabRun() = default;

absl::Status LabRun::Make() {
  if (absl::Status status = MakeEndpoints(); !status.ok()) return status;
  if (absl::Status status = MakeProcesses(); !status.ok()) return status;
  watch_ = std::make_unique<LabWatch>(*this);
  const auto assumed = std::count_if(plan_.links.begin(), plan_.links.end(),
                                     [](const PlanLink& link) { return link.assumed; });
  if (assumed != 0) {
    watch_->Say("info", "rate_assumed",
                absl::StrCat(assumed, " links without rate_gbps have ", kAssumedGbps, " Gb/s"));
  }
  PlanFaults();
  return absl::OkStatus();
}

absl::Status LabRun::MakeEndpoints() {
  std::map<std::string, Config> configs;
  for (const PlanNode& node : plan_.nodes) {
    if (node.is_switch) continue;
    auto config = EndpointConfigOf(node);
    if (!config.ok()) return config.status();
    configs.emplace(node.name, *std::move(config));
  }
  auto fabric = LabFabric::Build(plan_, configs);
  if (!fabric.ok()) return fabric.status();
  fabric_ = *std::move(fabric);
  for (const PlanNode& node : plan_.nodes) {
    if (node.is_switch) continue;
    const Config& config = configs.at(node.name);
    std::vector<SimPort*> ports;
    for (const PortConfig& port : config.ports) {
      ports.push_back(fabric_->PortOf(node.name, port.name));
      if (ports.back() != nullptr) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(node.name, ": no link is at the port ", port.name));
    }
    const auto number = static_cast<uint32_t>(endpoints_.size());
    for (SimPort* port : ports) {
      port->SetWaker([this, number](Time at) { Wake(number, at); });
    }
    endpoints_.push_back(
        std::make_unique<LabEndpoint>(node.name, config, std::move(ports), random_.Next(), now_));
  }
  next_ = Earliest(static_cast<uint32_t>(endpoints_.size()));
  earliest_.assign(endpoints_.size(), Time{});
  idle_.assign(endpoints_.size(), 0);
  for (uint32_t i = 0; i < endpoints_.size(); ++i) {
    Wake(i, lab::At(Duration(random_.Below(kIdleNs))));
  }
  return absl::OkStatus();
}

absl::Status LabRun::MakeProcesses() {
  for (const PlanLoad& load : plan_.loads) {
    const auto nonce = static_cast<uint32_t>(random_.Next()) | 1u;
    for (const PlanProcess& process : load.processes) {
      const auto at = std::find_if(endpoints_.begin(), endpoints_.end(), [&](const auto& endpoint) {
        return endpoint->name() == process.node;
      });
      if (at == endpoints_.end()) {
        return absl::InvalidArgumentError(process.name + ": " + process.node + " is no endpoint");
      }
      auto made = LabProcess::Make(load, process, **at, nonce);
      if (!made.ok()) return made.status();
      LabProcess* const own = processes_.emplace_back(*std::move(made)).get();
      (*at)->AddProgram([own](Time now) { return own->Turn(now); });
    }
    At(lab::At(load.start), [this, &load] {
      for (const auto& process : processes_) {
        if (process->load() == load.name) process->Start(now_);
      }
      watch_->Say("info", "load_began", load.name);
    });
  }
  return absl::OkStatus();
}

// ---- Faults.

void LabRun::PlanFaults() {
  open_.resize(plan_.faults.size());
  for (size_t i = 0; i < plan_.faults.size(); ++i) {
    const PlanFault& fault = plan_.faults[i];
    for (uint64_t time = 0; time < fault.times; ++time) {
      const Time begin = lab::At(fault.at + static_cast<int64_t>(time) * fault.every);
      At(begin, [this, i] { Begin(i); });
      if (fault.lasts) At(begin + *fault.lasts, [this, i] { End(i); });
    }
  }
}

void LabRun::Begin(size_t fault) {
  open_[fault].push_back(watch_->Say("warning", "fault", plan_.faults[fault].text));
  for (const PlanAction& action : plan_.faults[fault].begin) Act(action);
}

void LabRun::End(size_t fault) {
  if (open_[fault].empty()) return;
  watch_->EndOf(open_[fault].front());
  open_[fault].erase(open_[fault].begin());
  for (const PlanAction& action : plan_.faults[fault].end) Act(action);
}

std::vector<std::string> LabRun::FaultsNow() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < open_.size(); ++i) {
    if (!open_[i].empty()) texts.push_back(plan_.faults[i].text);
  }
  return texts;
}

void LabRun::Act(const PlanAction& action) {
  using Kind = PlanAction::Kind;
  if (action.kind == Kind::kImpair || action.kind == Kind::kAdmin) {
    if (absl::Status status = fabric_->Apply(action); !status.ok()) {
      problems_.emplace_back(status.message());
    }
    return;
  }
  if (action.kind == Kind::kPfcCalm) {
    storms_.erase(action.link);
    return;
  }
  if (action.kind == Kind::kPfcStorm) {
    storms_[action.link] = ++storm_number_;
    return StormOf(action.link, action, storm_number_);
  }
  const bool stopped = action.kind == Kind::kStop;
  for (const auto& endpoint : endpoints_) {
    if (endpoint->name() == action.node) endpoint->SetStopped(stopped);
  }
  for (const auto& process : processes_) {
    if (!action.process.empty() && process->name() == action.process) process->SetStopped(stopped);
  }
}

// Sends a frame, and again after the interval while the storm lasts.
void LabRun::StormOf(size_t link, const PlanAction& action, uint64_t number) {
  const auto found = storms_.find(link);
  if (found == storms_.end() || found->second != number) return;
  const PlanLink& at = plan_.links[link];
  const SimPort* port = fabric_->PortOf(at.a.node, at.a.port);
  if (port == nullptr) port = fabric_->PortOf(at.b.node, at.b.port);
  fabric::PfcFrame pfc{};
  pfc.classes = action.classes;
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    pfc.quanta[c] = (action.classes >> c & 1) != 0 ? action.quanta : uint16_t{0};
  }
  fabric_->NetworkOf(port)->Storm(port, pfc);
  At(now_ + action.interval, [this, link, &action, number] { StormOf(link, action, number); });
}

// ---- Time.

void LabRun::Wake(uint32_t endpoint, Time at) {
  next_.Lower(endpoint, std::max(at, earliest_[endpoint]));
}

void LabRun::TurnOf(uint32_t endpoint) {
  const bool worked = endpoints_[endpoint]->Turn(now_);
  ++turns_;
  earliest_[endpoint] = now_ + kTurn;
  uint32_t& idle = idle_[endpoint];
  idle = worked ? 0 : std::min(idle + 1, kMaxIdle + 1);
  const uint64_t min = worked ? kTurnNs : kIdleNs << (idle - 1);
  const uint64_t more = worked ? kTurnMoreNs : min / 2;
  next_.Set(endpoint, now_ + Duration(min + random_.Below(more)));
}

uint64_t LabRun::digest() const {
  uint64_t digest = fabric_->digest();
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->config().devices.empty()) digest = digest * 31 + endpoint->mesh_digest();
  }
  return digest;
}

bool LabRun::LoadsAreOver() const {
  return std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
    return process->done() || process->role() == Role::kServer;
  });
}

bool LabRun::IsQuiet() const {
  return std::all_of(endpoints_.begin(), endpoints_.end(),
                     [](const auto& endpoint) { return endpoint->IsQuiet(); });
}

// One thing at a time, in the order of time: the fabric, then the plan, then samples and machines.
void LabRun::RunUntil(const std::function<bool()>& over, const std::function<void()>& report) {
  if (over()) return;
  for (;;) {
    const Time frames = fabric_->next_event();
    const Time due = due_.empty() ? kNever : due_.top().at;
    const Time sample = watch_->next();
    const Time turn = next_.time();
    const Time next = std::min(std::min(frames, due), std::min(sample, turn));
    now_ = std::max(now_, next);
    fabric_->AdvanceTo(now_);
    if (frames <= next) continue;
    if (due <= next) {
      const auto act = due_.top().act;
      due_.pop();
      act();
    } else if (sample <= next) {
      watch_->Sample();
    } else {
      TurnOf(next_.index());
      if (turns_ % kReportTurns == 0) report();
      if (turns_ % kOverTurns == 0 && over()) return;
    }
  }
}

void LabRun::EndLoads(const std::function<void()>& report) {
  for (const auto& process : processes_) {
    if (process->role() != Role::kServer) process->Stop();
  }
  const Time end = now_ + kEnd;
  RunUntil([&] { return now_ > end || LoadsAreOver(); }, report);
  for (const auto& process : processes_) {
    if (process->done() || process->role() == Role::kServer) continue;
    problems_.push_back(process->name() + " did not end within 60 s");
  }
}

void LabRun::Run(const std::function<void()>& report) {
  const Time limit = lab::At(plan_.timeout);
  RunUntil([&] { return now_ > limit || LoadsAreOver(); }, report);
  if (!LoadsAreOver()) {
    problems_.push_back(absl::StrCat("the loads were ended after timeout_s, ",
                                     static_cast<double>(plan_.timeout.count()) / 1e9, " s"));
  }
  for (const PlanFault& fault : plan_.faults) {
    if (lab::At(fault.at) <= now_) continue;
    problems_.push_back(absl::StrCat("the loads were over before a fault: ", fault.text,
                                     "; let them last longer, or the fault come earlier"));
  }
  due_ = {};
  for (size_t i = 0; i < open_.size(); ++i) {
    while (!open_[i].empty()) End(i);
  }
  if (!LoadsAreOver()) EndLoads(report);
  watch_->EndOfLoads();
  const Time end = now_ + kDrain;
  RunUntil([&] { return now_ > end || IsQuiet(); }, report);
  if (!IsQuiet()) problems_.emplace_back("something is under way 2 s after the loads have ended");
  for (const auto& process : processes_) {
    if (process->role() == Role::kServer) process->Stop();
  }
  const Time last = now_ + std::chrono::microseconds(20);
  RunUntil([&] { return now_ > last; }, report);
  watch_->Sample();
}

}  // namespace suede::lab
