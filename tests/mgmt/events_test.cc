// SPDX-License-Identifier: Apache-2.0
// The ring of events, and the methods that show it.
#include "mgmt/event_log.h"

#include <gtest/gtest.h>

#include <set>

#include "bench.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

void LinkDown(EventLog& log, std::string_view port) {
  log.Raise(EventKind::kLinkDown, {{EventField::kPort, port}});
}

std::vector<uint64_t> Sequences(const EventPage& page) {
  std::vector<uint64_t> all;
  for (const Event* event : page.events) all.push_back(event->sequence);
  return all;
}

// ---- The declaration.

TEST(EventsTest, AreDeclaredSoThatEverybodyCanUseThem) {
  const std::set<std::string_view> kLogs = {"time", "level", "component", "message", "suppressed",
                                            "sequence", "severity", "kind"};
  std::set<std::string_view> names;
  for (size_t i = 0; i < kEventKinds; ++i) {
    const EventRow& row = RowOf(static_cast<EventKind>(i));
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(EventKindOf(row.name), static_cast<EventKind>(i));
    EXPECT_TRUE(row.sentence.ends_with(".")) << row.name;
    EXPECT_FALSE(row.component.empty()) << row.name;
    std::set<EventField> fields;
    for (const EventField field : row.fields) {
      if (field == EventField::kNone) continue;
      EXPECT_TRUE(fields.insert(field).second) << row.name;
      EXPECT_FALSE(kLogs.contains(RowOf(field).name)) << row.name;
    }
    EXPECT_FALSE(fields.empty()) << row.name;
  }
  EXPECT_EQ(EventKindOf("nonsense"), std::nullopt);
}

// ---- The ring.

class EventLogTest : public testing::Test {
 protected:
  int64_t now_ = 1'700'000'000 * kSecond;
  EventLog log_{4, [this] { return now_; }};
};

TEST_F(EventLogTest, KeepsTheLast) {
  EXPECT_EQ(log_.newest(), 0u);
  EXPECT_TRUE(log_.Read({.since = 0}).events.empty());
  for (int i = 0; i < 6; ++i) LinkDown(log_, "p" + std::to_string(i));
  EXPECT_EQ(log_.oldest(), 3u);
  const EventPage all = log_.Read({.since = 0});
  EXPECT_EQ(Sequences(all), (std::vector<uint64_t>{3, 4, 5, 6}));
  EXPECT_EQ(all.lost, 2u);
  EXPECT_EQ(all.next, 6u);
  const EventPage some = log_.Read({.since = 3, .limit = 2});
  EXPECT_EQ(Sequences(some), (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(some.lost, 0u);
  EXPECT_EQ(some.next, 5u);
  EXPECT_EQ(Sequences(log_.Read({.since = some.next})), std::vector<uint64_t>{6});
  EXPECT_TRUE(log_.Read({.since = 6}).events.empty());
  EXPECT_EQ(Sequences(log_.Read({.limit = 2})), (std::vector<uint64_t>{5, 6}));
}

TEST_F(EventLogTest, Filters) {
  LinkDown(log_, "p0");
  log_.Raise(EventKind::kLinkUp, {{EventField::kPort, "p0"}, {EventField::kSpeedBps, 5u}});
  log_.Raise(EventKind::kPeerUnreachable, {{EventField::kXpu, 1}, {EventField::kPeer, 2}});
  EXPECT_EQ(Sequences(log_.Read({.since = 0, .min = EventSeverity::kWarning})),
            (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(Sequences(log_.Read({.since = 0, .kind = EventKind::kLinkUp})),
            std::vector<uint64_t>{2});
  EXPECT_EQ(Sequences(log_.Read({.min = EventSeverity::kError})), std::vector<uint64_t>{3});
  EXPECT_EQ(log_.Read({.since = 0, .limit = 1, .min = EventSeverity::kError}).next, 3u);
}

TEST_F(EventLogTest, TellsObserversInOrder) {
  std::vector<uint64_t> seen;
  log_.AddObserver([&](const Event& event) { seen.push_back(event.sequence); });
  log_.AddObserver([&](const Event& event) { seen.push_back(event.sequence * 10); });
  LinkDown(log_, "p0");
  LinkDown(log_, "p1");
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 10, 2, 20}));
}

TEST_F(EventLogTest, CountsWhatComesTooOften) {
  const uint32_t max = RowOf(EventKind::kManagementLimit).per_s;
  ASSERT_GT(max, 0u);
  const auto limit = [this] {
    log_.Raise(EventKind::kManagementLimit, {{EventField::kLimit, "connections"}});
  };
  for (uint32_t i = 0; i < max + 3; ++i) limit();
  EXPECT_EQ(log_.newest(), max);
  log_.Tick();
  EXPECT_EQ(log_.newest(), max) << "that second is not over";
  LinkDown(log_, "p0");
  EXPECT_EQ(log_.newest(), max + 1) << "others are not held back";
  now_ += kSecond;
  log_.Tick();
  log_.Tick();
  EXPECT_EQ(log_.newest(), max + 2);
  const Event& lost = *log_.Read({.kind = EventKind::kEventsLost}).events.back();
  EXPECT_EQ(std::get<std::string>(lost.values[0].value), "management_limit");
  EXPECT_EQ(std::get<int64_t>(lost.values[1].value), 3);
  // Told by the next of its kind, too, and before it.
  for (uint32_t i = 0; i < max + 1; ++i) limit();
  now_ += kSecond;
  limit();
  EXPECT_EQ(log_.Read({.limit = 1}).events[0]->kind, EventKind::kManagementLimit);
  EXPECT_EQ(log_.Read({.limit = 2}).events[0]->kind, EventKind::kEventsLost);
}

TEST_F(EventLogTest, WhatIsNotDeclaredEndsTheProgram) {
  EXPECT_DEATH(log_.Raise(EventKind::kLinkDown, {{EventField::kPeer, 1}}), "");
  EXPECT_DEATH(log_.Raise(EventKind::kLinkDown, {{EventField::kPort, 1}}), "");
}

TEST_F(EventLogTest, TimesAreUtc) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(FormatUtc(now_ + 7), "2023-11-14T22:13:20.000000007Z");
}

