// SPDX-License-Identifier: Apache-2.0
#include "perf/report.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "perf/csv.h"
#include "perf/histogram_text.h"
#include "perf/progress.h"
#include "perf/table.h"
#include "suede/load.h"

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
  return Json::parse(ToJson(options, document, CheckResults(options, results)));
}

TEST(JsonTest, HasTheFieldsOfTheSchema) {
  const Json json = Write(SomeOptions(), {GoodResult()});
  EXPECT_EQ(Keys(json), (std::set<std::string>{"schema_version", "tool", "version", "git", "start",
                                               "end", "argv", "host", "config", "results", "served",
                                               "workload", "why", "verdict"}));
  EXPECT_EQ(json["why"], nullptr);
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

TEST(ConcludeTest, CommandsOutOfOrderNameTheFlag) {
  Document document;
  document.results = {GoodResult()};
  document.results[0].forward.misordered = 3;
  testing::internal::CaptureStderr();
  EXPECT_EQ(Conclude(SomeOptions(), document), kExitVerdict);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "suede-perf: failed: misordered is 3, limit 0; where the instance's ordering is "
            "unordered, give --unordered\n");
}

TEST(TableTest, AWideTableHasALineForEachRow) {
  Options options = SomeOptions();
  options.bidirectional = true;
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_GT(lines(TableRow(options, GoodResult())), 1);
  options.wide = true;
  EXPECT_EQ(lines(TableRow(options, GoodResult())), 1);
}

TEST(TableTest, OfMemoryOperationsFitsIntoALine) {
  Options options = SomeOptions();
  options.mode = Mode::kPut;
  RunResult result = GoodResult();
  result.data_bytes = 1u << 30;
  result.latency_ns.Record(2000);
  for (const std::string& table : {TableHead(options), TableRow(options, result)}) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableColumns);
  }
  EXPECT_NE(TableRow(options, result).find("1073741824"), std::string::npos);
  options.mode = Mode::kAtomic;
  options.atomic = Atomic::kReadIncrement;
  EXPECT_NE(TableHead(options).find("read_increment"), std::string::npos);
  EXPECT_EQ(Write(options, {result})["config"]["atomic"], "read_increment");
}

