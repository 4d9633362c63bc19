// SPDX-License-Identifier: Apache-2.0
// A burst has the same outcome as its frames one by one: counters, answers, commands, credit.
//
// One pipeline receives the frames of a burst from one queue pair. The other one has a queue pair
// for each frame: within one turn it handles a frame to its end before the next one.
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "bench.h"
#include "steered_device.h"

namespace suede {
namespace {

constexpr uint32_t kFrames = 8;  // of a burst, without the odd one

struct Terms {
  uint32_t ack_every = 4;
  bool credit = true;   // the peers count it
  uint32_t filled = 0;  // PDUs in the ring before the burst,
  uint16_t filler = 1;  // of this peer: 2 counts no credit then
  uint8_t claims = 0xf;
};

// XPU 0 with the peers 1 and 2, which are played by hand.
class Rig : public SteeredTest {
 public:
  static constexpr uint32_t kPairs = 24;

  Rig(bool one_by_one, const Terms& terms) {
    plain_peers = true;
    // With a long ring, peers are promised some lines at once.
    shape.rx_lines = terms.filler == 1 ? 64 : 512;
    params.transport.ack_every_pdus = terms.ack_every;
    params.transport.ack_delay = microseconds(30);
    device = std::make_unique<SteeredDevice>(AddPort(0), kPairs, [this, one_by_one](const Frame&) {
      return one_by_one ? next_++ % kPairs : 0;
    });
    wire = AddPort(1);
    host = &NewHost();
    host->pipeline->AddPort(device->queue(0), {.mac = MacOf(0)});
    for (uint32_t i = 1; i < kPairs; ++i) host->pipeline->AddPair(0, device->queue(i));
    InstanceParams own = ParamsOf(0, 0, {{1, 1}, {2, 1}});
    for (auto& peer : own.peers) peer.plain = !terms.credit;
    own.peers[1].plain |= terms.filler == 2;
    host->pipeline->AddInstance(own);
    client = &Attach(*host, terms.claims);
    for (const uint16_t peer : {uint16_t{1}, uint16_t{2}}) {
      Hello hello = HelloTo(InstanceAt(0), 5, peer);
      hello.counts_credit = terms.credit && (peer == 1 || terms.filler == 1);
      std::vector<uint8_t> body(kMaxControlPduBytes);
      body.resize(EncodeControl(hello, body.data()));
      Arrive({Build(ControlRh(peer, kPartition), body, peer)});
    }
    // The first PDU is answered by a grant.
    if (terms.filler == 2) Arrive({Data(psn++)});
    for (uint16_t i = 0; i < terms.filled;) {
      std::vector<std::vector<uint8_t>> some;
      while (some.size() < 16 && i < terms.filled) some.push_back(Data(i++, 0, terms.filler));
      Arrive(some);
    }
    if (terms.filler == 1) psn = static_cast<uint16_t>(terms.filled);
    TakeSent();
  }
  void TestBody() override {}

  std::vector<uint8_t> Data(uint16_t number, uint8_t vc = 0, uint16_t xpu = 1) const {
    ReliabilityHeader rh = Rh(number, vc);
    rh.xpuid = xpu;
    std::vector<uint8_t> commands = Command(static_cast<uint8_t>(number));
    // PDUs of several widths.
    for (unsigned i = 0; i < number % 3u; ++i) {
      const std::vector<uint8_t> more = TestCommand(8, 60, static_cast<uint8_t>(i)).bytes();
      commands.insert(commands.end(), more.begin(), more.end());
    }
    return Build(rh, commands, xpu);
  }
  std::vector<uint8_t> Command(uint8_t seed) const { return TestCommand(8, 16, seed).bytes(); }
  uint64_t Accepted() const { return host->pipeline->counters(0).Get(Counter::kRxPdus); }
  using SteeredTest::Build;
  using SteeredTest::Control;
  using SteeredTest::Rh;

