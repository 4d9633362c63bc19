// SPDX-License-Identifier: Apache-2.0
// Registers without an endpoint: the map holds together, and every access behaves as its row says.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "config/config_change.h"
#include "registers/register_file.h"
#include "registers/register_page.h"
#include "stats/counters.h"
#include "suede/registers.h"

extern "C" uint32_t AddressInC(uint32_t port);

namespace suede {
namespace {

const MachineFacts kMachine{.cpu_count = 8};

constexpr char kConfig[] =
    "version: 1\n"
    "name: left\n"
    "lcores: [{cpu: 1}, {cpu: 3}]\n"
    "ports: [{name: p0, device: net_memif0, mtu_bytes: 9000, bandwidth_gbps: 100},\n"
    "        {name: p1, device: net_memif1, mtu_bytes: 9000, encapsulation: udp6},\n"
    "        {name: p2, device: net_memif2, mtu_bytes: 9000, encapsulation: udp6,\n"
    "         bandwidth_gbps: 100}]\n"
    "instances: [{xpu: 7, lcore: 1, ordering: unordered,\n"
    "             ports: [{port: p0, ip: 198.18.0.1}, {port: p2, ip: 'fd53::2:0:0:7'}]},\n"
    "            {xpu: 8, instance: 2, lcore: 3, ports: [{port: p1, ip: 'fd53::1:0:0:8'}]}]\n";

class FakeBackend : public RegisterBackend {
 public:
  const Config& config() const override { return value; }
  uint64_t Fact(RegisterFact fact, uint32_t index) const override {
    const auto set = facts.find({fact, index});
    if (set != facts.end()) return set->second;
    const bool is_admin = fact == RegisterFact::kPortAdmin || fact == RegisterFact::kPlaneAdmin;
    return is_admin ? 0 : 1000 * static_cast<uint64_t>(fact) + index;
  }
  uint64_t CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const override {
    return (static_cast<uint64_t>(of) << 40) + (uint64_t{index} << 32) + counter;
  }
  const LinkCounters* Link(uint32_t port) const override { return port == 1 ? &link : nullptr; }
  absl::Status Set(RegisterFact fact, uint32_t index, uint32_t number) override {
    if (number == 4'000'000'000u) return absl::InvalidArgumentError("out of range");
    facts[{fact, index}] = number;
    return absl::OkStatus();
  }
  Config value = *ParseConfig(kConfig, "test.yaml", kMachine);
  LinkCounters link;
  std::map<std::pair<RegisterFact, uint32_t>, uint32_t> facts;  // those that were set
};

class RegisterTest : public testing::Test {
 protected:
  RegisterRef Find(std::string_view which) {
    const auto ref = file.Find(which);
    EXPECT_TRUE(ref.ok()) << ref.status();
    return *ref;
  }
  uint64_t Read(std::string_view which) { return file.Read(Find(which)); }
  // Writes as the endpoint does, but for the lcores.
  absl::Status Write(const RegisterRef& ref, uint64_t value) {
    const auto wanted = file.Write(ref, value);
    if (!wanted.ok()) return wanted.status();
    if (!*wanted) return absl::OkStatus();
    const auto changed = ChangeConfig(backend.value, {**wanted}, kMachine);
    if (!changed.ok()) return changed.status();
    const ConfigPlan plan = PlanChange(start, backend.value, *changed, kMachine);
    for (const ConfigChange& change : plan.changes) {
      if (!change.at_once) return absl::FailedPreconditionError("after a restart");
    }
    backend.value = plan.config;
    return absl::OkStatus();
  }
  // Every register of this endpoint.
  std::vector<RegisterRef> All() {
    std::vector<RegisterRef> all;
    std::optional<RegisterRef> ref = Find("endpoint.id");
    for (; ref; ref = file.Next(*ref)) all.push_back(*ref);
    return all;
  }

