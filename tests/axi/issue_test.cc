// SPDX-License-Identifier: Apache-2.0
// Bursts on the own bus, against an own reading of AXI4: the SoC must see the octets of the request
// in their order, and the initiator the answers of its beats.
#include "axi/issue.h"

#include <gtest/gtest.h>

#include "manager_world.h"

namespace suede::axi {
namespace {

uint32_t RandomBus(Random& random) { return 4u << Below(random, 6); }

class Widths : public ManagerWorld {
 protected:
  void CheckIssued(const Address& burst, const std::vector<Address>& issued) {
    const bool is_same = SizeOf(burst) <= params.bus_bytes;
    if (is_same) {
      EXPECT_EQ(issued.size(), 1u);
    }
    uint64_t beats = 0;
    for (const Address& each : issued) {
      EXPECT_EQ(FindViolation(each, params.bus_bytes), nullptr);
      EXPECT_EQ(each.id, issued[0].id);
      EXPECT_LT(each.id, params.ids);
      EXPECT_EQ(each.cache, burst.cache);
      EXPECT_EQ(each.prot, burst.prot);
      EXPECT_EQ(each.qos, burst.qos);
      EXPECT_EQ(each.region, burst.region);
      EXPECT_EQ(each.user[0], burst.user[0]);
      EXPECT_EQ(each.user[1], burst.user[1]);
      EXPECT_EQ(each.burst, is_same ? burst.burst : SUEDE_AXI_INCR);
      EXPECT_EQ(SizeOf(each), is_same ? SizeOf(burst) : params.bus_bytes);
      if (is_same) {
        EXPECT_EQ(each.len, burst.len);
      }
      beats += BeatsOf(each);
    }
    // Only the bursts of INCR and WRAP may have to end for their length.
    if (!is_same && burst.burst == SUEDE_AXI_INCR) {
      EXPECT_EQ(issued.size(), (beats + 255) / 256);
    }
    if (burst.burst == SUEDE_AXI_FIXED && !is_same) {
      EXPECT_EQ(issued.size(), BeatsOf(burst));
    }
  }
};

TEST_F(Widths, WritesStoreTheSameOctetsInTheSameOrder) {
  Random random(1);
  for (uint32_t run = 0; run < 15 * Seeds(400); ++run) {
    const uint32_t initiator_bus = RandomBus(random);
    Make({.bus_bytes = RandomBus(random),
          .address_places = 1 + Below(random, 3),
          .beat_places = 1 + Below(random, 40)});
    Address burst = RandomBurst(random, initiator_bus);
    if (Below(random, 2) == 0) burst.user[Below(random, 2)] = random();
    const uint32_t user_bytes = Below(random, 5);
    const std::vector<WriteBeat> beats =
        RandomBeats(random, burst, initiator_bus, Below(random, 2) == 0, user_bytes);
    for (const WireCommand& each : EncodeWrite(3, burst, beats, initiator_bus, user_bytes)) {
      Give(From(), each);
    }
    aws.clear();
    ws.clear();
    TakeAll();
    CheckIssued(burst, aws);

    std::vector<Stored> expected;
    std::vector<Stored> stored;
    Execute(burst, OnlyActive(burst, beats, initiator_bus).data(), initiator_bus, &expected);
    size_t beat = 0;
    for (const Address& each : aws) {
      ASSERT_LE(beat + BeatsOf(each), ws.size());
      Execute(each, &ws[beat], params.bus_bytes, &stored);
      for (uint32_t i = 0; i < BeatsOf(each); ++i, ++beat) {
        EXPECT_EQ(ws[beat].last, i == each.len ? 1 : 0);
      }
    }
    EXPECT_EQ(beat, ws.size());
    ASSERT_EQ(stored, expected) << "run " << run;

    // The user values of the beats, each repeated for the issued beats that it became.
    beat = 0;
    size_t index = 0;
    for (const Octets& octets : BeatsByBook(burst)) {
      const uint32_t unit = std::min(SizeOf(burst), params.bus_bytes);
      for (uint64_t end = octets.first; end < octets.first + octets.count;
           end = end / unit * unit + unit) {
        EXPECT_EQ(ws[beat++].user, beats[index].user);
      }
      ++index;
    }
    uint8_t worst = 0;
    for (const Address& each : aws) {
      const uint8_t response =
          Below(random, 3) == 0 ? static_cast<uint8_t>(2 + Below(random, 2)) : 0;
      worst = std::max(worst, response);
      RespondB(each.id, response);
    }
    Pump();
    ExpectAnswer(3, Status::kOk, worst);
    manager->CheckInvariants();
  }
}

TEST_F(Widths, ReadsReturnTheOctetsOfTheirBeats) {
  Random random(2);
  for (uint32_t run = 0; run < 15 * Seeds(400); ++run) {
    Make({.bus_bytes = RandomBus(random),
          .address_places = 1 + Below(random, 3),
          .read_user_bytes = Below(random, 5)});
    const Address burst = RandomBurst(random, RandomBus(random));
    Read(From(), 4, burst);
    ars.clear();
    TakeAll();
    CheckIssued(burst, ars);
    const bool has_errors = Below(random, 2) == 0;

    std::vector<Stored> given;  // octets of the SoC, in the order of its beats
    std::vector<uint8_t> responses;
    std::vector<uint32_t> users;
    for (const Address& each : ars) {
      const std::vector<Octets> book = BeatsByBook(each);
      for (size_t n = 0; n < book.size(); ++n) {
        ReadBeat beat = {};
        for (uint8_t& octet : beat.data) octet = static_cast<uint8_t>(random());
        beat.id = each.id;
        beat.user = static_cast<uint32_t>(random());
        beat.response = has_errors ? static_cast<uint8_t>(Below(random, 4)) : 0;
        beat.last = n + 1 == book.size() ? 1 : 0;
        for (uint32_t i = 0; i < book[n].count; ++i) {
          const uint64_t address = book[n].first + i;
          given.push_back({.address = address, .value = beat.data[address % params.bus_bytes]});
          responses.push_back(beat.response == SUEDE_AXI_EXOKAY ? uint8_t{0} : beat.response);
          users.push_back(beat.user);
        }
        EXPECT_TRUE(manager->SendR(beat));
      }
    }
    Pump();
    const GotAnswer got = TakeAnswer();
    ASSERT_EQ(got.answer.status, Status::kOk);
    ASSERT_EQ(got.octets.size(), given.size()) << "run " << run;
    const uint32_t user_mask =
        params.read_user_bytes == 0
            ? 0
            : static_cast<uint32_t>(~uint64_t{0} >> (64 - 8 * params.read_user_bytes));
    size_t octet = 0;
    size_t beat = 0;
    for (const Octets& octets : BeatsByBook(burst)) {
      uint8_t worst = 0;
      EXPECT_EQ(got.users[beat], users[octet] & user_mask);
      for (uint32_t i = 0; i < octets.count; ++i, ++octet) {
        EXPECT_EQ(given[octet].address, octets.first + i);
        ASSERT_EQ(got.octets[octet], given[octet].value) << "run " << run;
        worst = std::max(worst, responses[octet]);
      }
      EXPECT_EQ(got.responses[beat++], worst);
    }
    EXPECT_EQ(octet, given.size());
    manager->CheckInvariants();
  }
}

TEST(Issue, ALongBurstOnANarrowBusIsSeveralOf256Beats) {
  Address burst = {};
  burst.address = 0x1001;
  burst.size = 7;
  burst.len = 31;
  burst.burst = SUEDE_AXI_INCR;
  const Issue issue(burst, 4);
  EXPECT_TRUE(issue.is_split());
  EXPECT_EQ(issue.octets(), 4095u);
  uint32_t position = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const Address issued = issue.BurstAt(position);
    EXPECT_EQ(issued.len, 255);
    EXPECT_EQ(issued.address, i == 0 ? 0x1001u : 0x1000u + i * 1024);
    position = issue.BurstEnd(position);
    EXPECT_EQ(position, (i + 1) * 1024 - 1);
  }
  EXPECT_EQ(position, issue.octets());
}

TEST(Issue, AWrapBurstIsTheRangeToTheBoundaryAndThenTheRest) {
  Address burst = {};
  burst.address = 0x2060;
  burst.size = 5;
  burst.len = 3;
  burst.burst = SUEDE_AXI_WRAP;
  const Issue issue(burst, 8);
  EXPECT_EQ(issue.BurstAt(0).address, 0x2060u);
  EXPECT_EQ(issue.BurstAt(0).len, 3);
  EXPECT_EQ(issue.BurstEnd(0), 32u);
  EXPECT_EQ(issue.BurstAt(32).address, 0x2000u);
  EXPECT_EQ(issue.BurstAt(32).len, 11);
  EXPECT_EQ(issue.BurstEnd(32), 128u);
  EXPECT_EQ(issue.BurstAt(0).size, 3);
}

TEST(Issue, AFixedBurstIsOneRangePerBeat) {
  Address burst = {};
  burst.address = 0x3003;
  burst.size = 3;
  burst.len = 2;
  burst.burst = SUEDE_AXI_FIXED;
  const Issue issue(burst, 4);
  EXPECT_EQ(issue.octets(), 15u);
  for (uint32_t beat = 0; beat < 3; ++beat) {
    EXPECT_EQ(issue.BurstAt(beat * 5).address, 0x3003u);
    EXPECT_EQ(issue.BurstAt(beat * 5).len, 1);
    EXPECT_EQ(issue.BurstEnd(beat * 5), (beat + 1) * 5);
  }
}

}  // namespace
}  // namespace suede::axi
