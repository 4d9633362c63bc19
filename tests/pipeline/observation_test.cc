// SPDX-License-Identifier: Apache-2.0
// The state of instances that an lcore tells beside counters: gauges and histograms.
#include "bench.h"

namespace suede {
namespace {

class ObservationTest : public PipelineTest {
 protected:
  uint64_t Shown(Host& host, Gauge gauge) { return host.pipeline->gauges(0).Get(gauge); }
  HistogramSum Of(Host& host, HistogramId id) {
    HistogramSum sum;
    sum.Add(host.pipeline->histograms(0)[id]);
    return sum;
  }
  void SendMany(Client& client, int count, uint16_t xpuid) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(client.SendTagged(static_cast<uint64_t>(i), xpuid), SendResult::kOk);
    }
  }
};

TEST_F(ObservationTest, EveryCommandAndPduIsInTheHistogramsOnce) {
  Host& a = AddHost(0, 2);
  Client& sender = Attach(a);
  Attach(AddHost(1, 2));
  SendMany(sender, 40, 1);
  Statuses(sender, 40);
  EXPECT_EQ(Of(a, HistogramId::kPduCommands).count(), a.Count(Counter::kTxPdus));
  EXPECT_EQ(Of(a, HistogramId::kPduCommands).sum(), 40);
  const HistogramSum latency = Of(a, HistogramId::kCommandLatency);
  EXPECT_EQ(latency.count(), 40);
  // The hello comes before the first PDU, whose commands wait for it: their latency is more than
  // one round trip.
  const HistogramSum rtt = Of(a, HistogramId::kRtt);
  EXPECT_GT(rtt.count(), 0);
  EXPECT_LE(rtt.count(), a.Count(Counter::kTxPdus));
  EXPECT_GT(rtt.sum(), 0);
  EXPECT_GT(latency.sum() / latency.count(), rtt.sum() / rtt.count());
  EXPECT_EQ(Of(a, HistogramId::kGoBackPdus).count(), 0);
}

// PDUs of one burst that differ in size are recorded each with their own commands.
TEST_F(ObservationTest, PdusOfOneBurstAreRecordedByTheirCommands) {
  params.pack_limit_bytes = 128;
  Host& a = AddHost(0, 2);
  Client& sender = Attach(a);
  Attach(AddHost(1, 2));
  SendMany(sender, 1, 1);
  Statuses(sender, 1);
  for (const uint32_t bytes : {16u, 16u, 16u, 100u, 100u, 100u, 16u, 100u}) {
    ASSERT_EQ(sender.Send(TestCommand(8, bytes, 1), 1, 0, SUEDE_RECORD_COMPLETION),
              SendResult::kOk);
  }
  Statuses(sender, 8);
  EXPECT_EQ(Of(a, HistogramId::kPduCommands).count(), a.Count(Counter::kTxPdus));
  EXPECT_EQ(Of(a, HistogramId::kPduCommands).sum(), 9);
}

TEST_F(ObservationTest, PromisedLinesAreThoseOfAllVcs) {
  Client& sender = Attach(AddHost(0, 2));
  Host& b = AddHost(1, 2);
  Attach(b);
  SendMany(sender, 1, 1);
  Statuses(sender, 1);
  Run(milliseconds(11));
  uint64_t promised = 0;
  for (const CreditFeed& feed : b.pipeline->instance(0).rx.credit.feeds) promised += feed.promised;
  EXPECT_GT(promised, 0);
  EXPECT_EQ(Shown(b, Gauge::kPromisedLines), promised);
}

