// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/draw_secret.h"
#include "daemon/lcore_idle.h"
#include "switch/switch_params.h"

namespace suede {

absl::StatusOr<std::unique_ptr<SwitchNode>> SwitchNode::Create(const SwitchConfig& config,
                                                               DaemonLog log) {
  std::unique_ptr<SwitchNode> node(new SwitchNode(config, std::move(log)));
  if (absl::Status status = node->BeginEal(); !status.ok()) return status;
  if (absl::Status status = node->OpenPorts(); !status.ok()) return status;
  if (absl::Status status = node->Build(); !status.ok()) return status;
  return node;
}

SwitchNode::~SwitchNode() {
  Stop();
  for (const auto& port : ports_) port->Close();
  ports_.clear();
  if (eal_started_) StopEal();
}

TappedPort* SwitchNode::dropped_frames(std::string_view port) {
  const auto tap = std::ranges::find(drop_taps_, port, &TapGroup::name);
  return tap == drop_taps_.end() ? nullptr : &*tap;
}

absl::Status SwitchNode::BeginEal() {
  EalNeeds needs{.file_prefix = absl::StrCat("suede_", config_.name()),
                 .eal = config_.eal,
                 .lcores = config_.lcores,
                 .pool_bytes = {PoolBytes(PortOptionsOf(config_, 0))}};
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    needs.devices.push_back(config_.ports[p].device);
  }
  const absl::StatusOr<std::string> arguments = StartEalFor(needs, log_);
  if (!arguments.ok()) return arguments.status();
  eal_started_ = true;
  clock_ = std::make_unique<TscClock>();
  return absl::OkStatus();
}

absl::Status SwitchNode::OpenPorts() {
  for (uint32_t p = 0; p < config_.ports.size(); ++p) {
    absl::StatusOr<std::unique_ptr<DpdkPort>> opened = DpdkPort::Open(PortOptionsOf(config_, p));
    if (!opened.ok()) return opened.status();
    for (const std::string& warning : (*opened)->warnings()) {
      log_(EalLogLevel::kWarning, "port", warning);
    }
    (*opened)->ReceiveGroups();
    ports_.push_back(*std::move(opened));
  }
  pool_frames_ = ports_.front()->FreeFrames();
  return absl::OkStatus();
}

absl::Status SwitchNode::Build() {
  fabric::SwitchParams params = SwitchParamsOf(config_);
  for (size_t p = 0; p < ports_.size(); ++p) {
    if (!config_.ports[p].mac) params.ports[p].mac = params.ports[p].link.mac = ports_[p]->mac();
    params.ports[p].link.secret = DrawSecret();
  }
  switch_ = std::make_unique<fabric::Switch>(params);
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    drop_taps_.emplace_back(ports_[p]->name(), std::vector{&switch_->port(p).drop_tap()});
  }
  for (const SwitchAddressConfig& address : config_.addresses) {
    if (switch_->table().AddStatic(AddressKeyOf(address), address.port_number)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("table.addresses: ", config_.table.addresses, " is too small for the ",
                     config_.addresses.size(), " entries of addresses; use more"));
  }
  switching_ = std::make_unique<SwitchingLcore>(switch_.get(), &mailbox_);
  for (size_t l = 1; l < config_.lcores.size(); ++l) {
    others_.push_back(std::make_unique<DeviceLcore>());
  }
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const SwitchPortConfig& port = config_.ports[p];
    switch_->port(p).in().Set(ImpairmentOf(port.impair_in));
    switch_->port(p).out().Set(ImpairmentOf(port.impair_out));
    switch_->SetDown(p, true);  // until its link is up
    lldp_taps_.push_back(port.lldp == OnOff::kOn ? std::make_unique<fabric::LldpTap>() : nullptr);
    switch_->port(p).SetLldp(lldp_taps_.back().get());
    Port* const device = &ports_[p]->pair();
    if (port.lcore == 0) {
      switching_->AddPort(device, nullptr);
      continue;
    }
    SwitchRings* const rings = rings_.emplace_back(std::make_unique<SwitchRings>()).get();
    others_[port.lcore - 1]->AddPort(device, rings);
    switching_->AddPort(device, rings);
  }
  return absl::OkStatus();
}

template <class Worker>
absl::Status SwitchNode::Launch(const LcoreConfig& lcore, Worker& worker) {
  absl::Status status = LaunchOnCpu(lcore.cpu, [this, &worker, idle = ToIdle(lcore.idle)] {
    LcoreWaiter waiter;
    RunLoop(worker, *clock_, waiter, idle, stop_);
    return 0;
  });
  running_ |= status.ok();
  return status;
}

absl::Status SwitchNode::Start() {
  stop_ = false;
  if (absl::Status status = Launch(config_.lcores[0], *switching_); !status.ok()) return status;
  for (size_t l = 1; l < config_.lcores.size(); ++l) {
    if (absl::Status s = Launch(config_.lcores[l], *others_[l - 1]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void SwitchNode::BeginDrain() {
  for (const auto& other : others_) other->BeginDrain();
  switching_->BeginDrain();
}

uint64_t SwitchNode::frames_inside() const {
  uint64_t count = switching_->frames_inside();
  for (const auto& other : others_) count += other->frames_inside();
  for (const auto& rings : rings_) count += rings->in.size() + rings->out.size();
  return count;
}

// Logs the pool, for leak detection: a frame neither free nor spare is lost.
void SwitchNode::LogPool() const {
  log_(EalLogLevel::kDebug, "port",
       absl::StrCat("frames free=", ports_.front()->FreeFrames(), " spare=", switch_->spares(),
                    " of=", pool_frames_));
}

void SwitchNode::Stop() {
  if (!running_) return;
  stop_ = true;
  WaitForLcores();
  running_ = false;
  LogPool();
}

}  // namespace suede
