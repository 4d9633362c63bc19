// SPDX-License-Identifier: Apache-2.0
// A real switch on a thread, behind its management socket.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/version.h"
#include "mgmt/json.h"
#include "switch/switch_management.h"
#include "switch/switch_observer.h"
#include "switch/switch_telemetry.h"
#include "switching_thread.h"

namespace suede {
namespace {

class SwitchManagementTest : public testing::Test {
 protected:
  SwitchManagementTest() {
    fabric::SwitchParams params = fabric::ParamsOf(2);
    params.groups = {{.ports = {0, 1}, .spread = fabric::Spread::kRoundRobin}};
    thread_ = std::make_unique<SwitchingThread>(params);
    SwitchManagementOptions options{
        .name = "sw0",
        .socket_path = directory_ + "/management.sock",
        .config_file = "/etc/sw0.yaml",
        .ports = {{.name = "p0", .device = "d0", .driver = "null", .mac = "m", .lcore = 3},
                  {.name = "p1"}},
        .groups = {"both"},
        .link = [this](uint32_t port) { return SwitchLink{.up = links_[port], .speed_bps = 800}; },
        .effective_config = [] { return std::string("version: 1\n"); },
        .check_config = [](std::string_view, std::string_view) { return ConfigCheckView(); }};
    auto made = SwitchManagement::Create(&thread_->mailbox, &thread_->the_switch(), &logger_,
                                         std::move(options));
    if (!made.ok()) std::abort();
    management_ = *std::move(made);
    observer_ = std::make_unique<SwitchObserver>(&thread_->mailbox, &thread_->the_switch(),
                                                 management_.get(), 3, 1000);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (directory_ + "/management.sock").copy(address.sun_path, sizeof address.sun_path - 1);
    socket_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::abort();
    }
    greeting_ = Line();
  }
  ~SwitchManagementTest() override {
    thread_->Stop();
    std::filesystem::remove_all(directory_);
  }

  void Turn() {
    pollfd ready{.fd = management_->fd(), .events = POLLIN, .revents = 0};
    poll(&ready, 1, 1);
    management_->Poll();
    observer_->Tick();
  }
  bool Until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      Turn();
    }
    return true;
  }
  std::string Line() {
    size_t end = std::string::npos;
    Until([&] {
      char buffer[65536];
      const ssize_t n = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (n > 0) text_.append(buffer, static_cast<size_t>(n));
      end = text_.find('\n');
      return end != std::string::npos;
    });
    if (end == std::string::npos) return "";
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }
  Json Call(const std::string& method, const std::string& params = "{}") {
    const std::string line =
        R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}\n";
    EXPECT_EQ(send(socket_.get(), line.data(), line.size(), 0), static_cast<ssize_t>(line.size()));
    const Json answer = TryParse<Json>(Line()).value_or(Json::object());
    if (answer.contains("result")) return answer["result"];
    return answer.contains("error") ? answer["error"]["message"] : answer;
  }
  uint64_t Counter(const std::string& port, const std::string& name) {
    const Json sets = Call("counters.get", R"({"scope":"port","port":")" + port + "\"}")["sets"];
    return sets[0]["counters"][name].get<uint64_t>();
  }
  std::string Page() { return AsText(observer_->page().Collect()); }

  char template_[32] = "/tmp/suede-switch-XXXXXX";
  const std::string directory_ = mkdtemp(template_);
  Logger logger_{LogConfig{.level = LogConfig::Level::kError}};
  bool links_[2] = {true, true};
  std::unique_ptr<SwitchingThread> thread_;
  std::unique_ptr<SwitchManagement> management_;
  std::unique_ptr<SwitchObserver> observer_;
  Fd socket_;
  std::string text_;
  std::string greeting_;
};

TEST_F(SwitchManagementTest, ShowsPortsQueuesAndBuffer) {
  EXPECT_EQ(TryParse<Json>(greeting_)->at("kind"), "switch");
  thread_->Start();
  Until([&] { return thread_->turns.load() > 100; });
  const Json ports = Call("ports.list")["ports"];
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0]["name"], "p0");
  EXPECT_EQ(ports[0]["lcore"], 3);
  EXPECT_GT(ports[0]["rx_frames"].get<uint64_t>(), 90u);
  EXPECT_EQ(ports[1]["speed_bps"], 800);
  EXPECT_EQ(Call("queues.list")["queues"].size(), 16u);
  const Json used = Call("queues.list", R"({"in_use":true})")["queues"];
  ASSERT_EQ(used.size(), 2u);
  EXPECT_EQ(used[0]["class"], 0);
  EXPECT_GT(used[0]["most_bytes"].get<uint64_t>(), 0u);
  EXPECT_EQ(Call("queues.list", R"({"port":"p1","class":7})")["queues"].size(), 1u);
  EXPECT_EQ(Call("queues.list", R"({"port":"px"})"), "there is no port px; ports.list names them");
  EXPECT_EQ(Call("buffer.show")["bytes"], 4 << 20);
  EXPECT_EQ(Call("queues.reset")["reset"], true);
  EXPECT_EQ(Call("version")["name"], "sw0");
}

