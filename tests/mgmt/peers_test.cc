// SPDX-License-Identifier: Apache-2.0
// Methods that name a peer: their answers on an unknown peer, and asking whether a peer is there.
#include <gtest/gtest.h>

#include "bench.h"

namespace suede {
namespace {

class PeerMethodsTest : public testing::Test {
 protected:
  Json Result(const std::string& method, const std::string& params) {
    return client_.Result(method, params);
  }
  std::string Message(const std::string& method, const std::string& params) {
    const Json answer = Result(method, params);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>()
                                    : "no error: " + Dump(answer);
  }

  ManagementBench bench_;
  FakeEndpoint& endpoint_ = bench_.endpoint;
  TestClient client_{bench_};
};

TEST_F(PeerMethodsTest, OneThatIsNoneIsToldWithThoseThatAre) {
  const std::string want = "no peer with XPU id 9; peers are: 4, 5";
  EXPECT_EQ(Message("connections.list", R"({"peer":9})"), want);
  EXPECT_EQ(Message("planes.peers", R"({"peer":9})"), want);
  EXPECT_EQ(Message("planes.set_weight", R"([3,1,1,7,9])"), want);
  EXPECT_EQ(Message("peers.ping", R"({"peer":9})"), want);
  EXPECT_EQ(ErrorOf(Result("peers.ping", R"([9])")), static_cast<int>(RpcCode::kNotFound));
  EXPECT_EQ(endpoint_.weight_of_peer, 0u);
  EXPECT_EQ(endpoint_.pings, 0);
}

TEST_F(PeerMethodsTest, ManyPeersAreNotAllNamed) {
  endpoint_.further_peers = 100;
  const std::string text = Message("connections.list", R"({"peer":9})");
  EXPECT_TRUE(text.starts_with("no peer with XPU id 9; peers are: 4, 5, 100, 101")) << text;
  EXPECT_TRUE(text.ends_with(", 113 and 86 more (peers.list)")) << text;
}

TEST_F(PeerMethodsTest, PingSaysHowSoonItAnswered) {
  EXPECT_EQ(Dump(Result("peers.ping", R"({"peer":4})")),
            R"({"xpu":3,"instance":1,"peer":4,"planes":[{"plane":0,"port":"p0",)"
            R"("state":"answered","rtt_us":12.3,"disagrees":null,"own":null,"theirs":null}]})");
  EXPECT_TRUE(bench_.log.empty()) << "nothing is changed";
  EXPECT_EQ(ErrorOf(Result("peers.ping", R"({"peer":4,"plane":3})")),
            static_cast<int>(RpcCode::kNotFound));
  for (const char* wrong : {"{}", R"({"peer":1024})", R"({"peer":4,"timeout_ms":1001})",
                            R"({"peer":4,"timeout_ms":0})"}) {
    EXPECT_EQ(ErrorOf(Result("peers.ping", wrong)), static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

TEST_F(PeerMethodsTest, PingSaysWhatDoesNotAgree) {
  endpoint_.pong.disagrees = "transport.psn_scope";
  endpoint_.pong.own = "port";
  endpoint_.pong.theirs = "vc";
  const Json plane = Result("peers.ping", R"({"peer":5,"xpu":1,"instance":2})")["planes"][0];
  EXPECT_EQ(plane["disagrees"], "transport.psn_scope");
  EXPECT_EQ(plane["own"], "port");
  EXPECT_EQ(plane["theirs"], "vc");
}

TEST_F(PeerMethodsTest, PingEndsWhenItsTimeIsOver) {
  endpoint_.pong_never = true;
  const auto begun = std::chrono::steady_clock::now();
  const Json plane = Result("peers.ping", R"({"peer":4,"timeout_ms":50})")["planes"][0];
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(49));
  EXPECT_EQ(plane["state"], "no_answer");
  EXPECT_EQ(plane["rtt_us"], nullptr);
}

TEST_F(PeerMethodsTest, ProbesOfAPathAreListedWithTheirReports) {
  endpoint_.path_probe = {.session = 7,
                          .sent_ns = 5,
                          .answered = true,
                          .copies = 1,
                          .received_ns = 9,
                          .order = 0,
                          .bytes = 60,
                          .there = MarksView{.dscp = 4, .ecn = 1, .hops = 63}};
  const Json view = Result("peers.probe_path", R"({"peer":4,"count":2,"dscp":4,"class":1})");
  EXPECT_EQ(view["state"], "done");
  EXPECT_EQ(view["plane"], 0);
  EXPECT_EQ(Dump(view["sent"]), R"({"dscp":4,"ecn":null,"hops":null,"vid":null,"pcp":null})");
  ASSERT_EQ(view["probes"].size(), 2u);
  EXPECT_EQ(view["probes"][0]["order"], 0) << "a number, though it is 0";
  EXPECT_EQ(Dump(view["probes"][0]["there"]),
            R"({"dscp":4,"ecn":1,"hops":63,"vid":null,"pcp":null})");
  EXPECT_EQ(view["probes"][1]["order"], nullptr);
  EXPECT_EQ(view["drops"], nullptr);
}

TEST_F(PeerMethodsTest, ARunOfProbesIsBounded) {
  EXPECT_EQ(ErrorOf(Result("peers.probe_path", R"({"peer":4,"plane":3})")),
            static_cast<int>(RpcCode::kNotFound));
  for (const char* wrong :
       {"{}", R"({"peer":4,"count":1025})", R"({"peer":4,"class":5})", R"({"peer":4,"to":"all"})",
        R"({"peer":4,"count":1000,"interval_us":100000})", R"({"peer":4,"sessions":65})",
        R"({"peer":4,"ecn":4})", R"({"peer":4,"hop_limit":0})",
        R"({"peer":4,"pause":true,"count":51})"}) {
    EXPECT_EQ(ErrorOf(Result("peers.probe_path", wrong)), static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

// The control thread goes on while somebody waits.
TEST_F(PeerMethodsTest, PingHoldsUpNobodyElse) {
  endpoint_.pong_never = true;
  ASSERT_TRUE(client_.Send(R"({"jsonrpc":"2.0","id":1,"method":"peers.ping","params":[4]})"
                           "\n"));
  TestClient other{bench_};
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(ErrorOf(other.Result("version")), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(500));
  EXPECT_TRUE(client_.ReadLine().has_value());
}

}  // namespace
}  // namespace suede
