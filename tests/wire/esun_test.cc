// SPDX-License-Identifier: Apache-2.0
// The properties of ESUN alone: its fields and its errors by name.
#include "wire/encap/esun.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "frames.h"

namespace suede {
namespace {

// Runs `mend` on a good frame, untagged and tagged, and parses it. `header` follows the EtherType.
void ExpectEsunError(FrameError expected, const std::function<void(uint8_t* header)>& mend) {
  for (const bool tagged : {false, true}) {
    const HeaderSpec spec = SpecOf({Encap::kEsun, tagged});
    Bytes frame = BuildBytes(Encap::kEsun, spec, Bytes(80, 0x12));
    mend(&frame[tagged ? 18 : 14]);
    EXPECT_EQ(ErrorOf(RulesOf(Encap::kEsun, spec), frame), expected) << "tagged " << tagged;
  }
}

ParsedFrame Parsed(Bytes& frame, const HeaderSpec& spec) {
  return ParseBytes(RulesOf(Encap::kEsun, spec), frame);
}

TEST(Esun, Fields) {
  const Bytes frame = BuildBytes(Encap::kEsun, SpecOf({Encap::kEsun, false}), Bytes(80, 0x12));
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 18),
            (Bytes{0x06, 0x00, 0xbe, 0xef, 0x14, 0x09,              //
                   0x06, 0x00, 0xbe, 0xef, 0x14, 0x07, 0x12, 0x34,  //
                   0b00'1'101'10,                                   // revision, F, CoS, ECN
                   0xff, 0xff, 0b1111'00'00}));  // flow label; TTL, user-defined, reserved
}

TEST(Esun, TheCosIsTheDscpInStepsOf8) {
  for (uint32_t dscp = 0; dscp < 64; ++dscp) {
    HeaderSpec spec = SpecOf({Encap::kEsun, false});
    spec.traffic_class = {.dscp = static_cast<uint8_t>(dscp),
                          .ecn = static_cast<uint8_t>(dscp % 4)};
    Bytes frame = BuildBytes(Encap::kEsun, spec, Bytes(80, 0x12));
    EXPECT_EQ(frame[14] >> 2 & 7u, dscp / 8);
    const ParsedFrame parsed = Parsed(frame, spec);
    EXPECT_EQ(parsed.dscp, dscp / 8 * 8);
    EXPECT_EQ(parsed.ecn, dscp % 4);
  }
}

TEST(Esun, AFlowLabelThatIsNotValidIsSession0) {
  const HeaderSpec spec = SpecOf({Encap::kEsun, false});
  Bytes frame = BuildBytes(Encap::kEsun, spec, Bytes(80, 0x12));
  EXPECT_EQ(Parsed(frame, spec).session, 0xffff);
  frame[14] &= static_cast<uint8_t>(~esun::kHasLabel);
  const ParsedFrame parsed = Parsed(frame, spec);
  EXPECT_EQ(parsed.error, FrameError::kNone);
  EXPECT_EQ(parsed.session, 0);
}

TEST(Esun, TheTtlIsAsLargeAsFits) {
  for (const auto& [limit, ttl] :
       {std::pair{uint8_t{1}, 1}, {14, 14}, {15, 15}, {16, 15}, {64, 15}}) {
    HeaderSpec spec = SpecOf({Encap::kEsun, false});
    spec.hop_limit = limit;
    const Bytes frame = BuildBytes(Encap::kEsun, spec, Bytes(80, 0x12));
    EXPECT_EQ(frame[17] >> 4, ttl) << int{limit};
  }
}

TEST(Esun, Ttl) {
  for (const uint32_t others : {0x00u, 0x0fu}) {
    const auto set = [others](uint32_t ttl) {
      return
          [ttl, others](uint8_t* header) { header[3] = static_cast<uint8_t>(ttl << 4 | others); };
    };
    ExpectEsunError(FrameError::kHopLimit, set(0));
    ExpectEsunError(FrameError::kNone, set(1));
    ExpectEsunError(FrameError::kNone, set(15));
  }
}

TEST(Esun, Revision) {
  for (const uint32_t revision : {1u, 2u, 3u}) {
    ExpectEsunError(FrameError::kRevision, [revision](uint8_t* header) {
      header[0] = static_cast<uint8_t>(header[0] | revision << 6);
    });
  }
}

TEST(Esun, UserDefinedAndReservedBitsAreIgnored) {
  for (uint32_t bits = 0; bits < 16; ++bits) {
    ExpectEsunError(FrameError::kNone,
                    [bits](uint8_t* header) { header[3] = static_cast<uint8_t>(0x70 | bits); });
  }
}

// A frame with several errors yields the one that says most about its owner.
TEST(Esun, OrderOfErrors) {
  ExpectEsunError(FrameError::kRevision, [](uint8_t* header) {
    header[0] |= 0xc0;
    header[3] = 0;
  });
  const HeaderSpec spec = SpecOf({Encap::kEsun, false});
  Bytes frame = BuildBytes(Encap::kEsun, spec, Bytes(80, 0x12));
  frame[14] |= 0xc0;
  frame[0] ^= 1;
  EXPECT_EQ(ErrorOf(RulesOf(Encap::kEsun, spec), frame), FrameError::kNotSue) << "prefix";
}

TEST(Esun, SwitchesChangeOneFieldAlone) {
  for (uint32_t first = 0; first < 256; ++first) {
    uint8_t header[esun::kBytes] = {static_cast<uint8_t>(first), 0x12, 0x34,
                                    static_cast<uint8_t>(first)};
    esun::SetDs(header, 0b111'010'11);
    EXPECT_EQ(header[0], (first & 0xe0) | 0b000'111'11);
    EXPECT_EQ(esun::DsOf(header), 0b111'000'11) << "no room for the lower three bits";
    esun::SetTtl(header, 7);
    EXPECT_EQ(header[3], (first & 0x0f) | 0x70);
    EXPECT_EQ(header[1] << 8 | header[2], 0x1234);
  }
}

}  // namespace
}  // namespace suede