TEST_F(SwitchManagementTest, ImpairsUnderTrafficAtOnce) {
  thread_->Start();
  EXPECT_EQ(Call("impair.set", R"({"port":"p0","direction":"in","loss":1})")["port"], "p0");
  const uint64_t lost = Counter("p0", "impair_loss_total");
  EXPECT_TRUE(Until([&] { return Counter("p0", "impair_loss_total") > lost + 100; }));
  EXPECT_EQ(Counter("p1", "impair_loss_total"), 0u);
  // A second key leaves the first.
  Call("impair.set", R"({"port":"p0","direction":"in","delay_us":5})");
  const Json list = Call("impair.list", R"({"impaired_only":true})")["impairments"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["loss"], 1.0);
  EXPECT_EQ(list[0]["delay_us"], 5.0);
  Call("impair.clear", R"(["all"])");
  EXPECT_TRUE(Call("impair.list", R"({"impaired_only":true})")["impairments"].empty());
  const uint64_t after = Counter("p0", "impair_loss_total");
  const uint64_t sent = Counter("p1", "tx_frames_total");
  EXPECT_TRUE(Until([&] { return Counter("p1", "tx_frames_total") > sent + 100; }));
  EXPECT_EQ(Counter("p0", "impair_loss_total"), after);
  EXPECT_EQ(Call("events.list", R"({"kind":"impairment_set"})")["events"].size(), 3u);
  thread_->Stop();
  EXPECT_TRUE(thread_->the_switch().port(0).in().params().is_clean());
}

TEST_F(SwitchManagementTest, RewritesUnderTraffic) {
  thread_->Start();
  Call("impair.set", R"({"port":"p0","direction":"in","dscp":46})");
  Call("impair.set", R"({"port":"p0","direction":"in","class":5,"hop_limit":3,"dscp":"keep"})");
  EXPECT_TRUE(Until([&] { return Counter("p0", "impair_rewritten_total") > 100; }));
  EXPECT_EQ(Counter("p1", "impair_rewritten_total"), 0u);
  const Json list = Call("impair.list", R"({"impaired_only":true})")["impairments"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["dscp"], 46);
  EXPECT_EQ(list[0]["pcp"], nullptr);
  EXPECT_EQ(list[0]["of_class"][0]["hop_limit"], 3);
  Call("impair.set", R"({"port":"p0","direction":"in","dscp":"keep"})");
  Call("impair.set", R"({"port":"p0","direction":"in","class":5,"hop_limit":"keep"})");
  EXPECT_TRUE(Call("impair.list", R"({"impaired_only":true})")["impairments"].empty());
  thread_->Stop();
}

TEST_F(SwitchManagementTest, AddressesAreAddedListedAndForgotten) {
  thread_->Start();
  EXPECT_EQ(Call("addresses.add", R"(["02:00:00:00:00:77", "p1"])")["port"], "p1");
  EXPECT_TRUE(Until([&] { return Call("addresses.list")["addresses"].size() == 3; }));
  const Json configured = Call("addresses.list", R"({"origin":"configured"})")["addresses"];
  ASSERT_EQ(configured.size(), 1u);
  EXPECT_EQ(configured[0]["address"], "02:00:00:00:00:77");
  EXPECT_EQ(configured[0]["age_s"], nullptr);
  const Json learnt = Call("addresses.list", R"({"port":"p0"})")["addresses"];
  ASSERT_EQ(learnt.size(), 1u);
  EXPECT_EQ(learnt[0]["address"], "52:00:00:00:00:01");
  EXPECT_EQ(learnt[0]["origin"], "learnt");
  const Json page = Call("addresses.list", R"({"limit":1})");
  EXPECT_EQ(page["addresses"].size(), 1u);
  EXPECT_TRUE(page["next"].is_number());
  EXPECT_EQ(Call("addresses.flush")["port"], nullptr);
  EXPECT_EQ(Call("addresses.remove", R"(["02:00:00:00:00:77"])")["address"], "02:00:00:00:00:77");
  EXPECT_EQ(Call("addresses.remove", R"(["02:00:00:00:00:77"])"),
            "there is no such address; addresses.list names them");
  EXPECT_TRUE(
      Call("addresses.add", R"(["10.0.0.1", "p1"])")
          .get<std::string>()
          .starts_with("address: '10.0.0.1' is not an address by which this switch forwards"));
}

