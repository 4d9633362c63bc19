// SPDX-License-Identifier: Apache-2.0
#include "registers/register_file.h"

#include "base/numbers.h"
#include "base/text.h"
#include "config/config_change.h"

namespace suede {
namespace {

std::string Hex(uint32_t address) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
  return StrCat("0x", std::string_view(digits, static_cast<size_t>(end - digits)));
}

std::string_view Plural(RegisterIndex index) {
  constexpr std::string_view kNames[] = {"", "classes", "ports", "instances", "lcores", "planes"};
  return kNames[static_cast<size_t>(index)];
}

// Returns the register that contains the address, but does not begin there.
std::optional<RegisterRef> Around(uint32_t address) {
  for (uint32_t before = 1; before < 8 && before <= address; ++before) {
    const std::optional<RegisterRef> ref = RegisterMap::Get().Find(address - before);
    if (ref && before < ref->row->width_bits / 8) return ref;
  }
  return std::nullopt;
}

absl::Status NoSuchAddress(uint32_t address) {
  if (const std::optional<RegisterRef> ref = Around(address)) {
    return absl::InvalidArgumentError(StrCat("address ", Hex(address),
                                             " is misaligned: it is inside ", ref->name(), "; use ",
                                             Hex(ref->address())));
  }
  return absl::NotFoundError(
      StrCat("there is no register at address ", Hex(address), "; reg.list has the map"));
}

uint64_t PlaneFact(const Config& config, RegisterFact fact, const PlaneRef& ref) {
  const InstancePort& at = config.instances[ref.instance].ports[ref.plane];
  switch (fact) {
    case RegisterFact::kPlaneInstance:
      return ref.instance;
    case RegisterFact::kPlaneNumber:
      return ref.plane;
    case RegisterFact::kPlanePort:
      return at.port;
    case RegisterFact::kPlaneAddressLow:
      return at.address.low;
    default:
      break;
  }
  return at.address.high;
}

}  // namespace

PlaneRef PlaneAt(const Config& config, uint32_t index) {
  PlaneRef ref{.instance = 0, .plane = index};
  while (ref.plane >= config.instances[ref.instance].ports.size()) {
    ref.plane -= static_cast<uint32_t>(config.instances[ref.instance++].ports.size());
  }
  return ref;
}

uint32_t RegisterFile::CountOf(const RegisterBlock& block) const {
  const Config& config = backend_.config();
  size_t count = 1;
  switch (block.index) {
    case RegisterIndex::kNone:
      break;
    case RegisterIndex::kClass:
      count = kVcCount;
      break;
    case RegisterIndex::kPort:
      count = config.ports.size();
      break;
    case RegisterIndex::kInstance:
      count = config.instances.size();
      break;
    case RegisterIndex::kLcore:
      count = config.lcores.size();
      break;
    case RegisterIndex::kPlane:
      count = 0;
      for (const InstanceConfig& instance : config.instances) count += instance.ports.size();
      break;
  }
  return static_cast<uint32_t>(count < block.limit ? count : block.limit);
}

absl::Status RegisterFile::CheckExists(const RegisterRef& ref) const {
  const uint32_t count = CountOf(*ref.block);
  if (ref.index < count) return absl::OkStatus();
  return absl::NotFoundError(StrCat("there is no ", ref.name(), ": this endpoint has ", count, " ",
                                    Plural(ref.block->index), ", counted from 0"));
}

absl::StatusOr<RegisterRef> RegisterFile::Find(std::string_view which) const {
  std::optional<RegisterRef> ref;
  if (which.starts_with("0x")) {
    const auto address = ParseNumber<uint32_t>(which.substr(2), UINT32_MAX, 16);
    if (!address) {
      return absl::InvalidArgumentError(StrCat(
          which.substr(0, 32), " is not an address; write 0x and up to 8 hexadecimal digits"));
    }
    ref = RegisterMap::Get().Find(*address);
    if (!ref) return NoSuchAddress(*address);
  } else {
    ref = RegisterMap::Get().Find(which);
    if (!ref) {
      return absl::NotFoundError(
          StrCat("there is no register ", which.substr(0, 64), "; reg.list has the names"));
    }
  }
  if (absl::Status status = CheckExists(*ref); !status.ok()) return status;
  return *ref;
}

