// SPDX-License-Identifier: Apache-2.0
// Two sessions of a plane that talk by hand.
#ifndef SUEDE_TESTS_PATH_PLANE_SESSION_FIXTURE_H_
#define SUEDE_TESTS_PATH_PLANE_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include "path/plane_session.h"

namespace suede {

class PlaneSessionTest : public ::testing::Test {
 protected:
  using Want = PlaneSession::Want;

  PlaneSessionTest() {
    using std::chrono::milliseconds;
    params.hello_interval = milliseconds(1);
    params.hello_multiplier = 3;
    params.hello_idle = milliseconds(100);
    params.hold_down = milliseconds(50);
    params.hold_down_max = milliseconds(150);
    SetUpSessions();
  }
  void SetUpSessions() {
    for (PlaneSession* session : {&ours, &theirs}) {
      session->NextGeneration();
      session->Begin(now);
    }
  }
  Want Tick(PlaneSession& session, Duration later) {
    now += later;
    return session.OnTimer(now, facts, params);
  }
  // A PLANE from one to the other.
  PlaneSession::OnPlaneResult Say(PlaneSession& from, PlaneSession& to, bool wants_reply) {
    PlaneHello hello;
    from.FillPlane(wants_reply, hello);
    return to.OnPlane(hello, now, params);
  }
  PlaneSession::OnPlaneResult Ask(PlaneSession& from, PlaneSession& to) {
    Say(from, to, true);
    return Say(to, from, false);
  }
  void BringUp() {
    EXPECT_EQ(Tick(ours, {}), Want::kPlane);
    EXPECT_EQ(Tick(theirs, {}), Want::kPlane);
    Ask(ours, theirs);
    Ask(theirs, ours);
    ASSERT_TRUE(ours.up());
    ASSERT_TRUE(theirs.up());
  }

  PathParams params;
  PlaneSession ours, theirs;
  PlaneSession::Facts facts{.port_up = true, .in_flight = true};
  Time now = TimeFromNs(1'000'000'000);
};

}  // namespace suede

#endif  // SUEDE_TESTS_PATH_PLANE_SESSION_FIXTURE_H_