// ---- The methods.

class EventMethodsTest : public testing::Test {
 protected:
  ManagementBench bench_;
  TestClient client_{bench_};
  EventLog& log_ = bench_.endpoint.events;
};

TEST_F(EventMethodsTest, List) {
  EXPECT_EQ(Dump(client_.Result("events.list")), R"({"events":[],"next":0,"lost":0})");
  LinkDown(log_, "p0");
  log_.Raise(EventKind::kPeerReset,
             {{EventField::kXpu, 3}, {EventField::kInstance, 0}, {EventField::kPeer, 4}});
  EXPECT_EQ(Dump(client_.Result("events.list")),
            R"({"events":[{"sequence":1,"time":"2023-11-14T22:13:20.000000000Z",)"
            R"("severity":"warning","kind":"link_down","port":"p0"},)"
            R"({"sequence":2,"time":"2023-11-14T22:13:20.000000000Z",)"
            R"("severity":"warning","kind":"peer_reset","xpu":3,"instance":0,"peer":4}],)"
            R"("next":2,"lost":0})");
  EXPECT_EQ(client_.Result("events.list", R"({"kind":"peer_reset"})")["events"].size(), 1u);
  EXPECT_EQ(client_.Result("events.list", R"({"severity":"error"})")["events"].size(), 0u);
  EXPECT_EQ(client_.Result("events.list", R"({"since":1})")["events"][0]["sequence"], 2);
  for (int i = 0; i < 10; ++i) LinkDown(log_, "p1");
  EXPECT_EQ(client_.Result("events.list", R"({"since":1})")["lost"], 3);
  for (const char* wrong : {R"({"since":13})", R"({"since":-1})", R"({"kind":"x"})",
                            R"({"limit":0})", R"({"severity":"loud"})"}) {
    EXPECT_EQ(ErrorOf(client_.Result("events.list", wrong)),
              static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

constexpr char kWaitLine[] = R"({"jsonrpc":"2.0","id":1,"method":"events.wait","params":{)";

TEST_F(EventMethodsTest, WaitAnswersWithWhatHappensNext) {
  LinkDown(log_, "old");
  ASSERT_TRUE(client_.Send(std::string(kWaitLine) + "}}\n"));
  TestClient other(bench_);
  EXPECT_EQ(other.Result("version")["name"], "left");
  bench_.Until([] { return false; }, 0.05);
  log_.Raise(EventKind::kLinkUp, {{EventField::kPort, "new"}});
  const Json answer = TryParse<Json>(client_.ReadLine().value()).value()["result"];
  ASSERT_EQ(answer["events"].size(), 1u);
  EXPECT_EQ(answer["events"][0]["port"], "new");
  EXPECT_EQ(answer["next"], 2);
  // An event that is there already needs no waiting.
  EXPECT_EQ(client_.Result("events.wait", R"({"since":0,"limit":1})")["events"][0]["port"], "old");
}

TEST_F(EventMethodsTest, WaitPassesOverWhatDoesNotMatchAndSaysHowFarItCame) {
  ASSERT_TRUE(client_.Send(std::string(kWaitLine) + R"("kind":"link_up"}})" "\n"));
  bench_.Until([] { return false; }, 0.03);
  LinkDown(log_, "p0");
  bench_.Until([] { return false; }, 0.03);
  log_.Raise(EventKind::kLinkUp, {{EventField::kPort, "p0"}});
  const Json answer = TryParse<Json>(client_.ReadLine().value()).value()["result"];
  EXPECT_EQ(answer["events"][0]["sequence"], 2);
  const Json nothing = client_.Result("events.wait", R"({"since":2,"seconds":0})");
  EXPECT_EQ(Dump(nothing), R"({"events":[],"next":2,"lost":0})");
}

TEST_F(EventMethodsTest, WaitTellsOfAGapAtOnce) {
  for (int i = 0; i < 20; ++i) LinkDown(log_, "p0");
  const Json answer = client_.Result("events.wait", R"({"since":2,"kind":"link_up"})");
  EXPECT_EQ(answer["lost"], 10);
  EXPECT_EQ(answer["next"], 20);
  EXPECT_TRUE(answer["events"].empty());
}

TEST_F(EventMethodsTest, WhoWaitsCostsNoTurnsInBetween) {
  ASSERT_TRUE(client_.Send(std::string(kWaitLine) + "}}\n"));
  bench_.Until([] { return false; }, 0.05);
  int turns = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < end) {
    pollfd ready{.fd = bench_.server->fd(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 1) <= 0) continue;
    bench_.server->Poll();
    ++turns;
  }
  EXPECT_LE(turns, 25);
}

// ---- Administration.

class AdminMethodsTest : public EventMethodsTest {};

TEST_F(AdminMethodsTest, Ports) {
  EXPECT_EQ(Dump(client_.Result("ports.set_admin", R"(["p0","down"])")),
            R"({"port":"p0","admin":"down"})");
  EXPECT_FALSE(bench_.endpoint.port_up);
  EXPECT_EQ(bench_.log.size(), 1u) << "who changed what is logged";
  EXPECT_EQ(ErrorOf(client_.Result("ports.set_admin", R"(["p1","up"])")),
            static_cast<int>(RpcCode::kNotFound));
  for (const char* wrong : {R"(["p0"])", R"(["p0","maybe"])", R"([7,"up"])"}) {
    EXPECT_EQ(ErrorOf(client_.Result("ports.set_admin", wrong)),
              static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

TEST_F(AdminMethodsTest, Queues) {
  EXPECT_EQ(Dump(client_.Result("queues.list")),
            R"({"queues":[{"client":1,"queue":1,"of_lcore":false,"xpu":3,"instance":1,)"
            R"("state":"open",)"
            R"("ring_lines":64,"waiting_lines":5,"credit_lines":32,"credit_used":2,)"
            R"("discarded":9,"paused":"0,1"}]})");
}

TEST_F(AdminMethodsTest, Hint) {
  const Json hint = client_.Result("ports.hint", R"(["p0"])");
  EXPECT_EQ(hint["capture"], "suedectl --endpoint left capture start p0 --file p0.pcapng");
  EXPECT_EQ(hint["dumpcap"], "dpdk-dumpcap --file-prefix=suede_left -i 0 -w p0.pcapng");
  bench_.endpoint.file_prefix = "";
  EXPECT_TRUE(client_.Result("ports.hint", R"(["p0"])")["dumpcap"].is_null());
  EXPECT_EQ(ErrorOf(client_.Result("ports.hint", R"(["p9"])")),
            static_cast<int>(RpcCode::kNotFound));
}

// ---- JSON Schema.

TEST_F(AdminMethodsTest, ParametersHaveASchema) {
  const Json described = client_.Result("rpc.describe");
  for (const Json& method : described["methods"]) {
    const Json& schema = method["schema"];
    EXPECT_EQ(schema["type"], "object") << method;
    EXPECT_EQ(schema["additionalProperties"], false);
    EXPECT_EQ(schema["properties"].size(), method["params"].size());
    for (const Json& param : method["params"]) {
      const auto found = std::find(schema["required"].begin(), schema["required"].end(),
                                   param["name"]);
      EXPECT_EQ(found != schema["required"].end(), param["required"].get<bool>());
    }
    if (method["name"] != "capture.start") continue;
    EXPECT_EQ(Dump(schema["properties"]["snap_bytes"]),
              R"({"type":"integer","description":"Bytes of a frame that are kept.",)"
              R"("minimum":64,"maximum":9728,"default":9728})");
    EXPECT_EQ(Dump(schema["required"]), R"(["port"])");
  }
}

}  // namespace
}  // namespace suede