TEST_F(SwitchManagementTest, AnAddressMayBeBehindAGroupOfPorts) {
  thread_->Start();
  EXPECT_EQ(Call("addresses.add", R"(["02:00:00:00:00:77", "both"])")["port"], "both");
  for (const std::string filter : {R"({"origin":"configured"})", R"({"port":"both"})"}) {
    const Json rows = Call("addresses.list", filter)["addresses"];
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["address"], "02:00:00:00:00:77");
    EXPECT_EQ(rows[0]["port"], "both");
  }
  EXPECT_EQ(Call("addresses.add", R"(["02:00:00:00:00:78", "none"])"),
            "there is no port none; ports.list names them");
  Call("addresses.flush");
  EXPECT_EQ(Call("addresses.list", R"({"port":"both"})")["addresses"].size(), 1u);
}

TEST_F(SwitchManagementTest, WeightsOfAGroupAreSetWhileItRuns) {
  thread_->Start();
  const auto frames_of = [&](size_t member) {
    return Call("groups.list")["members"][member]["frames"].get<uint64_t>();
  };
  const Json members = Call("groups.list")["members"];
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1]["group"], "both");
  EXPECT_EQ(members[1]["port"], "p1");
  EXPECT_EQ(members[1]["spread"], "round_robin");
  EXPECT_EQ(members[1]["weight"], 1);
  EXPECT_EQ(Call("addresses.add", R"(["52:00:00:00:00:02", "both"])")["port"], "both");
  EXPECT_TRUE(Until([&] { return frames_of(0) > 10 && frames_of(1) > 10; }));
  EXPECT_EQ(Call("groups.set_weight", R"(["both", "p1", 0])")["weight"], 0);
  EXPECT_EQ(Call("groups.list")["members"][1]["weight"], 0);
  const uint64_t before = frames_of(1);
  const uint64_t others = frames_of(0);
  EXPECT_TRUE(Until([&] { return frames_of(0) > others + 100; }));
  EXPECT_EQ(frames_of(1), before);
  const std::string series =
      R"(suede_switch_group_frames_total{switch="sw0",group="both",port="p1"} )";
  EXPECT_TRUE(Until([&] {
    return Page().find(series + std::to_string(before) + "\n") != std::string::npos;
  })) << Page();
  EXPECT_EQ(Call("groups.set_weight", R"(["both", "p0", 0])"),
            "no port of the group would have a share; give another one a weight above 0 first");
  EXPECT_EQ(Call("groups.set_weight", R"(["neither", "p0", 1])"),
            "there is no group neither; groups.list names them");
  EXPECT_EQ(Call("groups.set_weight", R"(["both", "p2", 1])"),
            "there is no port p2; ports.list names them");
}

TEST_F(SwitchManagementTest, APortThatIsSetDownOrHasNoLinkCarriesNothing) {
  thread_->Start();
  EXPECT_EQ(Call("ports.set_admin", R"(["p1", "down"])")["admin"], "down");
  const uint64_t sent = Counter("p1", "tx_frames_total");
  const uint64_t dropped = Counter("p1", "rx_drop_down_total");
  EXPECT_TRUE(Until([&] { return Counter("p1", "rx_drop_down_total") > dropped + 10; }));
  EXPECT_EQ(Counter("p1", "tx_frames_total"), sent);
  // The link alone brings it back no more.
  links_[1] = false;
  Until([&] { return !management_->link_up(1); });
  Call("ports.set_admin", R"(["p1", "up"])");
  const uint64_t again = Counter("p1", "rx_drop_down_total");
  EXPECT_TRUE(Until([&] { return Counter("p1", "rx_drop_down_total") > again + 10; }));
  links_[1] = true;
  EXPECT_TRUE(Until([&] { return Counter("p1", "tx_frames_total") > sent + 10; }));
  EXPECT_EQ(Call("events.list", R"({"kind":"link_down"})")["events"].size(), 1u);
  EXPECT_EQ(Call("events.list", R"({"kind":"port_admin"})")["events"].size(), 2u);
}

