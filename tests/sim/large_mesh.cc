// SPDX-License-Identifier: Apache-2.0
#include "large_mesh.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "content.h"
#include "endpoint/pipeline_params.h"
#include "endpoint/router_params.h"
#include "sim/checks.h"

namespace suede {
namespace {

using absl::StrAppend;
using absl::StrCat;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStep = microseconds(10);
constexpr Duration kMaxIdle = milliseconds(1);
constexpr uint32_t kMaxSent = 8;  // by an XPU in a burst
constexpr uint32_t kMaxReceived = 32;
constexpr uint32_t kOutageMs = 200;  // longer than 8 HELLOs inside: sessions of cables end
constexpr PlaneIndex kPlane{0u};

uint64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  Require(file != nullptr, "no /proc/self/statm");
  unsigned long pages = 0;
  const int found = std::fscanf(file, "%*u %lu", &pages);
  std::fclose(file);
  Require(found == 1, "no resident pages in /proc/self/statm");
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

mesh::Grid GridOf(const LargeMeshOptions& options) {
  mesh::Grid grid;
  grid.dimensions[0].size = options.columns;
  grid.dimensions[1].size = options.rows;
  return grid;
}

mesh::Topology TopologyOf(const mesh::Grid& grid) {
  mesh::Topology topology;
  Require(mesh::AddGrid(grid, topology).ok(), "the mesh is too large");
  return topology;
}

// Returns `tables` with detours around a cable inside the grid. Along X, devices of its row first
// go to a row beside; along Y, frames use a column beside, up to the row of their destination.
mesh::Tables Around(const mesh::Grid& grid, mesh::Tables tables, const mesh::Cable& cut) {
  const mesh::Grid::Place at = grid.PlaceOf(cut.a.device.device);
  const size_t along = cut.a.port == grid.dimensions[0].forward ? 0 : 1;
  const size_t across = 1 - along;
  const bool is_beside_next = at[across] + 1 < grid.dimensions[across].size;
  const mesh::PortId aside =
      is_beside_next ? grid.dimensions[across].forward : grid.dimensions[across].backward;
  const uint32_t beside = is_beside_next ? at[across] + 1 : at[across] - 1;
  for (mesh::RoutingTable& table : tables) {
    const mesh::Grid::Place here = grid.PlaceOf(table.own.device);
    const bool is_in_line = here[across] == at[across];
    if (!is_in_line && (along == 0 || here[across] != beside)) continue;
    for (uint32_t device = 0; device < grid.device_count(); ++device) {
      const mesh::Grid::Place there = grid.PlaceOf(mesh::DeviceId(device));
      if (along == 1 && there[across] != at[across]) continue;
      if ((here[along] <= at[along]) == (there[along] <= at[along])) continue;
      const mesh::Dimension& line = grid.dimensions[along];
      table.to_devices.Set(device, is_in_line                   ? aside
                                   : there[along] > here[along] ? line.forward
                                                                : line.backward);
    }
  }
  return tables;
}

}  // namespace

LargeMesh::LargeMesh(const LargeMeshOptions& options)
    : options_(options),
      dice_(options.seed),
      grid_(GridOf(options)),
      topology_(TopologyOf(grid_)),
      plain_(mesh::GenerateTables(topology_, {&grid_, 1}, mesh::MeshRoutes(topology_),
                                  mesh::Exits::kNearest, kPlane)),
      config_(MakeConfig()) {
  memory_.before = ResidentBytes();
  const uint32_t frames = PortOptionsOf(config_, 0).pool_frames;
  pool_ = std::make_unique<MeshPool>(frames);
  const auto draw = [this] { return SecretKey{dice_.Below(UINT64_MAX), dice_.Below(UINT64_MAX)}; };
  const std::vector<EndpointBoards::Device> devices{
      {.pairs = std::vector<Port*>(PairsOf(config_, 0).size(), pool_.get()),
       .max_frame_bytes = MeshPool::kMaxFrameBytes}};
  boards_ = std::make_unique<EndpointBoards>(config_, devices, draw);
  memory_.routers = ResidentBytes();
  pipelines_ = std::make_unique<EndpointPipelines>(
      config_, boards_->PipelineDevices(config_, devices), draw);
  xpu_of_.assign(grid_.device_count(), UINT32_MAX);
  for (uint32_t i = 0; i < config_.instances.size(); ++i) AddXpu(i);
  for (const auto& xpu : xpus_) {
    while (xpu->partners.size() < options_.partners) {
      const uint32_t to = config_.instances[dice_.Below(config_.instances.size())].xpu;
      if (to != xpu->number) xpu->partners.push_back(to);
    }
  }
  Swap(plain_);
}

LargeMesh::~LargeMesh() = default;

// Reads what a file would set, and adds the devices, cables and XPUs.
Config LargeMesh::MakeConfig() {
  std::string text = "version: 1\nname: large\nlcores: [";
  for (uint32_t i = 0; i < options_.lcores; ++i)
    StrAppend(&text, i == 0 ? "" : ", ", "{cpu: ", i, "}");
  StrAppend(
      &text,
      "]\n"
      "ports: [{name: plane0, device: mesh, plane: 0, encapsulation: afh2, mtu_bytes: 1500}]\n"
      "mesh: {cbfc: on, credit_frames: 4, buffer_kb: 256}\n"
      "devices: [{device: M0D0, lcore: 0, tables: [{devices: [D], meshes: [D]}]}]\n"
      "llr: {hello_us: 2000}\ntransport: {psn_scope: vc}\npacking: {limit_bytes: 1024}\n"
      "clients: {ring_lines: 256, receive_lines: 1024, completions: 64, credit_lines: 64, "
      "aggregate_lines: 256}\n"
      "instances: [{xpu: 0, lcore: 0, ports: [{port: plane0}]}]\n");
  absl::StatusOr<Config> config =
      ParseConfig(text, "large mesh", {.cpu_count = std::max(2u, options_.lcores)});
  Require(config.ok(), std::string(config.status().message()).c_str());
  const uint32_t devices = grid_.device_count();
  const auto lcore_of = [&](uint32_t device) { return device * options_.lcores / devices; };
  config->devices.clear();
  for (uint32_t device = 0; device < devices; ++device) {
    config->devices.push_back(
        {.device = plain_[device].own,
         .lcore = lcore_of(device),
         .tables = {{.routes = plain_[device], .devices = devices, .meshes = 1}}});
  }
  for (const mesh::Cable& cable : topology_.cables()) {
    config->cables.push_back({.from = cable.a, .to = cable.b});
  }
  std::set<uint32_t> xpus;
  while (xpus.size() < options_.xpus) xpus.insert(static_cast<uint32_t>(dice_.Below(devices)));
  const InstanceConfig instance = config->instances[0];
  config->instances.clear();
  for (const uint32_t xpu : xpus) {
    InstanceConfig& own = config->instances.emplace_back(instance);
    own.xpu = xpu;
    own.lcore = lcore_of(xpu);
    own.ports[0].address = DefaultConfigAddress(config->ports[0], xpu, 0);
    config->peers.push_back({.xpu = xpu, .ports = {{.port = 0}}});
  }
  return *std::move(config);
}

void LargeMesh::AddXpu(uint32_t instance) {
  Xpu& xpu = *xpus_.emplace_back(std::make_unique<Xpu>());
  xpu.number = config_.instances[instance].xpu;
  xpu_of_[xpu.number] = instance;
  xpu.pipeline = &pipelines_->pipeline(config_.instances[instance].lcore);
  xpu.instance = pipelines_->number_of(instance);
  const ClientsConfig& clients = config_.clients;
  const SegmentShape shape{.queue_count = 1,
                           .tx_lines = clients.ring_lines,
                           .rx_lines = clients.receive_lines,
                           .completion_count = clients.completions,
                           .credit_lines = clients.credit_lines,
                           .aggregate_lines = clients.aggregate_lines};
  const uint64_t bytes = SegmentOffsets(shape).bytes;
  xpu.segment.reset(std::aligned_alloc(4096, bytes));
  std::memset(xpu.segment.get(), 0, bytes);
  FormatSegment(xpu.segment.get(), shape);
  const uint32_t client = instance + 1;
  xpu.pipeline->mailbox().requests.Push(request::Attach{.client = client,
                                                        .queue_instances = &xpu.instance,
                                                        .segment = xpu.segment.get(),
                                                        .shape = &shape});
  xpu.pipeline->Poll(now_);
  xpu.pipeline->mailbox().requests.Push(
      request::Claim{.vc_mask = 0xf, .client = client, .instance = xpu.instance});
  xpu.pipeline->Poll(now_);
  LcoreReply reply;
  while (xpu.pipeline->mailbox().replies.Pop(reply)) {
    if (reply.status != LcoreStatus::kDone) Fail("an lcore refused a client");
  }
  xpu.queue = std::make_unique<ClientQueue>(xpu.segment.get(), 0);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) xpu.receivers.emplace_back(xpu.segment.get(), vc);
}

