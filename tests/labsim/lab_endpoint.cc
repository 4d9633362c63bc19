// SPDX-License-Identifier: Apache-2.0
#include "lab_endpoint.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "endpoint/pipeline_params.h"
#include "sim/checks.h"

namespace suede::lab {

namespace {

bool Seals(const ForeignJson& config) {
  const auto instances = config.find("instances");
  if (instances == config.end() || !instances->is_array()) return false;
  return std::any_of(instances->begin(), instances->end(), [](const ForeignJson& instance) {
    return instance.is_object() && instance.value("sealing", ForeignJson("off")) != "off";
  });
}

}  // namespace

absl::StatusOr<Config> EndpointConfigOf(const PlanNode& node) {
  ForeignJson config = node.config;
  if (Seals(config)) {
    return absl::UnimplementedError(
        absl::StrCat(node.name, ": the simulator has no sealing; take another back end"));
  }
  config["clients"]["socket"] = "/nowhere/" + node.name + ".xpu";
  config["management"]["socket"] = "/nowhere/" + node.name + ".ctl";
  if (const auto ports = config.find("ports"); ports != config.end() && ports->is_array()) {
    uint32_t number = 0;
    for (ForeignJson& port : *ports) {
      if (port.is_object() && port.value("device", ForeignJson()) != kMeshDevice)
        port["device"] = absl::StrFormat("0000:%02x:%02x.0", number / 32, number % 32);
      ++number;
    }
  }
  return ParseConfig(config.dump(1), absl::StrCat("the configuration of ", node.name),
                     {.cpu_count = kCpus, .runtime_root = "/nowhere", .runtime_directory = {}});
}

ClientMemory::ClientMemory(const SegmentShape& shape)
    : shape_(shape), bytes_(SegmentOffsets(shape).bytes) {
  base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  Require(base_ != MAP_FAILED, "no memory for a client");
  FormatSegment(base_, shape_);
}

ClientMemory::~ClientMemory() { munmap(base_, bytes_); }

LabEndpoint::LabEndpoint(std::string name, const Config& config, std::vector<SimPort*> ports,
                         uint64_t seed, const Time& now)
    : name_(std::move(name)), config_(config), ports_(std::move(ports)), now_(now) {
  std::vector<EndpointPipelines::Device> devices;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    // All lcores of a port take frames where they come, and hand each other those that are not
    // theirs, as where a device cannot tell them apart.
    // The port of a cable between devices has no instances, and one queue pair.
    const size_t pairs = std::max<size_t>(1, PairsOf(config_, p).size());
    devices.push_back({.pairs = std::vector<Port*>(pairs, ports_[p]),
                       .mac = {0x02, 0x53, 0, 0, 0, static_cast<uint8_t>(p)},
                       .max_frame_bytes = SimPort::kMaxFrameBytes,
                       .speed_bps = ports_[p]->link().speed_bps});
  }
  fabric::Random random(seed);
  const auto draw_secret = [&random] {
    SecretKey key;
    for (uint64_t& word : key) word = random.Next();
    return key;
  };
  if (!config_.devices.empty()) {
    boards_ = std::make_unique<EndpointBoards>(config_, devices, draw_secret);
    devices = boards_->PipelineDevices(config_, std::move(devices));
    mesh_ports_.resize(devices.size());
    for (uint32_t p = 0; p < devices.size(); ++p) {
      if (!IsCentre(config_.ports[p])) continue;
      for (Port*& pair : devices[p].pairs) {
        pair = mesh_ports_[p].emplace_back(std::make_unique<LabMeshPort>(*pair, now_)).get();
      }
    }
  }
  pipelines_ = std::make_unique<EndpointPipelines>(config_, devices, draw_secret);
}

// One thread does all: what is asked in front of a turn is answered behind it.
bool LabEndpoint::Ask(uint32_t lcore, const LcoreRequest& request) {
  Pipeline& pipeline = pipelines_->pipeline(lcore);
  if (!pipeline.mailbox().requests.Push(request)) return false;
  pipeline.Poll(now_);
  LcoreReply reply;
  return pipeline.mailbox().replies.Pop(reply) && reply.status == LcoreStatus::kDone;
}

