// SPDX-License-Identifier: Apache-2.0
// One Peer without a port: tests give it facts and read its effects. The far end is a few
// numbers from which its control PDUs are made.
#ifndef SUEDE_TESTS_PEER_PEER_BENCH_H_
#define SUEDE_TESTS_PEER_PEER_BENCH_H_

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "describe.h"
#include "peer/peer.h"

namespace suede {

using Lines = std::vector<std::string>;

class PeerBench : public ::testing::Test {
 protected:
  struct Shape {
    uint32_t planes = 2;
    bool per_vc = false;
    Ordering ordering = Ordering::kUnordered;
    uint32_t sessions = 1;
    bool plain = false;
    PlaneMask resolving = 0;
    bool measures = false;
  };

  ~PeerBench() override {
    for (Connection& connection : connections) {
      PduList left;
      connection.tx().Abandon(left);
    }
  }
  void Make(const Shape& shape) {
    transport.psn_scope = shape.per_vc ? PsnScope::kVc : PsnScope::kPort;
    params.ordering = shape.ordering;
    params.hold_down = std::chrono::milliseconds(50);
    own.emplace(uint16_t{1}, ConnectionMap(shape.planes, shape.sessions, transport.psn_scope),
                transport, params, SecretKey{1, 2});
    own->hello = {.psn_scope = static_cast<uint8_t>(transport.psn_scope),
                  .answers_planes = true,
                  .sends_generations = own->has_sessions,
                  .window_pdus = 16,
                  .pack_limit_bytes = 2048,
                  .receive_bytes = 4096,
                  .sessions = static_cast<uint16_t>(shape.sessions),
                  .hears_pauses = true};
    theirs = own->hello;
    theirs.identities.own = 0x7e;
    for (PlaneIndex plane = 0; plane < shape.planes; ++plane) {
      groups[plane].SetSlots(&slots[plane * kMaxSessions]);
      groups[plane].Begin(1, 1, now);
      own->session_numbers[plane] = 16384;
      paths.present |= static_cast<PlaneMask>(1u << plane);
      paths.SetWeight(plane, 1);
      own->SetPort(plane, true);
    }
    paths.resolving = shape.resolving;
    MakeNextPeer();
    peer.emplace(PeerParts{{.own = &*own,
                            .xpuid = 2,
                            .paths = &paths,
                            .sessions = sessions.data(),
                            .groups = groups.data(),
                            .connections = connections.data(),
                            .rates = shape.measures ? rates.data() : nullptr},
                           shape.plain});
    Effects effects;
    peer->Start(effects);
  }

  // State of the instance's next peer, which lies behind this peer's parts of the arrays: a plane
  // that is up and heard for long, and a connection that has carried PDUs both ways.
  void MakeNextPeer() {
    PlaneSession& session = sessions[own->map.plane_count()];
    session = {};
    session.NextGeneration();
    session.Begin(now);
    session.OnTimer(now, {.port_up = true}, params);
    PlaneHello asked;
    session.FillPlane(true, asked);
    session.OnPlane({.state = PlaneState::kInit,
                     .plane = 3,
                     .tx_generation = 1,
                     .rx_generation = session.tx_generation(),
                     .sequence = 1,
                     .heard = asked.sequence,
                     .has_heard = true},
                    now, params);
    session.OnProgress(now + std::chrono::hours(1));
    ASSERT_TRUE(session.up());
    Connection& one = connections[own->map.peer_connections()];
    one = {};
    one.rx().Open(Psn(4711));
    one.rx().Accept();
    Pdu pdu;
    PduList acked;
    one.tx().OnSend(&pdu, now, transport);
    one.tx().OnAck(pdu.psn, now, transport, acked);
    acked.PopFront();
    std::memcpy(next_session.data(), &session, sizeof(session));
    std::memcpy(next_connection.data(), &one, sizeof(one));
  }
  void ExpectNextPeerUntouched() const {
    const PlaneSession& session = sessions[own->map.plane_count()];
    const Connection& one = connections[own->map.peer_connections()];
    EXPECT_EQ(std::memcmp(next_session.data(), &session, sizeof(session)), 0);
    EXPECT_EQ(std::memcmp(next_connection.data(), &one, sizeof(one)), 0);
  }
  // Forgets all of it, before another Make.
  void Clear() {
    for (Connection& connection : connections) {
      PduList left;
      connection.tx().Abandon(left);
      connection = {};
    }
    paths = {};
    sessions = {};
    heard = {};
  }

