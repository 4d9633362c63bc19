// SPDX-License-Identifier: Apache-2.0
// suedectl path against a daemon with an invented path.
#include "suedectl/path_command.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../mgmt/small_endpoint.h"
#include "base/text.h"
#include "fake_path.h"
#include "mgmt/server.h"
#include "suedectl/run.h"

namespace suede::ctl {
namespace {

// The state of the methods below, which are functions.
struct Invented {
  FakePath path;
  std::string config{kPathConfig};
  std::vector<std::string> calls;
  uint64_t foreign = 0;
};
Invented* invented = nullptr;

Answer Probe(Call& call) {
  ForeignJson params{{"count", call.arguments.Integer("count")}};
  for (const char* name : {"xpu", "instance", "peer", "plane", "class", "bytes", "sessions",
                           "first_session", "ecn", "hop_limit", "interval_us", "timeout_ms"}) {
    if (call.arguments.Has(name)) params[name] = call.arguments.Integer(name);
  }
  if (call.arguments.Boolean("long_reply")) params["long_reply"] = true;
  if (call.arguments.Has("to")) params["to"] = call.arguments.Text("to");
  invented->foreign += params["count"].get<uint64_t>();
  absl::StatusOr<Json> result = invented->path.Call("peers.probe_path", params);
  if (!result.ok()) return result.status();
  return *std::move(result);
}
Answer Config(Call&) { return Json{{"yaml", invented->config}}; }
Answer Counters(Call&) {
  return Json{{"scope", "total"},
              {"sets", {{{"counters", {{"rx_drop_destination_total", invented->foreign}}}}}}};
}
Answer Start(Call& call) {
  const Fd file = std::move(call.descriptor);
  invented->calls.push_back(StrCat("start ", call.arguments.Text("port")));
  return Json{{"written", write(file.get(), "capture", 7)}};
}
Answer Stop(Call& call) {
  invented->calls.push_back(StrCat("stop ", call.arguments.Text("port")));
  return Json::object();
}

constexpr Param kProbeParams[] = {
    Param::Integer("peer", "", 0, 1023).Required(),
    Param::Integer("xpu", "", 0, 1023),
    Param::Integer("instance", "", 0, 63),
    Param::Integer("plane", "", 0, 3, "0"),
    Param::Integer("class", "", 0, 4, "4"),
    Param::Integer("count", "", 1, 1024, "16"),
    Param::Integer("bytes", "", 0, 65535, "0"),
    Param::Boolean("long_reply", ""),
    Param::Integer("sessions", "", 1, 64, "1"),
    Param::Integer("first_session", "", 0, 65535, "0"),
    Param::Integer("ecn", "", 0, 3),
    Param::Integer("dscp", "", 0, 63),
    Param::Integer("hop_limit", "", 1, 255),
    Param::Choice("to", "", "peer|stranger|ether_type", "peer"),
    Param::Integer("interval_us", "", 0, 100000, "1000"),
    Param::Integer("timeout_ms", "", 1, 5000, "1000"),
};
constexpr Param kPortParams[] = {Param::Text("port", "", 32),
                                 Param::Integer("seconds", "", 0, 86400, "0")};
constexpr Method kMethods[] = {
    {.name = "peers.probe_path", .sentence = "", .run = Probe, .params = kProbeParams},
    {.name = "config.get", .sentence = "", .run = Config},
    {.name = "counters.get", .sentence = "", .run = Counters},
    {.name = "capture.start",
     .sentence = "",
     .run = Start,
     .params = kPortParams,
     .descriptor = DescriptorParam{.name = "file", .sentence = ""}},
    {.name = "capture.stop", .sentence = "", .run = Stop, .params = kPortParams},
};

class PathCommandTest : public testing::Test {
 protected:
  PathCommandTest() {
    invented = &invented_;
    server_ = *ManagementServer::Create(
        {.socket_path = socket_, .version = "1", .name = "left", .limits = {}, .log = {}},
        &catalog_, &endpoint_);
    thread_ = std::thread([this] {
      while (!stop_) {
        pollfd ready{.fd = server_->fd(), .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, 10) > 0) server_->Poll();
      }
    });
  }
  ~PathCommandTest() override {
    stop_ = true;
    thread_.join();
    std::filesystem::remove_all(directory_);
  }
  // "CODE: output and messages".
  std::string Ctl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--socket", socket_});
    const char* environment[] = {nullptr};
    char* text = nullptr;
    size_t size = 0;
    std::FILE* stream = open_memstream(&text, &size);
    const int code =
        ctl::Run(arguments, {.catalog = catalog_, .local = {}, .daemon = DaemonCommands()},
                 environment, "1", stream, stream);
    std::fclose(stream);
    std::string result = std::to_string(code) + ": " + text;
    std::free(text);
    return result;
  }

