// SPDX-License-Identifier: Apache-2.0
// suedectl against daemons that answer, refuse, pass on descriptors, or are none.
#include "suedectl/daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "../mgmt/small_endpoint.h"
#include "local/listener.h"
#include "mgmt/event_log.h"
#include "mgmt/server.h"
#include "suedectl/endpoints_command.h"
#include "suedectl/run.h"

namespace suede::ctl {
namespace {

Answer Store(Call& call) {
  const Fd file = std::move(call.descriptor);
  return Json{{"bytes", write(file.get(), "hello\n", 6)}};
}
Answer Refuse(Call&) { return absl::FailedPreconditionError("not today; try tomorrow"); }
constexpr Method kFakeMethods[] = {
    {.name = "file.store",
     .sentence = "",
     .run = Store,
     .descriptor = DescriptorParam{.name = "file", .sentence = ""}},
    {.name = "refuse", .sentence = "", .run = Refuse},
};

class DaemonTest : public testing::Test {
 protected:
  ~DaemonTest() override {
    Stop();
    std::filesystem::remove_all(directory_);
  }
  // The server polls on a thread of its own.
  void Serve() {
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
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    server_ = nullptr;
  }
  // A socket that nobody accepts from; with `listens` false one that its daemon left behind.
  static Fd LeaveSocket(const std::string& path, bool listens) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (listens) EXPECT_EQ(listen(fd.get(), 8), 0);
    else fd.Reset();
    return fd;
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

  const Catalog catalog_{std::span<const Method>(kFakeMethods), EventMethods(), DaemonMethods(),
                         EndpointMethods()};
  SmallEndpoint endpoint_;
  char template_[24] = "/tmp/suede-ctl-XXXXXX";
  const std::string directory_ = mkdtemp(template_);
  std::string socket_ = directory_ + "/management.sock";
  std::unique_ptr<ManagementServer> server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(DaemonTest, PassesAFileThatItOpens) {
  Serve();
  const std::string path = directory_ + "/out";
  EXPECT_EQ(Ctl({"file", "store", "--file", path}), "0: bytes: 6\n");
  EXPECT_EQ(Ctl({"-j", "--every", "0.01", "--times", "2", "file", "store", path}),
            "0: {\"bytes\":6}\n{\"bytes\":6}\n");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "hello\nhello\n");
  EXPECT_TRUE(
      Ctl({"file", "store", "/no/such/directory/out"}).starts_with("1: suedectl: /no/such"));
}

TEST_F(DaemonTest, TellsWhatTheDaemonRefuses) {
  Serve();
  EXPECT_EQ(Ctl({"refuse"}), "1: suedectl: not today; try tomorrow\n");
}

TEST_F(DaemonTest, WatchesEvents) {
  endpoint_.events.Raise(EventKind::kLinkDown, {{EventField::kPort, "p0"}});
  endpoint_.events.Raise(EventKind::kDrainBegan,
                         {{EventField::kReason, "signal 15"}, {EventField::kSeconds, 2}});
  Serve();
  const std::string text = Ctl({"watch", "events", "--since", "0", "--count", "2"});
  EXPECT_TRUE(text.starts_with("0: watching events after sequence 0\n20")) << text;
  EXPECT_NE(text.find("Z warning link_down port=p0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Z info    drain_began reason=\"signal 15\" seconds=2\n"),
            std::string::npos)
      << text;
  const std::string json =
      Ctl({"-j", "watch", "events", "--since", "0", "--severity", "warning", "--count", "1"});
  EXPECT_NE(json.find("\"kind\":\"link_down\",\"port\":\"p0\"}\n"), std::string::npos) << json;
  EXPECT_TRUE(Ctl({"watch", "events", "--since", "9", "--count", "1"}).starts_with(
      "1: watching events after sequence 9\nsuedectl: since: the newest event is 2"));
}

TEST_F(DaemonTest, TellsOfEventsThatAreMissing) {
  for (size_t i = 0; i < EventLog::kCapacity + 5; ++i) {
    endpoint_.events.Raise(EventKind::kLinkDown, {{EventField::kPort, "p0"}});
  }
  Serve();
  const std::string json = Ctl({"-j", "watch", "events", "--since", "2", "--count", "1"});
  EXPECT_NE(json.find("3 events lost\n{\"lost\":3}\n{\"sequence\":6,"), std::string::npos) << json;
}

TEST_F(DaemonTest, AWatchEndsWithTheDaemon) {
  Serve();
  std::string text;
  std::thread watch([&] { text = Ctl({"watch", "events"}); });
  // suedectl waits by then, or is about to: either way the daemon goes under it.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Stop();
  watch.join();
  EXPECT_TRUE(text.starts_with("4: ")) << text;
  EXPECT_NE(text.find("suedectl: "), std::string::npos) << text;
}

TEST_F(DaemonTest, TellsThatNobodyIsThere) {
  EXPECT_TRUE(Ctl({"refuse"}).starts_with("4: suedectl: no daemon")) << Ctl({"refuse"});
}

TEST_F(DaemonTest, DoesNotWaitForEverOrBelieveAnything) {
  const auto listener = Listener::Create(socket_, 0600, Listener::Kind::kStream);
  ASSERT_TRUE(listener.ok());
  const auto silent = Daemon::Connect({socket_}, 1);
  EXPECT_EQ(silent.status().code(), absl::StatusCode::kUnavailable);
  for (const char* greeting : {"nonsense\n", "{}\n", "{\"protocol\":2}\n", "{\"protocol\":\"1\"}\n",
                               "[]\n", "", "{\"error\":{\"message\":7}}\n", "{\"error\":7}\n",
                               "{\"error\":{\"message\":\"full\"}}\n"}) {
    std::thread other([&] {
      bool turned_away;
      pollfd ready{.fd = (*listener)->fd(), .events = POLLIN, .revents = 0};
      poll(&ready, 1, 5000);
      int fd = -1;
      // The first is a leftover of the silent attempt.
      while ((fd = (*listener)->Accept(&turned_away)) >= 0) {
        send(fd, greeting, std::strlen(greeting), MSG_NOSIGNAL);
        close(fd);
      }
    });
    const auto daemon = Daemon::Connect({socket_}, 2);
    other.join();
    EXPECT_EQ(daemon.status().code(), absl::StatusCode::kUnavailable) << greeting;
  }
}

TEST_F(DaemonTest, EndpointsAreFoundAskedAndToldFromWhatTheDeadLeave) {
  const std::string root = directory_ + "/roots";
  for (const char* name : {"alive", "dead", "ended", "silent"}) {
    std::filesystem::create_directories(root + "/" + name);
  }
  std::ofstream(root + "/a-file") << "is no endpoint";
  const Fd silent = LeaveSocket(root + "/silent/management.sock", true);
  LeaveSocket(root + "/dead/management.sock", false);
  socket_ = root + "/alive/management.sock";
  Serve();
  const Json list = ListEndpoints({root, root + "/none", root})["endpoints"];
  ASSERT_EQ(list.size(), 4u) << list;
  std::map<std::string, std::string> states;
  for (const Json& row : list) {
    const std::string directory = row["directory"];
    states[directory.substr(directory.rfind('/') + 1)] = row["state"];
    EXPECT_EQ(row["pid"].is_number(), row["state"] == "running") << row;
  }
  EXPECT_EQ(states, (std::map<std::string, std::string>{
                        {"alive", "running"}, {"dead", "dead"}, {"ended", "ended"},
                        {"silent", "silent"}}));
}

}  // namespace
}  // namespace suede::ctl
