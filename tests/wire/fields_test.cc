// SPDX-License-Identifier: Apache-2.0
// The declared fields of the headers, and that the data path's functions write and read the same.
#include "wire/encap/fields.h"

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
    expect(FieldKey::kCos, {.low = spec.traffic_class.dscp / 8u});
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
    const uint64_t dscp = values.WordOr(FieldKey::kDscp, 8 * values.WordOr(FieldKey::kCos, 0));
    EXPECT_EQ(parsed.dscp, dscp) << "bit " << altered;
    EXPECT_EQ(parsed.ecn, values.WordOr(FieldKey::kEcn, 0));
    const bool has_session = values.WordOr(FieldKey::kLabelValid, 1) != 0;
    EXPECT_EQ(parsed.session, has_session ? values.WordOr(FieldKey::kSession, 0) : 0);
  }
  EXPECT_GT(taken, 500);
}

// The values of another spec make the header that this spec makes.
TEST_P(FieldsTest, AreSetInAFrame) {
  std::mt19937 random(6);
  const auto number = [](const MacAddress& mac) {
    return uint64_t{LoadBe16(mac.data())} << 32 | LoadBe32(mac.data() + 2);
  };
  for (int i = 0; i < 100; ++i) {
    const HeaderSpec spec = RandomSpec(random);
    const Bytes commands(random() % 100 * 2, 0x5a);
    Bytes frame = BuildBytes(encap(), RandomSpec(random), commands);
    Bytes expected = BuildBytes(encap(), spec, commands);
    FieldValues values;
    values.Set(FieldKey::kDmac, number(spec.destination_mac));
    values.Set(FieldKey::kSmac, number(spec.source_mac));
    values.Set(FieldKey::kMacPrefix, spec.mac_prefix);
    values.Set(FieldKey::kEtherType, spec.ether_type);
    values.Set(FieldKey::kPcp, spec.traffic_class.pcp);
    values.Set(FieldKey::kVid, spec.vid);
    values.Set(FieldKey::kDscp, spec.traffic_class.dscp);
    values.Set(FieldKey::kCos, spec.traffic_class.dscp / 8u);
    values.Set(FieldKey::kEcn, spec.traffic_class.ecn);
    values.Set(FieldKey::kDport, spec.udp_port);
    values.Set(FieldKey::kSession, spec.session);
    for (const FieldKey key : {FieldKey::kSip, FieldKey::kSrcFwd}) values.Set(key, spec.source);
    for (const FieldKey key : {FieldKey::kDip, FieldKey::kDstFwd}) {
      values.Set(key, spec.destination);
    }
    PatchHeader(encap(), values, frame);
    if (encap() == Encap::kUdp6) {  // the UDP checksum is the data path's
      for (Bytes* bytes : {&frame, &expected}) StoreBe16(&(*bytes)[l2() + 46], 0);
    }
    EXPECT_EQ(frame, expected);
    // Fields that no spec sets. They are read again, and nothing else has changed.
    const std::pair<FieldKey, uint64_t> more[] = {
        {FieldKey::kHopLimit, 3},        {FieldKey::kDei, 1},         {FieldKey::kIpId, 0x1234},
        {FieldKey::kFlowLabel, 0xabcde}, {FieldKey::kIpFlags, 4},     {FieldKey::kShimReserved, 9},
        {FieldKey::kIpChecksum, 0x4321}, {FieldKey::kIpLength, 21},   {FieldKey::kUdpChecksum, 1},
        {FieldKey::kLabelValid, 0},      {FieldKey::kUserDefined, 2}, {FieldKey::kEsunReserved, 3}};
    for (const auto& [key, value] : more) {
      if (FieldBits(encap(), key) == 0 || (key == FieldKey::kDei && !GetParam().tagged)) continue;
      Bytes altered = frame;
      FieldValues one;
      one.Set(key, value);
      PatchHeader(encap(), one, altered);
      FieldValues before;
      FieldValues after;
      ReadHeader(RulesOf(encap(), spec), frame, before);
      ReadHeader(RulesOf(encap(), spec), altered, after);
      before.Set(key, value);
      EXPECT_EQ(after, before) << static_cast<int>(key);
    }
  }
}