  Invented invented_;
  const Catalog catalog_{std::span<const Method>(kMethods)};
  SmallEndpoint endpoint_;
  char template_[24] = "/tmp/suede-ctl-XXXXXX";
  const std::string directory_ = mkdtemp(template_);
  std::string socket_ = directory_ + "/management.sock";
  std::unique_ptr<ManagementServer> server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(PathCommandTest, ACorrectPathIsDone) {
  const std::string text = Ctl({"path", "1"});
  EXPECT_TRUE(text.starts_with("0: path from XPU 0.0 to XPU 1\nplane 0 (p0, udp4)")) << text;
  EXPECT_NE(text.find("0 fail, 0 warn, 0 unknown"), std::string::npos) << text;
  EXPECT_NE(text.find("2102/2102"), std::string::npos) << text;
}

TEST_F(PathCommandTest, AFindingIsAFailure) {
  invented_.path.faults.dscp_out = 0;
  const std::string text = Ctl({"path", "1", "--class", "3", "--count", "8"});
  EXPECT_TRUE(text.starts_with("1: ")) << text;
  EXPECT_NE(text.find("fail: plane 0, VC 3, DSCP out: 32 becomes 0; expected: kept\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("suedectl: 1 check of the path to XPU 1 failed"), std::string::npos) << text;
  const std::string json = Ctl({"-j", "path", "1", "--class", "3", "--count", "8"});
  EXPECT_EQ(json.find("1: {\"schema_version\":1,\"xpu\":0,\"instance\":0,\"peer\":1,"), 0u) << json;
}

TEST_F(PathCommandTest, WithoutAnswersThePeerIsUnreachable) {
  invented_.path.faults.state = "no_association";
  const std::string text = Ctl({"path", "1"});
  EXPECT_TRUE(text.starts_with("4: ")) << text;
  EXPECT_NE(text.find("not probed: no association"), std::string::npos) << text;
}

TEST_F(PathCommandTest, BurstsTakeDisruptive) {
  invented_.path.faults.queue = 100;
  EXPECT_EQ(Ctl({"path", "1"}).find("bursts of"), std::string::npos);
  EXPECT_NE(Ctl({"path", "1", "--class", "4", "--disruptive"}).find("bursts of ack\n"),
            std::string::npos);
}

TEST_F(PathCommandTest, OthersAreSendersAndSeeFloods) {
  const std::string text =
      Ctl({"path", "1", "--class", "4", "--disruptive", "--with", socket_ + "@7"});
  EXPECT_TRUE(text.starts_with("1: ")) << text;
  EXPECT_NE(text.find("flooding: "), std::string::npos) << text;
  EXPECT_TRUE(Ctl({"path", "1", "--with", "/no/such.sock"}).starts_with("4: suedectl: no daemon"));
  EXPECT_TRUE(Ctl({"path", "1", "--with", "x@y"}).starts_with("2: suedectl: --with: 'x@y'"));
  EXPECT_EQ(*ParsePathSenders("a,b@3"),
            (std::vector<PathSender>{{.socket = "a", .xpu = {}}, {.socket = "b", .xpu = 3}}));
}

TEST_F(PathCommandTest, ACaptureLastsAsLongAsTheRun) {
  const std::string file = directory_ + "/path.pcapng";
  EXPECT_TRUE(Ctl({"path", "1", "--class", "4", "--capture", file}).starts_with("0: "));
  EXPECT_EQ(invented_.calls, (std::vector<std::string>{"start p0", "stop p0"}));
  EXPECT_EQ(std::filesystem::file_size(file), 7u);
  EXPECT_TRUE(Ctl({"path", "1", "--capture", "/no/such/file"})
                  .starts_with("1: suedectl: cannot write /no/such/file"));
}

TEST_F(PathCommandTest, AnUnknownPeerIsAUsageError) {
  EXPECT_TRUE(Ctl({"path", "6"}).starts_with("2: suedectl: peer: no peer with XPU id 6"));
}

}  // namespace
}  // namespace suede::ctl
