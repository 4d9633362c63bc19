// SPDX-License-Identifier: Apache-2.0
// Results are as declared: every method's is compared with its schema.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench.h"
#include "schema.h"

namespace suede {
namespace {

// ---- The declaration.

constexpr Member kInner[] = {Member::Text("a"), Member::Integer("b", "A number.").Only("at times")};
constexpr Member kRow[] = {
    Member::Choice("state", "up|all down", "why"),
    Member::Integer("speed").Unit("bit/s").OrNull("not known"),
    Member::Number("share"),
    Member::Integer("cpus").List(),
    Member::Object("inner", kInner).OrNull("none"),
    Member::Choice("word", "x|y").OrNull("neither"),
};
constexpr Member kResult[] = {
    Member::Rows("rows", kRow, "the newest last"),
    Member::Boolean("more"),
    Member::Map("counts", Member::Type::kInteger, "name to value"),
    Member::Map("schema", Member::Type::kAny, "whatever"),
    Member::Any("any", "as it comes").Only("now and then"),
    Member::Group(kInner, "and those of inner"),
};

TEST(MembersTest, AreToldAsAText) {
  EXPECT_EQ(TextOf(kResult),
            "rows (the newest last): state (up or \"all down\"; why), speed (bit/s; null: not "
            "known), share, cpus, inner (null: none) {a, b (A number; only at times)}, word (x or "
            "y; null: neither); more; counts (name to value); schema (whatever); any (as it comes; "
            "only now and then); and those of inner");
  EXPECT_EQ(TextOf(std::span(kInner)), "a, b (A number; only at times)");
  const Method noted{.name = "x", .sentence = "", .result = kInner, .result_note = "each time"};
  EXPECT_EQ(noted.ResultText(), "each time: a, b (A number; only at times)");
}

TEST(MembersTest, HaveASchema) {
  const Json schema = SchemaOf(kResult);
  EXPECT_EQ(Dump(schema["required"]), R"(["rows","more","counts","schema","a"])");
  const Json& row = schema["properties"]["rows"]["items"];
  EXPECT_EQ(Dump(row["properties"]["speed"]),
            R"({"type":["integer","null"],"minimum":0,"description":"bit/s; null: not known"})");
  EXPECT_EQ(Dump(row["properties"]["word"]),
            R"({"type":["string","null"],"enum":["x","y",null],"description":"null: neither"})");
  EXPECT_EQ(Dump(row["properties"]["cpus"]),
            R"({"type":"array","items":{"type":"integer","minimum":0}})");
  EXPECT_EQ(Dump(row["properties"]["inner"]["required"]), R"(["a"])");
  EXPECT_EQ(Dump(SchemaOf({})),
            R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

// ---- That the schema tells right from wrong.

Json Right() {
  return TryParse<Json>(R"({"rows":[{"state":"up","speed":7,"share":0.5,"cpus":[1,2],)"
                        R"("inner":{"a":"x"},"word":"x"},)"
                        R"({"state":"all down","speed":null,"share":1,"cpus":[],"inner":null,)"
                        R"("word":null}],)"
                        R"("more":false,"counts":{"p":18446744073709551615},"schema":{"x":[]},)"
                        R"("a":"","b":1})")
      .value();
}

TEST(SchemaTest, WhatIsRightPasses) { EXPECT_EQ(Violation(SchemaOf(kResult), Right()), ""); }

TEST(SchemaTest, WhatIsWrongIsFound) {
  const Json schema = SchemaOf(kResult);
  const auto with = [&](const char* pointer, const Json& value) {
    Json document = Right();
    document[Json::json_pointer(pointer)] = value;
    return Violation(schema, document);
  };
  EXPECT_EQ(with("/rows/1/state", "down"), "$.rows[1].state is none of the choices: \"down\"");
  EXPECT_EQ(with("/rows/0/speed", "7"), "$.rows[0].speed is no [\"integer\",\"null\"]: \"7\"");
  EXPECT_EQ(with("/rows/0/speed", 7.5), "$.rows[0].speed is no [\"integer\",\"null\"]: 7.5");
  EXPECT_EQ(with("/rows/0/speed", -1), "$.rows[0].speed is too small: -1");
  EXPECT_EQ(with("/rows/0/share", nullptr), "$.rows[0].share is no \"number\": null");
  EXPECT_EQ(with("/rows/0/cpus/1", true), "$.rows[0].cpus[1] is no \"integer\": true");
  EXPECT_EQ(with("/rows/0/cpus", 1), "$.rows[0].cpus is no \"array\": 1");
  EXPECT_EQ(with("/rows/0/inner/c", 1), "$.rows[0].inner.c is not declared");
  EXPECT_EQ(with("/rows/0/word", 3), "$.rows[0].word is no [\"string\",\"null\"]: 3");
  EXPECT_EQ(with("/rows/2", Json::object()), "$.rows[2] lacks state");
  EXPECT_EQ(with("/more", nullptr), "$.more is no \"boolean\": null");
  EXPECT_EQ(with("/counts/q", "x"), "$.counts.q is no \"integer\": \"x\"");
  EXPECT_EQ(with("/else", 1), "$.else is not declared");
  EXPECT_EQ(with("", 1), "$ is no \"object\": 1");
  EXPECT_EQ(Violation(Json{{"maxItems", 1}}, 1), "$: who knows what maxItems means");
}

// ---- Declarations and answers.

void CheckDeclared(std::span<const Member> members, std::set<std::string_view>& names,
                   const std::string& where) {
  for (const Member& member : members) {
    if (member.type == Member::Type::kGroup) {
      CheckDeclared(member.members(), names, where);
      continue;
    }
    const std::string at = where + "." + std::string(member.name);
    EXPECT_TRUE(!member.name.empty() && names.insert(member.name).second) << at;
    EXPECT_EQ(member.type == Member::Type::kChoice, !member.choices.empty()) << at;
    EXPECT_EQ(member.type == Member::Type::kObject, member.count != 0) << at;
    std::set<std::string_view> inner;
    CheckDeclared(member.members(), inner, at);
  }
}

TEST(ResultsTest, AreDeclaredWithoutMistake) {
  for (const Method* method : EndpointCatalog().methods()) {
    EXPECT_FALSE(method->result.empty()) << method->name;
    std::set<std::string_view> names;
    CheckDeclared(method->result, names, std::string(method->name));
  }
}

class AnswersTest : public testing::Test {
 protected:
  void Call(const std::string& method, const std::string& params = "{}", bool with_file = false) {
    const std::string path = bench_.directory / "file";
    Fd file(with_file ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1);
    const Json answer = client_.Ask(
        R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}",
        file.get());
    ASSERT_TRUE(answer.contains("result")) << method << ": " << answer;
    const Json schema = Describe(*EndpointCatalog().Find(method))["result_schema"];
    EXPECT_EQ(Violation(schema, answer["result"]), "") << method << ": " << answer;
    called_.insert(method);
  }

  ManagementBench bench_;
  TestClient client_{bench_};
  std::set<std::string> called_;
};

TEST_F(AnswersTest, OfEveryMethodAreAsDeclared) {
  for (const char* method :
       {"rpc.describe",       "version",        "config.get",     "instances.list",
        "ports.list",         "peers.list",     "clients.list",   "log.get_level",
        "counters.get",       "counters.delta", "counters.delta", "connections.list",
        "links.list",         "capture.list",   "events.list",    "queues.list",
        "planes.list",        "planes.peers",   "reg.list",       "sessions.list",
        "windows.list",       "keys.list",      "keys.rotate",    "keys.reload",
        "ports.capabilities", "lldp.list"}) {
    Call(method);
  }
  Call("log.set_level", R"(["debug"])");
  for (const char* scope : {R"(["instance"])", R"(["lcore"])", R"(["port", true])"}) {
    Call("counters.get", scope);
    Call("counters.delta", scope);
  }
  Call("connections.list", R"({"unused":true,"limit":1})");
  Call("sessions.list", R"({"idle":true,"limit":1})");
  Call("waits.list", R"({"peer":4})");
  Call("trace.list");
  Call("trace.add", R"({"peer":4,"stride":8})");
  Call("trace.list");
  Call("trace.clear", R"({"xpu":3})");
  Call("capture.start", R"(["p0"])", /*with_file=*/true);
  Call("capture.list");
  Call("capture.stop", R"({"port":"p0","drops":true})");
  Call("events.wait", R"({"seconds":0})");
  Call("record.read");
  Call("record.read", R"({"since":5,"seconds":0})");
  Call("ports.hint", R"(["p0"])");
  bench_.endpoint.file_prefix = "";
  Call("ports.hint", R"(["p0"])");
  Call("planes.peers", R"({"limit":1})");
  Call("peers.ping", "[4]");
  Call("peers.probe_path", "[4]");
  bench_.endpoint.path_probe = {.answered = true,
                                .copies = 1,
                                .received_ns = 9,
                                .order = 0,
                                .bytes = 60,
                                .there = MarksView{.dscp = 4},
                                .returned_ns = 11,
                                .reply_bytes = 60,
                                .reply_sent = MarksView{},
                                .here = MarksView{}};
  Call("peers.probe_path", "[4]");
  bench_.endpoint.pong.disagrees = "sessions";
  Call("peers.ping", "[4, 3, 1]");
  bench_.endpoint.pong_never = true;
  Call("peers.ping", R"({"peer":4,"timeout_ms":1})");
  for (const char* admin : {"up", "drain", "down"}) {
    Call("planes.set_admin", R"([3, 1, 1, ")" + std::string(admin) + "\"]");
    Call("planes.list");
  }
  Call("planes.set_weight", "[3, 1, 1, 7]");
  Call("planes.set_weight", "[3, 1, 1, 7, 4]");
  Call("planes.drain", "[3, 1, 1]");
  Call("planes.drain", "[3, 1, 1, 0]");
  Call("ports.set_admin", R"(["p0", "down"])");
  Call("config.check", R"(["version: 1\n"])");
  Call("config.load", R"(["version: 1\n"])");
  Call("config.save", "{}", /*with_file=*/true);
  Call("reg.read", R"(["a.ro", 2])");
  Call("reg.write", R"(["b.0.rw", 9])");
  Call("devices.list");
  Call("cables.list");
  Call("drain");
  for (const Method* method : EndpointCatalog().methods()) {
    EXPECT_TRUE(called_.contains(std::string(method->name))) << "call " << method->name << " too";
  }
}

TEST_F(AnswersTest, OfEveryKindOfEventAreAsDeclared) {
  for (size_t i = 0; i < static_cast<size_t>(kFirstSwitchEvent); ++i) {
    const auto kind = static_cast<EventKind>(i);
    std::vector<EventValue> values;
    for (const EventField field : RowOf(kind).fields) {
      if (field == EventField::kNone) break;
      if (RowOf(field).type == EventFieldType::kInteger) {
        values.emplace_back(field, 7);
      } else {
        values.emplace_back(field, "x");
      }
    }
    bench_.endpoint.events.Raise(kind, std::move(values));
    bench_.endpoint.events.Raise(kind, {});
    Call("events.list", R"({"limit":2})");
  }
}

}  // namespace
}  // namespace suede
