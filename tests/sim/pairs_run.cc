// SPDX-License-Identifier: Apache-2.0
#include "pairs_run.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/big_endian.h"
#include "config/link_config.h"
#include "content.h"
#include "endpoint/pipeline_params.h"
#include "openssl/openssl_crypto.h"

namespace suede {
namespace {

constexpr uint64_t kRateBps = 25'000'000'000;
constexpr uint32_t kCommands = 1200;  // of each XPU
constexpr uint32_t kMaxSent = 24;     // by a client in a turn
constexpr uint32_t kMaxReceived = 32;
constexpr uint32_t kReservedBytes = 4608;  // of each queue: a frame, in whole cells
constexpr uint32_t kCellBytes = 256;
constexpr uint32_t kClassOfAcks = 6;
constexpr uint32_t kBytesOfAcks = 64 << 10;
constexpr uint32_t kCableM = 200;
constexpr Duration kLimit = std::chrono::seconds(5);

SegmentShape ShapeOf(const ClientsConfig& clients) {
  return {.queue_count = 1,
          .tx_lines = clients.ring_lines,
          .rx_lines = clients.receive_lines,
          .completion_count = clients.completions,
          .credit_lines = clients.credit_lines,
          .aggregate_lines = clients.aggregate_lines};
}

SecretKey DrawKey(Dice& dice) {
  SecretKey key;
  for (uint64_t& word : key) word = dice.Below(UINT64_MAX);
  return key;
}

// The queue of the frame's destination, by the bytes that a device looks at.
uint32_t QueueOf(const SteeringPlan& plan, const Frame& frame) {
  for (const SteeredAddress& of : plan.addresses) {
    if (of.kind == SteeredAddress::Kind::kEthernet) {
      bool same = true;
      for (size_t i = 0; i < of.mask.size(); ++i) {
        same &= ((frame.data[i] ^ of.bytes[i]) & of.mask[i]) == 0;
      }
      if (same) return of.queue;
      continue;
    }
    const bool is_ipv4 = of.kind == SteeredAddress::Kind::kIpv4;
    const size_t at = is_ipv4 ? 30 : 38;
    const size_t bytes = is_ipv4 ? 4 : 16;
    if (std::memcmp(frame.data + at, of.bytes.data(), bytes) == 0) return of.queue;
  }
  return 0;
}

}  // namespace

PairsRun::PairsRun(const PairsRow& row, uint64_t seed)
    : row_(row),
      dice_(seed << 16 | 0x9a1),
      seed_(seed),
      ledger_({.in_order = row.Text(Factor::kOrdering) == std::string("strict") ||
                           (PlanesOf(row) == 1 && row.Text(Factor::kSessions) == std::string("1")),
               .gaps = false}) {
  constexpr uint32_t kLimits[] = {274, 600, 2048};
  limit_bytes_ = kLimits[dice_.Below(3)];
  if (row_[Factor::kSealing] != level::kUnsealed) {
    library_ = NewOpensslCrypto();
    crypto_ = std::make_unique<CheckedCrypto>(*library_, used_nonces_);
  }
  AddSwitches();
  for (uint32_t machine = 0; machine < kPairsMachines && failure_.empty(); ++machine) {
    failure_ = AddMachine(machine);
  }
}

PairsRun::~PairsRun() = default;

// ---- The network.

void PairsRun::AddSwitches() {
  const std::string encapsulation = row_.Text(Factor::kEncapsulation);
  for (uint32_t plane = 0; plane < PlanesOf(row_); ++plane) {
    switches_.push_back(std::make_unique<SimNetwork>(seed_ * 4 + plane));
    SimNetwork& network = *switches_.back();
    network.TakeDigest();
    network.SetPorts(kPairsMachines);
    fabric::SwitchParams& params = network.params();
    if (encapsulation == "afh2" || encapsulation == "afh2c") {
      params.forwarding = fabric::Forwarding::kAfh2;
    } else if (encapsulation == "esun") {
      params.forwarding = fabric::Forwarding::kEsun;
      params.esun_ether_type = kPairsEsunType;
    }
    SetBuffers(params);
    SetLinks(params, plane);
  }
}

// A switch trims where little is shared, and pauses before that.
void PairsRun::SetBuffers(fabric::SwitchParams& params) const {
  const auto ports = static_cast<uint32_t>(params.ports.size());
  const bool is_small =
      row_[Factor::kNetwork] == level::kTrims || row_[Factor::kLink] == level::kPfc;
  params.cell_bytes = kCellBytes;
  params.buffer_bytes =
      ports * fabric::kClasses * kReservedBytes + (is_small ? 8u << 10 : 16u << 20);
  for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = kReservedBytes;
  // Acknowledgements are of a class that no switch pauses.
  params.of_class[kClassOfAcks].reserved_bytes += kBytesOfAcks;
  params.buffer_bytes += ports * kBytesOfAcks;
  for (uint32_t p = 0; p < kPairsMachines; ++p) params.ports[p].rate_bps = kRateBps;
  if (row_[Factor::kNetwork] == level::kTrims) {
    constexpr uint64_t kAck = uint64_t{1} << 48;
    params.trim = {.on = true,
                   .dscps = ~(kAck | uint64_t{1} << kPairsTrimmedDscp),
                   .trimmed_dscp = kPairsTrimmedDscp,
                   .trimmed_class = kPairsTrimmedDscp >> 3};
  }
  if (row_[Factor::kLink] != level::kPfc) return;
  // A burst of each queue pair and the device's ring may come after the pause (docs/pfc.md).
  const uint32_t headroom = fabric::HeadroomBytes(kRateBps, kCableM, SimPort::kMaxFrameBytes) +
                            (2 * kBurst + kPairsTxDescriptors) * SimPort::kMaxFrameBytes;
  for (uint32_t c = 0; c <= 5; ++c) {
    params.of_class[c].lossless = true;
    params.of_class[c].headroom_bytes = headroom;
    params.buffer_bytes += ports * headroom;
  }
}

void PairsRun::SetLinks(fabric::SwitchParams& params, uint32_t plane) const {
  const bool retries = row_[Factor::kLink] == level::kLlr;
  const bool has_credit = row_[Factor::kLink] == level::kCbfc;
  if (!retries && !has_credit) return;
  for (uint32_t p = 0; p < kPairsMachines; ++p) {
    fabric::PortParams& port = params.ports[p];
    port.link =
        LinkParamsOf({}, retries ? OnOff::kOn : OnOff::kOff, kDefaultLinkEtherType, port.mac);
    port.link.secret = {seed_, uint64_t{plane} << 8 | p};
    port.cbfc = has_credit;
  }
  if (!has_credit) return;
  params.cbfc = {.rule = {}, .times = {}, .largest_octets = SimPort::kMaxFrameBytes};
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    params.of_class[c].credits = 4 * CreditRule{}.CreditsOf(SimPort::kMaxFrameBytes);
    params.buffer_bytes += kPairsMachines * fabric::CreditBytes(params, c);
  }
}