// ---- Commands.

void LargeMesh::SendBursts() {
  if (now_ < next_burst_ || now_ >= burst_until_) return;
  next_burst_ = now_ + options_.gap / 2 + dice_.Up(options_.gap);
  for (const auto& xpu : xpus_) {
    for (uint64_t count = dice_.Below(kMaxSent + 1); count != 0; --count) SendOne(*xpu);
    xpu->queue->Flush();
  }
}

void LargeMesh::SendOne(Xpu& xpu) {
  const StreamName stream{.source = xpu.number,
                          .destination = xpu.partners[dice_.Below(xpu.partners.size())],
                          .vc = static_cast<uint32_t>(dice_.Below(kVcCount))};
  const uint32_t sequence = ledger_.NextOf(stream);
  const Content content(stream, sequence, 0);
  const SendResult result = xpu.queue->Send({.xpuid = static_cast<uint16_t>(stream.destination),
                                             .vc = static_cast<uint8_t>(stream.vc),
                                             .flags = 0,
                                             .control = content.control,
                                             .data = content.data});
  if (result == SendResult::kWouldBlock) return;
  if (result != SendResult::kOk) return Fail("Send refused a good command");
  ledger_.OnSent(stream);
  // A daemon takes the commands of one queue in the order in which they were sent.
  ledger_.OnTaken(stream, sequence, turns_);
}

