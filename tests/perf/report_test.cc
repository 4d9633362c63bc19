#include "perf/report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "suede/congestion.h"

namespace suede::perf {
namespace {

using Json = nlohmann::json;

RunResult GoodResult() {
  RunResult r;
  r.data_bytes = 125;
  r.control_bytes = 8;
  r.sent = 1100;
  r.measured = 1000;
  r.measured_time = std::chrono::milliseconds(1);
  r.peak_per_second = 2e6;
  r.forward.received = 1100;
  return r;
}

Options SomeOptions() {
  Options options;
  options.destinations = {2};
  return options;
}

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

Json Write(const Options& options, const std::vector<RunResult>& results) {
  Document document{.version = "1.2.3", .revision = "abc"};
  document.argv = {"suede-perf", "--x=\xff"};
  document.results = results;
  return Json::parse(ToJson(options, document, Judge(options, results)));
}

TEST(JsonTest, HasTheFieldsOfTheSchema) {
  const Json json = Write(SomeOptions(), {GoodResult()});
  EXPECT_EQ(Keys(json), (std::set<std::string>{"schema_version", "tool", "version", "git", "start",
                                               "end", "argv", "host", "config", "results", "served",
                                               "verdict"}));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["tool"], "suede-perf");
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(Keys(json["host"]),
            (std::set<std::string>{"cpu", "kernel", "dpdk", "port", "driver"}));
  EXPECT_TRUE(json["host"]["dpdk"].is_null());
  EXPECT_EQ(json["start"].get<std::string>().back(), 'Z');
  EXPECT_TRUE(json["verdict"]["pass"].is_boolean());
  EXPECT_TRUE(json["config"]["check"].is_boolean());
  EXPECT_TRUE(json["config"]["rate_per_second"].is_null());
}

TEST(JsonTest, ResultsAreInBaseUnits) {
  RunResult r = GoodResult();
  r.latency_ns.Record(2000);
  r.latency_is_rtt = true;
  const Json result = Write(SomeOptions(), {r})["results"][0];
  EXPECT_DOUBLE_EQ(result["achieved_per_second"], 1e6);
  EXPECT_DOUBLE_EQ(result["achieved_data_bytes_per_second"], 1.25e8);
  EXPECT_DOUBLE_EQ(result["measured_seconds"], 1e-3);
  EXPECT_DOUBLE_EQ(result["latency"]["p99_99_seconds"], 2e-6);
  EXPECT_EQ(result["latency"]["kind"], "rtt");
  EXPECT_TRUE(result["offered_per_second"].is_null());
  EXPECT_EQ(result["lost"], 0);
  const Json silent = Write(SomeOptions(), {GoodResult()})["results"][0];
  EXPECT_TRUE(silent["latency"].is_null());
}

TEST(JsonTest, SaysHowManyCommandsEachInstanceTook) {
  Options options = SomeOptions();
  RunResult r = GoodResult();
  r.sent_by_lane = {1100};
  Json json = Write(options, {r});
  EXPECT_TRUE(json["config"]["balance"].is_null());
  EXPECT_TRUE(json["config"]["instances"].is_null());
  EXPECT_TRUE(json["results"][0]["sent_by_instance"].is_null());
  options.instances = {4, 7};
  options.balance = SUEDE_BALANCE_LEAST_CONGESTED;
  r.sent_by_lane = {1000, 100};
  json = Write(options, {r});
  EXPECT_EQ(json["config"]["balance"], "least_congested");
  EXPECT_EQ(json["config"]["instances"], Json::parse("[4, 7]"));
  EXPECT_EQ(json["results"][0]["sent_by_instance"],
            Json::parse(R"([{"instance": 4, "sent": 1000}, {"instance": 7, "sent": 100}])"));
}

TEST(JsonTest, ARunWithoutReportsKnowsNoLoss) {
  RunResult r = GoodResult();
  r.outcome = Outcome::kEndpointLost;
  r.explanation = "gone";
  r.forward = {};
  const Json json = Write(SomeOptions(), {r});
  EXPECT_FALSE(json["results"][0]["completed"].get<bool>());
  EXPECT_TRUE(json["results"][0]["lost"].is_null());
  EXPECT_TRUE(json["results"][0]["delivered"].is_null());
  EXPECT_EQ(json["results"][0]["explanation"], "gone");
  EXPECT_FALSE(json["verdict"]["pass"].get<bool>());
  EXPECT_EQ(json["verdict"]["checks"].size(), 1u);
}

TEST(JsonTest, IsWrittenWholeOrNotAtAll) {
  const std::string directory = ::testing::TempDir() + "/perf_json_" + std::to_string(getpid());
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  const std::string path = directory + "/out.json";
  ASSERT_TRUE(WriteWhole(path, "old\n").ok());
  ASSERT_TRUE(WriteWhole(path, "new\n").ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "new\n");
  EXPECT_FALSE(WriteWhole(directory + "/no/such/out.json", "x").ok());
  EXPECT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(rmdir(directory.c_str()), 0);  // nothing partial was left
}

int CodeOf(const Options& options, const RunResult& result) {
  return ExitCode({result}, Judge(options, {result}));
}

TEST(VerdictTest, AGoodRunIsZero) { EXPECT_EQ(CodeOf(SomeOptions(), GoodResult()), 0); }

TEST(VerdictTest, EachVerificationFailureIsThree) {
  for (auto spoil : {+[](RunResult& r) { r.forward.received = 1099; },
                     +[](RunResult& r) { r.forward.wrong = 1; },
                     +[](RunResult& r) { r.reverse.wrong = 1; },
                     +[](RunResult& r) { r.reverse_sent = 1; },
                     +[](RunResult& r) { r.forward.duplicated = 1; },
                     +[](RunResult& r) { r.reverse.misordered = 1; }}) {
    RunResult r = GoodResult();
    spoil(r);
    EXPECT_EQ(CodeOf(SomeOptions(), r), 3);
    r.interrupted = true;  // what was sent is still verified
    EXPECT_EQ(CodeOf(SomeOptions(), r), 3);
  }
}

TEST(VerdictTest, AnUnorderedPathMayMisorderAndNothingElse) {
  Options options = SomeOptions();
  options.unordered = true;
  RunResult r = GoodResult();
  r.reverse.misordered = 7;
  EXPECT_EQ(CodeOf(options, r), 0);
  EXPECT_TRUE(JudgeServer(options, {.misordered = 7}).pass);
  EXPECT_FALSE(JudgeServer(SomeOptions(), {.misordered = 7}).pass);
  EXPECT_FALSE(JudgeServer(options, {.duplicated = 1, .misordered = 7}).pass);
  r.forward.duplicated = 1;
  EXPECT_EQ(CodeOf(options, r), 3);
}

TEST(VerdictTest, ThresholdsAreVerdicts) {
  RunResult r = GoodResult();  // 1e6 commands per second, 1 Gb/s
  for (int i = 0; i < 100; ++i) r.latency_ns.Record(5000);
  Options options = SomeOptions();
  options.min_rate = 0.9e6, options.min_gbps = 0.9, options.max_p99_us = 5.5;
  EXPECT_EQ(CodeOf(options, r), 0);
  options.min_rate = 1.1e6;
  EXPECT_EQ(CodeOf(options, r), 3);
  options.min_rate = 0, options.min_gbps = 1.1;
  EXPECT_EQ(CodeOf(options, r), 3);
  options.min_gbps = 0, options.max_p99_us = 4.5;
  EXPECT_EQ(CodeOf(options, r), 3);
  r.interrupted = true;
  EXPECT_EQ(CodeOf(options, r), 0);
}

TEST(VerdictTest, ALatencyLimitWithoutSamplesFails) {
  Options options = SomeOptions();
  options.max_p99_us = 100;
  EXPECT_EQ(CodeOf(options, GoodResult()), 3);
}

TEST(VerdictTest, OutcomesHaveTheirCodes) {
  RunResult r = GoodResult();
  r.outcome = Outcome::kPeerSilent;
  EXPECT_EQ(CodeOf(SomeOptions(), r), 4);
  r.outcome = Outcome::kEndpointLost;
  EXPECT_EQ(CodeOf(SomeOptions(), r), 4);
  r.outcome = Outcome::kNoEcho;
  EXPECT_EQ(CodeOf(SomeOptions(), r), 2);
  r.outcome = Outcome::kRefused;
  EXPECT_EQ(CodeOf(SomeOptions(), r), 1);
}

// Each head has a column for each value.
TEST(TableTest, ColumnsMatchTheirHeads) {
  const auto words = [](const std::string& line) {
    std::istringstream in(line);
    int count = 0;
    for (std::string word; in >> word;) ++count;
    return count;
  };
  const auto last_line = [](std::string text) {
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  };
  Options options = SomeOptions();
  EXPECT_EQ(words(last_line(TableHead(options))), words(TableRow(options, GoodResult())));
  options.bidirectional = true;
  EXPECT_EQ(words(last_line(TableHead(options))), words(TableRow(options, GoodResult())));
  options.mode = Mode::kLatency;
  EXPECT_NE(TableHead(options).find("RTT"), std::string::npos);
  EXPECT_EQ(words(last_line(TableHead(options))), words(TableRow(options, GoodResult())));
  options.completions = 1;
  EXPECT_NE(TableHead(options).find("completion"), std::string::npos);
  options.cacheline_cpus = {0, 1};
  EXPECT_EQ(words(last_line(TableHead(options))), words(TableRow(options, GoodResult())));
  options.instances = {0, 5};
  options.balance = SUEDE_BALANCE_ROUND_ROBIN;
  RunResult balanced = GoodResult();
  balanced.sent_by_lane = {600, 500};
  EXPECT_NE(TableHead(options).find("balanced over instances 0,5: round_robin"),
            std::string::npos);
  EXPECT_NE(TableHead(options).find("by[5]"), std::string::npos);
  EXPECT_EQ(words(last_line(TableHead(options))), words(TableRow(options, balanced)));
}

}  // namespace
}  // namespace suede::perf
