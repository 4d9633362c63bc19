// SPDX-License-Identifier: Apache-2.0
// Methods of planes: their parameters, answers and refusals.
#include <gtest/gtest.h>

#include "bench.h"

namespace suede {
namespace {

class PlaneMethodsTest : public testing::Test {
 protected:
  Json Result(const std::string& method, const std::string& params = "{}") {
    return client_.Result(method, params);
  }
  int Error(const std::string& method, const std::string& params) {
    return ErrorOf(Result(method, params));
  }

  ManagementBench bench_;
  FakeEndpoint& endpoint_ = bench_.endpoint;
  TestClient client_{bench_};
};

TEST_F(PlaneMethodsTest, ListHasARowForEach) {
  EXPECT_EQ(Dump(Result("planes.list")),
            R"({"planes":[{"xpu":3,"instance":1,"plane":1,"port":"p0","admin":"up","link":"up",)"
            R"("state":"up","weight":400,"peers_up":6,"peers_down":2,"peers_slow":1,"inflight_bytes":999}]})");
  endpoint_.port_up = false;
  EXPECT_EQ(Result("planes.list")["planes"][0]["state"], "down");
  EXPECT_EQ(Result("planes.list")["planes"][0]["admin"], "up");
}

TEST_F(PlaneMethodsTest, PeersHaveWhatTheSessionKnows) {
  EXPECT_EQ(
      Dump(Result("planes.peers")),
      R"({"peers":[{"xpu":3,"instance":1,"peer":4,"plane":1,"peer_plane":null,"state":"up",)"
      R"("usable":true,"home":false,"home_vcs":[],"fencing":false,"tx_generation":5,)"
      R"("rx_generation":65535,"weight":100,"measured_percent":48,"measured_bits_per_second":12000000000,"inflight_bytes":77,"heard_ago_us":null,)"
      R"("held_us":0.0,"deaths":2},)"
      R"({"xpu":3,"instance":1,"peer":9,"plane":0,"peer_plane":3,"state":"down",)"
      R"("usable":false,"home":true,"home_vcs":[0,3],"fencing":true,"tx_generation":0,"rx_generation":0,)"
      R"("weight":0,"measured_percent":null,"measured_bits_per_second":null,"inflight_bytes":0,"heard_ago_us":1.5,"held_us":2000.0,"deaths":0}],)"
      R"("more":false})");
}

TEST_F(PlaneMethodsTest, PeersAreSought) {
  const Json found = Result("planes.peers", R"({"xpu":7,"instance":6,"peer":5,"plane":3})");
  EXPECT_EQ(found["peers"][0]["xpu"], 7);
  EXPECT_EQ(found["peers"][0]["instance"], 6);
  EXPECT_EQ(found["peers"][0]["peer"], 5);
  EXPECT_EQ(found["peers"][0]["plane"], 3);
  EXPECT_EQ(Result("planes.peers", R"({"limit":1})")["more"], true);
  for (const char* wrong : {R"({"plane":4})", R"({"peer":1024})", R"({"limit":0})"}) {
    EXPECT_EQ(Error("planes.peers", wrong), static_cast<int>(RpcCode::kInvalidParams)) << wrong;
  }
}

TEST_F(PlaneMethodsTest, AdminIsUpDrainOrDown) {
  for (const PlaneSetting setting :
       {PlaneSetting::kDown, PlaneSetting::kDrain, PlaneSetting::kUp}) {
    const std::string name(NameOf(setting));
    EXPECT_EQ(Dump(Result("planes.set_admin", R"([3,1,1,")" + name + R"("])")),
              R"({"xpu":3,"instance":1,"plane":1,"admin":")" + name + R"("})");
    EXPECT_EQ(endpoint_.plane, setting);
    EXPECT_EQ(Result("planes.list")["planes"][0]["admin"], name);
  }
  EXPECT_EQ(bench_.log.size(), 3u) << "who changed what is logged";
  EXPECT_EQ(Error("planes.set_admin", R"([3,1,0,"up"])"), static_cast<int>(RpcCode::kNotFound));
  for (const char* wrong : {R"([3,1,1])", R"([3,1,1,"maybe"])", R"([3,1,4,"up"])"}) {
    EXPECT_EQ(Error("planes.set_admin", wrong), static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

TEST_F(PlaneMethodsTest, WeightsAreOfOnePeerOrOfAll) {
  EXPECT_EQ(Dump(Result("planes.set_weight", R"([3,1,1,65535])")),
            R"({"xpu":3,"instance":1,"plane":1,"peer":null,"weight":65535})");
  EXPECT_EQ(endpoint_.weight, 65535u);
  EXPECT_EQ(endpoint_.weight_of_peer, 0u);
  EXPECT_EQ(Dump(Result("planes.set_weight", R"([3,1,1,1,5])")),
            R"({"xpu":3,"instance":1,"plane":1,"peer":5,"weight":1})");
  EXPECT_EQ(endpoint_.weight_of_peer, 1u);
  EXPECT_EQ(Dump(Result("planes.set_weight", "[3,1,1,0,5]")),
            R"({"xpu":3,"instance":1,"plane":1,"peer":5,"weight":0})");
  EXPECT_EQ(endpoint_.weight_of_peer, 0u) << "it has no route";
  EXPECT_EQ(Dump(Result("planes.set_weight", R"([3,1,1,"default"])")),
            R"({"xpu":3,"instance":1,"plane":1,"peer":null,"weight":400})");
  EXPECT_EQ(endpoint_.weight, 400u);
  EXPECT_EQ(Error("planes.set_weight", "[3,1,2,1]"), static_cast<int>(RpcCode::kNotFound));
  for (const char* wrong : {"[3,1,1]", "[3,1,1,0]", "[3,1,1,65536]", "[3,1,1,1,1024]", R"([3,1,1,"usual"])",
                            R"([3,1,1,1,"default"])"}) {
    EXPECT_EQ(Error("planes.set_weight", wrong), static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

TEST_F(PlaneMethodsTest, DrainAnswersWhenNothingIsInFlight) {
  EXPECT_EQ(Dump(Result("planes.drain", "[3,1,1]")),
            R"({"xpu":3,"instance":1,"plane":1,"drained":true,"inflight_bytes":0})");
  EXPECT_EQ(endpoint_.plane, PlaneSetting::kDrain) << "it stays so";
  EXPECT_EQ(Error("planes.drain", "[3,1,0]"), static_cast<int>(RpcCode::kNotFound));
  EXPECT_EQ(Error("planes.drain", "[3,1,1,61]"), static_cast<int>(RpcCode::kInvalidParams));
}

TEST_F(PlaneMethodsTest, DrainSaysWhatIsLeftWhenTheTimeIsOver) {
  endpoint_.drains_planes = false;
  EXPECT_EQ(Dump(Result("planes.drain", R"({"xpu":3,"instance":1,"plane":1,"seconds":0})")),
            R"({"xpu":3,"instance":1,"plane":1,"drained":false,"inflight_bytes":999})");
}

TEST_F(PlaneMethodsTest, DrainEndsWhenThePlaneIsSetOtherwise) {
  endpoint_.drains_planes = false;
  ASSERT_TRUE(client_.Send(
      R"({"jsonrpc":"2.0","id":1,"method":"planes.drain","params":[3,1,1]})"
      "\n"));
  ASSERT_TRUE(bench_.Until([&] { return endpoint_.plane == PlaneSetting::kDrain; }));
  TestClient other(bench_);
  EXPECT_EQ(other.Result("planes.set_admin", R"([3,1,1,"up"])")["admin"], "up");
  const Json answer = TryParse<Json>(client_.ReadLine().value_or("")).value_or(Json());
  EXPECT_EQ(ErrorOf(answer), static_cast<int>(RpcCode::kNotNow)) << answer;
}

}  // namespace
}  // namespace suede
