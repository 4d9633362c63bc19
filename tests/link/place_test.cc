// SPDX-License-Identifier: Apache-2.0
// The places that the two ends of a cable announce to each other, with and without other protocols
// of the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "fake_port.h"
#include "link/link.h"
#include "link_machine.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr LinkPlace kHere{.device = 2, .port = 1, .specification = 0x0123'4567'89ab};
constexpr LinkPlace kThere{.mesh = 1, .device = 4, .port = 3, .plane = 1};
constexpr LinkPlace kElsewhere{.mesh = 1, .device = 5, .port = 3, .plane = 1};

LinkParams At(const std::optional<LinkPlace>& place) {
  LinkParams params;
  params.place = place;
  return params;
}

class LinkPlaces : public ::testing::Test {
 protected:
  // Both ends exchange frames for about as long.
  void Exchange(LinkMachine& one, LinkMachine& other, Duration time = milliseconds(3)) {
    for (const Time end = now + time; now < end; now += microseconds(200)) {
      Carry(one, other);
      Carry(other, one);
      one.Poll(now);
      other.Poll(now);
    }
  }
  void Carry(LinkMachine& from, LinkMachine& to) {
    for (const LinkBytes& bytes : from.Leave(now)) {
      EXPECT_EQ(LoadLinkWord(bytes.data()).kind, LinkKind::kHello);
      EXPECT_FALSE(to.Hear(bytes, now).has_value());
    }
  }
  static const std::optional<LinkPlace>& Neighbour(LinkMachine& machine) {
    return machine.end().neighbour_place();
  }

  Time now = TimeFromNs(1'000'000'000);
  LinkMachine here{At(kHere), 1};
  LinkMachine there{At(kThere), 2};
};

TEST(LinkParamsTest, APlaceAloneTurnsTheLinkOn) {
  EXPECT_FALSE(LinkParams{}.on());
  EXPECT_TRUE(At(kHere).on());
  EXPECT_EQ(GroupsOf(At(kHere), false).size(), 1u);
}

TEST_F(LinkPlaces, AreKnownWithHellosAlone) {
  EXPECT_EQ(Neighbour(here), std::nullopt);
  Exchange(here, there);
  EXPECT_EQ(Neighbour(here), kThere);
  EXPECT_EQ(Neighbour(there), kHere);
  EXPECT_TRUE(here.end().session().speaks() && there.end().session().speaks());
  EXPECT_FALSE(here.end().session().peer_offer().llr || here.end().session().peer_offer().cbfc);
  EXPECT_EQ(here.Count(LinkCounter::kSessions), 1u);
  // Frames pass as they are, in both directions.
  EXPECT_FALSE(here.end().numbers());
  EXPECT_EQ(here.Send(LinkMachine::Data(1)), LinkEnd::Passage::kBypass);
  EXPECT_EQ(there.Hear(LinkMachine::Data(1), now), LinkMachine::Data(1));
  EXPECT_EQ(there.Count(LinkCounter::kLlrRxPlain), 0u);
  EXPECT_EQ(here.end().deadline(), here.end().session().deadline()) << "nothing but HELLOs";
  const uint64_t hellos = here.Count(LinkCounter::kTxHellos);
  Exchange(here, there, milliseconds(1000));
  EXPECT_NEAR(static_cast<double>(here.Count(LinkCounter::kTxHellos) - hellos), 100, 3);
  EXPECT_EQ(here.Count(LinkCounter::kSessions), 1u);
  EXPECT_EQ(Neighbour(here), kThere);
}

TEST_F(LinkPlaces, AreUnknownOfANeighbourThatHasNone) {
  LinkParams credit_only;
  credit_only.credit.cbfc = true;
  LinkMachine other(credit_only, 3);
  Exchange(here, other);
  EXPECT_TRUE(here.end().session().speaks());
  EXPECT_EQ(Neighbour(here), std::nullopt);
  EXPECT_EQ(Neighbour(other), kHere);
}

TEST_F(LinkPlaces, AreLongerInTheHelloOnlyWhereThereIsOne) {
  const std::vector<LinkBytes> placed = here.Leave(now);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].size(), LinkHelloBody::kPlacedBytes);
  LinkParams retry;
  retry.retry.on = true;
  LinkMachine other(retry, 3);
  const std::vector<LinkBytes> plain = other.Leave(now);
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].size(), LinkHelloBody::kBytes);
}

TEST_F(LinkPlaces, AreForgottenOfASilentNeighbour) {
  Exchange(here, there);
  now += milliseconds(77);
  here.Poll(now);
  EXPECT_EQ(Neighbour(here), kThere);
  now += milliseconds(4);
  here.Poll(now);
  EXPECT_EQ(here.Count(LinkCounter::kSilences), 1u);
  EXPECT_EQ(Neighbour(here), std::nullopt);
  Exchange(here, there, milliseconds(100));
  EXPECT_EQ(Neighbour(here), kThere) << "it is back";
}

TEST_F(LinkPlaces, ChangeWhenTheNeighbourRestartsAsAnotherDevice) {
  Exchange(here, there);
  LinkMachine restarted(At(kElsewhere), 3);
  Exchange(here, restarted);
  EXPECT_EQ(Neighbour(here), kElsewhere);
  EXPECT_EQ(here.Count(LinkCounter::kSessions), 2u);
  LinkMachine without(At(std::nullopt), 4);
  Exchange(here, without);
  EXPECT_EQ(Neighbour(here), std::nullopt) << "a session without a place";
  EXPECT_EQ(here.Count(LinkCounter::kSessions), 3u);
}

