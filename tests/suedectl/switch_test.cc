// SPDX-License-Identifier: Apache-2.0
// suedectl against a switch, and against an endpoint with a switch's commands.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fake_switch.h"
#include "mgmt/catalog.h"
#include "mgmt/server.h"
#include "suedectl/run.h"

namespace suede::ctl {
namespace {

class CtlSwitchTest : public testing::Test {
 protected:
  CtlSwitchTest() {
    const ManagementOptions options{
        .socket_path = socket_, .version = "1", .name = "sw0", .limits = {}, .log = nullptr};
    auto server = ManagementServer::Create(options, &SwitchCatalog(), &switch_);
    if (!server.ok()) std::abort();
    server_ = *std::move(server);
    thread_ = std::thread([this] {
      while (!stop_) {
        pollfd ready{.fd = server_->fd(), .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, 10) > 0) server_->Poll();
      }
    });
  }
  ~CtlSwitchTest() override {
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
    const int code = ctl::Run(arguments,
                              {.catalog = EndpointCatalog(),
                               .local = {},
                               .daemon = DaemonCommands(),
                               .switch_catalog = &SwitchCatalog()},
                              environment, "1", stream, stream);
    std::fclose(stream);
    std::string result = std::to_string(code) + ": " + text;
    std::free(text);
    return result;
  }

  FakeSwitch switch_;
  char template_[24] = "/tmp/suede-ctl-XXXXXX";
  const std::string directory_ = mkdtemp(template_);
  const std::string socket_ = directory_ + "/management.sock";
  std::unique_ptr<ManagementServer> server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(CtlSwitchTest, CommandsMeanWhatTheyMeanToASwitch) {
  const std::string queues = Ctl({"queues", "list", "--class", "5", "--in_use"});
  EXPECT_TRUE(queues.starts_with("0: ")) << queues;
  EXPECT_NE(queues.find("most_bytes"), std::string::npos) << queues;
  EXPECT_EQ(Ctl({"-j", "counters", "get", "--scope", "class", "--port", "p0", "--class", "1"})
                .find("0: {\"scope\":\"class\",\"sets\":[{\"of\":\"p0.1\""),
            0u);
  EXPECT_EQ(Ctl({"-j", "impair", "set", "p0", "--direction", "in", "--loss", "0.01"}),
            "0: {\"port\":\"p0\",\"direction\":\"in\"}\n");
  EXPECT_EQ(switch_.change.loss, 0.01);
  EXPECT_TRUE(Ctl({"impair", "set", "p0", "--class", "3", "--dscp", "46", "--ecn", "keep"})
                  .starts_with("0: "));
  EXPECT_EQ(switch_.change.traffic_class, 3u);
  EXPECT_EQ(switch_.change.dscp, std::optional<uint32_t>(46));
  EXPECT_TRUE(switch_.change.ecn.has_value() && !switch_.change.ecn->has_value());
  EXPECT_TRUE(Ctl({"impair", "set", "p0", "--strip_tag", "on"}).starts_with("0: "));
  EXPECT_EQ(switch_.change.strip_tag, true);
  EXPECT_EQ(Ctl({"-j", "port", "set_admin", "p0", "down"}),
            "0: {\"port\":\"p0\",\"admin\":\"down\"}\n");
}

TEST_F(CtlSwitchTest, CommandsOfAnEndpointAreRefusedWithTheReason) {
  EXPECT_EQ(Ctl({"planes", "list"}),
            "2: suedectl: 'planes list' is for endpoints, and this daemon is a switch; 'suedectl "
            "rpc describe' has its methods\n");
  EXPECT_EQ(Ctl({"top", "--times", "1"}),
            "2: suedectl: 'top' is for endpoints, and this daemon is a switch; 'suedectl rpc "
            "describe' has its methods\n");
  EXPECT_EQ(Ctl({"ping", "4"}),
            "2: suedectl: 'ping' is for endpoints, and this daemon is a switch; 'suedectl rpc "
            "describe' has its methods\n");
  EXPECT_EQ(Ctl({"counters", "get", "--scope", "lcore"}),
            "2: suedectl: scope: is none of the choices; use total, port or class\n");
}

TEST_F(CtlSwitchTest, ArgumentsAreCheckedBeforeTheDaemonIsAsked) {
  EXPECT_EQ(Ctl({"impair", "set", "p0", "--loss", "1.01"}),
            "2: suedectl: loss: is out of range; use 0 to 1, with a fraction or without\n");
  EXPECT_EQ(Ctl({"impair", "set", "p0", "--hop_limit", "256"}),
            "2: suedectl: hop_limit: is out of range; use 0 to 255, or keep\n");
  EXPECT_TRUE(Ctl({"impair", "sett"}).starts_with("2: suedectl: unknown command 'impair sett'"));
  const std::string help = Ctl({"queues", "list", "--help"});
  EXPECT_NE(help.find("Clients' queues"), std::string::npos) << help;
  EXPECT_NE(help.find("Of a switch:"), std::string::npos) << help;
  EXPECT_NE(Ctl({"impair", "--help"}).find("impair clear"), std::string::npos);
}

TEST_F(CtlSwitchTest, EventsAreWatched) {
  switch_.events.Raise(EventKind::kStormBegan,
                       {{EventField::kPort, "p0"}, {EventField::kClass, 3}});
  const std::string text = Ctl({"watch", "events", "--since", "0", "--count", "1"});
  EXPECT_NE(text.find("storm_began port=p0 class=3"), std::string::npos) << text;
}

}  // namespace
}  // namespace suede::ctl