void LargeMesh::Receive(Xpu& xpu) {
  ReceivedCommand received[kMaxReceived];
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (!xpu.receivers[vc].HasWork()) continue;
    const uint32_t count = xpu.receivers[vc].Poll(received, kMaxReceived);
    for (uint32_t i = 0; i < count; ++i) OnReceived(xpu, received[i], vc);
    xpu.receivers[vc].Release();
  }
}

void LargeMesh::OnReceived(const Xpu& xpu, const ReceivedCommand& got, uint32_t vc) {
  const StreamName stream{.source = got.source_xpuid, .destination = xpu.number, .vc = vc};
  if (stream.source >= xpu_of_.size() || xpu_of_[stream.source] == UINT32_MAX || got.vc != vc ||
      got.own_xpuid != xpu.number) {
    return Fail("a command came with a wrong source, VC or destination");
  }
  const uint32_t sequence = Content::SequenceOf(got.control);
  const std::string wrong = ledger_.OnDelivered(stream, sequence);
  if (!wrong.empty()) return Fail(wrong);
  const Content want(stream, sequence, 0);
  if (got.control_bytes != want.control_bytes || got.data_bytes != want.data_bytes ||
      std::memcmp(got.control, want.control, want.control_bytes) != 0 ||
      (want.data_bytes != 0 && std::memcmp(got.data, want.data, want.data_bytes) != 0)) {
    Fail("a command is damaged");
  }
}

// ---- Cables.

