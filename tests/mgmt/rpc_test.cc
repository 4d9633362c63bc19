// SPDX-License-Identifier: Apache-2.0
// Requests and answers: the rules of JSON-RPC, each error code, and the methods' answers.
#include "mgmt/rpc.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench.h"

namespace suede {
namespace {

class RpcTest : public testing::Test {
 protected:
  ManagementBench bench_;
  TestClient client_{bench_};
};

TEST_F(RpcTest, GreetsWithVersionsAndName) {
  EXPECT_EQ(client_.greeting, R"({"suede":"1.2.3","protocol":1,"name":"left"})");
}

TEST_F(RpcTest, AnswersWithTheIdOfTheRequest) {
  for (const char* id : {"1", "-7", "1.5", R"("a\"b")", "null"}) {
    const Json answer = client_.Ask(std::string(R"({"jsonrpc":"2.0","id":)") + id +
                                    R"(,"method":"log.get_level"})");
    EXPECT_EQ(Dump(answer),
              std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"result":{"level":"info"}})");
  }
}

struct Wrong {
  const char* line;
  RpcCode code;
  const char* says;
};

constexpr Wrong kWrong[] = {
    {"nonsense", RpcCode::kParseError, "JSON"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version")", RpcCode::kParseError, "JSON"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version"} {})", RpcCode::kParseError, "JSON"},
    {"\"\xff\xfe\"", RpcCode::kParseError, "UTF-8"},
    {R"({"jsonrpc":"2.0","id":1e999,"method":"version"})", RpcCode::kParseError, "JSON"},
    {"1", RpcCode::kInvalidRequest, "object"},
    {"[]", RpcCode::kInvalidRequest, "batch of no requests"},
    {R"({"id":1,"method":"version"})", RpcCode::kInvalidRequest, "jsonrpc"},
    {R"({"jsonrpc":2.0,"id":1,"method":"version"})", RpcCode::kInvalidRequest, "jsonrpc"},
    {R"({"jsonrpc":"1.0","method":"version"})", RpcCode::kInvalidRequest, "jsonrpc"},
    {R"({"jsonrpc":"2.0","id":1})", RpcCode::kInvalidRequest, "method"},
    {R"({"jsonrpc":"2.0","id":1,"method":7})", RpcCode::kInvalidRequest, "method"},
    {R"({"jsonrpc":"2.0","id":[1],"method":"version"})", RpcCode::kInvalidRequest, "id"},
    {R"({"jsonrpc":"2.0","id":true,"method":"version"})", RpcCode::kInvalidRequest, "id"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","parms":{}})", RpcCode::kInvalidRequest,
     "parms"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","":{}})", RpcCode::kInvalidRequest, "member"},
    {R"({"jsonrpc":"2.0","id":1,"method":"versions"})", RpcCode::kMethodNotFound, "rpc.describe"},
    {R"({"jsonrpc":"2.0","id":1,"method":""})", RpcCode::kMethodNotFound, "rpc.describe"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","params":null})", RpcCode::kInvalidParams,
     "params"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","params":"x"})", RpcCode::kInvalidParams,
     "params"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","params":[1]})", RpcCode::kInvalidParams,
     "more parameters"},
    {R"({"jsonrpc":"2.0","id":1,"method":"version","params":{"x":1}})", RpcCode::kInvalidParams,
     "x: no such parameter; there are none"},
    {R"({"jsonrpc":"2.0","id":1,"method":"log.set_level"})", RpcCode::kInvalidParams,
     "level: is missing; use debug, info, warning or error"},
    {R"({"jsonrpc":"2.0","id":1,"method":"log.set_level","params":{"level":"loud"}})",
     RpcCode::kInvalidParams, "level: "},
    {R"({"jsonrpc":"2.0","id":1,"method":"log.set_level","params":{"level":3}})",
     RpcCode::kInvalidParams, "level: is no text"},
    {R"({"jsonrpc":"2.0","id":1,"method":"counters.get","params":{"nonzero_only":1}})",
     RpcCode::kInvalidParams, "nonzero_only: is no boolean; use true or false"},
    {R"({"jsonrpc":"2.0","id":1,"method":"counters.get","params":{"nonzero":true}})",
     RpcCode::kInvalidParams, "nonzero: no such parameter; use scope, nonzero_only"},
};

TEST_F(RpcTest, EachErrorHasItsCodeAndSaysWhatToDo) {
  for (const Wrong& wrong : kWrong) {
    const Json answer = client_.Ask(wrong.line);
    ASSERT_EQ(ErrorOf(answer), static_cast<int>(wrong.code)) << wrong.line << "\n" << answer;
    const auto message = answer["error"]["message"].get<std::string>();
    EXPECT_NE(message.find(wrong.says), std::string::npos) << wrong.line << "\n" << message;
  }
  EXPECT_EQ(bench_.server->counters().requests_failed, std::size(kWrong));
  // The connection is as good as before.
  EXPECT_EQ(client_.Result("log.get_level")["level"], "info");
}

TEST_F(RpcTest, TheBlamedParameterIsNamed) {
  const Json answer =
      client_.Ask(R"({"jsonrpc":"2.0","id":1,"method":"counters.get","params":{"scope":"world"}})");
  EXPECT_EQ(answer["error"]["data"]["parameter"], "scope") << answer;
}

TEST_F(RpcTest, WhatNestsTooDeepIsRefusedBeforeItIsParsed) {
  const std::string deep(20000, '[');
  EXPECT_EQ(ErrorOf(client_.Ask(deep)), static_cast<int>(RpcCode::kInvalidRequest));
  // Brackets in a text are none.
  EXPECT_EQ(ErrorOf(client_.Ask("\"" + deep + "\\\"" + deep + "\"")),
            static_cast<int>(RpcCode::kInvalidRequest));
}

TEST_F(RpcTest, NotificationsAreCarriedOutAndNotAnswered) {
  client_.Send(R"({"jsonrpc":"2.0","method":"log.set_level","params":{"level":"error"}})"
               "\n"
               R"({"jsonrpc":"2.0","method":"no.such"})"
               "\n"
               R"({"jsonrpc":"2.0","method":"log.set_level","params":{}})"
               "\n");
  const Json answer = client_.Ask(R"({"jsonrpc":"2.0","id":9,"method":"log.get_level"})");
  EXPECT_EQ(answer["id"], 9) << "and not an answer to one of the notifications";
  EXPECT_EQ(answer["result"]["level"], "error");
}

TEST_F(RpcTest, BatchesAreAnsweredInOrder) {
  const Json answer =
      client_.Ask(R"([{"jsonrpc":"2.0","id":"a","method":"log.set_level","params":["debug"]},)"
                  R"({"jsonrpc":"2.0","method":"drain"},)"
                  R"(7,)"
                  R"({"jsonrpc":"2.0","id":"b","method":"no.such"},)"
                  R"({"jsonrpc":"2.0","id":"c","method":"log.get_level"}])");
  ASSERT_TRUE(answer.is_array()) << answer;
  ASSERT_EQ(answer.size(), 4u) << answer;
  EXPECT_EQ(answer[0]["id"], "a");
  EXPECT_EQ(ErrorOf(answer[1]), static_cast<int>(RpcCode::kInvalidRequest));
  EXPECT_EQ(ErrorOf(answer[2]), static_cast<int>(RpcCode::kMethodNotFound));
  EXPECT_EQ(answer[3]["result"]["level"], "debug");
  EXPECT_EQ(bench_.endpoint.drains, 1);
}

TEST_F(RpcTest, ABatchOfNotificationsHasNoAnswer) {
  client_.Send(R"([{"jsonrpc":"2.0","method":"drain"},{"jsonrpc":"2.0","method":"version"}])"
               "\n");
  EXPECT_EQ(client_.Result("log.get_level")["level"], "info");
  EXPECT_EQ(bench_.endpoint.drains, 1);
}

TEST_F(RpcTest, ABatchIsBounded) {
  std::string batch = "[";
  for (size_t i = 0; i < kMaxBatch; ++i) {
    batch += R"({"jsonrpc":"2.0","id":1,"method":"version"},)";
  }
  batch.back() = ']';
  EXPECT_EQ(client_.Ask(batch).size(), kMaxBatch);
  batch.back() = ',';
  EXPECT_EQ(ErrorOf(client_.Ask(batch + "1]")), static_cast<int>(RpcCode::kInvalidRequest));
}

TEST_F(RpcTest, Lists) {
  EXPECT_EQ(client_.Result("version")["suede"], "1.2.3");
  EXPECT_EQ(client_.Result("config.get")["yaml"], "version: 1\nname: left\n");
  EXPECT_EQ(client_.Result("instances.list")["instances"][0]["lcore"], 5);
  const Json port = client_.Result("ports.list")["ports"][0];
  EXPECT_EQ(port["pool_free"], 90);
  EXPECT_EQ(port["lcores"], (Json{5, 7}));
  EXPECT_EQ(port["queue_pairs"], 2);
  EXPECT_EQ(port["steering"], "rules");
  EXPECT_TRUE(port["speed_bps"].is_null());
  const Json peers = client_.Result("peers.list")["peers"];
  EXPECT_EQ(peers[0]["mac"], "02:00:00:00:00:02");
  EXPECT_EQ(peers[0]["resolving"], false);
  EXPECT_EQ(peers[0]["name"], "gpu4");
  EXPECT_EQ(peers[1]["mac"], "");
  EXPECT_EQ(peers[1]["resolving"], true);
  EXPECT_EQ(client_.Result("clients.list")["clients"][0]["state"], "open");
  const Json windows = client_.Result("windows.list")["windows"];
  EXPECT_EQ(windows[0]["rights"], "read,write");
  EXPECT_EQ(windows[0]["partition"], nullptr);
  EXPECT_EQ(windows[1]["served_by"], "program");
}

TEST_F(RpcTest, ConnectionsComeFromTheLcores) {
  const Json result = client_.Result("connections.list");
  ASSERT_EQ(result["connections"].size(), 1u) << result;
  EXPECT_EQ(result["more"], false);
  const Json& one = result["connections"][0];
  EXPECT_EQ(one["peer"], 4);
  EXPECT_TRUE(one["vc"].is_null());
  EXPECT_EQ(one["srtt_us"], 1.5);
  const Json other = client_.Result("connections.list", R"({"peer":5,"unused":true,"limit":1})");
  EXPECT_EQ(other["connections"][0]["peer"], 5);
  EXPECT_EQ(other["connections"][0]["vc"], 2);
  EXPECT_EQ(other["more"], true);
}

TEST_F(RpcTest, CapturesAreListedAndEnded) {
  EXPECT_EQ(Dump(client_.Result("capture.list")), R"({"captures":[]})");
  bench_.endpoint.captured = Fd(open("/dev/null", O_WRONLY));
  EXPECT_EQ(Dump(client_.Result("capture.list")),
            R"({"captures":[{"port":"p0","drops":false,"written":3,"dropped":0}]})");
  EXPECT_EQ(Dump(client_.Result("capture.stop", R"({"port":"p0"})")),
            R"({"port":"p0","drops":false,"written":5,"dropped":1})");
}

TEST_F(RpcTest, Recordings) {
  EXPECT_EQ(Dump(client_.Result("record.read", R"({"since":5})")),
            R"({"header":"a,b","csv":"1,2\n","next":9,"lost":3})");
  // Without `since` from the newest sample on.
  EXPECT_EQ(Dump(client_.Result("record.read")),
            R"({"header":"a,b","csv":"1,2\n","next":9,"lost":1})");
  const auto error = [this](const std::string& params) {
    return client_.Ask(R"({"jsonrpc":"2.0","id":1,"method":"record.read","params":)" + params +
                       "}")["error"];
  };
  EXPECT_EQ(error(R"({"since":8})")["message"],
            "since: the newest sample is 7; the daemon has started anew since then, so leave it "
            "out");
  EXPECT_EQ(error(R"({"interval_us":999})")["code"], -32002);
}

TEST_F(RpcTest, Counters) {
  EXPECT_EQ(Dump(client_.Result("counters.get")),
            R"({"scope":"total","sets":[{"counters":{"a_total":10,"b_total":0}}]})");
  EXPECT_EQ(Dump(client_.Result("counters.get", R"({"scope":"instance","nonzero_only":true})")),
            R"({"scope":"instance","sets":[{"of":"0.0","counters":{"a_total":10}},)"
            R"({"of":"1.0","counters":{"a_total":10}}]})");
}

TEST_F(RpcTest, DeltasAreOfTheConnectionAndTheScope) {
  TestClient other(bench_);
  const auto grown = [](TestClient& client, const char* scope) {
    const Json result =
        client.Result("counters.delta", std::string(R"({"scope":")") + scope + "\"}");
    return std::pair(result["sets"][0]["counters"]["a_total"].get<uint64_t>(),
                     result["seconds"].is_null());
  };
  EXPECT_EQ(grown(client_, "total"), std::pair(uint64_t{10}, true));
  bench_.endpoint.counter = 15;
  EXPECT_EQ(grown(client_, "total"), std::pair(uint64_t{5}, false));
  EXPECT_EQ(grown(client_, "instance"), std::pair(uint64_t{15}, true));
  EXPECT_EQ(grown(other, "total"), std::pair(uint64_t{15}, true));
  EXPECT_EQ(grown(client_, "total"), std::pair(uint64_t{0}, false));
}

TEST_F(RpcTest, WhatChangesSomethingIsLoggedWithWhoDidIt) {
  EXPECT_EQ(client_.Result("log.set_level", R"({"level":"warning"})")["level"], "warning");
  EXPECT_EQ(client_.Result("drain")["began"], true);
  EXPECT_EQ(client_.Result("drain")["began"], false);
  client_.Result("version");
  ASSERT_EQ(bench_.log.size(), 3u);
  EXPECT_NE(bench_.log[0].find("log.set_level by pid=" + std::to_string(getpid())),
            std::string::npos)
      << bench_.log[0];
}

TEST_F(RpcTest, DescribesItself) {
  const Json result = client_.Result("rpc.describe");
  std::set<std::string> names;
  for (const Json& method : result["methods"]) {
    names.insert(method["name"].get<std::string>());
    for (const char* key : {"sentence", "result"}) {
      EXPECT_FALSE(method[key].get<std::string>().empty()) << method;
    }
  }
  EXPECT_EQ(names.size(), EndpointCatalog().methods().size()) << "no name twice";
  const Json get = Describe(*EndpointCatalog().Find("counters.get"));
  EXPECT_EQ(get["params"][0]["default"], "total");
  EXPECT_EQ(get["params"][0]["choices"].size(), 4u);
  EXPECT_EQ(get["params"][1]["default"], false);
}

}  // namespace
}  // namespace suede