absl::StatusOr<LabClient*> LabEndpoint::Connect(uint16_t xpu, uint32_t vc_mask) {
  const auto found = std::find_if(
      config_.instances.begin(), config_.instances.end(),
      [xpu](const InstanceConfig& one) { return one.xpu == xpu && one.instance == 0; });
  if (found == config_.instances.end()) {
    return absl::InvalidArgumentError(absl::StrCat(name_, " has no instance 0 of XPU ", xpu));
  }
  const uint32_t number =
      pipelines_->number_of(static_cast<uint32_t>(found - config_.instances.begin()));
  const ClientsConfig& c = config_.clients;
  Attached& attached = clients_.emplace_back();
  attached.memory =
      std::make_unique<ClientMemory>(SegmentShape{.queue_count = 1,
                                                  .tx_lines = c.ring_lines,
                                                  .rx_lines = c.receive_lines,
                                                  .completion_count = c.completions,
                                                  .credit_lines = c.credit_lines,
                                                  .aggregate_lines = c.aggregate_lines});
  const auto client = static_cast<uint32_t>(clients_.size());
  if (!Ask(found->lcore, request::Attach{.client = client,
                                         .queue_instances = &number,
                                         .segment = attached.memory->base(),
                                         .shape = &attached.memory->shape()})) {
    return absl::ResourceExhaustedError(absl::StrCat("an lcore of ", name_,
                                                     " has no room for the client of XPU ", xpu,
                                                     "; use more lcores or daemons"));
  }
  if (!Ask(found->lcore,
           request::Claim{
               .vc_mask = static_cast<uint8_t>(vc_mask), .client = client, .instance = number})) {
    return absl::FailedPreconditionError(
        absl::StrCat("another load has a VC of XPU ", xpu, "; use other VCs"));
  }
  attached.client =
      std::make_unique<LabClient>(*attached.memory, config_.packing.limit_bytes, now_);
  return attached.client.get();
}

bool LabEndpoint::Poll(uint32_t lcore, Time now) {
  Board* const board = boards_ != nullptr ? boards_->board(lcore) : nullptr;
  const bool routed = board != nullptr && board->Poll(now);
  return pipelines_->pipeline(lcore).Poll(now) || routed;
}

bool LabEndpoint::Turn(Time now) {
  bool worked = false;
  if (!stopped_) {
    for (uint32_t l = 0; l < pipelines_->count(); ++l) worked |= Poll(l, now);
  }
  for (const auto& program : programs_) worked |= program(now);
  return worked;
}

bool LabEndpoint::IsQuiet() const {
  for (uint32_t l = 0; l < pipelines_->count(); ++l) {
    if (!pipelines_->pipeline(l).IsQuiet()) return false;
  }
  for (uint32_t d = 0; d < config_.devices.size(); ++d) {
    if (device(d).frames_inside() != 0) return false;
  }
  return true;
}

CounterSnapshot LabEndpoint::Counters() const {
  CounterSnapshot sum{};
  for (uint32_t l = 0; l < pipelines_->count(); ++l) {
    const Pipeline& pipeline = pipelines_->pipeline(l);
    pipeline.port_counters().AddTo(sum);
    for (uint32_t i = 0; i < pipeline.instance_count(); ++i) pipeline.counters(i).AddTo(sum);
  }
  return sum;
}

SimPortBytes LabEndpoint::BytesOf(uint32_t port) const {
  if (!IsCentre(config_.ports[port])) return ports_[port]->bytes();
  SimPortBytes sum;
  for (const auto& pair : mesh_ports_[port]) {
    sum.sent += pair->sent();
    sum.received += pair->received();
  }
  return sum;
}

uint64_t LabEndpoint::mesh_digest() const {
  uint64_t digest = 0;
  for (const auto& pairs : mesh_ports_) {
    for (const auto& pair : pairs) digest = digest * 31 + pair->digest();
  }
  return digest;
}

void LabEndpoint::Hear(const std::function<void(uint32_t, const LcoreEvent&)>& hear) {
  LcoreEvent event;
  for (uint32_t l = 0; l < pipelines_->count(); ++l) {
    while (pipelines_->pipeline(l).mailbox().events.Pop(event)) hear(l, event);
  }
}

uint32_t LabEndpoint::XpuOf(uint32_t lcore, uint32_t number) const {
  for (uint32_t i = 0; i < config_.instances.size(); ++i) {
    if (config_.instances[i].lcore == lcore && pipelines_->number_of(i) == number) {
      return config_.instances[i].xpu;
    }
  }
  return 0;
}

}  // namespace suede::lab
