// SPDX-License-Identifier: Apache-2.0
// An lcore's report on its connections.
#include "lcore/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/big_endian.h"
#include "planes_bench.h"

namespace suede {
namespace {

class SnapshotTest : public PipelineTest {
 protected:
  // The host's answer, written in its next turn.
  static const ConnectionSnapshot& Ask(Host& host, ConnectionSnapshot& snapshot) {
    return Answer(host, snapshot, request::Connections{.snapshot = &snapshot});
  }
  static const PlaneSnapshot& Ask(Host& host, PlaneSnapshot& snapshot) {
    return Answer(host, snapshot, request::Planes{.snapshot = &snapshot});
  }
  template <typename Snapshot>
  static const Snapshot& Answer(Host& host, Snapshot& snapshot, const LcoreRequest& request) {
    snapshot.done = false;
    EXPECT_TRUE(host.pipeline->mailbox().requests.Push(request));
    host.pipeline->Poll(Time{});
    EXPECT_TRUE(snapshot.done);
    LcoreReply reply;
    EXPECT_FALSE(host.pipeline->mailbox().replies.Pop(reply));
    return snapshot;
  }
};

TEST_F(SnapshotTest, APieceIsBoundedAndTheNextGoesOn) {
  params.transport.psn_scope = PsnScope::kVc;
  Host& host = AddHost(0, 200);
  ConnectionSnapshot snapshot;
  snapshot.unused = true;
  uint32_t rows = 0;
  uint32_t pieces = 0;
  for (bool more = true; more; ++pieces) {
    Ask(host, snapshot);
    for (uint32_t i = 0; i < snapshot.count; ++i, ++rows) {
      EXPECT_EQ(snapshot.rows[i].peer_xpuid, rows / kVcCount + 1);  // 0 is itself
      EXPECT_EQ(snapshot.rows[i].vc, rows % kVcCount);
      EXPECT_EQ(snapshot.rows[i].state, ConnectionState::kNew);
    }
    more = snapshot.more;
    snapshot.first = snapshot.next;
  }
  EXPECT_EQ(rows, 199u * kVcCount);
  EXPECT_EQ(pieces, 7u);  // of 128 rows
  // Looking costs as little where nothing is found.
  snapshot.first = 0;
  snapshot.unused = false;
  Ask(host, snapshot);
  EXPECT_EQ(snapshot.count, 0u);
  EXPECT_EQ(snapshot.next, ConnectionSnapshot::kMaxVisited);
  EXPECT_TRUE(snapshot.more);
}

TEST_F(SnapshotTest, WhatIsAskedForNonsenseIsEmpty) {
  Host& host = AddHost(0, 3);
  ConnectionSnapshot snapshot;
  snapshot.unused = true;
  snapshot.instance = 1;
  snapshot.more = true;  // of an answer before
  snapshot.next = 9;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_FALSE(snapshot.more);
  EXPECT_EQ(snapshot.next, 0u);
  PlaneSnapshot planes_of;
  planes_of.instance = 1;
  planes_of.more = true;
  planes_of.next = planes_of.count = 9;
  EXPECT_EQ(Ask(host, planes_of).count, 0u);
  EXPECT_FALSE(planes_of.more);
  EXPECT_EQ(planes_of.next, 0u);
  snapshot.instance = 0;
  snapshot.first = 1000;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_FALSE(snapshot.more);
  snapshot.first = 0;
  snapshot.peer_xpuid = 2;
  EXPECT_EQ(Ask(host, snapshot).count, 1u);
  EXPECT_EQ(snapshot.rows[0].peer_xpuid, 2u);
}

TEST_F(SnapshotTest, PlanesOfManyPeersComeInPieces) {
  planes = 2;
  Host& host = AddHost(0, 200);
  PlaneSnapshot snapshot;
  uint32_t rows = 0;
  std::vector<uint32_t> pieces;
  for (bool more = true; more;) {
    Ask(host, snapshot);
    for (uint32_t i = 0; i < snapshot.count; ++i, ++rows) {
      EXPECT_EQ(snapshot.rows[i].peer_xpuid, rows / planes + 1);  // 0 is itself
      EXPECT_EQ(snapshot.rows[i].plane, rows % planes);
    }
    pieces.push_back(snapshot.count);
    more = snapshot.more;
    snapshot.first = snapshot.next;
  }
  EXPECT_EQ(pieces, (std::vector<uint32_t>{128, 128, 128, 14}));
  EXPECT_EQ(rows, 398u);
  // Looking costs as little where nothing is found.
  snapshot.first = 0;
  snapshot.peer_xpuid = 1000;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_EQ(snapshot.next, PlaneSnapshot::kMaxVisited);
  EXPECT_TRUE(snapshot.more);
  snapshot.first = snapshot.next;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_EQ(snapshot.next, 398u);
  EXPECT_FALSE(snapshot.more);
}

TEST_F(SnapshotTest, PlanesAreThoseOfThePeerThatIsAskedFor) {
  planes = 2;
  Host& host = AddHost(0, 4);
  PlaneSnapshot snapshot;
  const auto ask = [&](uint32_t peer_xpuid) {
    snapshot.peer_xpuid = peer_xpuid;
    snapshot.done = false;
    EXPECT_TRUE(host.pipeline->mailbox().requests.Push(request::Planes{.snapshot = &snapshot}));
    host.pipeline->Poll(Time{});
    EXPECT_TRUE(snapshot.done);
  };
  ask(2);
  ASSERT_EQ(snapshot.count, 2u);
  for (uint8_t plane = 0; plane < 2; ++plane) {
    EXPECT_EQ(snapshot.rows[plane].peer_xpuid, 2);
    EXPECT_EQ(snapshot.rows[plane].plane, plane);
    EXPECT_EQ(snapshot.rows[plane].heard_ago_ns, -1) << "never";
  }
  ask(PlaneSnapshot::kAnyPeer);
  EXPECT_EQ(snapshot.count, 6u);
  ask(9);
  EXPECT_EQ(snapshot.count, 0u);
}

// ---- Rows are what the lcore has.

class SnapshotOfTraffic : public PlanesTest {
 protected:
  ConnectionRow RowOfConnection(uint32_t number) {
    ConnectionSnapshot snapshot;
    snapshot.first = number;
    EXPECT_EQ(Ask(*a, request::Connections{.snapshot = &snapshot}), LcoreStatus::kBusy);
    EXPECT_GT(snapshot.count, 0u);
    return snapshot.rows[0];
  }
  const Instance& instance() const { return a->pipeline->instance(0); }
};

TEST_F(SnapshotOfTraffic, AConnectionIsShownAsItIs) {
  params.transport.psn_scope = PsnScope::kVc;
  StartPair();
  WarmUp();
  ca->Send(TestCommand(8, 16, 1), 1, 3, SUEDE_RECORD_TRANSMIT_NOW);
  Run(milliseconds(1));
  network.SetFilter([](std::span<const uint8_t>) { return false; });
  for (int i = 0; i < 3; ++i) {
    ca->Send(TestCommand(8, 16, 1), 1, 3, SUEDE_RECORD_TRANSMIT_NOW);
  }
  Run(microseconds(50));
  uint32_t inflight = 0;
  uint32_t sent = 0;
  for (uint32_t plane = 0; plane < planes; ++plane) {
    const uint32_t number = instance().map.At(0, PlaneIndex(plane), 3);
    const Connection& connection = instance().peers.connections[number];
    const ConnectionRow row = RowOfConnection(number);
    if (connection.tx().tx_pdus() == 0) continue;  // shown is the next one that was used
    EXPECT_EQ(row.peer_xpuid, 1);
    EXPECT_EQ(row.plane, plane);
    EXPECT_EQ(row.slot, 0);
    EXPECT_EQ(row.vc, 3);
    EXPECT_EQ(row.state, ConnectionState::kOpen);
    EXPECT_FALSE(row.peer_waits);
    EXPECT_EQ(row.tries, 0);
    EXPECT_EQ(row.next_psn, connection.in_flight().next_psn().value());
    EXPECT_EQ(row.expected_psn, connection.rx().expected().value());
    EXPECT_EQ(row.unacked_pdus, connection.in_flight().count());
    EXPECT_EQ(row.unacked_bytes, connection.in_flight().bytes());
    EXPECT_EQ(row.tx_pdus, connection.tx().tx_pdus());
    EXPECT_EQ(row.rx_pdus, connection.rx().rx_pdus());
    EXPECT_EQ(row.retransmissions, 0u);
    EXPECT_EQ(row.srtt_ns, connection.tx().round_trip().srtt().count());
    EXPECT_EQ(row.rto_ns, connection.tx().round_trip().rto(params.transport).count());
    EXPECT_FALSE(row.session) << "there is one";
    EXPECT_EQ(row.congestion, "fixed");
    EXPECT_EQ(row.congestion_window_octets, 0u);
    EXPECT_EQ(row.base_rtt_ns, 0);
    inflight += row.unacked_pdus;
    sent += row.tx_pdus;
  }
  EXPECT_EQ(inflight, 3u);
  EXPECT_EQ(sent, 4u);
}

TEST_F(SnapshotOfTraffic, AConnectionOfSeveralSessionsIsShownWithItsOwn) {
  params.sessions = 4;
  StartPair();
  WarmUp();
  SendPdus(32);
  ASSERT_EQ(Statuses(*ca, 32), std::vector<int>(32, kOk));
  ConnectionSnapshot snapshot;
  EXPECT_EQ(Ask(*a, request::Connections{.snapshot = &snapshot}), LcoreStatus::kBusy);
  ASSERT_GT(snapshot.count, 0u);
  for (uint32_t i = 0; i < snapshot.count; ++i) {
    const ConnectionRow& row = snapshot.rows[i];
    ASSERT_TRUE(row.session) << i;
    EXPECT_EQ(row.session->number % 4, row.slot);
    const SessionSlot& far =
        b->pipeline->instance(0).peers.groups[row.plane].slot(SessionIndex(row.slot));
    EXPECT_EQ(row.session->number, far.rx_number);
    EXPECT_EQ(row.session->peer_number, far.number);
    EXPECT_EQ(row.session->weight, SessionSlot::kWeightOne) << "nothing is congested";
  }
}

TEST_F(SnapshotOfTraffic, APlaneIsShownWithTheVcsWhosePdusItCarries) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  PlaneSnapshot snapshot;
  EXPECT_EQ(Ask(*a, request::Planes{.snapshot = &snapshot}), LcoreStatus::kBusy);
  ASSERT_EQ(snapshot.count, 2u);
  for (uint32_t plane = 0; plane < planes; ++plane) {
    EXPECT_EQ(snapshot.rows[plane].home_vcs, Carried(plane) != 0 ? 0xf : 0) << plane;
  }
}

// One of two sessions leads nowhere, and the plane does lead there.
TEST_F(SnapshotOfTraffic, WhatIsSetAsideOnAPlaneIsShownAsInFlight) {
  params.sessions = 2;
  params.paths.sessions.open_percent = 100;
  StartPair();
  WarmUp();
  ASSERT_TRUE(RunUntil([&] {
    SendPdus(8);
    ca->Completions();
    cb->Receive();
    return std::popcount(instance().peers.groups[0].open()) == 2;
  }));
  const uint32_t source_port = kFirstSourcePort + instance().peers.groups[0].slot(1).number;
  const MacAddress far = MacOf(OnPlane(0, 1));
  network.SetFilter([&](std::span<const uint8_t> frame) {
    return !std::equal(far.begin(), far.end(), frame.begin()) || frame.size() < kSourcePortAt + 2 ||
           LoadBe16(&frame[kSourcePortAt]) != source_port;
  });
  SendPdus(64);
  ASSERT_TRUE(RunUntil([&] { return instance().peers.own.aside_bytes[0] != 0; }));
  uint64_t unacked = 0;
  for (PathConnection i = 0; i < instance().map.path_connections(); ++i) {
    unacked += instance().peers.connections[instance().map.At(0, 0, i)].in_flight().bytes();
  }
  PlaneSnapshot snapshot;
  EXPECT_EQ(Ask(*a, request::Planes{.snapshot = &snapshot}), LcoreStatus::kBusy);
  EXPECT_GT(unacked, 0u);
  EXPECT_EQ(snapshot.inflight_bytes[0], unacked);
}

TEST_F(SnapshotOfTraffic, APlaneIsShownAsItIs) {
  StartPair();
  WarmUp();
  Ask(*a, request::SetWeight{.instance = 0, .peer = 0, .plane = 1, .weight = 3});
  SessionOf(*a, 1).GoDown(false, true, network.now(), params.paths);
  PlaneSnapshot snapshot;
  EXPECT_EQ(Ask(*a, request::Planes{.snapshot = &snapshot}), LcoreStatus::kBusy);
  ASSERT_EQ(snapshot.count, 2u);
  EXPECT_FALSE(snapshot.more);
  for (uint32_t plane = 0; plane < planes; ++plane) {
    const PlaneRow& row = snapshot.rows[plane];
    const PlaneSession& session = instance().peers.sessions[plane];
    EXPECT_EQ(row.peer_xpuid, 1);
    EXPECT_EQ(row.plane, plane);
    EXPECT_EQ(row.peer_plane, plane);
    EXPECT_EQ(row.state, plane == 0 ? PlaneState::kUp : PlaneState::kDown);
    EXPECT_TRUE(row.sessions);
    EXPECT_EQ(row.usable, (instance().peers.paths[0].usable >> plane & 1) != 0);
    EXPECT_EQ(row.home_vcs, 0) << "each PDU chooses";
    EXPECT_FALSE(row.fencing);
    EXPECT_EQ(row.tx_generation, session.tx_generation());
    EXPECT_EQ(row.rx_generation, session.rx_generation());
    EXPECT_EQ(row.weight, plane == 0 ? 1 : 3);
    EXPECT_EQ(row.measured_part, 0) << "nothing is measured";
    EXPECT_EQ(row.measured_bps, 0u);
    EXPECT_EQ(row.inflight_bytes, 0u);
    EXPECT_EQ(row.deaths, plane);
    EXPECT_EQ(row.heard_ago_ns, (network.now() - session.last_received()).count());
    EXPECT_EQ(row.held_ns, plane == 0 ? 0 : Duration(params.paths.hold_down).count());
    EXPECT_EQ(snapshot.inflight_bytes[plane], 0u);
  }
}

}  // namespace
}  // namespace suede