// ---- The machines.

std::string PairsRun::AddMachine(uint32_t number) {
  absl::StatusOr<Config> config = PairsConfig(row_, number, limit_bytes_);
  if (!config.ok()) return "refused: " + std::string(config.status().message());
  Machine& machine = *machines_.emplace_back(std::make_unique<Machine>());
  machine.config = *std::move(config);
  std::vector<EndpointPipelines::Device> devices;
  for (uint32_t plane = 0; plane < PlanesOf(row_); ++plane) {
    AddPort(machine, number, plane);
    devices.push_back(DeviceOf(machine, plane));
  }
  machine.pipelines = std::make_unique<EndpointPipelines>(
      machine.config, devices, [this] { return DrawKey(dice_); },
      std::vector<Crypto*>(machine.config.lcores.size(), crypto_.get()));
  if (crypto_ != nullptr) GiveSecrets(machine);
  for (uint32_t i = 0; i < kPairsXpusOfMachine; ++i) AddXpu(machine, number, i);
  return "";
}

void PairsRun::AddPort(Machine& machine, uint32_t number, uint32_t plane) {
  SimFaults faults{.bits_per_ns = kRateBps / 1e9};
  if (row_[Factor::kNetwork] == level::kLossy) {
    faults.loss = faults.loss_back = 0.01;
    // With credit a cable is one that keeps the order (docs/link.md, "Updates").
    if (row_[Factor::kLink] != level::kCbfc) faults.reorder = faults.duplicate = 0.01;
  }
  SimNetwork& network = *switches_[plane];
  const PortConfig& port = machine.config.ports[plane];
  SimPort* const made = network.AddPort(PortOptionsOf(machine.config, plane).pool_frames,
                                        port.tx_descriptors, faults, port.rx_descriptors);
  made->SetObeysPfc(false);
  machine.ports.push_back(made);
  std::set<std::array<uint8_t, 6>> addresses;
  for (const InstanceConfig& instance : machine.config.instances) {
    const auto low = static_cast<uint32_t>(instance.ports[plane].address.low);
    std::array<uint8_t, 6> mac = PairsMac(number, plane);
    if (TraitsOf(port.encapsulation).addresses == AddressKind::kForwarding) {
      std::copy_n(port.mac_prefix.begin(), 4, mac.begin());
      StoreBe16(mac.data() + 4, static_cast<uint16_t>(low));
      if (network.params().forwarding == fabric::Forwarding::kAfh2) StoreBe32(mac.data() + 2, low);
    }
    if (!addresses.insert(mac).second) continue;
    uint8_t bytes[6];
    std::copy(mac.begin(), mac.end(), bytes);
    network.Learn(bytes, made);
  }
}