  // All frames arrive at the same time, and then comes a turn.
  void Arrive(const std::vector<std::vector<uint8_t>>& frames) {
    next_ = 0;
    Inject(frames);
  }
  // The visible outcome of the burst, and of a while after it.
  std::string Outcome() {
    std::ostringstream out;
    for (int step = 0; step < 6; ++step) {
      for (const Sent& sent : TakeSent()) {
        out << step << ": op " << int(sent.rh.op) << " rpsn " << sent.rh.rpsn.value() << " psn "
            << sent.rh.psn.value() << " ver " << int(sent.rh.ver) << " vc " << int(sent.rh.vc)
            << " to " << sent.destination << " bytes ";
        for (const uint8_t byte : sent.commands) out << int(byte) << ' ';
        out << '\n';
      }
      if (step == 3) {
        for (uint32_t vc = 0; vc < kVcCount; ++vc) {
          out << "VC " << vc << ": ";
          for (const uint8_t byte : client->Receive(vc)) out << int(byte) << ' ';
          out << '\n';
        }
      }
      Run(microseconds(20));
    }
    CounterSnapshot sum{};
    host->pipeline->counters(0).AddTo(sum);
    host->pipeline->port_counters().AddTo(sum);
    out << FormatCounters(sum, true) << '\n';
    const Instance& instance = host->pipeline->instance(0);
    for (const RxCredit& credit : instance.rx.credit.queues) {
      out << credit.accepted << '/' << credit.limit << '/' << credit.widest << ' ';
    }
    for (const CreditFeed& feed : instance.rx.credit.feeds)
      out << feed.promised << '+' << feed.kept_lines << ' ';
    return out.str();
  }

  Client* client = nullptr;
  uint16_t psn = 0;  // of the burst's first PDU