absl::StatusOr<RegisterRef> RegisterFile::At(uint32_t address, uint32_t width_bits) const {
  const std::optional<RegisterRef> ref = RegisterMap::Get().Find(address);
  if (!ref) return NoSuchAddress(address);
  if (ref->row->width_bits != width_bits) {
    return absl::InvalidArgumentError(StrCat(ref->name(), " has ", ref->row->width_bits,
                                             " bits, not ", width_bits, "; access all of it"));
  }
  if (absl::Status status = CheckExists(*ref); !status.ok()) return status;
  return *ref;
}

std::optional<RegisterRef> RegisterFile::Next(const RegisterRef& ref) const {
  RegisterRef next = ref;
  if (++next.row != next.block->rows.data() + next.block->rows.size()) return next;
  const auto& blocks = RegisterMap::Get().blocks();
  if (++next.index >= CountOf(*next.block)) {
    next.index = 0;
    // Each block has a row, but possibly no index in this endpoint.
    do {
      if (++next.block == blocks.data() + blocks.size()) return std::nullopt;
    } while (CountOf(*next.block) == 0);
  }
  next.row = next.block->rows.data();
  return next;
}

uint64_t RegisterFile::Read(const RegisterRef& ref) const {
  switch (ref.row->source) {
    case RegisterRow::Source::kConfig:
      return ConfigNumber(backend_.config(), ref.key()).value_or(0);
    case RegisterRow::Source::kCounter:
      return backend_.CounterOf(ref.block->index, ref.index, ref.row->counter);
    case RegisterRow::Source::kLinkGauge:
    case RegisterRow::Source::kLinkCredit:
    case RegisterRow::Source::kLinkCounter:
      return ReadLink(ref);
    case RegisterRow::Source::kFact:
      break;
  }
  return ReadFact(ref);
}

uint64_t RegisterFile::ReadLink(const RegisterRef& ref) const {
  const LinkCounters* const link = backend_.Link(ref.index);
  const uint32_t counter = ref.row->counter;
  if (link == nullptr) return 0;
  if (ref.row->source == RegisterRow::Source::kLinkGauge) {
    return link->Get(static_cast<LinkGauge>(counter));
  }
  if (ref.row->source == RegisterRow::Source::kLinkCounter) {
    return link->Get(static_cast<LinkCounter>(counter));
  }
  const ShownCredit credit = link->credit(counter / 4);
  const uint32_t values[] = {credit.limit, credit.free, credit.granted, credit.held};
  return values[counter % 4];
}

