// SPDX-License-Identifier: Apache-2.0
// The declared fields of the headers, and that the data path's functions write and read the same.
#include "wire/encap/fields.h"

#include <random>
#include <string>
#include <vector>

#include "frames.h"
#include "wire/ethernet.h"
#include "wire/forwarding.h"

namespace suede {
namespace {

uint32_t BaseOf(const HeaderField& field, uint32_t l2) {
  if (field.base == FieldBase::kFrame) return 0;
  return field.base == FieldBase::kType ? l2 - 2 : l2;
}

class FieldsTest : public ::testing::TestWithParam<Dialect> {
 protected:
  Encap encap() const { return GetParam().encap; }
  const EncapTraits& traits() const { return TraitsOf(encap()); }
  uint32_t l2() const { return GetParam().tagged ? kEthernetBytes + kTagBytes : kEthernetBytes; }

  // A spec with random values that the header has room for.
  HeaderSpec RandomSpec(std::mt19937& random) const {
    HeaderSpec spec = SpecOf(GetParam());
    const auto u64 = [&] { return uint64_t{random()} << 32 | random(); };
    for (uint8_t& byte : spec.source_mac) byte = static_cast<uint8_t>(random());
    for (uint8_t& byte : spec.destination_mac) byte = static_cast<uint8_t>(random());
    spec.vid = static_cast<uint16_t>(random() % 4096);
    for (NetAddress* address : {&spec.source, &spec.destination}) {
      *address = {.high = traits().addresses == AddressKind::kIpv6 ? u64() : 0, .low = u64()};
      const uint32_t bits =
          traits().addresses == AddressKind::kIpv4 ? 32 : traits().forwarding_bits;
      if (bits != 0) address->low >>= 64 - bits;
    }
    spec.udp_port = static_cast<uint16_t>(random() | 1);
    spec.session = static_cast<uint16_t>(random() % traits().sessions);
    spec.mac_prefix = static_cast<uint32_t>(random()) & 0xfeffffff;
    spec.ether_type = static_cast<uint16_t>(0x9000 | random() % 0x1000);
    spec.traffic_class = {.pcp = static_cast<uint8_t>(random() % 8),
                          .dscp = static_cast<uint8_t>(random() % 64),
                          .ecn = static_cast<uint8_t>(random() % 4)};
    return spec;
  }
  Bytes RandomFrame(const HeaderSpec& spec, std::mt19937& random) const {
    const ReliabilityHeader rh{.xpuid = static_cast<uint16_t>(spec.source.low % kMaxXpus),
                               .psn = Psn(static_cast<uint16_t>(random()))};
    return BuildBytes(encap(), spec, Bytes(random() % 100 * 2, 0x5a), rh);
  }
};

// Every bit of a header belongs to one field.
TEST_P(FieldsTest, CoverTheHeader) {
  const uint32_t bytes = traits().header_bytes + (traits().holds_rh ? kRhBytes : 0);
  std::vector<int> owners(bytes * 8);
  for (const HeaderField& field : FieldsOf(encap())) {
    if (field.name.empty()) continue;
    for (uint32_t i = 0; i < field.bits; ++i) {
      const uint32_t bit = BaseOf(field, kEthernetBytes) * 8 + field.at + i;
      ASSERT_LT(bit, owners.size()) << field.name;
      EXPECT_EQ(++owners[bit], 1) << field.name << ", bit " << bit;
    }
  }
  for (size_t bit = 0; bit < owners.size(); ++bit) {
    EXPECT_EQ(owners[bit], 1) << "byte " << bit / 8 << ", bit " << 7 - bit % 8;
  }
}

// The values of a spec are at the declared places, and fields that it does not set have their usual
// values.
TEST_P(FieldsTest, AreWhatIsSent) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const HeaderSpec spec = RandomSpec(random);
    const Bytes frame = RandomFrame(spec, random);
    FieldValues values;
    ReadHeader(RulesOf(encap(), spec), frame, values);
    const bool by_ip = traits().addresses != AddressKind::kForwarding;
    const auto expect = [&](FieldKey key, NetAddress value) {
      const bool has = FieldBits(encap(), key) != 0;
      const bool of_tag = key == FieldKey::kPcp || key == FieldKey::kVid;
      ASSERT_EQ(values.Has(key), has && (!of_tag || GetParam().tagged)) << static_cast<int>(key);
      EXPECT_EQ(values.AddressOr(key, value), value) << static_cast<int>(key);
    };
    expect(by_ip ? FieldKey::kSip : FieldKey::kSrcFwd, spec.source);
    expect(by_ip ? FieldKey::kDip : FieldKey::kDstFwd, spec.destination);
    expect(FieldKey::kSession, {.low = spec.session});
    expect(FieldKey::kDscp, {.low = spec.traffic_class.dscp});
    expect(FieldKey::kEcn, {.low = spec.traffic_class.ecn});
    expect(FieldKey::kPcp, {.low = spec.traffic_class.pcp});
    expect(FieldKey::kVid, {.low = spec.vid});
    expect(FieldKey::kDport, {.low = spec.udp_port});
    expect(FieldKey::kMacPrefix, {.low = spec.mac_prefix});
    expect(FieldKey::kEtherType, {.low = spec.ether_type});
    for (const HeaderField& field : FieldsOf(encap())) {
      const uint8_t* base = frame.data() + BaseOf(field, l2());
      // Fields that a spec does not set.
      const bool unsaid = field.use == FieldUse::kConst || field.key == FieldKey::kHopLimit;
      if (unsaid) {
        EXPECT_EQ(LoadBits(base, field.at, field.bits).low, field.usual) << field.name;
      } else if (field.use == FieldUse::kComputed) {
        EXPECT_EQ(LoadBits(base, field.at, field.bits).low, field.compute(base)) << field.name;
      }
    }
    Bytes patched = frame;
    PatchHeader(encap(), values, patched);
    EXPECT_EQ(patched, frame);
  }
}