TEST_F(ObservationTest, TheSpeedOfALinkIsReadWhenItComesUp) {
  Host& a = AddHost(0, 2);
  Run(milliseconds(11));
  a.port->SetLink(false);
  a.port->faults().bits_per_ns = 25;
  Run(milliseconds(11));
  a.port->SetLink(true);
  Run(milliseconds(11));
  EXPECT_EQ(a.pipeline->instance(0).peers.own.link_bps[0], 25'000'000'000u);
}

// More often than gauges are published, when the speeds of all links are read.
TEST_F(ObservationTest, TheSpeedOfAPlanesLinkIsReadAtOnce) {
  planes = 2;
  Host& a = AddHost(0, 2);
  Run(milliseconds(11));
  for (const uint32_t speed : {25u, 50u, 75u}) {
    a.port->SetLink(false);
    a.port->faults().bits_per_ns = speed;
    Run(microseconds(200));
    a.port->SetLink(true);
    Run(microseconds(200));
    EXPECT_EQ(a.pipeline->instance(0).peers.own.link_bps[0], speed * uint64_t{1'000'000'000});
  }
}

TEST_F(ObservationTest, ARecoveryIsToldWithWhatItSentAgain) {
  Host& a = AddHost(0, 2);
  Client& sender = Attach(a);
  Attach(AddHost(1, 2));
  SendMany(sender, 1, 1);
  Statuses(sender, 1);
  // All is lost until the timer goes back.
  a.port->faults().loss = 1;
  SendMany(sender, 5, 1);
  RunUntil([&] { return a.Count(Counter::kGoBacks) != 0; });
  a.port->faults().loss = 0;
  Statuses(sender, 5);
  const HistogramSum pdus = Of(a, HistogramId::kGoBackPdus);
  EXPECT_EQ(pdus.count(), 1);
  EXPECT_EQ(pdus.sum(), a.Count(Counter::kTxRetransmissions));
  EXPECT_GT(pdus.sum(), 0);
  EXPECT_EQ(Of(a, HistogramId::kGoBackTime).count(), 1);
  EXPECT_GT(Of(a, HistogramId::kGoBackTime).sum(), 0);
  EXPECT_EQ(Of(a, HistogramId::kCommandLatency).count(), 6);
}

TEST_F(ObservationTest, GaugesShowWhatIsHeldAndNothingOnceItIsGone) {
  plain_peers = true;
  params.transport.max_tries = 10;
  Host& a = AddHost(0, 3);
  Client& sender = Attach(a);
  Host& b = AddHost(1, 3);
  Client& receiver = Attach(b, 0);
  SendMany(sender, 3, 1);
  Run(milliseconds(11));
  EXPECT_EQ(Shown(b, Gauge::kUnclaimedPdus), b.Count(Counter::kRxUnclaimed));
  EXPECT_GT(Shown(b, Gauge::kUnclaimedPdus), 0);
  EXPECT_EQ(Shown(a, Gauge::kConnectionsOpen), 2);
  EXPECT_EQ(Shown(a, Gauge::kConnectionsNew), 0);
  Ask(b, request::Claim{.vc_mask = 0xf, .client = receiver.number});
  // XPU 2 is not there.
  SendMany(sender, 20, 2);
  Run(milliseconds(11));
  EXPECT_GT(Shown(a, Gauge::kInflightPdus), 0);
  EXPECT_GT(Shown(a, Gauge::kInflightBytes), 0);
  ASSERT_EQ(Statuses(sender, 20).back(), SUEDE_STATUS_IN_DOUBT);
  Run(milliseconds(40));
  for (const Gauge gauge : {Gauge::kInflightPdus, Gauge::kInflightBytes, Gauge::kQueuedPdus,
                            Gauge::kCreditLines}) {
    EXPECT_EQ(Shown(a, gauge), 0) << static_cast<int>(gauge);
  }
  EXPECT_EQ(Shown(b, Gauge::kUnclaimedPdus), 0);
  EXPECT_EQ(Shown(a, Gauge::kConnectionsLost), 1);
}

TEST_F(ObservationTest, ConnectionsToPeersThatWereNeverMetAreNew) {
  Host& a = AddHost(0, 3);
  Client& sender = Attach(a);
  Attach(AddHost(1, 3));
  Run(milliseconds(11));
  EXPECT_EQ(Shown(a, Gauge::kConnectionsNew), 2);
  SendMany(sender, 1, 1);
  Run(milliseconds(21));
  EXPECT_EQ(Shown(a, Gauge::kConnectionsNew), 1);
  EXPECT_EQ(Shown(a, Gauge::kConnectionsOpen), 1);
}

TEST_F(ObservationTest, ConnectionsOfEachInstanceAreCounted) {
  Host& a = AddHost(0, 3);
  InstanceParams second = a.pipeline->instance(0).params;
  second.xpuid = 10;
  second.planes = {{.port = 0, .address = {.low = IpOf(10)}}};
  second.peers.pop_back();
  a.pipeline->AddInstance(second);
  for (int times = 0; times < 2; ++times) {
    Run(milliseconds(30));
    EXPECT_EQ(Shown(a, Gauge::kConnectionsNew), 2);
    EXPECT_EQ(a.pipeline->gauges(1).Get(Gauge::kConnectionsNew), 1);
  }
}

TEST_F(ObservationTest, CreditOfCommandsThatCannotLeaveIsOutstanding) {
  params.transport.window_pdus = 1;
  plain_peers = true;
  params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
  Host& a = AddHost(0, 2);
  Client& sender = Attach(a);
  AddPort(1);  // says nothing
  // Nobody hears it: the window is full with the first.
  SendMany(sender, 1, 1);
  Run(milliseconds(1));
  ASSERT_EQ(a.Count(Counter::kTxPdus), 1);
  SendMany(sender, 4, 1);
  Run(milliseconds(11));
  EXPECT_EQ(Shown(a, Gauge::kQueuedPdus), 1);
  EXPECT_EQ(Shown(a, Gauge::kInflightPdus), 1);
  EXPECT_EQ(Shown(a, Gauge::kCreditLines), 4);
}

}  // namespace
}  // namespace suede