EndpointPipelines::Device PairsRun::DeviceOf(Machine& machine, uint32_t plane) {
  SimPort* const wire = machine.ports[plane];
  const std::vector<PairUse> uses = PairsOf(machine.config, plane);
  EndpointPipelines::Device device{.pairs = std::vector<Port*>(uses.size(), wire),
                                   .mac = machine.config.ports[plane].mac.value_or(MacAddress{}),
                                   .max_frame_bytes = SimPort::kMaxFrameBytes,
                                   .speed_bps = kRateBps};
  if (uses.size() == 1) return device;
  // All frames come by the first queue, as those of a memif, or each by that of its destination.
  SteeringPlan plan;
  if (row_[Factor::kLcores] != level::kHandingOver) {
    plan = SteeringPlanOf(machine.config, plane, uses);
  }
  machine.devices.push_back(
      std::make_unique<SteeredDevice>(wire, static_cast<uint32_t>(uses.size()),
                                      [plan](const Frame& frame) { return QueueOf(plan, frame); }));
  for (uint32_t i = 0; i < uses.size(); ++i) device.pairs[i] = machine.devices.back()->queue(i);
  return device;
}

void PairsRun::GiveSecrets(Machine& machine) {
  std::array<uint8_t, kSealSecretBytes> secret;
  secret.fill(0x5e);
  for (uint32_t lcore = 0; lcore < machine.pipelines->count(); ++lcore) {
    SecretsUpdate& update = machine.secrets.emplace_back();
    update.secrets.partition = static_cast<uint16_t>(machine.config.partition);
    update.secrets.all[0] = {.id = 1, .prk = ExtractSecret(*crypto_, secret)};
    update.secrets.count = 1;
    machine.pipelines->pipeline(lcore).mailbox().requests.Push(
        request::SetSecrets{.update = &update});
  }
}