// Only HELLOs that echo the nonce of this end change the place.
TEST_F(LinkPlaces, ChangeWithinASession) {
  LinkHelloBody hello{.nonce = 77, .hears = true, .place = kThere};
  LinkHello session({}, {1, 1}, milliseconds(10));
  hello.echo = session.Next(now).nonce;
  ASSERT_EQ(session.OnHello(hello, now), LinkHello::Outcome::kBegun);
  EXPECT_EQ(session.peer_place(), kThere);
  EXPECT_EQ(session.OnHello({.nonce = 78, .place = kElsewhere}, now), LinkHello::Outcome::kTaken);
  EXPECT_EQ(session.OnHello({.nonce = 77, .place = kElsewhere}, now), LinkHello::Outcome::kTaken);
  EXPECT_EQ(session.OnHello({.nonce = 77, .echo = 5, .place = kElsewhere}, now),
            LinkHello::Outcome::kStale);
  EXPECT_EQ(session.peer_place(), kThere);
  hello.place = kElsewhere;
  ASSERT_EQ(session.OnHello(hello, now), LinkHello::Outcome::kTaken);
  EXPECT_EQ(session.peer_place(), kElsewhere);
  session.BeginAnew(now);
  EXPECT_EQ(session.peer_place(), std::nullopt);
}

// Two cables whose far ends are swapped: all four ends were in a session.
TEST_F(LinkPlaces, FollowACableThatIsPutElsewhere) {
  LinkMachine second(At(LinkPlace{.device = 3, .port = 1}), 5);
  LinkMachine far(At(kElsewhere), 6);
  Exchange(here, there);
  Exchange(second, far);
  ASSERT_EQ(Neighbour(here), kThere);
  ASSERT_EQ(Neighbour(second), kElsewhere);
  for (const Time end = now + milliseconds(120); now < end; now += microseconds(200)) {
    for (const auto& [one, other] : {std::pair(&here, &far), std::pair(&second, &there)}) {
      Carry(*one, *other);
      Carry(*other, *one);
      one->Poll(now);
      other->Poll(now);
    }
    if (end - now > milliseconds(60)) {
      EXPECT_NE(Neighbour(here), kElsewhere) << "not proved: it may be an old copy";
    }
  }
  EXPECT_EQ(Neighbour(here), kElsewhere);
  EXPECT_EQ(Neighbour(far), kHere);
  EXPECT_EQ(Neighbour(second), kThere);
  EXPECT_EQ(here.Count(LinkCounter::kSilences), 1u);
}

// An endpoint's link with a place and nothing else.
class PlacedLink : public ::testing::Test {
 protected:
  static LinkParams With(const LinkPlace& place, uint64_t boot) {
    return LinkMachine::WithBoot(At(place), boot);
  }
  Frame* Stage(uint8_t marker, bool busy = false) {
    EXPECT_TRUE(link.frames().Has(1));
    Pdu* const pdu = link.frames().NewPdu();
    Frame* const frame = FrameOf(pdu);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = 100;
    std::memset(frame->data, marker, frame->length);
    link.Stage(pdu, 0);
    pdu->note.busy = busy;
    return frame;
  }
  static void Carry(FakePort& from, FakePort& to) {
    for (const Frame* frame : from.sent) {
      Frame* const copy = to.MakeFrame();
      copy->length = frame->length;
      std::memcpy(copy->data, frame->data, frame->length);
      to.arrived.push_back(copy);
    }
    from.sent.clear();
  }
  std::vector<Frame*> Receive(Link& at) {
    Frame* frames[2 * kBurst];
    return {frames, frames + at.Receive(frames, now)};
  }
  std::vector<Frame*> Exchange() {
    link.Transmit(counters, now);
    link.frames().Flush();
    Carry(port, far_port);
    std::vector<Frame*> received = Receive(far);
    far.Transmit(counters, now);
    Carry(far_port, port);
    EXPECT_TRUE(Receive(link).empty());
    return received;
  }

  Time now = TimeFromNs(1'000'000'000);
  FakePort port;
  FakePort far_port;
  Link link{&port, With(kHere, 1)};
  Link far{&far_port, With(kThere, 2)};
  CounterBlock counters;
};

TEST_F(PlacedLink, ExchangesHellosAndChangesNoFrame) {
  EXPECT_EQ(link.credit(), nullptr);
  EXPECT_EQ(link.max_frame_bytes(), port.max_frame_bytes());
  port.offloads = true;
  EXPECT_TRUE(link.Offers(TxOffload::kUdp6Checksum)) << "no shim";
  for (int i = 0; i < 8; ++i, now += microseconds(200)) EXPECT_TRUE(Exchange().empty());
  EXPECT_EQ(link.end()->neighbour_place(), kThere);
  EXPECT_EQ(far.end()->neighbour_place(), kHere);
  for (const uint8_t marker : {uint8_t{7}, uint8_t{8}}) Stage(marker);
  const std::vector<Frame*> received = Exchange();
  ASSERT_EQ(received.size(), 2u);
  for (uint8_t i = 0; i < 2; ++i) {
    EXPECT_EQ(received[i]->length, 100u);
    EXPECT_TRUE(std::all_of(received[i]->data, received[i]->data + 100,
                            [i](uint8_t byte) { return byte == 7 + i; }));
  }
}

TEST_F(PlacedLink, PassesABurstAsOneThoughAFrameIsBusy) {
  Exchange();
  const uint32_t before = port.bursts;
  Stage(1);
  Stage(2, /*busy=*/true);
  Stage(3);
  link.Transmit(counters, now);
  EXPECT_EQ(port.bursts, before + 1);
  ASSERT_EQ(port.sent.size(), 3u);
  for (uint8_t i = 0; i < 3; ++i) EXPECT_EQ(port.sent[i]->data[0], i + 1);
  EXPECT_TRUE(link.empty());
}

}  // namespace
}  // namespace suede