// For any frame that a port takes, the declaration yields the values of ParseFrame.
TEST_P(FieldsTest, AreWhatIsReceived) {
  std::mt19937 random(2);
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const HeaderSpec spec = RandomSpec(random);
    const FrameRules rules = RulesOf(encap(), spec);
    Bytes frame = RandomFrame(spec, random);
    const uint32_t altered = static_cast<uint32_t>(random() % (l2() + 8)) * 8 + random() % 8;
    frame[altered / 8] ^= static_cast<uint8_t>(0x80 >> altered % 8);
    FieldValues values;
    ReadHeader(rules, frame, values);
    // Whether the altered bit is one of a constant.
    bool constant = false;
    for (const HeaderField& field : FieldsOf(encap())) {
      const uint32_t at = BaseOf(field, l2()) * 8 + field.at;
      constant |= field.use == FieldUse::kConst && altered >= at && altered < at + field.bits;
    }
    const ParsedFrame parsed = ParseBytes(rules, frame, /*checksums_good=*/true);
    EXPECT_FALSE(constant && parsed.error == FrameError::kNone) << "bit " << altered;
    if (parsed.error != FrameError::kNone) continue;
    ++taken;
    const bool by_ip = traits().addresses != AddressKind::kForwarding;
    EXPECT_EQ(parsed.source, values.AddressOr(by_ip ? FieldKey::kSip : FieldKey::kSrcFwd, {}));
    EXPECT_EQ(parsed.destination, values.AddressOr(by_ip ? FieldKey::kDip : FieldKey::kDstFwd, {}));
    EXPECT_EQ(parsed.dscp, values.WordOr(FieldKey::kDscp, 0)) << "bit " << altered;
    EXPECT_EQ(parsed.ecn, values.WordOr(FieldKey::kEcn, 0));
    EXPECT_EQ(parsed.session, values.WordOr(FieldKey::kSession, 0));
  }
  EXPECT_GT(taken, 500);
}

// A port whose header cannot be tagged sees another EtherType there, and no tag behind it.
TEST_P(FieldsTest, HaveNoTagWhereTheHeaderCannotBeTagged) {
  if (traits().can_be_tagged) return;
  std::mt19937 random(5);
  const HeaderSpec spec = RandomSpec(random);
  Bytes frame = RandomFrame(spec, random);
  StoreBe16(&frame[kEthernetBytes - 2], kTypeTag);
  StoreBe16(&frame[kEthernetBytes], 5 << 13 | 1 << 12 | 100);
  FieldValues values;
  ReadHeader(RulesOf(encap(), spec), frame, values);
  for (const FieldKey key : {FieldKey::kPcp, FieldKey::kDei, FieldKey::kVid}) {
    EXPECT_FALSE(values.Has(key)) << static_cast<int>(key);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FieldsTest, ::testing::ValuesIn(AllDialects()),
                         [](const auto& test) { return DialectName(test.param); });

TEST(Fields, OfTheRhAreThoseOfTheRh) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    uint8_t bytes[kRhBytes];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const ReliabilityHeader rh = DecodeRh(bytes);
    FieldValues values;
    ReadRh(bytes, values);
    EXPECT_EQ(values.WordOr(FieldKey::kVer, 9), rh.ver);
    EXPECT_EQ(values.WordOr(FieldKey::kXpuid, 9), rh.xpuid);
    EXPECT_EQ(values.WordOr(FieldKey::kPsn, 9), rh.psn.value());
    EXPECT_EQ(values.WordOr(FieldKey::kVc, 9), rh.vc);
    EXPECT_EQ(values.WordOr(FieldKey::kPartition, 9), rh.partition);
    EXPECT_EQ(values.WordOr(FieldKey::kRpsn, 9), rh.rpsn.value());
    uint8_t again[kRhBytes] = {};
    PatchRh(values, again);
    EXPECT_TRUE(std::equal(bytes, bytes + kRhBytes, again));
  }
}

TEST(Fields, BitsBothWays) {
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    uint8_t bytes[24];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const auto bits = static_cast<uint32_t>(random() % 8 == 0 ? 128 : 1 + random() % 64);
    const auto at = static_cast<uint32_t>(bits == 128 ? random() % 9 * 8 : random() % 128);
    const NetAddress value = LoadBits(bytes, at, bits);
    uint8_t other[24];
    std::copy_n(bytes, 24, other);
    StoreBits(other, at, bits, {.high = ~value.high, .low = ~value.low});
    StoreBits(other, at, bits, value);
    EXPECT_TRUE(std::equal(bytes, bytes + 24, other)) << at << ", " << bits;
  }
}

}  // namespace
}  // namespace suede