void PairsRun::AddXpu(Machine& machine, uint32_t machine_number, uint32_t instance) {
  Xpu& xpu = *xpus_.emplace_back(std::make_unique<Xpu>());
  xpu.number = machine_number * kPairsXpusOfMachine + instance;
  xpu.pipeline = &machine.pipelines->pipeline(machine.config.instances[instance].lcore);
  xpu.instance = machine.pipelines->number_of(instance);
  xpu.to_send = kCommands;
  const SegmentShape shape = ShapeOf(machine.config.clients);
  const uint64_t bytes = SegmentOffsets(shape).bytes;
  xpu.segment.reset(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
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

// ---- The run.

std::vector<const PortContext*> PairsRun::PortsOf(const Machine& machine) const {
  std::set<const PortContext*> ports;
  for (uint32_t lcore = 0; lcore < machine.pipelines->count(); ++lcore) {
    const Pipeline& pipeline = machine.pipelines->pipeline(lcore);
    for (uint32_t i = 0; i < pipeline.instance_count(); ++i) {
      const auto& of = pipeline.instance(i).ports;
      ports.insert(of.begin(), of.end());
    }
  }
  return {ports.begin(), ports.end()};
}

// Whether frames have numbers, or credit, at both ends of every cable.
bool PairsRun::AreLinksReady() const {
  const bool retries = row_[Factor::kLink] == level::kLlr;
  const bool has_credit = row_[Factor::kLink] == level::kCbfc;
  if (!retries && !has_credit) return true;
  for (const auto& machine : machines_) {
    for (const PortContext* port : PortsOf(*machine)) {
      if (retries && !port->link.end()->numbers()) return false;
      if (!has_credit) continue;
      const CreditGate& gate = *port->link.credit();
      if (!gate.is_on() || gate.end().sender().waiting() != 0) return false;
    }
  }
  for (const auto& network : switches_) {
    for (uint32_t p = 0; p < kPairsMachines; ++p) {
      if (retries && !network->the_switch().port(p).link()->numbers()) return false;
      if (!has_credit) continue;
      const CreditEnd& end = *network->the_switch().port(p).credit();
      if (!end.is_on() || end.sender().waiting() != 0) return false;
    }
  }
  return true;
}

// Whether the link of a machine's port holds frames: until the neighbour has received them, or
// until they have credit.
bool PairsRun::LinksHoldFrames() const {
  for (const auto& machine : machines_) {
    for (const PortContext* port : PortsOf(*machine)) {
      const LinkEnd* const end = port->link.end();
      if (end != nullptr && end->sender().held() != 0) return true;
      const CreditGate* const gate = port->link.credit();
      if (gate != nullptr && gate->waiting() != 0) return true;
    }
  }
  return false;
}

void PairsRun::SendOne(Xpu& xpu) {
  StreamName stream{.source = xpu.number, .vc = static_cast<uint32_t>(dice_.Below(kVcCount))};
  // Most of it goes to the first machine, whose port is therefore a bottleneck.
  const uint32_t own = MachineOf(xpu.number);
  uint32_t machine =
      own != 0 && dice_.Chance(0.7) ? 0 : static_cast<uint32_t>(dice_.Below(kPairsMachines - 1));
  if (machine >= own && machine != 0) ++machine;
  if (machine == own) machine = (own + 1) % kPairsMachines;
  stream.destination =
      machine * kPairsXpusOfMachine + static_cast<uint32_t>(dice_.Below(kPairsXpusOfMachine));
  const uint32_t sequence = ledger_.NextOf(stream);
  const Content content(stream, sequence, 0);
  const bool tagged = dice_.Chance(0.1);
  ClientCommand command{.xpuid = static_cast<uint16_t>(stream.destination),
                        .vc = static_cast<uint8_t>(stream.vc),
                        .flags = 0,
                        .tag = xpu.tags.size(),
                        .control = content.control,
                        .data = content.data};
  if (tagged) command.flags |= SUEDE_RECORD_COMPLETION;
  const SendResult result = xpu.queue->Send(command);
  if (result == SendResult::kWouldBlock) return;
  if (result != SendResult::kOk) return Fail("Send refused a good command");
  if (tagged) xpu.tags.push_back({.stream = stream, .sequence = sequence, .completed = false});
  ledger_.OnSent(stream);
  // A daemon takes the commands of one queue in the order in which they were sent.
  ledger_.OnTaken(stream, sequence, turns_);
  --xpu.to_send;
}

void PairsRun::Send(Xpu& xpu) {
  uint32_t count = std::min(xpu.to_send, static_cast<uint32_t>(dice_.Below(kMaxSent + 1)));
  for (; count != 0; --count) SendOne(xpu);
  xpu.queue->Flush();
}

void PairsRun::Receive(Xpu& xpu) {
  received_.resize(kMaxReceived);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const uint32_t count = xpu.receivers[vc].Poll(received_.data(), kMaxReceived);
    for (uint32_t i = 0; i < count; ++i) OnReceived(xpu, received_[i], vc);
    xpu.receivers[vc].Release();
  }
}

void PairsRun::OnReceived(const Xpu& xpu, const ReceivedCommand& got, uint32_t vc) {
  const StreamName stream{.source = got.source_xpuid,
                          .life = Content::LifeOf(got.control),
                          .queue = Content::QueueOf(got.control),
                          .destination = xpu.number,
                          .vc = vc};
  if (stream.source >= kPairsXpus || stream.queue != 0 || stream.life != 0 || got.vc != vc ||
      got.own_xpuid != xpu.number) {
    return Fail("a command came with a wrong source, queue, VC or destination");
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

void PairsRun::Complete(Xpu& xpu) {
  suede_completion completions[16];
  const uint32_t count = xpu.queue->PollCompletions(completions, 16);
  for (uint32_t i = 0; i < count; ++i) {
    const suede_completion& c = completions[i];
    if (c.tag >= xpu.tags.size() || xpu.tags[c.tag].completed) {
      return Fail("a tag was completed that is not outstanding");
    }
    Xpu::Tagged& tagged = xpu.tags[c.tag];
    tagged.completed = true;
    ++xpu.completions;
    ledger_.OnAcknowledged(tagged.stream, tagged.sequence);
    if (c.status != SUEDE_STATUS_OK) {
      Fail("a command of XPU " + std::to_string(xpu.number) + " to XPU " +
           std::to_string(tagged.stream.destination) + " ended with status " +
           std::to_string(c.status));
    }
  }
}

void PairsRun::Turn() {
  bool work = false;
  are_links_ready_ = are_links_ready_ || AreLinksReady();
  for (const auto& xpu : xpus_) {
    if (are_links_ready_) Send(*xpu);
  }
  for (const auto& machine : machines_) {
    for (uint32_t lcore = 0; lcore < machine->pipelines->count(); ++lcore) {
      Pipeline& pipeline = machine->pipelines->pipeline(lcore);
      work |= pipeline.Poll(now_);
      if (turns_ % 256 == 0) pipeline.CheckInvariants();
    }
  }
  for (const auto& xpu : xpus_) {
    Receive(*xpu);
    Complete(*xpu);
  }
  ++turns_;
  Time next = now_ + Duration(200) + dice_.Up(std::chrono::microseconds(2));
  if (!work) {
    Time arrival = kNever;
    for (const auto& network : switches_) arrival = std::min(arrival, network->next_arrival());
    next = std::max(next, std::min(arrival, now_ + std::chrono::microseconds(40)));
  }
  for (const auto& network : switches_) network->AdvanceTo(next);
  now_ = next;
}

bool PairsRun::IsFinished() const {
  if (ledger_.missing() != 0) return false;
  for (const auto& xpu : xpus_) {
    if (xpu->to_send != 0 || xpu->completions != xpu->tags.size()) return false;
    if (!xpu->pipeline->IsQuiet()) return false;
  }
  return true;
}

// Lets the last transmissions end. Messages of sessions go on, and the link holds each of their
// frames until the neighbour has received it: max `max_age`.
void PairsRun::RunOut() {
  const Time end = now_ + std::chrono::milliseconds(2);
  const Time limit = end + RetryParams{}.max_age;
  while (now_ < end || (now_ < limit && LinksHoldFrames())) Turn();
}

std::string PairsRun::Run() {
  if (!failure_.empty()) return failure_;
  while (failure_.empty() && now_ < Time{} + kLimit) {
    Turn();
    if (turns_ % 16 == 0 && IsFinished()) break;
  }
  if (failure_.empty() && IsFinished()) RunOut();
  return Verdict();
}

}  // namespace suede