// Breaks a cable on the way between two XPUs.
void LargeMesh::Break() {
  const Xpu& from = *xpus_[dice_.Below(xpus_.size())];
  const uint32_t to = from.partners[dice_.Below(from.partners.size())];
  const mesh::Walk walk = mesh::Follow(topology_, active_.tables(), mesh::DeviceIndex(from.number),
                                       mesh::DeviceIndex(to), kDefaultHopLimit);
  if (walk.end != mesh::Walk::End::kArrived) return Fail("there is no route");
  const mesh::Hop& hop = walk.hops[dice_.Below(walk.hops.size() - 1)];
  const mesh::DevicePort end{.device = topology_.At(hop.device), .port = *hop.port};
  const auto cables = topology_.cables();
  cut_ = static_cast<uint32_t>(
      std::ranges::find_if(cables, [&](const auto& c) { return c.a == end || c.b == end; }) -
      cables.begin());
  boards_->cable(cut_)->SetUp(false);
  ++outages_;
}

// Runs routers alone, so that nobody injects frames, until none holds a frame.
void LargeMesh::Drain() {
  const Time limit = now_ + milliseconds(2);
  for (bool works = true; works; now_ += kStep) {
    if (now_ > limit) return Fail("frames do not leave the routers");
    works = PollBoards();
    for (uint32_t device = 0; device < config_.devices.size() && !works; ++device) {
      works = boards_->router(device).fabric().frames_inside() != 0;
    }
  }
  active_.OnDrained();
  ++drains_;
}

// Gives the tables to all routers, once they are accepted.
void LargeMesh::Swap(mesh::Tables tables) {
  const mesh::ActiveTables::Verdict verdict = active_.Offer(std::move(tables));
  if (verdict.decision == mesh::ActiveTables::Decision::kRefused) {
    return Fail("tables were refused: " + mesh::CycleText(verdict.cycle));
  }
  if (active_.draining()) Drain();
  for (uint32_t device = 0; device < active_.tables().size(); ++device) {
    boards_->router(device).fabric().SetRoutes(kPlane, active_.tables()[device]);
  }
}

// One outage in each second. After every other one, routes lead around the cable until it is
// mended, and all commands arrive meanwhile.
void LargeMesh::FailCables() {
  if (now_ < next_phase_) return;
  switch (phase_) {
    case Phase::kWhole:
      Break();
      phase_ = Phase::kBroken;
      next_phase_ += milliseconds(outages_ % 2 == 0 ? 10 : kOutageMs);
      break;
    case Phase::kBroken:
      if (outages_ % 2 == 0) {
        Swap(Around(grid_, plain_, topology_.cables()[cut_]));
        phase_ = Phase::kAround;
        burst_until_ = now_ + milliseconds(300);
        next_phase_ += milliseconds(500);
      } else {
        boards_->cable(cut_)->SetUp(true);
        phase_ = Phase::kWhole;
        next_phase_ += seconds(1) - milliseconds(kOutageMs);
      }
      break;
    case Phase::kAround:
      if (ledger_.missing() != 0) Fail("commands did not arrive around a broken cable");
      boards_->cable(cut_)->SetUp(true);
      burst_until_ = kNever;
      phase_ = Phase::kMended;
      next_phase_ += milliseconds(200);
      break;
    case Phase::kMended:
      Swap(plain_);
      phase_ = Phase::kWhole;
      next_phase_ += milliseconds(290);
      break;
  }
}

// ---- The run.

bool LargeMesh::PollBoards() {
  bool work = false;
  for (uint32_t lcore = 0; lcore < pipelines_->count(); ++lcore) {
    work |= boards_->board(lcore)->Poll(now_);
  }
  return work;
}

void LargeMesh::Turn() {
  bool work = PollBoards();
  for (uint32_t lcore = 0; lcore < pipelines_->count(); ++lcore) {
    work |= pipelines_->pipeline(lcore).Poll(now_);
  }
  for (const auto& xpu : xpus_) Receive(*xpu);
  ++turns_;
  idle_ = work ? kStep : std::min<Duration>(2 * idle_, kMaxIdle);
  now_ += idle_;
}

void LargeMesh::RunUntil(Time end) {
  while (now_ < end && failure_.empty()) {
    SendBursts();
    FailCables();
    Turn();
  }
}

