// SPDX-License-Identifier: Apache-2.0
#include "path/connection_map.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

// Every place of every shape, from its coordinates and back.
TEST(ConnectionMap, EachConnectionHasAPlaceOfItsOwnInOrder) {
  for (const PsnScope scope : {PsnScope::kPort, PsnScope::kVc}) {
    const uint32_t vcs = scope == PsnScope::kVc ? kVcCount : 1;
    for (const uint32_t planes : {1u, 2u, 4u}) {
      for (const uint32_t sessions : {1u, 2u, 4u}) {
        SCOPED_TRACE(testing::Message() << planes << " planes, " << sessions << " sessions");
        const ConnectionMap map(planes, sessions, scope);
        EXPECT_EQ(map.plane_count(), planes);
        EXPECT_EQ(map.session_count(), sessions);
        EXPECT_EQ(map.vc_count(), vcs);
        EXPECT_EQ(map.path_connections(), sessions * vcs);
        EXPECT_EQ(map.peer_connections(), planes * sessions * vcs);
        EXPECT_EQ(map.has_planes(), planes > 1);
        EXPECT_EQ(map.has_groups(), sessions > 1);
        EXPECT_EQ(map.is_per_vc(), vcs > 1);
        EXPECT_EQ(map.PerPlane(64), 64 / planes);
        uint32_t next = 0;
        uint32_t next_session = 0;
        for (uint32_t peer = 0; peer < 3; ++peer) {
          for (uint32_t plane = 0; plane < planes; ++plane) {
            const PathIndex path = map.PathAt(PeerIndex(peer), PlaneIndex(plane));
            EXPECT_EQ(path, peer * planes + plane);
            EXPECT_EQ(map.PeerOf(path), peer);
            EXPECT_EQ(map.PlaneOf(path), plane);
            for (uint32_t session = 0; session < sessions; ++session) {
              EXPECT_EQ(map.SessionAt(path, SessionIndex(session)), next_session);
              for (uint32_t vc = 0; vc < vcs; ++vc) {
                const ConnectionIndex at =
                    map.At(PeerIndex(peer), PlaneIndex(plane), SessionIndex(session), Vc(vc));
                EXPECT_EQ(at, next++);
                EXPECT_EQ(map.PathOf(at), path);
                EXPECT_EQ(map.PeerOf(at), peer);
                EXPECT_EQ(map.PlaneOf(at), plane);
                EXPECT_EQ(map.SessionOf(at), session);
                EXPECT_EQ(map.VcOf(at), vc);
                EXPECT_EQ(map.SessionAt(at), next_session);
                EXPECT_EQ(map.NumberAtPeer(at), at - peer * map.peer_connections());
                const PathConnection number = map.NumberOf(at);
                EXPECT_EQ(number, session * vcs + vc);
                EXPECT_EQ(map.SessionOf(number), session);
                EXPECT_EQ(map.VcOf(number), vc);
                EXPECT_EQ(map.VcsOf(number), vcs > 1 ? 1u << vc : 0xfu);
                EXPECT_EQ(map.VcsOf(at), map.VcsOf(number));
              }
              ++next_session;
            }
          }
        }
        for (Vc vc = 0; vc < kVcCount; ++vc) {
          EXPECT_EQ(map.KeyOf(vc), vcs > 1 ? uint32_t{vc} : 0);
          EXPECT_EQ(map.VcsWith(vc), vcs > 1 ? 1u << vc : 0xfu);
        }
      }
    }
  }
}

}  // namespace
}  // namespace suede
