// SPDX-License-Identifier: Apache-2.0
#include "endpoint/registers.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/config_values.h"
#include "daemon/version.h"
#include "lcore/params.h"

namespace suede {
namespace {

uint32_t VersionNumber() {
  unsigned major = 0, minor = 0, patch = 0;
  std::sscanf(kVersion, "%u.%u.%u", &major, &minor, &patch);
  return (major & 0xff) << 16 | (minor & 0xff) << 8 | (patch & 0xff);
}

RegisterValueView ToView(const RegisterRef& ref, uint64_t value) {
  return {.name = ref.name(),
          .address = ref.address(),
          .width_bits = ref.row->width_bits,
          .value = value};
}

// Whether the event is about a queue of a client that is still connected.
bool IsBrokenQueue(const Event& event) {
  return std::any_of(event.values.begin(), event.values.end(),
                     [](const EventValue& value) { return value.field == EventField::kQueue; });
}

// Events that set a bit whatever they contain.
constexpr std::pair<EventKind, RegisterEvent> kBits[] = {
    {EventKind::kPlaneUp, RegisterEvent::kPlaneChange},
    {EventKind::kPlaneDown, RegisterEvent::kPlaneChange},
    {EventKind::kPeerPlaneUp, RegisterEvent::kPlaneChange},
    {EventKind::kPeerPlaneDown, RegisterEvent::kPlaneChange},
    {EventKind::kPeerReset, RegisterEvent::kPeerReset},
    {EventKind::kPeerUnreachable, RegisterEvent::kPeerUnreachable},
    {EventKind::kTxError, RegisterEvent::kTxError},
    {EventKind::kHelloMismatch, RegisterEvent::kHelloMismatch},
    {EventKind::kPeerFence, RegisterEvent::kPeerFence},
    {EventKind::kClientLeft, RegisterEvent::kClientGone},
    {EventKind::kClientDied, RegisterEvent::kClientGone},
    {EventKind::kPoolLow, RegisterEvent::kPoolLow},
    {EventKind::kEventsLost, RegisterEvent::kEventsLost},
    {EventKind::kConfigChanged, RegisterEvent::kConfigChanged},
};

// Sets the bits of an endpoint's event.
void Note(const Event& event, const Config& config, RegisterEvents& bits) {
  for (const auto& [kind, bit] : kBits) {
    if (event.kind == kind) return bits.Raise(bit);
  }
  if (event.kind == EventKind::kClientError) {
    return bits.Raise(IsBrokenQueue(event) ? RegisterEvent::kQueueBroken
                                           : RegisterEvent::kClientGone);
  }
  if (event.kind != EventKind::kLinkUp && event.kind != EventKind::kLinkDown) return;
  for (const EventValue& value : event.values) {
    for (uint32_t p = 0; value.field == EventField::kPort && p < config.ports.size(); ++p) {
      if (std::get<std::string>(value.value) == config.ports[p].name) bits.RaiseLink(p);
    }
  }
}

// Returns the numbers of an instance's peers with which it may seal, and with which it does.
std::pair<uint64_t, uint64_t> SealsOf(const Endpoint& endpoint, uint32_t i) {
  const Instance& instance = endpoint.instance_pipeline(i).instance(endpoint.number_of(i));
  const auto& cells = instance.sealing.cells;
  const auto sealed =
      std::count_if(cells.begin(), cells.end(), [](const auto& cell) { return cell.Get().sealed; });
  return {cells.size(), static_cast<uint64_t>(sealed)};
}

// Returns a refusal of a setting as one of a register. No restart mends it.
absl::Status Refusal(const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return absl::InvalidArgumentError(status.message());
  if (absl::IsResourceExhausted(status)) return absl::UnavailableError(status.message());
  return status;
}

}  // namespace

EndpointRegisters::EndpointRegisters(Endpoint* endpoint, ConfigChanger* changer,
                                     std::function<size_t()> clients)
    : endpoint_(endpoint),
      changer_(changer),
      clients_(std::move(clients)),
      file_(this, events_.get()) {
  endpoint->events().AddObserver(
      [endpoint, bits = events_](const Event& event) { Note(event, endpoint->config(), *bits); });
}

bool EndpointRegisters::Interrupts() {
  if (config().clients.registers < ClientsConfig::Registers::kRead || events_->mask() == 0) {
    return false;
  }
  Update();
  return events_->summary();
}

void EndpointRegisters::Update() {
  const uint64_t no_frame = endpoint_->SumOf(Counter::kTxNoFrame);
  if (no_frame != std::exchange(no_frame_, no_frame)) events_->Raise(RegisterEvent::kNoFrame);
  const uint64_t lost = endpoint_->SumOf(Counter::kCompletionsLost);
  if (lost != std::exchange(completions_lost_, lost)) {
    events_->Raise(RegisterEvent::kCompletionLost);
  }
}

std::vector<RegisterRowView> EndpointRegisters::Rows() const {
  std::vector<RegisterRowView> rows;
  for (const RegisterBlock& block : RegisterMap::Get().blocks()) {
    const bool indexed = block.index != RegisterIndex::kNone;
    for (const RegisterRow& row : block.rows) {
      const bool of_config = row.source == RegisterRow::Source::kConfig;
      rows.push_back(
          {.name = absl::StrCat(std::string(block.name), indexed ? ".N." : ".", row.name),
           .address = block.base + row.offset,
           .stride = block.stride,
           .count = file_.CountOf(block),
           .width_bits = row.width_bits,
           .access = NameOf(row.access),
           .effect = row.access == RegisterAccess::kReadOnly
                         ? std::string_view()
                         : NameOf(of_config ? row.effect : Effect::kAtOnce),
           .reset = row.reset,
           .unit = row.unit,
           .sentence = row.sentence});
    }
  }
  return rows;
}

absl::StatusOr<std::vector<RegisterValueView>> EndpointRegisters::Read(std::string_view first,
                                                                       uint32_t count) {
  Update();
  const absl::StatusOr<RegisterRef> found = file_.Find(first);
  if (!found.ok()) return found.status();
  std::vector<RegisterValueView> values;
  for (std::optional<RegisterRef> ref = *found; ref && count-- != 0; ref = file_.Next(*ref)) {
    values.push_back(ToView(*ref, file_.Read(*ref)));
  }
  return values;
}

absl::Status EndpointRegisters::Begin(const RegisterRef& ref, uint64_t value) {
  Update();  // records events before the write clears them
  absl::StatusOr<std::optional<ConfigOverride>> wanted = file_.Write(ref, value);
  if (!wanted.ok()) return wanted.status();
  if (!*wanted) return absl::OkStatus();
  const absl::StatusOr<ConfigPlan> plan = changer_->PlanValues({**wanted});
  if (!plan.ok()) return plan.status();
  for (const ConfigChange& change : plan->changes) {
    if (change.at_once) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        ref.name(), ": takes effect after a restart only, and was not changed; change ",
        change.path, " in the configuration file"));
  }
  return changer_->Begin(plan->config);
}