TEST_P(FieldsTest, OfATruncatedFrameAreThoseInFrontOfItsEnd) {
  std::mt19937 random(7);
  const HeaderSpec spec = RandomSpec(random);
  const Bytes frame = RandomFrame(spec, random);
  FieldValues whole;
  ReadHeader(RulesOf(encap(), spec), frame, whole);
  // Fields by the number of bytes from which on they are read, IP, UDP and shim as a whole.
  const uint32_t ip = encap() == Encap::kUdp4   ? 20
                      : encap() == Encap::kUdp6 ? 40
                      : encap() == Encap::kEsun ? 4
                                                : 8;
  const auto bytes_of = [&](FieldKey key) -> uint32_t {
    switch (key) {
      case FieldKey::kDmac:
      case FieldKey::kSmac:
      case FieldKey::kMacPrefix:
      case FieldKey::kDstFwd:
      case FieldKey::kSrcFwd:
        return kEthernetBytes;
      case FieldKey::kPcp:
      case FieldKey::kVid:
      case FieldKey::kEtherType:
        return l2();
      case FieldKey::kDport:
        return l2() + ip + 8;
      case FieldKey::kSession:
        return traits().addresses != AddressKind::kForwarding ? l2() + ip + 8
               : traits().macs == MacKind::kPrefixed          ? l2() + ip
                                                              : l2();
      default:
        return traits().macs == MacKind::kOther ? l2() : l2() + ip;
    }
  };
  for (uint32_t bytes = 0; bytes <= frame.size(); ++bytes) {
    FieldValues values;
    ReadHeader(RulesOf(encap(), spec), std::span(frame).first(bytes), values);
    for (size_t i = 0; i < kFieldCount; ++i) {
      const auto key = static_cast<FieldKey>(i);
      EXPECT_EQ(values.Has(key), whole.Has(key) && bytes >= bytes_of(key))
          << FieldRows()[i].name << " in " << bytes;
      if (values.Has(key)) {
        EXPECT_EQ(values[key], whole[key]) << FieldRows()[i].name;
      }
    }
  }
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

// A header that a port does not take is read up to the field that says so.
TEST(Fields, OfOthersAreReadUpToWhatTellsThem) {
  struct Case {
    Encap encap;
    size_t at;  // of the byte that changes
    std::vector<FieldKey> read;
    std::vector<FieldKey> not_read;
  };
  using enum FieldKey;
  const Case cases[] = {
      {Encap::kUdp4, 13, {kDmac, kSmac, kEtherType}, {kDscp, kSip, kDport}},
      {Encap::kUdp4, 14, {kDmac, kSmac}, {kEtherType, kDscp, kSip, kDport}},     // version
      {Encap::kUdp4, 23, {kDscp, kSip, kDip, kIpChecksum}, {kDport, kSession}},  // protocol
      {Encap::kUdp4, 21, {kDscp, kSip, kDip, kIpChecksum}, {kDport, kSession}},  // a later fragment
      {Encap::kUdp6, 13, {kDmac, kSmac, kEtherType}, {kDscp, kSip, kDport}},
      {Encap::kUdp6, 14, {kDmac, kSmac}, {kDscp, kSip, kDport}},
      {Encap::kUdp6, 20, {kDscp, kSip, kDip}, {kDport, kSession}},
      {Encap::kAfh1, 0, {kEtherType, kDmac, kSmac}, {kMacPrefix, kDstFwd, kSrcFwd}},
      {Encap::kAfh1, 6, {kEtherType, kDmac, kSmac}, {kMacPrefix, kDstFwd, kSrcFwd}},
      {Encap::kAfh1s, 0, {kEtherType, kDmac, kSmac}, {kMacPrefix, kDstFwd, kDscp}},
      {Encap::kAfh1s, 13, {kEtherType, kMacPrefix, kDstFwd, kSrcFwd}, {kDscp, kSession}},
      {Encap::kEsun, 0, {kEtherType, kDmac, kSmac}, {kMacPrefix, kDstFwd, kCos}},
      {Encap::kEsun, 13, {kEtherType, kMacPrefix, kDstFwd, kSrcFwd}, {kCos, kSession}},
      {Encap::kAfh2, 13, {kEtherType}, {kDstFwd, kSrcFwd, kDscp, kSession}},
      {Encap::kAfh2, 0, {kEtherType}, {kDstFwd, kSrcFwd, kDscp, kSession}},
      {Encap::kAfh2c, 13, {kEtherType}, {kDstFwd, kSrcFwd, kDscp}},
      {Encap::kAfh2c, 0, {kEtherType}, {kDstFwd, kSrcFwd, kDscp}}};
  for (const Case& c : cases) {
    const HeaderSpec spec = SpecOf({c.encap, false});
    Bytes frame = BuildBytes(c.encap, spec, Bytes(60, 0x22));
    frame[c.at] ^= 0x10;
    FieldValues values;
    ReadHeader(RulesOf(c.encap, spec), frame, values);
    for (const FieldKey key : c.read) {
      EXPECT_TRUE(values.Has(key)) << EncapName(c.encap) << " " << c.at << ": "
                                   << FieldRows()[static_cast<size_t>(key)].name;
    }
    for (const FieldKey key : c.not_read) {
      EXPECT_FALSE(values.Has(key)) << EncapName(c.encap) << " " << c.at << ": "
                                    << FieldRows()[static_cast<size_t>(key)].name;
    }
  }
}

// The headers that have each field, and its width.
TEST(Fields, RowsNameTheHeadersThatHaveThem) {
  using enum FieldKey;
  struct Case {
    std::vector<FieldKey> keys;
    std::string_view encaps;
  };
  const Case cases[] = {
      {{kTimeNs, kPadding, kInstance, kDstXpuid, kVer, kOp, kXpuid, kPsn, kVc, kPartition, kRpsn},
       "udp4 udp6 afh1 afh1s afh2 afh2c esun"},
      {{kDmac, kSmac, kSip, kDip, kDport, kIpLength}, "udp4 udp6"},
      {{kMacPrefix}, "afh1 afh1s esun"},
      {{kDstFwd, kSrcFwd, kEtherType}, "afh1 afh1s afh2 afh2c esun"},
      {{kPcp, kDei, kVid}, "udp4 udp6 afh1 afh1s esun"},
      {{kSession, kHopLimit}, "udp4 udp6 afh1s afh2 esun"},
      {{kDscp}, "udp4 udp6 afh1s afh2 afh2c"},
      {{kEcn}, "udp4 udp6 afh1s afh2 afh2c esun"},
      {{kCos, kLabelValid, kUserDefined, kEsunReserved}, "esun"},
      {{kFlowLabel}, "udp6"},
      {{kIpId, kIpFlags, kIpChecksum, kUdpChecksum}, "udp4"},
      {{kShimReserved}, "afh1s"},
      {{kRsv, kRsvd}, "udp4 udp6 afh1 afh1s afh2 esun"}};
  size_t count = 0;
  for (const Case& c : cases) {
    for (const FieldKey key : c.keys) {
      const FieldRow& row = FieldRows()[static_cast<size_t>(key)];
      EXPECT_EQ(row.field, key);
      EXPECT_EQ(JoinEncaps(row.encaps, " ", " "), c.encaps) << row.name;
      ++count;
    }
  }
  EXPECT_EQ(count, kFieldCount);
  EXPECT_EQ(FieldRows()[static_cast<size_t>(kPadding)].encaps, kEveryEncap);
}

TEST(Fields, RowsHaveTheMaximumOfTheWidestHeader) {
  const auto row = [](FieldKey key) { return FieldRows()[static_cast<size_t>(key)]; };
  EXPECT_EQ(row(FieldKey::kDstFwd).max, 0xffffffffu);
  EXPECT_EQ(MaxOf(row(FieldKey::kDstFwd), Encap::kAfh1), 0xffffu);
  EXPECT_EQ(MaxOf(row(FieldKey::kDstFwd), Encap::kAfh2), 0xffffffffu);
  EXPECT_EQ(row(FieldKey::kSession).max, 0xffffu);
  EXPECT_EQ(MaxOf(row(FieldKey::kSession), Encap::kAfh2), 0xffu);
  EXPECT_EQ(row(FieldKey::kFlowLabel).max, 0xfffffu);
  EXPECT_EQ(row(FieldKey::kPartition).max, 1023u);
  EXPECT_EQ(row(FieldKey::kUdpChecksum).max, 1u) << "a flag";
  EXPECT_EQ(row(FieldKey::kSip).max, 0u) << "no number";
  // Without a field in a header: that of the row.
  EXPECT_EQ(row(FieldKey::kPadding).max, 0xffffu);
  EXPECT_EQ(MaxOf(row(FieldKey::kInstance), Encap::kUdp4), 63u);
  EXPECT_EQ(row(FieldKey::kEtherType).min, 0x600u);
}

TEST(Fields, RowsSayWhatDependsOnTheHeader) {
  const auto row = [](FieldKey key) { return FieldRows()[static_cast<size_t>(key)]; };
  EXPECT_EQ(row(FieldKey::kEtherType).fallback, "34997, afh1s 34998; none for esun");
  EXPECT_EQ(row(FieldKey::kDstFwd).sentence, "destination forwarding address; 16 bits, 32 in afh2");
  EXPECT_EQ(
      row(FieldKey::kSession).sentence,
      "session: source port less 49152, modulo 65536, entropy, or flow label; 16 bits, 8 in afh2");
  EXPECT_EQ(row(FieldKey::kXpuid).fallback, "0; afh2c: of src_fwd");
  EXPECT_EQ(row(FieldKey::kDport).fallback, "3333");
  EXPECT_EQ(row(FieldKey::kDport).sentence, "destination port");
}

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
