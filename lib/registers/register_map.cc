// SPDX-License-Identifier: Apache-2.0
#include "registers/register_map.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/sue.h"
#include "base/text.h"
#include "config/config_change.h"
#include "registers/register_events.h"
#include "stats/counters.h"
#include "stats/link_counters.h"

namespace suede {
namespace {

using Access = RegisterAccess;
using Fact = RegisterFact;
using Rows = std::vector<RegisterRow>;

RegisterRow Read(uint32_t offset, uint32_t width_bits, std::string_view name, Fact fact,
                 std::string_view unit, std::string_view sentence) {
  return {.name = std::string(name),
          .offset = offset,
          .width_bits = width_bits,
          .fact = fact,
          .unit = std::string(unit),
          .sentence = std::string(sentence)};
}

RegisterRow Written(uint32_t offset, std::string_view name, Access access, Fact fact,
                    std::string_view reset, std::string_view sentence) {
  return {.name = std::string(name),
          .offset = offset,
          .access = access,
          .fact = fact,
          .reset = std::string(reset),
          .sentence = std::string(sentence)};
}

std::string ListOf(const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    StrAppend(&text, i == 0 ? " " : ", ", i, ": ", values[i]);
  }
  return text + ".";
}

// Names the values of a row, from 0 on.
RegisterRow Named(RegisterRow row, std::vector<std::string> values) {
  StrAppend(&row.sentence, ListOf(values));
  row.values = std::move(values);
  return row;
}

// Returns the default value of a key as a number; "": the default is computed.
std::string ResetOf(const std::string& path, const ConfigKey& key) {
  Config defaults;
  defaults.ports.resize(1);
  const std::optional<uint64_t> number = ConfigNumber(defaults, path);
  return number && ConfigText(path, *number) == key.default_value ? StrCat(*number) : "";
}

// Returns the names of a key's values; none if its values are numbers.
std::vector<std::string> ValuesOf(const std::string& path) {
  std::vector<std::string> values;
  if (ConfigText(path, 0) == "0") return values;
  while (const auto text = ConfigText(path, values.size())) values.push_back(*text);
  return values;
}

// Returns the row of a configuration key, with the key's own sentence.
RegisterRow OfKey(uint32_t offset, std::string_view name, const std::string& path) {
  std::string first = path;
  std::replace(first.begin(), first.end(), '#', '0');
  const ConfigKey* key = FindConfigKey(first);
  if (key == nullptr) std::abort();  // the key was removed: remove its register, too
  std::vector<std::string> values = ValuesOf(first);
  const std::string range = values.empty() ? StrCat(" ", key->range, ".") : ListOf(values);
  return {.name = std::string(name),
          .offset = offset,
          .access = Access::kReadWrite,
          .source = RegisterRow::Source::kConfig,
          .key = path,
          .effect = key->effect,
          .reset = ResetOf(first, *key),
          .values = std::move(values),
          .unit = key->unit,
          .sentence = key->sentence + range};
}

// Makes the row read-only, for a key that has no other valid value while the other keys stay
// unchanged.
RegisterRow ReadOnly(RegisterRow row) {
  row.access = Access::kReadOnly;
  row.reset.clear();
  return row;
}

RegisterRow Wide(RegisterRow row) {
  row.width_bits = 64;
  return row;
}

// Returns the rows of keys, each behind the one before: a new key goes to the end of its list.
Rows OfKeys(const std::string& prefix, std::initializer_list<std::string_view> keys) {
  Rows rows;
  for (const std::string_view key : keys) {
    rows.push_back(OfKey(4 * static_cast<uint32_t>(rows.size()), key, StrCat(prefix, key)));
  }
  return rows;
}

Rows OfCounters() {
  Rows rows;
  for (uint32_t i = 0; i < kCounterCount; ++i) {
    const CounterRow& counter = CounterRows()[i];
    rows.push_back({.name = std::string(counter.name),
                    .offset = 8 * i,
                    .width_bits = 64,
                    .source = RegisterRow::Source::kCounter,
                    .counter = i,
                    .reset = "0",
                    .sentence = StrCat(counter.sentence, ".")});
  }
  return rows;
}

// A register of `width_bits` of lib/stats/link_counters.h.
RegisterRow OfLink(uint32_t offset, uint32_t width_bits, RegisterRow::Source source, size_t counter,
                   std::string name, std::string_view sentence) {
  return {.name = std::move(name),
          .offset = offset,
          .width_bits = width_bits,
          .source = source,
          .counter = static_cast<uint32_t>(counter),
          .reset = "0",
          .sentence = StrCat(sentence, ".")};
}

Rows LinkRows() {
  Rows rows;
  for (uint32_t i = 0; i < LinkGaugeRows().size(); ++i) {
    const LinkGaugeRow& gauge = LinkGaugeRows()[i];
    rows.push_back(OfLink(4 * i, 32, RegisterRow::Source::kLinkGauge, i, std::string(gauge.name),
                          gauge.sentence));
  }
  constexpr std::pair<std::string_view, std::string_view> kCredits[] = {
      {"limit", "Credits that the neighbour grants on link VC "},
      {"free", "Unused ones of these, on link VC "},
      {"granted", "Credits that the port grants on link VC "},
      {"held", "Credits of frames in the receive buffer, on link VC "}};
  for (uint32_t vc = 0; vc < LinkCounters::kShownVcs; ++vc) {
    for (uint32_t i = 0; i < 4; ++i) {
      rows.push_back(OfLink(0x80 + 16 * vc + 4 * i, 32, RegisterRow::Source::kLinkCredit,
                            4 * vc + i, StrCat("vc", vc, "_", kCredits[i].first),
                            StrCat(kCredits[i].second, vc)));
    }
  }
  return rows;
}

Rows LinkCounterRegisters() {
  Rows rows;
  for (uint32_t i = 0; i < LinkCounterRows().size(); ++i) {
    const CounterRow& counter = LinkCounterRows()[i];
    rows.push_back(OfLink(8 * i, 64, RegisterRow::Source::kLinkCounter, i,
                          std::string(counter.name), counter.sentence));
  }
  return rows;
}

std::string BitList() {
  std::string text;
  for (uint32_t bit = 0; bit < RegisterEventRows().size(); ++bit) {
    StrAppend(&text, " Bit ", bit, ": ", RegisterEventRows()[bit].sentence, ".");
  }
  return text;
}

Rows EndpointRows() {
  return {
      Read(0x00, 32, "id", Fact::kId, "", "0x53554544: an endpoint of suede."),
      Read(0x04, 32, "map_hash", Fact::kMapHash, "",
           "SUEDE_REG_MAP_HASH of the header that has this map."),
      Read(0x08, 32, "version", Fact::kVersion, "", "Major, minor and patch, a byte each."),
      Read(0x0c, 32, "instances", Fact::kInstances, "", "Own instances."),
      Read(0x10, 32, "ports", Fact::kPorts, "", "Network ports."),
      Read(0x14, 32, "lcores", Fact::kLcores, "", "CPUs that run a pipeline."),
      Read(0x18, 32, "peers", Fact::kPeers, "", "Peers."),
      Read(0x1c, 32, "clients", Fact::kClients, "", "Client processes that are connected."),
      Read(0x20, 64, "uptime_s", Fact::kUptime, "s", "Time since the daemon started."),
  };
}

Rows EventRows() {
  const auto all_links = StrCat(0xffffffffu);
  return {
      Written(0x00, "status", Access::kWriteOneToClear, Fact::kEventStatus, "0",
              StrCat("Events since it was cleared.", BitList())),
      Written(0x04, "mask", Access::kReadWrite, Fact::kEventMask, "0",
              "The bits of event.status that set event.summary."),
      Read(0x08, 32, "summary", Fact::kEventSummary, "",
           "1 where event.status has a bit that is in event.mask."),
      Written(0x0c, "link", Access::kWriteOneToClear, Fact::kEventLink, "0",
              "Ports, by their index, whose link went up or down."),
      Written(0x10, "link_mask", Access::kReadWrite, Fact::kEventLinkMask, all_links,
              "The ports whose links count as an event."),
  };
}

Rows PortRows() {
  return {
      Read(0x00, 32, "link_up", Fact::kPortLinkUp, "", "1 where the link is up."),
      OfKey(0x04, "mtu_bytes", "ports[#].mtu_bytes"),
      Read(0x08, 64, "speed_bps", Fact::kPortSpeed, "bit/s", "Speed of the link; 0: not known."),
      Read(0x10, 64, "mac", Fact::kPortMac, "",
           "MAC address, its first byte most significant in the low 48 bits."),
      ReadOnly(OfKey(0x18, "encapsulation", "ports[#].encapsulation")),
      OfKey(0x1c, "udp_port", "ports[#].udp_port"),
      OfKey(0x20, "session", "ports[#].session"),
      Read(0x24, 32, "pool_frames", Fact::kPortPoolFrames, "frames", "Frames in the port's pool."),
      Read(0x28, 32, "pool_free", Fact::kPortPoolFree, "frames",
           "Frames of the pool that are free."),
      OfKey(0x2c, "rx_descriptors", "ports[#].rx_descriptors"),
      OfKey(0x30, "tx_descriptors", "ports[#].tx_descriptors"),
      Named(Read(0x34, 32, "fec", Fact::kPortFec, "", "FEC of the link."),
            {"not known", "off", "auto", "baser", "rs"}),
      Named(Written(0x38, "admin", Access::kReadWrite, Fact::kPortAdmin, "0",
                    "The setting, as of ports.set_admin."),
            {"up", "down"}),
      Read(0x3c, 32, "paused", Fact::kPortPaused, "",
           "VCs that the neighbour pauses now (pfc: software), a bit each; bit 4: PDUs without "
           "commands."),
      ReadOnly(OfKey(0x40, "pfc", "ports[#].pfc")),
      ReadOnly(OfKey(0x44, "pfc_class", "ports[#].pfc_class")),
      ReadOnly(OfKey(0x48, "llr", "ports[#].llr")),
      ReadOnly(OfKey(0x4c, "cbfc", "ports[#].cbfc")),
  };
}

Rows InstanceRows() {
  return {
      Read(0x00, 32, "xpu", Fact::kInstanceXpu, "", "XPU id."),
      Read(0x04, 32, "instance", Fact::kInstanceNumber, "", "Instance number of the XPU."),
      Read(0x08, 32, "lcore", Fact::kInstanceLcore, "", "Index of its lcore."),
      Read(0x0c, 32, "port", Fact::kInstancePort, "",
           "Index of its port; with several planes, of plane 0, and so is the address."),
      Read(0x10, 64, "address_low", Fact::kInstanceAddressLow, "",
           "IPv4 or forwarding address; the low half of an IPv6 address."),
      Read(0x18, 64, "address_high", Fact::kInstanceAddressHigh, "",
           "The high half of an IPv6 address."),
      Named(Read(0x20, 32, "ordering", Fact::kInstanceOrdering, "", "Order of PDUs."),
            {"strict", "unordered"}),
      Read(0x24, 32, "planes", Fact::kInstancePlanes, "", "Planes that it has."),
      Named(Read(0x28, 32, "congestion", Fact::kInstanceCongestion, "", "Congestion control."),
            {"fixed", "rccc", "nscc"}),
      Named(Read(0x2c, 32, "sealing", Fact::kInstanceSealing, "", "Sealing of PDUs."),
            {"off", "preferred", "required"}),
      Read(0x30, 32, "seal_peers", Fact::kInstanceSealPeers, "",
           "Peers with which it may seal; 0 where sealing is off."),
      Read(0x34, 32, "sealed_peers", Fact::kInstanceSealed, "",
           "Peers with which PDUs are sealed now."),
      Read(0x38, 32, "partition", Fact::kInstancePartition, "",
           "Its partition: its own, or control.partition."),
  };
}

Rows PlaneRows() {
  return {
      Read(0x00, 32, "instance", Fact::kPlaneInstance, "", "Index of its instance."),
      Read(0x04, 32, "plane", Fact::kPlaneNumber, "", "Number of the plane, from 0."),
      Read(0x08, 32, "port", Fact::kPlanePort, "", "Index of its port."),
      Named(Written(0x0c, "admin", Access::kReadWrite, Fact::kPlaneAdmin, "0",
                    "The setting, as of planes.set_admin; drain needs another plane."),
            {"up", "drain", "down"}),
      Read(0x10, 32, "up", Fact::kPlaneUp, "",
           "1 where it carries traffic: it and its port are set up, and the link is up."),
      Written(
          0x14, "weight", Access::kReadWrite, Fact::kPlaneWeight, "",
          "Its share of sent PDUs, in relation to the other planes of the instance: 1 to 65535, "
          "as of planes.set_weight for all peers."),
      Read(0x18, 64, "address_low", Fact::kPlaneAddressLow, "",
           "IPv4 or forwarding address; the low half of an IPv6 address."),
      Read(0x20, 64, "address_high", Fact::kPlaneAddressHigh, "",
           "The high half of an IPv6 address."),
  };
}

constexpr uint32_t kCounterRoom = 0x1000;  // for 512 counters of 64 bits
static_assert(kCounterCount * 8 <= kCounterRoom);
constexpr uint32_t kLinkCounterRoom = 0x200;
static_assert(static_cast<uint32_t>(LinkCounter::kCount) * 8 <= kLinkCounterRoom);

// A block of `limit` indices, `stride` bytes apart.
struct Indexed {
  RegisterIndex index = RegisterIndex::kNone;
  uint32_t stride = 0;
  uint32_t limit = 1;
};

class BlockList {
 public:
  void Add(std::string_view name, uint32_t base, std::string_view sentence, Rows rows,
           Indexed indexed = {}) {
    blocks_.push_back({.name = name,
                       .base = base,
                       .index = indexed.index,
                       .stride = indexed.stride,
                       .limit = indexed.limit,
                       .sentence = sentence,
                       .rows = std::move(rows)});
  }
  std::vector<RegisterBlock> Take() { return std::move(blocks_); }