  // Runs a call, holds the peer to its invariants and its timers, and returns its effects.
  template <typename Call>
  Lines Do(Call&& call, bool timers = false) {
    Effects effects;
    const Deadlines before = DeadlinesNow();
    call(effects);
    peer->CheckInvariants(transport);
    ExpectArmed(before, effects);
    ExpectNextPeerUntouched();
    said.clear();
    asked.clear();
    for (PeerEffect& one : effects.all()) {
      if (auto* say = std::get_if<effect::Send>(&one)) said.push_back(say->message);
      if (auto* from = std::get_if<effect::SendFrom>(&one)) {
        asked.push_back(std::get<SessionNumber>(from->message));
      }
      if (auto* probe = std::get_if<effect::ProbeLost>(&one)) {
        connections[probe->plane * own->map.path_connections() + probe->number]
            .tx()
            .probes()
            .OnSent(false);
      }
    }
    return Describe(effects, timers);
  }
  Lines Hears(PlaneIndex plane, ControlMessage message, ControlFacts facts = {}) {
    if (IdentitiesOf(message).own == 0) {
      IdentitiesOf(message) = {.own = theirs.identities.own,
                               .peer = peer->handshake().identities().own};
    }
    return Do([&](Effects& e) { peer->OnControl(plane, message, facts, now, e); });
  }
  // A HELLO of theirs, which answers ours and knows us.
  Hello Answer(bool reply_wanted = false) {
    Hello hello = theirs;
    hello.identities.peer = peer->handshake().identities().own;
    hello.nonce = ++nonce;
    hello.echo = peer->handshake().nonce();
    hello.first = {Psn(100), Psn(200), Psn(300), Psn(400)};
    hello.reply_wanted = reply_wanted;
    return hello;
  }
  // Both ends have agreed.
  void Associate() {
    Hello hello = Answer();
    hello.identities.peer = 0;
    Hears(0, hello);  // it learns of us by the answer
    Hears(0, Answer());
    ASSERT_TRUE(peer->handshake().associated());
  }
  // The other end's PLANE about a plane that it calls by the same number.
  PlaneHello PlaneOfTheirs(PlaneIndex plane, PlaneState state, bool reply_wanted = false) {
    PlaneHello hello{.state = state,
                     .plane = static_cast<uint8_t>(plane),
                     .tx_generation = 1,
                     .rx_generation = peer->session(plane).tx_generation(),
                     .sequence = ++sequence,
                     .heard = heard[plane],
                     .has_heard = heard[plane] != 0,
                     .reply_wanted = reply_wanted};
    hello.more.count = static_cast<uint8_t>((groups[plane].count() - 1) * own->map.vc_count());
    return hello;
  }
  // Asks on a plane, and is answered: it is up.
  Lines BringUp(PlaneIndex plane) {
    now = std::max(now, peer->session(plane).deadline());
    Do([&](Effects& e) { peer->probes().OnDeadline(plane, Hold::kNone, now, e); });
    NoteSaid(plane);
    return Hears(plane, PlaneOfTheirs(plane, PlaneState::kInit));
  }
  void NoteSaid(PlaneIndex plane) {
    for (const ControlMessage& message : said) {
      const auto* hello = std::get_if<PlaneHello>(&message);
      if (hello != nullptr && hello->plane == plane) heard[plane] = hello->sequence;
    }
  }
  void BringAllUp() {
    Associate();
    for (PlaneIndex plane = 0; plane < own->map.plane_count(); ++plane) {
      BringUp(plane);
      ASSERT_TRUE(peer->session(plane).up());
    }
  }
  // As the data path puts PDUs in flight.
  void Put(PlaneIndex plane, Vc vc, uint32_t count, SessionIndex slot = 0) {
    for (uint32_t i = 0; i < count; ++i) {
      Pdu& pdu = pdus.emplace_back();
      pdu.vc = static_cast<uint8_t>(vc);
      pdu.bytes = 100;
      pdu.sent_at = now;
      connections[own->map.At(0, plane, slot, vc)].tx().OnSend(&pdu, now, transport);
      paths.OnSend(plane, pdu.bytes);
      own->inflight_bytes[plane] += pdu.bytes;
      if (own->has_sessions && At(plane, own->map.Number(slot, vc)).in_flight().count() == 1)
        own->OnBusy(plane);
    }
  }
  const Connection& At(PlaneIndex plane, PathConnection number = 0) {
    return std::as_const(*peer).connection(plane, number);
  }
  // Each timer that goes off arms its next time.
  Lines SessionDue(PlaneIndex plane, Hold hold = Hold::kNone) {
    now = std::max(now, peer->session(plane).deadline());
    return Do([&](Effects& e) {
      peer->probes().OnDeadline(plane, hold, now, e);
      EXPECT_EQ(ArmedFor(e, effect::Timer::kSession, plane, 0), DeadlinesNow().sessions[plane]);
    });
  }
  Lines ConnectionDue(PlaneIndex plane, PathConnection number = 0, Hold hold = Hold::kNone) {
    now = std::max(now, At(plane, number).deadline());
    return Do([&](Effects& e) {
      peer->OnConnectionDeadline(plane, number, hold, now, e);
      EXPECT_EQ(ArmedFor(e, effect::Timer::kConnection, plane, number),
                At(plane, number).deadline());
    });
  }
  Lines HandshakeDue() {
    now = std::max(now, peer->handshake().deadline());
    return Do([&](Effects& e) {
      peer->association().OnDeadline(now, e);
      const std::optional<Time> armed = ArmedFor(e, effect::Timer::kHandshake, 0, 0);
      EXPECT_TRUE(armed.has_value() && *armed <= peer->handshake().deadline());
    });
  }
  Lines Weigh(PlaneIndex plane, uint32_t weight) {
    return Do([&](Effects& e) { peer->SetWeight(plane, weight, now, e); });
  }
  // The same deadline, at `now` and for what the routes want alone.
  Lines RoutesDue() {
    return Do([&](Effects& e) { peer->association().OnDeadline(now, e); });
  }
  struct Deadlines {
    Time handshake;
    std::array<Time, kMaxPlanes> sessions;  // and their groups
    std::array<Time, kMaxPeerConnections> connections;
  };
  Deadlines DeadlinesNow() const {
    Deadlines all{.handshake = peer->handshake().deadline()};
    for (PlaneIndex plane = 0; plane < own->map.plane_count(); ++plane) {
      all.sessions[plane] =
          std::min(peer->session(plane).deadline(), peer->group(plane).deadline());
    }
    for (ConnectionIndex i = 0; i < own->map.peer_connections(); ++i) {
      all.connections[i] = connections[i].deadline();
    }
    return all;
  }
  // When the timer goes off by the effects; nothing where they say nothing of it.
  static std::optional<Time> ArmedFor(Effects& effects, effect::Timer timer, PlaneIndex plane,
                                      PathConnection number) {
    std::optional<Time> due;
    for (PeerEffect& one : effects.all()) {
      const auto* arm = std::get_if<effect::Arm>(&one);
      if (arm == nullptr || arm->timer != timer || arm->plane != plane || arm->number != number)
        continue;
      due = arm->due;
    }
    return due;
  }
  static bool IsLookedAt(Effects& effects, effect::Timer timer, PlaneIndex plane,
                         PathConnection number) {
    for (PeerEffect& one : effects.all()) {
      const auto* check = std::get_if<effect::CheckConnection>(&one);
      if (check != nullptr && check->plane == plane && check->number == number) {
        return timer == effect::Timer::kConnection;
      }
    }
    return false;
  }
  // A timer goes off in time for a deadline that a call has brought forward, or the connection is
  // looked at as it is. (One that goes off early asks again.)
  void ExpectArmed(const Deadlines& before, Effects& effects) const {
    const Deadlines after = DeadlinesNow();
    const auto expect = [&](Time was, Time is, effect::Timer timer, PlaneIndex plane,
                            PathConnection number) {
      if (is >= was || IsLookedAt(effects, timer, plane, number)) return;
      const std::optional<Time> due = ArmedFor(effects, timer, plane, number);
      EXPECT_TRUE(due.has_value() && *due <= is)
          << "timer " << static_cast<int>(timer) << " " << plane << "/" << number;
    };
    expect(before.handshake, after.handshake, effect::Timer::kHandshake, 0, 0);
    for (PlaneIndex plane = 0; plane < own->map.plane_count(); ++plane) {
      expect(before.sessions[plane], after.sessions[plane], effect::Timer::kSession, plane, 0);
      for (PathConnection number = 0; number < own->map.path_connections(); ++number) {
        const ConnectionIndex i = own->map.At(0, plane, number);
        expect(before.connections[i], after.connections[i], effect::Timer::kConnection, plane,
               number);
      }
    }
  }
  template <typename T>
  const T* Said() const {
    for (const ControlMessage& message : said) {
      if (const T* one = std::get_if<T>(&message)) return one;
    }
    return nullptr;
  }

  TransportParams transport;
  PathParams params;
  std::optional<OwnEnd> own;
  PeerPaths paths;
  std::array<PlaneSession, kMaxPlanes + 1> sessions;
  std::array<SessionSlot, kMaxPlanes * kMaxSessions> slots;
  std::array<SessionGroup, kMaxPlanes> groups;
  std::array<Connection, kMaxPeerConnections + 1> connections;
  std::array<std::byte, sizeof(PlaneSession)> next_session;  // of MakeNextPeer
  std::array<std::byte, sizeof(Connection)> next_connection;
  std::array<PathRate, kMaxPlanes> rates;
  std::deque<Pdu> pdus;
  std::optional<Peer> peer;
  Hello theirs;
  std::vector<ControlMessage> said;  // by the last call
  std::vector<SessionNumber> asked;  // by the last call, with numbers of their own
  uint64_t nonce = 1000;
  uint32_t sequence = 0;
  std::array<uint32_t, kMaxPlanes> heard{};
  Time now = TimeFromNs(1'000'000'000);
};

}  // namespace suede

#endif  // SUEDE_TESTS_PEER_PEER_BENCH_H_
