// SPDX-License-Identifier: Apache-2.0
// A switch behind the management socket: its methods, and those that it shares with an endpoint.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench.h"
#include "fake_switch.h"
#include "schema.h"

namespace suede {
namespace {

class SwitchAnswersTest : public testing::Test {
 protected:
  Json Call(const std::string& method, const std::string& params = "{}", bool with_file = false) {
    const std::string path = bench_.directory / "file";
    Fd file(with_file ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1);
    const Json answer = client_.Ask(
        R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}",
        file.get());
    EXPECT_TRUE(answer.contains("result")) << method << ": " << answer;
    if (!answer.contains("result")) return answer;
    const Json schema = Describe(*SwitchCatalog().Find(method))["result_schema"];
    EXPECT_EQ(Violation(schema, answer["result"]), "") << method << ": " << answer;
    called_.insert(method);
    return answer["result"];
  }
  std::string Refusal(const std::string& method, const std::string& params) {
    const Json answer = client_.Result(method, params);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
  }

  FakeSwitch switch_;
  ManagementBench bench_{nullptr, &SwitchCatalog(), &switch_};
  TestClient client_{bench_};
  std::set<std::string> called_;
};

TEST_F(SwitchAnswersTest, OfEveryMethodAreAsDeclared) {
  for (const char* method :
       {"rpc.describe", "version", "config.get", "ports.list", "log.get_level", "counters.get",
        "counters.delta", "links.list", "capture.list", "events.list", "queues.list",
        "queues.reset", "buffer.show", "addresses.list", "addresses.flush", "groups.list",
        "impair.list", "lldp.list"}) {
    Call(method);
  }
  Call("log.set_level", R"(["debug"])");
  Call("capture.start", R"(["p0"])", /*with_file=*/true);
  Call("capture.stop", R"({"port":"p0","drops":true})");
  Call("events.wait", R"({"seconds":0})");
  Call("ports.set_admin", R"(["p0", "down"])");
  EXPECT_FALSE(switch_.port_up);
  Call("addresses.list", R"({"limit":1})");
  Call("addresses.add", R"(["02:00:00:00:00:01", "p0"])");
  EXPECT_EQ(Refusal("addresses.remove", R"(["02:00:00:00:00:01"])"), "there is none");
  called_.insert("addresses.remove");
  EXPECT_EQ(Call("groups.set_weight", R"(["spines", "p0", 7])")["weight"], 7);
  EXPECT_EQ(Refusal("groups.set_weight", R"(["leaves", "p0", 7])"), "no such group");
  EXPECT_NE(Refusal("groups.set_weight", R"(["spines", "p0", 256])"), "");
  Call("impair.set", R"({"port":"p0","loss":0.01})");
  Call("impair.clear", R"(["all"])");
  Call("config.check", R"(["version: 1\n"])");
  Call("config.save", "{}", /*with_file=*/true);
  Call("drain");
  for (const Method* method : SwitchCatalog().methods()) {
    EXPECT_TRUE(called_.contains(std::string(method->name))) << "call " << method->name << " too";
  }
}

TEST_F(SwitchAnswersTest, TheGreetingNamesTheKind) {
  EXPECT_EQ(client_.greeting, R"({"suede":"1.2.3","protocol":1,"name":"left","kind":"switch"})");
  ManagementBench endpoint;
  EXPECT_EQ(TestClient(endpoint).greeting, R"({"suede":"1.2.3","protocol":1,"name":"left"})");
}

TEST_F(SwitchAnswersTest, AMethodOfAnEndpointIsNoMethodOfASwitch) {
  EXPECT_EQ(ErrorOf(client_.Ask(R"({"jsonrpc":"2.0","id":1,"method":"planes.list"})")), -32601);
  ManagementBench endpoint;
  TestClient client(endpoint);
  EXPECT_EQ(ErrorOf(client.Ask(R"({"jsonrpc":"2.0","id":1,"method":"impair.list"})")), -32601);
}

TEST_F(SwitchAnswersTest, AnImpairmentChangesTheGivenKeysAlone) {
  Call("impair.set", R"({"port":"p0","direction":"out","loss":0.01,"down":"off",)"
                     R"("hole_classes":"0,7","hole_destinations":"none"})");
  EXPECT_EQ(switch_.at.port, "p0");
  EXPECT_EQ(switch_.at.out, true);
  EXPECT_EQ(switch_.change.loss, 0.01);
  EXPECT_EQ(switch_.change.down, false);
  EXPECT_EQ(switch_.change.hole_classes, (std::vector<uint32_t>{0, 7}));
  EXPECT_EQ(switch_.change.hole_destinations, std::vector<std::string>());
  EXPECT_FALSE(switch_.change.delay_us || switch_.change.rate_gbps || switch_.change.flip);
  const Json events = Call("events.list", R"({"kind":"impairment_set"})");
  ASSERT_EQ(events["events"].size(), 1u);
  const Json& event = events["events"][0];
  EXPECT_EQ(event["setting"], "loss=0.01 down=off hole_classes=0,7 hole_destinations=none");
  EXPECT_EQ(event["direction"], "out");
  EXPECT_EQ(event["uid"], getuid());
  EXPECT_EQ(event["pid"], getpid());
}

TEST_F(SwitchAnswersTest, FieldsAreRewrittenOrKept) {
  Call("impair.set", R"({"port":"p0","dscp":0,"ecn":"keep","hop_limit":255,"strip_tag":"on"})");
  EXPECT_EQ(switch_.change.dscp, std::optional<uint32_t>(0));
  ASSERT_TRUE(switch_.change.ecn.has_value());
  EXPECT_FALSE(switch_.change.ecn->has_value());
  EXPECT_FALSE(switch_.change.pcp.has_value());
  EXPECT_EQ(switch_.change.hop_limit, std::optional<uint32_t>(255));
  EXPECT_EQ(switch_.change.strip_tag, true);
  Call("impair.set", R"({"port":"p0","class":2,"pcp":7})");
  EXPECT_EQ(switch_.change.traffic_class, 2u);
  EXPECT_EQ(switch_.change.pcp, std::optional<uint32_t>(7));
  const Json events = Call("events.list", R"({"kind":"impairment_set"})")["events"];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["setting"], "dscp=0 ecn=keep hop_limit=255 strip_tag=on");
  EXPECT_EQ(events[1]["setting"], "pcp=7 class=2");
  const Json rows = Call("impair.list")["impairments"];
  EXPECT_EQ(rows[0]["dscp"], nullptr);
  EXPECT_EQ(rows[0]["strip_tag"], "off");
  EXPECT_EQ(rows[1]["hop_limit"], 3);
  EXPECT_EQ(rows[1]["of_class"][0]["ecn"], 0);
}