 private:
  std::vector<RegisterBlock> blocks_;
};

void AddOperation(BlockList& list) {
  list.Add("endpoint", 0x0000, "Identity and size.", EndpointRows());
  list.Add("event", 0x0100, "Events, and masks of those that are of interest.", EventRows());
  list.Add("control", 0x0200, "Partition and packing.",
           {OfKey(0x00, "partition", "partition"),
            OfKey(0x04, "pack_limit_bytes", "packing.limit_bytes"),
            OfKey(0x08, "packed_pdus", "packing.packed_pdus"),
            OfKey(0x0c, "path_probes_per_s", "transport.path_probes_per_s")});
  list.Add("log", 0x0240, "The log.", OfKeys("log.", {"level", "format"}));
  list.Add("clients", 0x0280, "Places, rings and credit of client processes.",
           OfKeys("clients.", {"max_clients", "max_queues", "ring_lines", "receive_lines",
                               "credit_lines", "aggregate_lines", "completions", "unclaimed_pdus",
                               "registers", "window_mb", "windows_total_mb"}));
  list.Add("management", 0x02c0, "The management socket.", OfKeys("management.", {"max_clients"}));
}

void AddProtocols(BlockList& list) {
  using Index = RegisterIndex;
  list.Add("transport", 0x0300, "Windows, acknowledgements and timers.",
           OfKeys("transport.",
                  {"psn_scope", "window_pdus", "window_bytes", "ack_every_pdus", "ack_delay_us",
                   "nack_timeout_us", "rto_initial_us", "rto_min_us", "rto_max_us", "max_tries",
                   "not_ready_backoff_us", "hello_timeout_us", "hello_tries", "inflight_pdus",
                   "reorder_allowance_us", "pause_limit_us"}));
  list.Add("planes", 0x0340, "How planes are found dead, and come back.",
           OfKeys("planes.", {"hello_interval_us", "hello_multiplier", "hello_idle_us",
                              "hold_down_us", "hold_down_max_us", "unreachable_us", "weights"}));
  list.Add("recovery", 0x035c, "Repetition after a loss.", OfKeys("transport.", {"recovery"}));
  list.Add("sessions", 0x0380, "Session groups.",
           OfKeys("sessions.", {"max", "interval_us", "open_percent", "move_percent",
                                "idle_intervals", "stall_timeouts", "max_age_us"}));
  list.Add("class", 0x0400, "Class of each VC's PDUs.",
           OfKeys("classes.vc[#].", {"pcp", "dscp", "ecn"}), {Index::kClass, 0x10, kVcCount});
  list.Add("ack_class", 0x0440, "Class of PDUs without commands.",
           OfKeys("classes.ack.", {"pcp", "dscp", "ecn"}));
  list.Add("vc_ring", 0x0480, "Thresholds of pauses by a VC's receive ring.",
           OfKeys("classes.vc[#].", {"xoff_percent", "xon_percent"}),
           {Index::kClass, 0x10, kVcCount});
  list.Add("pfc", 0x04c0, "Priority flow control.", OfKeys("pfc.", {"quanta", "storm_us"}));
  list.Add("congestion", 0x0500, "Congestion control.",
           OfKeys("congestion.",
                  {"base_rtt_us", "initial_percent", "ask_bdp", "repeat_us", "repeat_max_us",
                   "slice_us", "hold_bdp", "target_percent", "window_max_percent",
                   "window_min_permille", "decrease_percent", "proportional_percent",
                   "fair_percent", "eta_percent", "base_rtt_period_us"}));
  list.Add("llr", 0x0580, "Link-level retry.",
           OfKeys("llr.", {"window_frames", "window_octets", "replay_count", "replay_us",
                           "max_age_us", "ack_frames", "ack_delay_us", "hello_us"}));
  list.Add("cbfc", 0x05c0, "Credit-based flow control.",
           OfKeys("cbfc.", {"credit_bytes", "overhead_bytes", "cf_spacing_bytes", "cf_wait_us",
                            "cc_interval_us"}));
  list.Add("sealing", 0x0600, "Keys of instances that seal.",
           {OfKey(0x00, "cipher", "sealing.cipher"), OfKey(0x04, "device", "sealing.device"),
            OfKey(0x08, "rotate_s", "sealing.rotate_s"),
            Wide(ReadOnly(OfKey(0x10, "rotate_pdus", "sealing.rotate_pdus")))});
}

void AddObjects(BlockList& list) {
  using Index = RegisterIndex;
  list.Add("port", 0x1000, "Network ports.", PortRows(), {Index::kPort, 0x80, 32});
  list.Add("link", 0x2000, "Links to neighbours, of ports with llr or cbfc; 0 of others.",
           LinkRows(), {Index::kPort, 0x100, 32});
  list.Add("link_counter", 0x4000, "Counters of these links.", LinkCounterRegisters(),
           {Index::kPort, kLinkCounterRoom, 32});
  list.Add("instance", 0x10000, "Own instances, in the order of instances.list.", InstanceRows(),
           {Index::kInstance, 0x40, 1024});
  list.Add("counter", 0x40000, "Counters of all instances and lcores in sum.", OfCounters());
  list.Add("lcore_counter", 0x80000, "Counters of each lcore, for events of no known instance.",
           OfCounters(), {Index::kLcore, kCounterRoom, 128});
  list.Add("instance_counter", 0x200000, "Counters of each instance.", OfCounters(),
           {Index::kInstance, kCounterRoom, 1024});
  list.Add("plane", 0x600000, "Planes of own instances, in the order of planes.list.", PlaneRows(),
           {Index::kPlane, 0x40, 4096});
}

std::vector<RegisterBlock> MakeBlocks() {
  BlockList list;
  AddOperation(list);
  AddProtocols(list);
  AddObjects(list);
  return list.Take();
}

uint32_t HashOf(const std::vector<RegisterBlock>& blocks) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const RegisterBlock& block : blocks) {
    for (const RegisterRow& row : block.rows) {
      const std::string line =
          StrCat(block.name, ".", row.name, " ", block.base + row.offset, " ", block.stride, " ",
                 row.width_bits, " ", NameOf(row.access), "\n");
      for (const char c : line) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
    }
  }
  return hash;
}