std::string LargeMesh::Run() {
  const Time begin = now_;
  next_burst_ = now_ + milliseconds(100);
  next_phase_ = now_ + milliseconds(500);
  RunUntil(begin + std::min<Duration>(seconds(2), options_.run / 2));
  memory_.warm = ResidentBytes();
  RunUntil(begin + options_.run);
  next_burst_ = kNever;
  while (phase_ != Phase::kWhole && failure_.empty()) RunUntil(now_ + milliseconds(10));
  next_phase_ = kNever;
  const Time limit = now_ + seconds(2);
  while (failure_.empty() && now_ < limit && ledger_.missing() != 0) Turn();
  // The last acknowledgements arrive, and sessions of cables that were broken begin anew.
  for (const Time end = now_ + milliseconds(200); now_ < end;) Turn();
  while (failure_.empty() && now_ < limit && !IsQuiet()) Turn();
  memory_.end = ResidentBytes();
  return Verdict();
}

// Whether no frame is anywhere but at hand: link frames come and go.
bool LargeMesh::IsQuiet() const {
  uint32_t at_hand = 0;
  for (uint32_t device = 0; device < config_.devices.size(); ++device) {
    const fabric::Switch& fabric = boards_->router(device).fabric();
    if (fabric.frames_inside() != 0) return false;
    at_hand += fabric.spares();
  }
  std::set<const PortContext*> ports;
  for (const auto& xpu : xpus_) {
    if (!xpu->pipeline->IsQuiet()) return false;
    const auto& of = xpu->pipeline->instance(xpu->instance).ports;
    ports.insert(of.begin(), of.end());
  }
  for (const PortContext* port : ports) at_hand += port->link.frames_kept();
  return pool_->out() == at_hand;
}

std::string LargeMesh::Verdict() const {
  if (!failure_.empty()) return failure_;
  if (ledger_.missing() != 0) return StrCat(ledger_.missing(), " commands did not arrive");
  for (uint32_t device = 0; device < config_.devices.size(); ++device) {
    boards_->router(device).fabric().CheckInvariants();
  }
  for (uint32_t lcore = 0; lcore < pipelines_->count(); ++lcore) {
    pipelines_->pipeline(lcore).CheckInvariants();
  }
  if (!IsQuiet()) return "frames were leaked";
  if (pool_->refused() != 0) return "the pool was empty";
  return ledger_.Audit();
}

uint64_t LargeMesh::Sum(LinkCounter counter) const {
  uint64_t sum = 0;
  for (uint32_t device = 0; device < config_.devices.size(); ++device) {
    const fabric::Switch& fabric = boards_->router(device).fabric();
    for (uint32_t port = 0; port < fabric.params().ports.size(); ++port) {
      const LinkEnd* const end = fabric.port(port).link();
      if (end != nullptr) sum += end->counters().Get(counter);
    }
  }
  return sum;
}

LargeMesh::Figures LargeMesh::figures() const {
  Figures figures{.commands = ledger_.delivered(),
                  .turns = turns_,
                  .outages = outages_,
                  .swaps = active_.epoch(),
                  .drains = drains_,
                  .new_sessions = Sum(LinkCounter::kSessions) - 2 * config_.cables.size(),
                  .max_frames_out = pool_->max_out(),
                  .pool_frames = PortOptionsOf(config_, 0).pool_frames};
  for (uint32_t device = 0; device < config_.devices.size(); ++device) {
    const fabric::Switch& fabric = boards_->router(device).fabric();
    for (uint32_t port = 0; port < fabric.params().ports.size(); ++port) {
      const fabric::SwitchPort& of = fabric.port(port);
      figures.frames += of.counters().Get(SwitchPortCounter::kRxFrames);
      figures.lost_frames += of.counters().Get(SwitchPortCounter::kRxDown) +
                             of.counters().Get(SwitchPortCounter::kTxDown);
      for (uint32_t c = 0; c < fabric::kClasses; ++c) {
        figures.lost_frames += of.counters(c).Get(SwitchClassCounter::kDownDrop);
      }
    }
  }
  for (const auto& xpu : xpus_) {
    figures.retransmissions +=
        xpu->pipeline->counters(xpu->instance).Get(Counter::kTxRetransmissions);
  }
  return figures;
}

}  // namespace suede