TEST(JsonTest, HasTheCausesOfWaits) {
  const std::string why = R"({"samples":3,"conclusions":[{"of":"a","finding":"b","remedy":"c"}]})";
  const Document document{.start = {}, .end = {}, .argv = {}, .host = {}};
  const Json json = Json::parse(ToJson(SomeOptions(), document, Verdict(), why));
  EXPECT_EQ(json["why"]["samples"], 3);
  EXPECT_EQ(WhyLines(why), "why: a: b; remedy: c\n");
  EXPECT_EQ(WhyLines(""), "");
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
  options.balance = SUEDE_BALANCE_LEAST_LOADED;
  r.sent_by_lane = {1000, 100};
  json = Write(options, {r});
  EXPECT_EQ(json["config"]["balance"], "least_loaded");
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

absl::Status WriteWhole(const std::string& path, const std::string& text) {
  absl::StatusOr<ResultFile> file = ResultFile::Open(path);
  return file.ok() ? file->Write(text) : file.status();
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

class ResultFileTest : public ::testing::Test {
 protected:
  ResultFileTest() { std::filesystem::create_directories(directory_); }
  ~ResultFileTest() override { std::filesystem::remove_all(directory_); }
  std::string At(const std::string& name) const { return directory_ + "/" + name; }
  static std::string TextOf(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const std::string directory_ =
      ::testing::TempDir() + "/result_file_" + std::to_string(getpid());
};

TEST_F(ResultFileTest, AFifoGetsTheTextAndStays) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  const int reader = open(At("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(WriteWhole(At("fifo"), "text\n").ok());
  char buffer[16] = {};
  EXPECT_EQ(read(reader, buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string(buffer), "text\n");
  EXPECT_TRUE(std::filesystem::is_fifo(At("fifo")));
  close(reader);
}

TEST_F(ResultFileTest, GoesThroughLinksToTheirTarget) {
  std::filesystem::create_directory(At("deep"));
  std::filesystem::create_symlink("deep/second", At("first"));
  std::filesystem::create_symlink("../target", At("deep/second"));
  ASSERT_TRUE(WriteWhole(At("first"), "made\n").ok());  // a target that is not there yet
  EXPECT_EQ(TextOf(At("target")), "made\n");
  chmod(At("target").c_str(), 0640);
  ASSERT_TRUE(WriteWhole(At("first"), "new\n").ok());
  EXPECT_EQ(TextOf(At("target")), "new\n");
  EXPECT_TRUE(std::filesystem::is_symlink(At("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(At("deep/second")));
  EXPECT_EQ(std::filesystem::status(At("target")).permissions(),
            std::filesystem::perms(0640));
  std::filesystem::create_symlink("round", At("round"));
  EXPECT_FALSE(ResultFile::Open(At("round")).ok());
}

TEST_F(ResultFileTest, DevicesAndDescriptorsAreWrittenAsTheyAre) {
  // Never the real device by rename: a link to it shows that it is not replaced.
  std::filesystem::create_symlink("/dev/null", At("null"));
  EXPECT_TRUE(WriteWhole(At("null"), "text\n").ok());
  EXPECT_TRUE(std::filesystem::is_character_file(At("null")));
  std::filesystem::create_symlink("/dev/full", At("full"));
  absl::StatusOr<ResultFile> full = ResultFile::Open(At("full"));
  ASSERT_TRUE(full.ok());
  EXPECT_FALSE(full->Write("text\n").ok());
  const int file = open(At("file").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_TRUE(WriteWhole("/proc/self/fd/" + std::to_string(file), "text\n").ok());
  char buffer[16] = {};
  EXPECT_EQ(pread(file, buffer, sizeof buffer, 0), 5);  // the same file, and no other of its name
  close(file);
}

TEST_F(ResultFileTest, TheStandardOutputIsKnownByAllItsNames) {
  std::filesystem::create_symlink("/dev/stdout", At("out"));
  for (const std::string& path : {std::string("-"), std::string("/dev/stdout"),
                                  std::string("/proc/self/fd/1"), At("out")}) {
    const absl::StatusOr<ResultFile> file = ResultFile::Open(path);
    ASSERT_TRUE(file.ok()) << path;
    EXPECT_TRUE(file->TakesStdout()) << path;
  }
  EXPECT_FALSE(ResultFile::Open(At("file"))->TakesStdout());
}

TEST_F(ResultFileTest, WhatCannotBeWrittenIsFoundOutAtOnceAndNothingIsLeft) {
  EXPECT_FALSE(ResultFile::Open(At("no/such/file")).ok());
  EXPECT_FALSE(ResultFile::Open(directory_).ok());
  EXPECT_FALSE(ResultFile::Open("").ok());
  ASSERT_TRUE(ResultFile::Open(At("file")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_));  // not before it is written
}

int CodeOf(const Options& options, const RunResult& result) {
  return ExitCode({result}, CheckResults(options, {result}));
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
    r.interrupted = true;  // the sent data is still verified
    EXPECT_EQ(CodeOf(SomeOptions(), r), 3);
  }
}

TEST(VerdictTest, AnUnorderedPathMayMisorderAndNothingElse) {
  Options options = SomeOptions();
  options.unordered = true;
  RunResult r = GoodResult();
  r.reverse.misordered = 7;
  EXPECT_EQ(CodeOf(options, r), 0);
  EXPECT_TRUE(CheckServer(options, {.misordered = 7}).pass);
  EXPECT_FALSE(CheckServer(SomeOptions(), {.misordered = 7}).pass);
  EXPECT_FALSE(CheckServer(options, {.duplicated = 1, .misordered = 7}).pass);
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

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Each value stands under its head, and no line is longer than a table may be wide.
void ExpectFits(const std::string& head, const std::string& row) {
  const std::vector<std::string> values = Lines(row);
  std::vector<std::string> heads = Lines(head);
  for (const std::vector<std::string>* lines : {&std::as_const(heads), &values}) {
    for (const std::string& line : *lines) EXPECT_LE(line.size(), kTableColumns) << line;
  }
  ASSERT_GE(heads.size(), values.size());
  heads.erase(heads.begin(), heads.end() - static_cast<std::ptrdiff_t>(values.size()));
  const auto ends = [](const std::string& line) {
    std::vector<size_t> at;
    for (size_t i = 1; i <= line.size(); ++i) {
      const bool is_end = i == line.size() || line[i] == ' ';
      if (is_end && line[i - 1] != ' ' && (line[i - 1] != '#' || i > 1)) at.push_back(i);
    }
    return at;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(heads[i][0], '#');
    EXPECT_EQ(ends(heads[i]), ends(values[i])) << heads[i] << "\n" << values[i];
  }
}

TEST(TableTest, ColumnsMatchTheirHeads) {
  Options options = SomeOptions();
  ExpectFits(TableHead(options), TableRow(options, GoodResult()));
  options.bidirectional = true;
  ExpectFits(TableHead(options), TableRow(options, GoodResult()));
  options.mode = Mode::kLatency;
  EXPECT_NE(TableHead(options).find("RTT"), std::string::npos);
  ExpectFits(TableHead(options), TableRow(options, GoodResult()));
  options.completions = 1;
  EXPECT_NE(TableHead(options).find("completion"), std::string::npos);
  options.cacheline_cpus = {0, 1};
  ExpectFits(TableHead(options), TableRow(options, GoodResult()));
  options.instances = {0, 5};
  options.balance = SUEDE_BALANCE_ROUND_ROBIN;
  RunResult balanced = GoodResult();
  balanced.sent_by_lane = {600, 500};
  EXPECT_NE(TableHead(options).find("balanced over instances 0,5: round_robin"),
            std::string::npos);
  EXPECT_NE(TableHead(options).find("by[5]"), std::string::npos);
  ExpectFits(TableHead(options), TableRow(options, balanced));
}

TEST(TableTest, TheLatencyTableHasAMean) {
  Options options = SomeOptions();
  options.mode = Mode::kLatency;
  RunResult r = GoodResult();
  r.latency_ns.Record(1000);
  r.latency_ns.Record(4000);
  EXPECT_NE(TableHead(options).find("mean"), std::string::npos);
  EXPECT_NE(TableRow(options, r).find("     2.500"), std::string::npos);
}

TEST(TableTest, UnitsScaleTheRates) {
  Options options = SomeOptions();
  RunResult r = GoodResult();  // 1 Gb/s in 1e6 commands per second; the peak is twice that
  r.offered_per_second = 1e6;
  const auto row = [&](Units units) {
    options.units = units;
    ExpectFits(TableHead(options), TableRow(options, r));
    EXPECT_NE(TableHead(options).find(units == Units::kAuto ? "[b/s]" : NameOf(kUnits, units)),
              std::string::npos);
    return TableRow(options, r);
  };
  EXPECT_NE(row(Units::kGigabits).find(" 2.000     1.000     1.000 "), std::string::npos);
  EXPECT_NE(row(Units::kMegabits).find(" 2000.000  1000.000     1.000 "), std::string::npos);
  EXPECT_NE(row(Units::kGigabytes).find(" 0.250     0.125     1.000 "), std::string::npos);
  EXPECT_NE(row(Units::kMegabytes).find(" 250.000   125.000     1.000 "), std::string::npos);
  EXPECT_NE(row(Units::kMebibytes).find(" 238.419    119.209     1.000 "), std::string::npos);
  EXPECT_NE(row(Units::kAuto).find(" 2.000G    1.000G    1.000M     1.000M "), std::string::npos);
  options.mode = Mode::kLatency;
  for (const uint64_t ns : {uint64_t{12}, uint64_t{999'960}, uint64_t{12'340'000'000}}) {
    r.latency_ns.Record(ns);
  }
  const std::string text = row(Units::kAuto);
  EXPECT_NE(text.find(" 12.00ns "), std::string::npos) << text;
  EXPECT_NE(text.find(" 12.34s\n"), std::string::npos) << text;
  options.receive_only = true;
  for (const auto& unit : kUnits) {
    options.units = unit.first;
    for (const std::string& line : Lines(ServerTable(options, {.received = 1000}, 1, {}))) {
      EXPECT_LE(line.size(), kTableColumns) << line;
    }
  }
}

TEST(TableTest, ABriefRunIsALineWithAllColumns) {
  Options options = SomeOptions();
  options.mode = Mode::kLatency;
  options.brief = options.wide = true;
  RunResult r = GoodResult();
  r.latency_ns.Record(5000);
  const std::vector<std::string> lines = Lines(TableRow(options, r));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].ends_with("     5.000")) << lines[0];
  EXPECT_EQ(Lines(ServerTable(options, {}, 1)).size(), 1u);
}

TEST(HistogramTextTest, RangesAdjoinAndHoldAllSamples) {
  EXPECT_EQ(HistogramText(Histogram()), "");
  Histogram ns;
  for (uint64_t i = 0; i < 1000; ++i) ns.Record(1000 + i);
  ns.Record(1'000'000'000);
  const std::vector<std::string> lines = Lines(HistogramText(ns));
  EXPECT_LE(lines.size(), 25u);
  uint64_t sum = 0;
  double last_to = 1.0;
  double last_below = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_LE(lines[i].size(), kTableColumns);
    double from, to, share, below;
    unsigned long long samples;
    ASSERT_EQ(std::sscanf(lines[i].c_str(), "# %lf %lf %llu %lf %lf", &from, &to, &samples, &share,
                          &below),
              5)
        << lines[i];
    EXPECT_NEAR(from, last_to, 0.0011);
    last_to = to;
    sum += samples;
    EXPECT_EQ(samples > 0, lines[i].find('*') != std::string::npos);
    last_below = below;
  }
  EXPECT_EQ(sum, 1001u);
  EXPECT_DOUBLE_EQ(last_to, 1e6);
  EXPECT_DOUBLE_EQ(last_below, 100);
  Histogram one;
  one.RecordMany(5000, 7);
  EXPECT_EQ(Lines(HistogramText(one)).size(), 2u);
}

std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells = {""};
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

TEST(CsvTest, RowsMatchTheirHeads) {
  Options options = SomeOptions();
  RunResult plain = GoodResult();
  RunResult timed = GoodResult();
  timed.inflight = 4;
  timed.offered_per_second = 5;
  timed.latency_ns.Record(1000);
  timed.latency_ns.Record(3000);
  RunResult failed = GoodResult();
  failed.outcome = Outcome::kPeerSilent;
  const std::vector<std::string> lines = Lines(RunsCsv(options, {plain, timed, failed}));
  ASSERT_EQ(lines.size(), 3u);
  const std::vector<std::string> heads = CellsOf(lines[0]);
  const auto cell = [&](size_t row, const std::string& name) {
    const auto at = std::find(heads.begin(), heads.end(), name);
    EXPECT_NE(at, heads.end()) << name;
    const std::vector<std::string> cells = CellsOf(lines[row]);
    EXPECT_EQ(cells.size(), heads.size());
    return cells[static_cast<size_t>(at - heads.begin())];
  };
  EXPECT_EQ(cell(1, "mode"), "bandwidth");
  EXPECT_EQ(cell(1, "inflight"), "");
  EXPECT_EQ(cell(1, "latency_max_seconds"), "");
  EXPECT_EQ(cell(1, "achieved_data_bits_per_second"), "1000000000");
  EXPECT_EQ(cell(2, "inflight"), "4");
  EXPECT_EQ(cell(2, "offered_per_second"), "5.000");
  EXPECT_EQ(cell(2, "latency_mean_seconds"), "0.000002000");
  EXPECT_EQ(cell(2, "latency_stdev_seconds"), "0.000001000");
  EXPECT_EQ(cell(2, "latency_p99_9_seconds"), "0.000003000");
}

TEST(CsvTest, HistogramsAndSamples) {
  RunResult r = GoodResult();
  r.inflight = 2;
  r.latency_ns.RecordMany(100, 3);
  r.latency_ns.Record(101);
  r.samples = {{.start = Duration(5), .latency = Duration(100)},
               {.start = Duration(1'000'000'007), .latency = Duration(101)}};
  EXPECT_EQ(HistogramsCsv({r}),
            "data_bytes,inflight,from_seconds,to_seconds,samples\n"
            "125,2,0.000000100,0.000000100,3\n125,2,0.000000101,0.000000101,1\n");
  EXPECT_EQ(SamplesCsv({r}),
            "data_bytes,inflight,start_seconds,latency_seconds\n"
            "125,2,0.000000005,0.000000100\n125,2,1.000000007,0.000000101\n");
}

TEST(ConcludeTest, NamesMissingSamples) {
  Options options = SomeOptions();
  options.samples = (std::filesystem::temp_directory_path() / "suede-samples-test.csv").string();
  auto file = ResultFile::Open(options.samples, "--samples");
  ASSERT_TRUE(file.ok());
  Document document{.samples = &*file};
  document.results = {GoodResult()};
  document.results[0].latency_ns.RecordMany(100, 3);
  document.results[0].samples.resize(2);
  testing::internal::CaptureStderr();
  EXPECT_EQ(Conclude(options, document), kExitDone);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("2 of the 3 latencies of 125 bytes"),
            std::string::npos);
  std::ifstream in(options.samples);
  std::string head;
  std::getline(in, head);
  EXPECT_EQ(head, "data_bytes,inflight,start_seconds,latency_seconds");
  std::filesystem::remove(options.samples);
}

// With any options, and values of any size.
TEST(TableTest, NoTableIsWiderThanATerminal) {
  Options options = SomeOptions();
  options.destinations.assign(1023, 1);
  options.vcs = {0, 1, 2, 3};
  options.queues = 16;
  options.control_bytes = 18;
  options.check = options.bidirectional = true;
  options.mode = Mode::kLatency;
  options.rate = 1e9;
  options.cacheline_cpus = {0, 1};
  options.balance = SUEDE_BALANCE_LEAST_LOADED;
  for (uint8_t i = 48; i < 64; ++i) options.instances.push_back(i);
  RunResult r = GoodResult();
  r.data_bytes = 256;
  r.sent = r.measured = r.forward.received = r.reverse_sent = UINT64_MAX;
  r.forward.wrong = r.forward.duplicated = r.forward.misordered = 123'456'789'012;
  r.sent_by_lane.assign(16, UINT64_MAX);
  r.offered_per_second = 1e9;
  r.peak_per_second = 1e12;
  for (const uint64_t ns : {uint64_t{1}, uint64_t{100'000'000'000}}) r.latency_ns.Record(ns);
  r.cacheline_before_ns = r.cacheline_after_ns = 123456;
  ExpectFits(TableHead(options), TableRow(options, r));
  const StreamCounts max{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                         UINT64_MAX, UINT64_MAX, UINT64_MAX};
  for (const std::string& line : Lines(ServerTable(options, max, UINT64_MAX))) {
    EXPECT_LE(line.size(), kTableColumns) << line;
  }
}

TEST(ProgressTest, SaysWhatTheModeDoes) {
  const ProgressSums before{.sent = 1'000'000, .received = 0, .stage = Stage::kLoad};
  const ProgressSums now{.sent = 3'000'000, .received = 500'000, .stage = Stage::kLoad};
  EXPECT_EQ(ProgressText(Mode::kBandwidth, 125, 3, 2, before, now),
            "3.0 s: 125 bytes, load, 1.000 M/s, 1.000 Gb/s, sent 3000000");
  EXPECT_EQ(ProgressText(Mode::kPeer, 125, 3, 2, before, now),
            "3.0 s: 125 bytes, load, 1.000 M/s, 1.000 Gb/s, sent 3000000, received 0.250 M/s, "
            "500000");
  const ProgressSums serves{.received = 500'000, .stage = Stage::kServe};
  EXPECT_EQ(ProgressText(Mode::kServer, 0, 3, 2, before, serves),
            "3.0 s: serving, received 0.250 M/s, 500000");
}

// On a pipe a line for each interval, and none of it is written over.
TEST(ProgressTest, WritesALineForEachIntervalUntilItEnds) {
  Options options = SomeOptions();
  options.interval_s = 0.01;
  char* text = nullptr;
  FILE* const out = std::tmpfile();
  {
    Progress progress(options, 64, 1, out);
    progress.worker(0)->sent = 7;
    while (std::ftell(out) < 100) usleep(1000);
  }
  const long end = std::ftell(out);
  usleep(30000);
  EXPECT_EQ(std::ftell(out), end);
  std::rewind(out);
  size_t size = 0;
  ASSERT_GT(getline(&text, &size, out), 0);
  EXPECT_TRUE(std::string(text).starts_with("suede-perf: 0.0 s: 64 bytes, waiting for servers"));
  EXPECT_EQ(std::string(text).find('\r'), std::string::npos);
  free(text);
  std::fclose(out);
  FILE* const none = std::tmpfile();
  options.interval_s = 0;
  { Progress progress(options, 64, 1, none); }
  EXPECT_EQ(std::ftell(none), 0);
  std::fclose(none);
}

}  // namespace
}  // namespace suede::perf