Question<absl::StatusOr<RegisterValueView>> EndpointRegisters::Write(std::string_view which,
                                                                     uint64_t value) {
  const absl::StatusOr<RegisterRef> ref = file_.Find(which);
  const absl::Status begun = ref.ok() ? Begin(*ref, value) : ref.status();
  using Result = std::optional<absl::StatusOr<RegisterValueView>>;
  if (!begun.ok()) return [begun]() -> Result { return begun; };
  return [this, ref = *ref]() -> Result {
    changer_->Poll();
    if (changing()) return std::nullopt;
    return ToView(ref, file_.Read(ref));
  };
}

std::optional<absl::StatusOr<uint64_t>> EndpointRegisters::Access(const RegisterRequest& request) {
  const ClientsConfig::Registers allowed = config().clients.registers;
  const auto needed =
      request.is_write ? ClientsConfig::Registers::kWrite : ClientsConfig::Registers::kRead;
  if (allowed < needed) {
    return absl::PermissionDeniedError(absl::StrCat("clients may not ",
                                                    request.is_write ? "write" : "read",
                                                    " registers; clients.registers permits it"));
  }
  Update();
  const absl::StatusOr<RegisterRef> ref = file_.At(request.address, request.width_bits);
  if (!ref.ok()) return ref.status();
  if (request.is_write) {
    if (absl::Status begun = Begin(*ref, request.value); !begun.ok()) return begun;
    if (changing()) return std::nullopt;
  }
  return file_.Read(*ref);
}