uint64_t RegisterFile::ReadFact(const RegisterRef& ref) const {
  const Config& config = backend_.config();
  switch (ref.row->fact) {
    case RegisterFact::kId:
      return 0x53554544;
    case RegisterFact::kMapHash:
      return RegisterMap::Get().hash();
    case RegisterFact::kInstances:
      return config.instances.size();
    case RegisterFact::kPorts:
      return config.ports.size();
    case RegisterFact::kLcores:
      return config.lcores.size();
    case RegisterFact::kPeers:
      return config.peers.size();
    case RegisterFact::kEventStatus:
      return events_.status();
    case RegisterFact::kEventMask:
      return events_.mask();
    case RegisterFact::kEventSummary:
      return events_.summary() ? 1 : 0;
    case RegisterFact::kEventLink:
      return events_.link();
    case RegisterFact::kEventLinkMask:
      return events_.link_mask();
    case RegisterFact::kInstanceXpu:
      return config.instances[ref.index].xpu;
    case RegisterFact::kInstanceNumber:
      return config.instances[ref.index].instance;
    case RegisterFact::kInstanceLcore:
      return config.instances[ref.index].lcore;
    case RegisterFact::kInstancePort:
      return config.instances[ref.index].ports[0].port;
    case RegisterFact::kInstanceAddressLow:
      return config.instances[ref.index].ports[0].address.low;
    case RegisterFact::kInstanceAddressHigh:
      return config.instances[ref.index].ports[0].address.high;
    case RegisterFact::kInstanceOrdering:
      return static_cast<uint64_t>(config.instances[ref.index].ordering);
    case RegisterFact::kInstancePlanes:
      return config.instances[ref.index].ports.size();
    case RegisterFact::kInstanceCongestion:
      return static_cast<uint64_t>(config.instances[ref.index].congestion);
    case RegisterFact::kInstanceSealing:
      return static_cast<uint64_t>(config.instances[ref.index].sealing);
    case RegisterFact::kInstancePartition:
      return PartitionOf(config, config.instances[ref.index]);
    case RegisterFact::kPlaneInstance:
    case RegisterFact::kPlaneNumber:
    case RegisterFact::kPlanePort:
    case RegisterFact::kPlaneAddressLow:
    case RegisterFact::kPlaneAddressHigh:
      return PlaneFact(config, ref.row->fact, PlaneAt(config, ref.index));
    default:
      break;
  }
  return backend_.Fact(ref.row->fact, ref.index);
}

absl::Status RegisterFile::WriteFact(const RegisterRef& ref, uint32_t value) {
  const RegisterFact fact = ref.row->fact;
  const std::vector<std::string>& values = ref.row->values;
  const bool has_bits = fact == RegisterFact::kEventStatus || fact == RegisterFact::kEventMask;
  if (has_bits && (value & ~kRegisterEventBits) != 0) {
    return absl::InvalidArgumentError(
        StrCat(ref.name(), " has no such bits; use up to ", Hex(kRegisterEventBits)));
  }
  if (!values.empty() && value >= values.size()) {
    return absl::InvalidArgumentError(
        StrCat(value, " is no value of ", ref.name(), "; use at most ", values.size() - 1));
  }
  switch (fact) {
    case RegisterFact::kEventStatus:
      events_.Clear(value);
      return absl::OkStatus();
    case RegisterFact::kEventMask:
      events_.SetMask(value);
      return absl::OkStatus();
    case RegisterFact::kEventLink:
      events_.ClearLink(value);
      return absl::OkStatus();
    case RegisterFact::kEventLinkMask:
      events_.SetLinkMask(value);
      return absl::OkStatus();
    default:
      break;
  }
  return backend_.Set(fact, ref.index, value);
}

absl::StatusOr<std::optional<ConfigOverride>> RegisterFile::Write(const RegisterRef& ref,
                                                                  uint64_t value) {
  const RegisterRow& row = *ref.row;
  if (row.access == RegisterAccess::kReadOnly) {
    return absl::PermissionDeniedError(StrCat(ref.name(), " is read-only"));
  }
  if (value > UINT32_MAX) {  // no writable register is wider
    return absl::InvalidArgumentError(
        StrCat(value, " does not fit ", ref.name(), ", which has ", row.width_bits, " bits"));
  }
  if (row.source == RegisterRow::Source::kFact) {
    if (absl::Status status = WriteFact(ref, static_cast<uint32_t>(value)); !status.ok()) {
      return status;
    }
    return std::nullopt;
  }
  const std::string key = ref.key();
  if (ConfigNumber(backend_.config(), key) == value) return std::nullopt;
  const std::optional<std::string> text = ConfigText(key, value);
  if (!text) {
    return absl::InvalidArgumentError(
        StrCat(value, " is no value of ", ref.name(), "; reg.list has those that there are"));
  }
  return ConfigOverride{.path = key, .value = *text, .place = StrCat("register ", ref.name())};
}

}  // namespace suede