 private:
  uint32_t next_ = 0;
};

// A frame that is unlike the others of its burst; `next` is the PSN that is expected there.
struct Odd {
  const char* name;
  std::vector<uint8_t> (*frame)(const Rig& rig, uint16_t next);
  bool takes_psn = false;  // it is the expected one, and is accepted
};

std::vector<uint8_t> With(const Rig& rig, uint16_t next,
                          const std::function<void(ReliabilityHeader&)>& change) {
  ReliabilityHeader rh = rig.Rh(next);
  change(rh);
  return rig.Build(rh, rig.Command(1));
}
std::vector<uint8_t> Damaged(std::vector<uint8_t> frame, size_t at) {
  frame[at] ^= 1;
  return frame;
}

const Odd kOdd[] = {
    {"Alike", [](const Rig& rig, uint16_t next) { return rig.Data(next); }, true},
    {"Duplicate",
     [](const Rig& rig, uint16_t next) { return rig.Data(static_cast<uint16_t>(next - 1)); }},
    {"Ahead",
     [](const Rig& rig, uint16_t next) { return rig.Data(static_cast<uint16_t>(next + 20)); }},
    {"Rcrc", [](const Rig& rig, uint16_t next) { return Damaged(rig.Data(next), 60); }},
    {"RcrcOfTheRh", [](const Rig& rig, uint16_t next) { return Damaged(rig.Data(next), 45); }},
    {"IpChecksum", [](const Rig& rig, uint16_t next) { return Damaged(rig.Data(next), 24); }},
    {"Truncated",
     [](const Rig& rig, uint16_t next) {
       std::vector<uint8_t> frame = rig.Data(next);
       frame.resize(frame.size() - 2);
       return frame;
     }},
    {"TooShort", [](const Rig&, uint16_t) { return std::vector<uint8_t>(20, 0x11); }},
    {"NotSue", [](const Rig& rig, uint16_t next) { return Damaged(rig.Data(next), 37); }},
    {"Trailing",
     [](const Rig& rig, uint16_t next) {
       std::vector<uint8_t> frame = rig.Data(next);
       frame.resize(frame.size() + 3);
       return frame;
     },
     true},
    {"Malformed",
     [](const Rig& rig, uint16_t next) {
       return rig.Build(rig.Rh(next), {0x0a, 0});
     }},
    {"MalformedBehindGood",
     [](const Rig& rig, uint16_t next) {
       std::vector<uint8_t> commands = rig.Command(1);
       commands.insert(commands.end(), {0x0a, 0});
       return rig.Build(rig.Rh(next), commands);
     }},
    {"Version",
     [](const Rig& rig, uint16_t next) { return With(rig, next, [](auto& rh) { rh.ver = 1; }); }},
    {"Partition", [](const Rig& rig,
                     uint16_t next) { return With(rig, next, [](auto& rh) { ++rh.partition; }); }},
    {"UnknownXpu", [](const Rig& rig,
                      uint16_t next) { return With(rig, next, [](auto& rh) { rh.xpuid = 77; }); }},
    {"Source",
     [](const Rig& rig, uint16_t next) { return rig.Build(rig.Rh(next), rig.Command(1), 9); }},
    {"Destination",
     [](const Rig& rig, uint16_t next) { return rig.Build(rig.Rh(next), rig.Command(1), 1, 5); }},
    {"AnotherVc", [](const Rig& rig, uint16_t next) { return rig.Data(next, 2); }, true},
    {"AnotherPeer", [](const Rig& rig, uint16_t) { return rig.Data(0, 0, 2); }},
    {"NoCommands", [](const Rig& rig, uint16_t next) { return rig.Build(rig.Rh(next), {}); }},
    {"NoCommandsAhead",
     [](const Rig& rig, uint16_t next) {
       return rig.Build(rig.Rh(static_cast<uint16_t>(next + 9)), {});
     }},
    {"Ack",
     [](const Rig& rig, uint16_t next) {
       ReliabilityHeader rh = rig.Rh(next);
       rh.op = RhOp::kAck;
       rh.rpsn = Psn(9);
       return rig.Build(rh, rig.Command(1));
     },
     true},
    {"Nack",
     [](const Rig& rig, uint16_t next) {
       ReliabilityHeader rh = rig.Rh(next);
       rh.op = RhOp::kNack;
       return rig.Build(rh, rig.Command(1));
     },
     true},
    {"Control",
     [](const Rig& rig, uint16_t) {
       return rig.Control(NotReady{.vc = 0, .expected = Psn(0), .backoff_us = 50});
     }},
    {"Hello",
     [](const Rig& rig, uint16_t) { return rig.Control(Hello{.nonce = 3, .reply_wanted = true}); }},
};

// The step between tried fillings of a ring; 1: each.
uint32_t Step() {
  const char* const given = std::getenv("SUEDE_BURST_STEP");
  return given != nullptr ? static_cast<uint32_t>(std::atoi(given)) : 1;
}

class BurstsTest : public ::testing::TestWithParam<Odd> {
 protected:
  // The odd frame at each place of the burst.
  void ExpectTheSame(const Terms& terms) {
    for (uint32_t place = 0; place <= kFrames; ++place) {
      SCOPED_TRACE(place);
      std::string outcomes[2];
      for (const bool one_by_one : {false, true}) {
        Rig rig(one_by_one, terms);
        std::vector<std::vector<uint8_t>> frames;
        uint16_t next = rig.psn;
        for (uint32_t i = 0; i <= kFrames; ++i) {
          if (i != place) {
            frames.push_back(rig.Data(next++));
            continue;
          }
          frames.push_back(GetParam().frame(rig, next));
          if (GetParam().takes_psn) ++next;
        }
        rig.Arrive(frames);
        outcomes[one_by_one] = rig.Outcome();
      }
      ASSERT_EQ(outcomes[false], outcomes[true]);
    }
  }
};

TEST_P(BurstsTest, AreAsTheirFramesOneByOne) {
  for (const uint32_t ack_every : {1u, 3u, 4u, 64u}) {
    SCOPED_TRACE(ack_every);
    ExpectTheSame({.ack_every = ack_every});
  }
}

TEST_P(BurstsTest, WithoutCredit) { ExpectTheSame({.credit = false}); }

// The ring is full at some place of the burst.
TEST_P(BurstsTest, RefusedInPart) {
  constexpr uint32_t kFilled[] = {14, 25, 28, 32};
  for (uint32_t i = 0; i < std::size(kFilled); i += Step()) {
    const uint32_t filled = kFilled[i];
    SCOPED_TRACE(filled);
    ExpectTheSame({.credit = false, .filled = filled});
    ExpectTheSame({.credit = true, .filled = filled});
  }
}

// Another peer has taken the room that was promised to this one: a wide PDU waits, and so do the
// PDUs behind it, although there is room for some of them.
TEST_P(BurstsTest, KeptInPart) {
  for (uint32_t filled = 164; filled <= 171; filled += Step()) {
    SCOPED_TRACE(filled);
    ExpectTheSame({.filled = filled, .filler = 2});
  }
}

TEST_P(BurstsTest, WithoutAClient) {
  ExpectTheSame({.claims = 0});
  ExpectTheSame({.credit = false, .claims = 0xe});
}

INSTANTIATE_TEST_SUITE_P(With, BurstsTest, ::testing::ValuesIn(kOdd),
                         [](const auto& test) { return std::string(test.param.name); });

// The outcomes that the test above compares are not empty.
TEST(BurstsRig, DeliversAndAcknowledges) {
  for (const bool one_by_one : {false, true}) {
    Rig rig(one_by_one, {.ack_every = 4});
    std::vector<std::vector<uint8_t>> frames;
    for (uint16_t i = 0; i < kFrames; ++i) frames.push_back(rig.Data(i));
    rig.Arrive(frames);
    EXPECT_EQ(rig.Accepted(), kFrames);
    const std::string outcome = rig.Outcome();
    EXPECT_NE(outcome.find("0: op 0 rpsn 7 "), std::string::npos) << outcome;
    EXPECT_NE(outcome.find("VC 0: 0 3 0 6 0 3 "), std::string::npos) << outcome;
    EXPECT_NE(outcome.find(" rx_pdus_total=8"), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace suede