bool EndpointRegisters::changing() {
  std::erase_if(setting_, [](const AdminQuestion& is_done) { return is_done(); });
  return changer_->busy() || !setting_.empty();
}

absl::Status EndpointRegisters::Set(RegisterFact fact, uint32_t index, uint32_t value) {
  Administration& administration = endpoint_->administration();
  if (fact == RegisterFact::kPortAdmin) {
    absl::StatusOr<AdminQuestion> asked =
        administration.SetPort(config().ports[index].name, value == 0);
    if (!asked.ok()) return Refusal(asked.status());
    setting_.push_back(*std::move(asked));
    return absl::OkStatus();
  }
  const PlaneRef ref = PlaneAt(config(), index);
  const InstanceConfig& instance = config().instances[ref.instance];
  const PlaneName name{.xpu = instance.xpu, .instance = instance.instance, .plane = ref.plane};
  if (fact == RegisterFact::kPlaneAdmin) {
    absl::StatusOr<AdminQuestion> asked =
        administration.SetPlane(name, static_cast<PlaneSetting>(value));
    if (!asked.ok()) return Refusal(asked.status());
    setting_.push_back(*std::move(asked));
    return absl::OkStatus();
  }
  if (value == 0 || value > kMaxPlaneWeight) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight ", value, " is out of range; use 1 to ", kMaxPlaneWeight));
  }
  auto change = administration.SetWeight(name, std::nullopt, value);
  if (!change.ok()) return Refusal(change.status());
  setting_.push_back(std::move(change->done));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> EndpointRegisters::Written(const RegisterRequest& request) const {
  const absl::StatusOr<RegisterRef> ref = file_.At(request.address, request.width_bits);
  if (!ref.ok()) return ref.status();
  return file_.Read(*ref);
}

uint64_t EndpointRegisters::Fact(RegisterFact fact, uint32_t index) const {
  const auto port = [&]() -> const DpdkPort& { return *endpoint_->ports()[index]; };
  const auto plane = [&] {
    const PlaneRef ref = PlaneAt(config(), index);
    return endpoint_->administration().PlaneOf(ref.instance, ref.plane);
  };
  switch (fact) {
    case RegisterFact::kVersion:
      return VersionNumber();
    case RegisterFact::kClients:
      return clients_();
    case RegisterFact::kUptime:
      return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                       std::chrono::steady_clock::now() - start_)
                                       .count());
    case RegisterFact::kPortLinkUp:
      return port().link().up ? 1 : 0;
    case RegisterFact::kPortSpeed:
      return port().link().speed_bps;
    case RegisterFact::kPortFec:
      return static_cast<uint64_t>(port().fec());
    case RegisterFact::kPortMac:
      return MacNumber(config().ports[index].mac.value_or(port().mac()));
    case RegisterFact::kPortPoolFrames:
      return port().pool_frames();
    case RegisterFact::kPortPoolFree:
      return port().FreeFrames();
    case RegisterFact::kPortAdmin:
      return endpoint_->administration().port_up(index) ? 0 : 1;
    case RegisterFact::kPortPaused:
      return static_cast<uint64_t>(endpoint_->PausedFlows(index));
    case RegisterFact::kInstanceSealPeers:
      return SealsOf(*endpoint_, index).first;
    case RegisterFact::kInstanceSealed:
      return SealsOf(*endpoint_, index).second;
    case RegisterFact::kPlaneAdmin:
      return static_cast<uint64_t>(plane().admin);
    case RegisterFact::kPlaneUp:
      return plane().up ? 1 : 0;
    case RegisterFact::kPlaneWeight:
      return plane().weight;
    default:
      break;  // read by RegisterFile itself
  }
  return 0;
}

uint64_t EndpointRegisters::CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const {
  const auto which = static_cast<Counter>(counter);
  switch (of) {
    case RegisterIndex::kInstance:
      return endpoint_->pipeline(endpoint_->pipeline_of(index))
          .counters(endpoint_->number_of(index))
          .Get(which);
    case RegisterIndex::kLcore:
      return endpoint_->pipeline(index).port_counters().Get(which);
    default:
      break;
  }
  return endpoint_->SumOf(which);
}

}  // namespace suede