TEST_F(SwitchAnswersTest, WhatIsWrongWithAnImpairmentIsSaid) {
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0"})"), "nothing to set; give loss or another");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"px","loss":1})"), "no such port");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","hole_classes":"0,8"})"),
            "hole_classes: '8' is no class; use 0 to 7 with commas, or none");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","loss":1.5})"),
            "loss: is out of range; use 0 to 1, with a fraction or without");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","class":1,"flip":0.5})"),
            "class: it goes with delay_us, loss, reorder, dscp, ecn, pcp and hop_limit alone");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","class":1,"strip_tag":"on"})"),
            "class: it goes with delay_us, loss, reorder, dscp, ecn, pcp and hop_limit alone");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","dscp":64})"),
            "dscp: is out of range; use 0 to 63, or keep");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","class":1})"),
            "nothing to set; give loss or another");
  EXPECT_EQ(Refusal("impair.set", R"({"port":"p0","loss":"1"})"),
            "loss: is no number; use 0 to 1, with a fraction or without");
  EXPECT_TRUE(Call("events.list")["events"].empty());
}

TEST_F(SwitchAnswersTest, CountersAreOfAPortAClassOrAReason) {
  EXPECT_EQ(Call("counters.get", R"({"scope":"class"})")["sets"].size(), 4u);
  const Json one = Call("counters.get", R"({"scope":"class","port":"p1","class":1})");
  ASSERT_EQ(one["sets"].size(), 1u);
  EXPECT_EQ(one["sets"][0]["of"], "p1.1");
  const Json down = Call("counters.get", R"({"scope":"port","reason":"down"})");
  EXPECT_EQ(Dump(down["sets"][0]["counters"]), R"({"rx_drop_down_total":2})");
  EXPECT_EQ(Refusal("counters.get", R"({"port":"p0"})"), "port: the total is of all ports");
  EXPECT_EQ(Refusal("counters.get", R"({"scope":"port","class":1})"),
            "class: give scope class, too");
}

TEST_F(SwitchAnswersTest, EventsOfASwitchAreAsDeclared) {
  for (size_t i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    std::vector<EventValue> values;
    for (const EventField field : RowOf(kind).fields) {
      if (field == EventField::kNone) break;
      if (RowOf(field).type == EventFieldType::kInteger)
        values.emplace_back(field, 7);
      else
        values.emplace_back(field, "x");
    }
    switch_.events.Raise(kind, std::move(values));
    Call("events.list", R"({"limit":1})");
  }
}

}  // namespace
}  // namespace suede