bool TakeNumber(std::string_view& text, uint32_t& number) {
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool leading_zero = text.size() > 1 && text[0] == '0' && last != text.data() + 1;
  if (error != std::errc() || leading_zero) return false;
  text.remove_prefix(static_cast<size_t>(last - text.data()));
  return true;
}

}  // namespace

std::string_view NameOf(RegisterAccess access) {
  switch (access) {
    case RegisterAccess::kReadWrite:
      return "RW";
    case RegisterAccess::kWriteOneToClear:
      return "W1C";
    case RegisterAccess::kReadOnly:
      break;
  }
  return "RO";
}

std::string RegisterRef::name() const {
  return block->index == RegisterIndex::kNone ? StrCat(block->name, ".", row->name)
                                              : StrCat(block->name, ".", index, ".", row->name);
}

std::string RegisterRef::key() const {
  std::string path = row->key;
  if (const size_t at = path.find('#'); at != std::string::npos) path.replace(at, 1, StrCat(index));
  return path;
}

RegisterMap::RegisterMap() : blocks_(MakeBlocks()), hash_(HashOf(blocks_)) {}

const RegisterMap& RegisterMap::Get() {
  static const RegisterMap* const map = new RegisterMap;
  return *map;
}

std::optional<RegisterRef> RegisterMap::Find(std::string_view name) const {
  for (const RegisterBlock& block : blocks_) {
    std::string_view rest = name;
    if (!rest.starts_with(block.name) || !rest.substr(block.name.size()).starts_with(".")) continue;
    rest.remove_prefix(block.name.size() + 1);
    RegisterRef ref{.block = &block};
    if (block.index != RegisterIndex::kNone) {
      if (!TakeNumber(rest, ref.index) || ref.index >= block.limit || !rest.starts_with(".")) {
        return std::nullopt;
      }
      rest.remove_prefix(1);
    }
    for (const RegisterRow& row : block.rows) {
      if (row.name != rest) continue;
      ref.row = &row;
      return ref;
    }
  }
  return std::nullopt;
}

std::optional<RegisterRef> RegisterMap::Find(uint32_t address) const {
  for (const RegisterBlock& block : blocks_) {
    if (address < block.base) continue;
    RegisterRef ref{.block = &block};
    uint32_t offset = address - block.base;
    if (block.stride != 0) {
      ref.index = offset / block.stride;
      offset %= block.stride;
    }
    if (ref.index >= block.limit) continue;
    for (const RegisterRow& row : block.rows) {
      if (row.offset != offset) continue;
      ref.row = &row;
      return ref;
    }
  }
  return std::nullopt;
}

}  // namespace suede