TEST_F(SwitchManagementTest, ALinkIsUpOnceTheSwitchUsesIt) {
  const auto is_up = [this] { return Call("ports.list")["ports"][0]["link_up"].get<bool>(); };
  links_[0] = false;
  EXPECT_TRUE(Until([&] { return !management_->link_up(0); }));
  EXPECT_FALSE(is_up());
  links_[0] = true;
  EXPECT_TRUE(Until([&] { return management_->link_up(0); }));
  EXPECT_FALSE(is_up());  // the lcore does not run yet
  thread_->Start();
  EXPECT_TRUE(Until(is_up));
}

TEST_F(SwitchManagementTest, AnUnknownPortIsNotCaptured) {
  EXPECT_EQ(management_->StartCapture({.port = "p0"}, Fd()).message(),
            "there is no port p0; ports.list names them");
}

TEST_F(SwitchManagementTest, MetricsAndHealthFollow) {
  EXPECT_EQ(observer_->Obstacles(), std::vector<std::string>{"starting"});
  thread_->Start();
  observer_->SetStarted();
  EXPECT_TRUE(Until([&] { return observer_->Obstacles().empty(); }));
  EXPECT_TRUE(Until([&] {
    return Page().find(
               "suede_switch_queue_most_bytes{switch=\"sw0\",port=\"p0\",class=\"0\"} 256") !=
           std::string::npos;
  })) << Page();
  EXPECT_NE(
      Page().find("suede_switch_rx_drops_total{switch=\"sw0\",port=\"p0\",reason=\"runt\"} 0"),
      std::string::npos);
  EXPECT_NE(Page().find("suede_switch_class_drops_total{switch=\"sw0\",port=\"p1\",class=\"7\","
                        "reason=\"tail\"} 0"),
            std::string::npos);
  links_[0] = false;
  EXPECT_TRUE(Until(
      [&] { return observer_->Obstacles() == std::vector<std::string>{"port p0: link down"}; }));
  EXPECT_EQ(observer_->StatusLine(), "switching; links up: 1 of 2");
  EXPECT_TRUE(observer_->HealthFaults().empty());
}

TEST_F(SwitchManagementTest, TelemetryAnswersWithoutAskingAnybody) {
  const std::vector<TelemetryCommand> commands =
      SwitchTelemetry(observer_.get(), &thread_->the_switch(), {"p0", "p1"}, 1000);
  const auto ask = [&](std::string_view command, std::string_view parameter) {
    TelemetryReply reply;
    for (const TelemetryCommand& one : commands) {
      if (one.command == command && one.source(parameter, &reply)) return reply;
    }
    return TelemetryReply(TelemetryList{"none"});
  };
  EXPECT_EQ(std::get<TelemetryDict>(ask("/suede/info", ""))[0].second, TelemetryValue("sw0"));
  EXPECT_EQ(std::get<TelemetryList>(ask("/suede/ports", "")), (TelemetryList{"p0", "p1"}));
  EXPECT_EQ(std::get<TelemetryDict>(ask("/suede/ports", "p1"))[1].first, "rx_frames_total");
  EXPECT_EQ(std::get<TelemetryList>(ask("/suede/classes", "")).size(), 16u);
  EXPECT_EQ(std::get<TelemetryDict>(ask("/suede/classes", "p1.7"))[1].first, "class_frames_total");
  for (const char* wrong : {"p1.8", "p2.0", "p1", ".1", "p1./"}) {
    EXPECT_EQ(std::get<TelemetryList>(ask("/suede/classes", wrong)), TelemetryList{"none"})
        << wrong;
  }
}

// The lcore hangs: its answers stay away, and requests are refused as busy once they are too many.
TEST_F(SwitchManagementTest, AnLcoreThatDoesNotTurnIsNoticed) {
  observer_->SetStarted();
  EXPECT_EQ(Call("queues.list"), "no answer in time from within the daemon; try again");
  for (uint32_t i = 0; i < SwitchMailbox::kMaxWaiting; ++i) {
    thread_->mailbox.Ask(switch_request::ResetHighWater{});
  }
  EXPECT_EQ(Call("impair.set", R"({"port":"p0","loss":1})"),
            "the request queue of the switch is full; try again");
  EXPECT_TRUE(Call("impair.list", R"({"impaired_only":true})")["impairments"].empty());
  EXPECT_TRUE(Until([&] { return !observer_->HealthFaults().empty(); }));
  EXPECT_TRUE(observer_->HealthFaults()[0].starts_with("lcore 3: no poll iteration for "));
}

}  // namespace
}  // namespace suede