  FakeBackend backend;
  const Config start = backend.value;
  RegisterEvents events;
  RegisterFile file{&backend, &events};
};

// ---- The map.

TEST_F(RegisterTest, NoTwoRegistersOverlapAndAllAreAligned) {
  std::map<uint64_t, std::pair<uint64_t, std::string>> taken;  // first byte to end and name
  std::set<std::string> names;
  for (const RegisterBlock& block : RegisterMap::Get().blocks()) {
    ASSERT_FALSE(block.rows.empty());
    for (uint32_t index : {0u, block.limit - 1}) {
      for (const RegisterRow& row : block.rows) {
        const RegisterRef ref{.block = &block, .row = &row, .index = index};
        const uint64_t end = uint64_t{ref.address()} + row.width_bits / 8;
        EXPECT_EQ(ref.address() % (row.width_bits / 8), 0u) << ref.name();
        EXPECT_TRUE(taken.emplace(ref.address(), std::pair(end, ref.name())).second || index == 0)
            << ref.name();
        EXPECT_TRUE(block.stride == 0 || row.offset + row.width_bits / 8 <= block.stride);
        names.insert(ref.name());
        EXPECT_FALSE(row.sentence.empty()) << ref.name();
      }
    }
  }
  uint64_t free = 0;
  for (const auto& [address, end_and_name] : taken) {
    EXPECT_GE(address, free) << end_and_name.second;
    free = end_and_name.first;
  }
  EXPECT_EQ(names.size(), taken.size());
}

TEST_F(RegisterTest, EveryRegisterIsFoundByNameAndByAddress) {
  size_t count = 0;
  for (const RegisterRef& ref : All()) {
    EXPECT_EQ(Find(ref.name()).address(), ref.address());
    const auto at = file.At(ref.address(), ref.row->width_bits);
    ASSERT_TRUE(at.ok()) << at.status();
    EXPECT_EQ(at->name(), ref.name());
    ++count;
  }
  // Five sets of counters: the sum, two lcores, two instances.
  EXPECT_GT(count, 5 * kCounterCount + 60);
}

TEST_F(RegisterTest, EveryKeyThatTakesEffectAtOnceHasARegister) {
  std::set<std::string> keys;
  for (const RegisterRef& ref : All()) keys.insert(ref.key());
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.is_section || key.effect == Effect::kRestart) continue;
    std::string path = key.path;
    if (const size_t at = path.find("[]"); at != std::string::npos) path.replace(at, 2, "[0]");
    if (!ConfigNumber(backend.value, path)) continue;
    EXPECT_TRUE(keys.contains(path)) << path;
  }
}

TEST_F(RegisterTest, HeaderHasTheSameAddresses) {
  EXPECT_EQ(SUEDE_REG_MAP_HASH, RegisterMap::Get().hash());
  EXPECT_EQ(SUEDE_REG_TRANSPORT_WINDOW_PDUS, Find("transport.window_pdus").address());
  EXPECT_EQ(SUEDE_REG_PORT_LINK_UP(1), Find("port.1.link_up").address());
  EXPECT_EQ(AddressInC(1), Find("port.1.link_up").address());
  EXPECT_EQ(SUEDE_REG_INSTANCE_COUNTER_TX_PDUS_TOTAL(1),
            Find("instance_counter.1.tx_pdus_total").address());
  EXPECT_EQ(SUEDE_REG_COUNTER_TX_PDUS_TOTAL_BITS, 64);
  EXPECT_EQ(SUEDE_EVENT_PEER_RESET, 1u << static_cast<uint32_t>(RegisterEvent::kPeerReset));
}

// ---- Round trips.

TEST_F(RegisterTest, ResetValuesAreThoseOfDefaults) {
  for (const RegisterRef& ref : All()) {
    if (ref.row->reset.empty() || ref.row->source == RegisterRow::Source::kCounter) continue;
    EXPECT_EQ(std::to_string(file.Read(ref)), ref.row->reset) << ref.name();
  }
}

TEST_F(RegisterTest, EveryReadOnlyRegisterRefusesWrites) {
  for (const RegisterRef& ref : All()) {
    if (ref.row->access != RegisterAccess::kReadOnly) continue;
    EXPECT_EQ(Write(ref, file.Read(ref)).code(), absl::StatusCode::kPermissionDenied) << ref.name();
  }
}

// Each register is given legal values that it does not have yet, which it then has; the others keep
// theirs.
TEST_F(RegisterTest, EveryWritableRegisterIsRoundTrippedOrSaysThatItNeedsARestart) {
  for (const RegisterRef& ref : All()) {
    if (ref.row->access != RegisterAccess::kReadWrite) continue;
    const bool restart =
        ref.row->source == RegisterRow::Source::kConfig && ref.row->effect == Effect::kRestart;
    const uint64_t before = file.Read(ref);
    int tried = 0;
    for (const uint64_t value :
         {before - 1, before + 1, before / 2, before * 2, uint64_t{1}, uint64_t{0}}) {
      if (value == before || value > UINT32_MAX) continue;
      const Config config = backend.value;
      const absl::Status status = Write(ref, value);
      ++tried;
      if (status.code() == absl::StatusCode::kInvalidArgument) continue;  // another, then
      if (restart) {
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << ref.name();
        EXPECT_EQ(backend.value, config);
      } else {
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_EQ(file.Read(ref), value) << ref.name();
        const size_t changed = ref.row->source == RegisterRow::Source::kConfig ? 1 : 0;
        EXPECT_EQ(DiffConfigs(config, backend.value).size(), changed) << ref.name();
        EXPECT_TRUE(Write(ref, before).ok());
      }
      tried = 100;
      break;
    }
    EXPECT_EQ(tried, 100) << ref.name() << ": no legal value was found";
  }
  EXPECT_EQ(backend.value, start);
}

TEST_F(RegisterTest, EveryWritableRegisterOfTheConfigurationRefusesWhatTheFileRefuses) {
  for (const RegisterRef& ref : All()) {
    if (ref.key().empty() || ref.row->access == RegisterAccess::kReadOnly) continue;
    const absl::Status status = Write(ref, 4'000'000'000u);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << ref.name();
    EXPECT_NE(status.message().find(ref.name()), std::string::npos) << status;
    EXPECT_EQ(Write(ref, uint64_t{1} << 32).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(backend.value, start);
}

TEST_F(RegisterTest, RelationsBetweenKeysHold) {
  const absl::Status status = Write(Find("transport.rto_min_us"), 300'000);
  EXPECT_EQ(status.message(),
            "register transport.rto_min_us: transport.rto_min_us: 300000 is more than rto_max_us; "
            "use at most 200000");
}

TEST_F(RegisterTest, BitsAreClearedByWritingOne) {
  events.Raise(RegisterEvent::kPeerReset);
  events.RaiseLink(1);
  EXPECT_EQ(Read("event.status"), SUEDE_EVENT_PEER_RESET | SUEDE_EVENT_LINK_CHANGE);
  EXPECT_EQ(Read("event.link"), 2u);
  EXPECT_EQ(Read("event.summary"), 0u);
  ASSERT_TRUE(Write(Find("event.mask"), SUEDE_EVENT_PEER_RESET).ok());
  EXPECT_EQ(Read("event.summary"), 1u);

  ASSERT_TRUE(Write(Find("event.status"), 0).ok());
  EXPECT_EQ(Read("event.status"), SUEDE_EVENT_PEER_RESET | SUEDE_EVENT_LINK_CHANGE);
  ASSERT_TRUE(Write(Find("event.status"), SUEDE_EVENT_PEER_RESET | SUEDE_EVENT_POOL_LOW).ok());
  EXPECT_EQ(Read("event.status"), SUEDE_EVENT_LINK_CHANGE);
  EXPECT_EQ(Read("event.summary"), 0u);
  ASSERT_TRUE(Write(Find("event.link"), 2).ok());
  EXPECT_EQ(Read("event.link"), 0u);

  ASSERT_TRUE(Write(Find("event.status"), SUEDE_EVENT_LINK_CHANGE).ok());
  ASSERT_TRUE(Write(Find("event.link_mask"), 1).ok());
  events.RaiseLink(1);
  EXPECT_EQ(Read("event.status"), 0u);
  EXPECT_EQ(Read("event.link"), 2u);
  EXPECT_EQ(Write(Find("event.mask"), 1u << 31).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RegisterTest, Facts) {
  EXPECT_EQ(Read("endpoint.id"), 0x53554544u);
  EXPECT_EQ(Read("endpoint.map_hash"), SUEDE_REG_MAP_HASH);
  EXPECT_EQ(Read("endpoint.instances"), 2u);
  EXPECT_EQ(Read("instance.0.xpu"), 7u);
  EXPECT_EQ(Read("instance.1.instance"), 2u);
  EXPECT_EQ(Read("instance.1.lcore"), 1u);
  EXPECT_EQ(Read("instance.0.address_low"), 0xc6120001u);
  EXPECT_EQ(Read("instance.1.address_high"), 0xfd53'0000'0000'0000u);
  EXPECT_EQ(Read("instance.0.ordering"), 1u);
  EXPECT_EQ(Read("instance.1.ordering"), 0u);
  EXPECT_EQ(Read("instance.0.planes"), 2u);
  EXPECT_EQ(Read("instance.1.planes"), 1u);
  EXPECT_EQ(Read("port.1.link_up"), 1000 * static_cast<uint64_t>(RegisterFact::kPortLinkUp) + 1);
  EXPECT_EQ(Read("port.1.encapsulation"), 1u);
  EXPECT_EQ(Read("lcore_counter.1.tx_frames_total"),
            backend.CounterOf(RegisterIndex::kLcore, 1, static_cast<uint32_t>(Counter::kTxFrames)));
}

// The planes of all instances, one after the other.
TEST_F(RegisterTest, PlanesAreCountedOverAllInstances) {
  const auto read = [&](int plane, const std::string& name) {
    return Read("plane." + std::to_string(plane) + "." + name);
  };
  EXPECT_EQ(read(1, "instance"), 0u);
  EXPECT_EQ(read(1, "plane"), 1u);
  EXPECT_EQ(read(1, "port"), 2u);
  EXPECT_EQ(read(1, "address_high"), 0xfd53'0000'0000'0000u);
  EXPECT_EQ(read(1, "address_low"), 0x2'0000'0000'0007u);
  EXPECT_EQ(read(2, "instance"), 1u);
  EXPECT_EQ(read(2, "plane"), 0u);
  EXPECT_EQ(read(2, "port"), 1u);
  EXPECT_EQ(read(2, "up"), 1000 * static_cast<uint64_t>(RegisterFact::kPlaneUp) + 2);
  EXPECT_EQ(read(2, "weight"), 1000 * static_cast<uint64_t>(RegisterFact::kPlaneWeight) + 2);
}

// ---- Links, and settings of ports and planes.

TEST_F(RegisterTest, LinksHaveTheirGaugesCreditsAndCounters) {
  backend.link.Set(LinkGauge::kLlrHeldFrames, 17);
  backend.link.SetCredit(7, {.limit = 100, .free = 40, .granted = 9, .held = 2});
  for (int i = 0; i < 3; ++i) backend.link.Add(LinkCounter::kCreditStorms);
  EXPECT_EQ(Read("link.1.llr_held_frames"), 17u);
  EXPECT_EQ(Read("link.1.vc7_limit"), 100u);
  EXPECT_EQ(Read("link.1.vc7_free"), 40u);
  EXPECT_EQ(Read("link.1.vc7_granted"), 9u);
  EXPECT_EQ(Read("link.1.vc7_held"), 2u);
  EXPECT_EQ(Read("link.1.vc6_limit"), 0u);
  EXPECT_EQ(Read("link_counter.1.cbfc_storms_total"), 3u);
  EXPECT_EQ(Read("link.0.llr_held_frames"), 0u);  // without link frames
  EXPECT_EQ(Read("link_counter.2.cbfc_storms_total"), 0u);
}

TEST_F(RegisterTest, InstancesHaveTheirCongestionControlAndSealing) {
  backend.value.instances[1].congestion = CongestionControl::kNscc;
  backend.value.instances[1].sealing = InstanceConfig::Sealing::kRequired;
  EXPECT_EQ(Read("instance.1.congestion"), 2u);
  EXPECT_EQ(Read("instance.1.sealing"), 2u);
  EXPECT_EQ(Read("instance.0.congestion"), 0u);
  EXPECT_EQ(Read("port.1.llr"), 0u);
}

TEST_F(RegisterTest, SettingsOfPortsAndPlanesAreTheBackends) {
  ASSERT_TRUE(Write(Find("plane.2.admin"), 1).ok());
  ASSERT_TRUE(Write(Find("plane.1.weight"), 65535).ok());
  ASSERT_TRUE(Write(Find("port.0.admin"), 1).ok());
  const std::map<std::pair<RegisterFact, uint32_t>, uint32_t> expected = {
      {{RegisterFact::kPlaneAdmin, 2}, 1},
      {{RegisterFact::kPlaneWeight, 1}, 65535},
      {{RegisterFact::kPortAdmin, 0}, 1}};
  EXPECT_EQ(backend.facts, expected);
  EXPECT_EQ(Write(Find("plane.2.admin"), 3).message(),
            "3 is no value of plane.2.admin; use at most 2");
  EXPECT_EQ(Write(Find("port.0.admin"), 2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Write(Find("plane.1.weight"), 4'000'000'000u).message(), "out of range");
  EXPECT_EQ(Write(Find("plane.1.weight"), uint64_t{1} << 32).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(backend.facts, expected);
}

// ---- Pages.

class RegisterPageTest : public RegisterTest {
 protected:
  using Word = RegisterPage::Word;
  std::byte* memory() { return reinterpret_cast<std::byte*>(words.data()); }
  template <class T>
  T At(uint64_t offset) {
    T value;
    std::memcpy(&value, memory() + offset, sizeof value);
    return value;
  }
  template <class T>
  void Put(Word word, T value) {
    std::memcpy(memory() + RegisterPage::kDoorbell + word, &value, sizeof value);
  }
  // Rings the doorbell, and returns the access that the page takes from it.
  std::optional<RegisterPage::Access> Ring(uint32_t address, uint32_t operation, uint64_t value) {
    Put(Word::kAddress, address);
    Put(Word::kWidth, uint32_t{32});
    Put(Word::kOperation, operation);
    Put(Word::kValue, value);
    Put(Word::kRequest, ++request);
    return page.Take();
  }
  std::vector<uint64_t> words = std::vector<uint64_t>(RegisterPage::kBytes / 8);
  RegisterPage page{memory()};
  uint32_t request = 0;
};

TEST_F(RegisterPageTest, HasEachRegisterAtItsAddress) {
  uint32_t end = 0;
  for (const RegisterRef& ref : All()) {
    page.Store(ref, file.Read(ref));
    end = std::max(end, ref.address() + ref.row->width_bits / 8);
  }
  EXPECT_LE(end, RegisterPage::kDoorbell);
  for (const RegisterRef& ref : All()) {
    const uint64_t value =
        ref.row->width_bits == 64 ? At<uint64_t>(ref.address()) : At<uint32_t>(ref.address());
    EXPECT_EQ(value, file.Read(ref)) << ref.name();
  }
  EXPECT_EQ(At<uint32_t>(SUEDE_REGISTER_PAGE_DOORBELL), SUEDE_REGISTER_PAGE_MAGIC);
  page.SetRefreshes(uint64_t{1} << 40);
  EXPECT_EQ(At<uint64_t>(RegisterPage::kDoorbell + Word::kRefreshes), uint64_t{1} << 40);
  EXPECT_EQ(
      RegisterMap::Get().blocks().back().base + RegisterMap::Get().blocks().back().stride * 4096,
      0x640000u);  // the largest map ends in front of the doorbell, too
}

TEST_F(RegisterPageTest, TakesEachRequestOnce) {
  EXPECT_FALSE(page.Take());
  const auto access = Ring(0x304, 1, 77);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->address, 0x304u);
  EXPECT_EQ(access->width_bits, 32u);
  EXPECT_TRUE(access->is_write);
  EXPECT_EQ(access->value, 77u);
  EXPECT_FALSE(page.Take());
  EXPECT_EQ(At<uint32_t>(RegisterPage::kDoorbell + Word::kAnswer), 0u);  // not yet
  page.Answer(-EACCES, 0);
  EXPECT_EQ(At<uint32_t>(RegisterPage::kDoorbell + Word::kAnswer), 1u);
  EXPECT_EQ(At<int32_t>(RegisterPage::kDoorbell + Word::kStatus), -EACCES);
  ASSERT_TRUE(Ring(0x304, 0, 0));
  page.Answer(0, 512);
  EXPECT_EQ(At<uint32_t>(RegisterPage::kDoorbell + Word::kAnswer), 2u);
  EXPECT_EQ(At<int32_t>(RegisterPage::kDoorbell + Word::kStatus), 0);
  EXPECT_EQ(At<uint64_t>(RegisterPage::kDoorbell + Word::kResult), 512u);
}

TEST_F(RegisterPageTest, RefusesAnUnknownOperation) {
  EXPECT_FALSE(Ring(0x304, 2, 0));
  EXPECT_EQ(At<uint32_t>(RegisterPage::kDoorbell + Word::kAnswer), 1u);
  EXPECT_EQ(At<int32_t>(RegisterPage::kDoorbell + Word::kStatus), -EINVAL);
  EXPECT_TRUE(Ring(0x304, 1, 0));
}

// ---- Wrong accesses.

TEST_F(RegisterTest, WrongAccessesAreErrorsByName) {
  const auto error = [&](std::string_view which) {
    const auto ref = file.Find(which);
    return ref.ok() ? "" : std::string(ref.status().message());
  };
  EXPECT_EQ(error("transport.nothing"),
            "there is no register transport.nothing; reg.list has the names");
  EXPECT_EQ(error("port.3.link_up"),
            "there is no port.3.link_up: this endpoint has 3 ports, counted from 0");
  EXPECT_EQ(error("plane.3.port"),
            "there is no plane.3.port: this endpoint has 3 planes, counted from 0");
  EXPECT_EQ(error("0x302"),
            "address 0x302 is misaligned: it is inside transport.psn_scope; use 0x300");
  EXPECT_EQ(error("0x40004"),
            "address 0x40004 is misaligned: it is inside counter.tx_commands_total; use 0x40000");
  EXPECT_EQ(error("0xfff0"), "there is no register at address 0xfff0; reg.list has the map");
  for (const char* none : {"port.link_up", "port.01.link_up", "port.-1.link_up", "port.1", "port",
                           "", ".", "endpoint.0.id", "0x", "0xg", "0x1ffffffff", "counter."}) {
    EXPECT_NE(error(none), "") << none;
  }
  EXPECT_EQ(file.At(0x300, 64).status().message(),
            "transport.psn_scope has 32 bits, not 64; access all of it");
  EXPECT_EQ(file.At(0x40000, 32).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file.At(0x302, 32).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file.At(0xffffffff, 32).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(file.At(SUEDE_REG_PORT_LINK_UP(3), 32).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace suede
