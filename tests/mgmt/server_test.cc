// SPDX-License-Identifier: Apache-2.0
// The server's treatment of connections that do not keep to the protocol, and of descriptors.
#include "mgmt/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <string>

#include "bench.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

constexpr char kVersion[] = R"({"jsonrpc":"2.0","id":1,"method":"version"})";

// ---- A table of methods of its own: some take a descriptor, some answer later or too much.

int g_questions = 0;  // that were not dropped
struct Asked {
  Asked() { ++g_questions; }
  ~Asked() { --g_questions; }
};
bool g_has_answer = false;

Answer Store(Call& call) {
  const Fd file = std::move(call.descriptor);
  const std::string& text = call.arguments.Text("text");
  const bool good =
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return Json{{"written", good}};
}
Answer Later(Call&) {
  return Answer::When([asked = std::make_shared<Asked>()] { return g_has_answer; },
                      Json{{"late", true}});
}
Answer Long(Call& call) {
  return Json{{"text", std::string(static_cast<size_t>(call.arguments.Integer("bytes")), 'x')}};
}
Answer Fail(Call& call) {
  return absl::Status(static_cast<absl::StatusCode>(call.arguments.Integer("status")), "as asked");
}
Answer Ping(Call&) { return Json::object(); }

constexpr Param kStore[] = {Param::Text("text", "What to write.", 100).Required()};
constexpr Param kLong[] = {Param::Integer("bytes", "How much.", 0, 100'000'000).Required()};
constexpr Param kFail[] = {Param::Integer("status", "Which.", 1, 16, "13")};
constexpr Method kMethods[] = {
    {.name = "file.store", .sentence = "", .run = Store, .params = kStore,
     .descriptor = DescriptorParam{.name = "file", .sentence = ""}},
    {.name = "later", .sentence = "", .run = Later},
    {.name = "long", .sentence = "", .run = Long, .params = kLong},
    {.name = "fail", .sentence = "", .run = Fail, .params = kFail},
    {.name = "ping", .sentence = "", .run = Ping},
};
const Catalog& TestCatalog() {
  static const Catalog catalog{std::span<const Method>(kMethods), DaemonMethods()};
  return catalog;
}

size_t OpenFiles() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ServerTest : public testing::Test {
 protected:
  ManagementBench bench_{[](ManagementOptions& options) {
                           options.max_clients = 4;
                           options.limits.line_ms = 100;
                           options.limits.unread_ms = 100;
                           options.limits.session.later_ms = 100;
                           options.limits.session.answer_bytes = 1u << 20;
                         },
                         &TestCatalog()};
  // Connected throughout: nothing that happens to another connection must disturb it.
  TestClient witness_{bench_};

  void TearDown() override { EXPECT_EQ(witness_.Ask(kVersion)["result"]["name"], "left"); }
};

// ---- Lines.

TEST_F(ServerTest, ALineTooLongIsRefusedAndEndsTheConnection) {
  TestClient client(bench_);
  ASSERT_TRUE(client.Send(std::string(65536, ' ')));
  EXPECT_EQ(ErrorOf(TryParse<Json>(*client.ReadLine()).value()),
            static_cast<int>(RpcCode::kLineTooLong));
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(bench_.server->counters().too_long, 1u);
}

TEST_F(ServerTest, ALineOfTheLargestSizeIsServed) {
  TestClient client(bench_);
  std::string line = kVersion;
  line.resize(65535, ' ');
  EXPECT_EQ(client.Ask(line)["result"]["name"], "left");
}

TEST_F(ServerTest, LinesMayComeInPiecesAndSeveralAtOnce) {
  TestClient client(bench_);
  const std::string line = std::string(kVersion) + "\r\n";
  for (const char byte : line) ASSERT_TRUE(client.Send(std::string(1, byte)));
  EXPECT_TRUE(client.ReadLine().has_value());
  std::string many = "\n\n \n";
  for (int i = 0; i < 100; ++i) many += line;
  ASSERT_TRUE(client.Send(many));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.ReadLine().has_value()) << i;
}

TEST_F(ServerTest, HalfALineTimesOut) {
  TestClient client(bench_);
  ASSERT_TRUE(client.Send(std::string(kVersion) + "\n{\"json"));
  EXPECT_TRUE(client.ReadLine().has_value());
  EXPECT_EQ(ErrorOf(TryParse<Json>(*client.ReadLine()).value()),
            static_cast<int>(RpcCode::kLineTooLate));
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(bench_.server->counters().too_late, 1u);
  ASSERT_EQ(bench_.limits.size(), 1u);
  EXPECT_EQ(bench_.limits[0], (std::pair<std::string, pid_t>("line_ms", getpid())));
}

TEST_F(ServerTest, ASlowWriterDoesNotGainTimeByEachByte) {
  TestClient client(bench_);
  for (int i = 0; i < 40 && bench_.server->counters().too_late == 0; ++i) {
    client.Send(" ");
    bench_.Until([] { return false; }, 0.01);
  }
  EXPECT_EQ(bench_.server->counters().too_late, 1u);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(ServerTest, AnIdleConnectionStays) {
  TestClient client(bench_);
  bench_.Until([] { return false; }, 0.3);
  EXPECT_EQ(client.Ask(kVersion)["result"]["name"], "left");
}

TEST_F(ServerTest, WhatWasSentBeforeTheEndIsAnswered) {
  TestClient client(bench_);
  ASSERT_TRUE(client.Send(std::string(kVersion) + "\n" + kVersion + "\n{\"half"));
  shutdown(client.fd(), SHUT_WR);
  EXPECT_TRUE(client.ReadLine().has_value());
  EXPECT_TRUE(client.ReadLine().has_value());
  EXPECT_TRUE(client.IsClosed());
}

// ---- Reading.

TEST_F(ServerTest, OneWhoNeverReadsIsLetGoAndHoldsUpNobody) {
  TestClient client(bench_);
  // Never more of it is taken than the socket's buffers and one answer hold.
  const std::string line = R"({"jsonrpc":"2.0","id":1,"method":"long","params":[1000000]})" "\n";
  for (int i = 0; i < 100; ++i) SendWithFd(client.fd(), line, -1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(witness_.Ask(kVersion)["result"]["name"], "left");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_TRUE(bench_.Until([&] { return bench_.server->counters().not_reading == 1; }));
  EXPECT_LT(bench_.server->counters().requests, 10u);
}

TEST_F(ServerTest, LongAnswersArriveWhole) {
  TestClient client(bench_);
  EXPECT_EQ(client.Result("long", "[1000000]")["text"].get<std::string>().size(), 1000000u);
  EXPECT_EQ(ErrorOf(client.Result("long", "[2000000]")),
            static_cast<int>(RpcCode::kAnswerTooLong));
  const Json batch = client.Ask(
      R"([{"jsonrpc":"2.0","id":1,"method":"long","params":[700000]},)"
      R"({"jsonrpc":"2.0","id":2,"method":"long","params":[700000]},)"
      R"({"jsonrpc":"2.0","id":3,"method":"long","params":[7]}])");
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_TRUE(batch[0].contains("result"));
  EXPECT_EQ(ErrorOf(batch[1]), static_cast<int>(RpcCode::kAnswerTooLong));
  EXPECT_TRUE(batch[2].contains("result"));
}

TEST_F(ServerTest, RequestsOfATurnAreBounded) {
  TestClient client(bench_);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += R"({"jsonrpc":"2.0","method":"ping"})" "\n";
  ASSERT_TRUE(client.Send(many.substr(0, 16000)));
  const uint64_t before = bench_.server->counters().requests;
  bench_.server->Poll();
  EXPECT_LE(bench_.server->counters().requests - before, 16u);
  // The rest goes on by itself.
  EXPECT_TRUE(bench_.Until([&] { return bench_.server->counters().requests - before >= 400; }));
}

// ---- Rates.

class RateTest : public testing::Test {
 protected:
  ManagementBench bench_{[](ManagementOptions& options) {
                           options.limits.requests_per_s = 40;  // ten at once
                           options.limits.accepts_per_s = 40;
                         },
                         &TestCatalog()};
};

TEST_F(RateTest, WhoAsksTooOftenWaitsAndNobodyElse) {
  TestClient greedy(bench_), other(bench_);
  std::string many;
  for (int i = 0; i < 30; ++i) many += R"({"jsonrpc":"2.0","method":"ping"})" "\n";
  ASSERT_TRUE(greedy.Send(many));
  ASSERT_TRUE(bench_.Until([&] { return bench_.server->counters().throttled != 0; }));
  EXPECT_LT(bench_.server->counters().requests, 30u);
  EXPECT_EQ(other.Ask(kVersion)["result"]["name"], "left");
  ASSERT_EQ(bench_.limits.size(), 1u);
  EXPECT_EQ(bench_.limits[0], (std::pair<std::string, pid_t>("requests_per_s", getpid())));
  // None of it is lost, and the limit is told once.
  EXPECT_TRUE(bench_.Until([&] { return bench_.server->counters().requests == 31; }));
  EXPECT_EQ(greedy.Ask(kVersion)["result"]["name"], "left");
  EXPECT_EQ(bench_.limits.size(), 1u);
}

TEST_F(RateTest, RequestsOfABatchCount) {
  TestClient client(bench_);
  std::string batch = "[";
  for (int i = 0; i < 20; ++i) {
    batch += std::string(i != 0 ? "," : "") + R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  }
  EXPECT_EQ(client.Ask(batch + "]").size(), 20u);
  EXPECT_GE(bench_.server->counters().throttled, 1u);
}

TEST_F(RateTest, ConnectionsWaitToBeAccepted) {
  for (int i = 0; i < 40; ++i) {
    const TestClient client(bench_);
    EXPECT_FALSE(client.greeting.empty()) << i;
  }
  EXPECT_EQ(bench_.server->counters().accepted, 40u);
  // While it does not listen it does not spin either.
  for (int i = 0; i < 30; ++i) TestClient client(bench_, false);
  int turns = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) {
    pollfd ready{.fd = bench_.server->fd(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 1) <= 0) continue;
    bench_.server->Poll();
    ++turns;
  }
  EXPECT_LE(turns, 150);
}

// ---- Connections.

constexpr char kLater[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"later\"}\n";

// A server with so many places, where a request may wait long for its answer.
std::unique_ptr<ManagementBench> BenchOf(uint32_t max_clients, bool is_privileged) {
  return std::make_unique<ManagementBench>(
      [=](ManagementOptions& options) {
        options.max_clients = max_clients;
        options.limits.unread_ms = options.limits.session.later_ms = 600'000;
        options.limits.session.answer_bytes = 8u << 20;
        options.is_privileged = [=](uid_t) { return is_privileged; };
      },
      &TestCatalog());
}

// Connections that wait for an answer, as many as get in; and the greeting of the one that did not.
std::vector<std::unique_ptr<TestClient>> FillBusy(ManagementBench& bench, std::string* refusal) {
  g_has_answer = false;
  std::vector<std::unique_ptr<TestClient>> all;
  while (true) {
    auto client = std::make_unique<TestClient>(bench);
    const Json greeting = TryParse<Json>(client->greeting).value();
    if (ErrorOf(greeting) != 0) {
      EXPECT_EQ(ErrorOf(greeting), static_cast<int>(RpcCode::kTooManyClients));
      EXPECT_TRUE(client->IsClosed());
      *refusal = greeting["error"]["message"];
      return all;
    }
    all.push_back(std::move(client));
    EXPECT_TRUE(all.back()->Send(kLater));
    EXPECT_TRUE(bench.Until([&] { return bench.server->counters().requests == all.size(); }));
  }
}

void PassTime(ManagementBench& bench, int64_t ms) {
  bench.Until([] { return false; }, static_cast<double>(ms) / 1000);
}

TEST(AdmissionTest, OneTooManyIsTold) {
  const auto bench = BenchOf(4, true);
  std::string refusal;
  auto clients = FillBusy(*bench, &refusal);
  EXPECT_EQ(clients.size(), 4u);
  EXPECT_NE(refusal.find("all 4 connections are taken"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("raise management.max_clients"), std::string::npos) << refusal;
  EXPECT_EQ(bench->server->counters().refused, 1u);
  ASSERT_EQ(bench->limits.size(), 1u);
  EXPECT_EQ(bench->limits[0], (std::pair<std::string, pid_t>("connections", getpid())));
  EXPECT_EQ(bench->reasons[0], refusal);
  clients.pop_back();
  ASSERT_TRUE(bench->Until([&] { return bench->server->connections() == 3; }));
  TestClient next(*bench);
  EXPECT_EQ(next.Ask(kVersion)["result"]["name"], "left");
}

TEST(AdmissionTest, OneUserLeavesPlacesToOthers) {
  const auto bench = BenchOf(8, false);
  std::string refusal;
  const auto clients = FillBusy(*bench, &refusal);
  EXPECT_EQ(clients.size(), 6u);
  EXPECT_NE(refusal.find("uid " + std::to_string(getuid()) + " has 6 of 8"), std::string::npos) << refusal;
}

TEST(AdmissionTest, AnIdleConnectionGivesItsPlace) {
  const auto bench = BenchOf(4, true);
  TestClient oldest(*bench);
  TestClient waits(*bench);
  ASSERT_TRUE(waits.Send(kLater));
  TestClient idle(*bench);
  PassTime(*bench, 5);
  TestClient asking(*bench);
  PassTime(*bench, 5);
  EXPECT_EQ(oldest.Ask(kVersion)["result"]["name"], "left");
  PassTime(*bench, 200);
  TestClient late(*bench);
  EXPECT_EQ(late.Ask(kVersion)["result"]["name"], "left");
  EXPECT_EQ(ErrorOf(TryParse<Json>(idle.ReadLine().value_or("null")).value()),
            static_cast<int>(RpcCode::kTooManyClients));
  EXPECT_TRUE(idle.IsClosed()) << "did nothing for longest";
  EXPECT_EQ(bench->server->counters().displaced, 1u);
  EXPECT_EQ(bench->server->counters().refused, 0u);
  ASSERT_EQ(bench->reasons.size(), 1u);
  EXPECT_NE(bench->reasons[0].find("idle"), std::string::npos) << bench->reasons[0];
  for (TestClient* client : {&oldest, &asking}) {
    EXPECT_EQ(client->Ask(kVersion)["result"]["name"], "left");
  }
}

TEST(AdmissionTest, AConnectionThatDoesNotReadGivesItsPlace) {
  const auto bench = BenchOf(1, true);
  TestClient sleeper(*bench);
  ASSERT_TRUE(sleeper.Send(
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\",\"params\":{\"bytes\":7000000}}\n"));
  PassTime(*bench, 300);
  EXPECT_EQ(bench->server->counters().requests, 1u);
  TestClient late(*bench);
  EXPECT_EQ(late.Ask(kVersion)["result"]["name"], "left");
  EXPECT_EQ(bench->server->counters().displaced, 1u);
}

TEST_F(ServerTest, TheSocketHasItsPermissionsAndGoesWithTheServer) {
  struct stat info;
  ASSERT_EQ(stat(bench_.options.socket_path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  ManagementOptions other = bench_.options;
  other.socket_path = bench_.directory / "other.sock";
  other.socket_mode = 0600;
  {
    const auto server = ManagementServer::Create(other, &TestCatalog(), &bench_.endpoint);
    ASSERT_TRUE(server.ok()) << server.status();
    ASSERT_EQ(stat(other.socket_path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
  EXPECT_NE(access(other.socket_path.c_str(), F_OK), 0);
}

TEST_F(ServerTest, ALiveServersSocketIsRefusedAndADeadOnesReplaced) {
  EXPECT_EQ(ManagementServer::Create(bench_.options, &TestCatalog(), &bench_.endpoint)
                .status()
                .code(),
            absl::StatusCode::kAlreadyExists);
  ManagementOptions dead = bench_.options;
  dead.socket_path = bench_.directory / "dead.sock";
  const pid_t child = fork();
  if (child == 0) {
    auto server = ManagementServer::Create(dead, &TestCatalog(), &bench_.endpoint);
    _exit(server.ok() ? 0 : 1);  // without its destructor
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(access(dead.socket_path.c_str(), F_OK), 0);
  const auto next = ManagementServer::Create(dead, &TestCatalog(), &bench_.endpoint);
  EXPECT_TRUE(next.ok()) << next.status();
}

// ---- Methods.

TEST_F(ServerTest, ErrorsOfMethodsHaveTheirCodes) {
  const std::pair<absl::StatusCode, RpcCode> kCodes[] = {
      {absl::StatusCode::kInvalidArgument, RpcCode::kInvalidParams},
      {absl::StatusCode::kNotFound, RpcCode::kNotFound},
      {absl::StatusCode::kFailedPrecondition, RpcCode::kNotNow},
      {absl::StatusCode::kResourceExhausted, RpcCode::kBusy},
      {absl::StatusCode::kUnimplemented, RpcCode::kUnsupported},
      {absl::StatusCode::kPermissionDenied, RpcCode::kNotPermitted},
      {absl::StatusCode::kInternal, RpcCode::kInternalError},
  };
  for (const auto& [status, code] : kCodes) {
    const Json answer =
        witness_.Result("fail", "[" + std::to_string(static_cast<int>(status)) + "]");
    EXPECT_EQ(ErrorOf(answer), static_cast<int>(code)) << answer;
    EXPECT_EQ(answer["error"]["message"], "as asked");
  }
  EXPECT_EQ(ErrorOf(witness_.Result("fail")), static_cast<int>(RpcCode::kInternalError));
  for (const char* wrong : {"[0]", "[17]", "[1.5]", "[18446744073709551615]", "[\"1\"]"}) {
    EXPECT_EQ(ErrorOf(witness_.Result("fail", wrong)), static_cast<int>(RpcCode::kInvalidParams))
        << wrong;
  }
}

TEST_F(ServerTest, AnAnswerThatComesLaterHoldsUpItsConnectionAlone) {
  g_has_answer = false;
  TestClient client(bench_);
  ASSERT_TRUE(client.Send(R"({"jsonrpc":"2.0","id":1,"method":"later"})" "\n" +
                          std::string(kVersion) + "\n"));
  EXPECT_EQ(witness_.Ask(kVersion)["result"]["name"], "left");
  EXPECT_EQ(g_questions, 1);
  g_has_answer = true;
  EXPECT_EQ(TryParse<Json>(*client.ReadLine()).value()["result"]["late"], true);
  EXPECT_EQ(TryParse<Json>(*client.ReadLine()).value()["result"]["name"], "left");
  EXPECT_EQ(g_questions, 0);
}

TEST_F(ServerTest, AnAnswerThatNeverComesIsAnErrorAndGoesWithTheConnection) {
  g_has_answer = false;
  {
    TestClient client(bench_);
    EXPECT_EQ(ErrorOf(client.Result("later")), static_cast<int>(RpcCode::kBusy));
    EXPECT_EQ(g_questions, 0);
    client.Send(R"({"jsonrpc":"2.0","id":1,"method":"later"})" "\n");
    EXPECT_TRUE(bench_.Until([] { return g_questions == 1; }));
  }
  EXPECT_TRUE(bench_.Until([&] { return bench_.server->connections() == 1; }, 0.09));
  EXPECT_EQ(g_questions, 0);
}

// ---- Descriptors.

class DescriptorTest : public ServerTest {
 protected:
  const std::string path_ = bench_.directory / "out";
  Fd file_{open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)};
  const std::string store_ =
      R"({"jsonrpc":"2.0","id":1,"method":"file.store","params":{"text":"hello"}})";
};

TEST_F(DescriptorTest, IsTakenByTheMethod) {
  const size_t before = OpenFiles();
  EXPECT_EQ(witness_.Ask(store_, file_.get())["result"]["written"], true);
  EXPECT_EQ(Contents(path_), "hello");
  EXPECT_EQ(OpenFiles(), before) << "the daemon's end was closed";
}

TEST_F(DescriptorTest, IsMissedWhereThereIsNone) {
  const Json answer = witness_.Ask(store_);
  EXPECT_EQ(ErrorOf(answer), static_cast<int>(RpcCode::kInvalidParams));
  EXPECT_EQ(answer["error"]["data"]["parameter"], "file");
}

TEST_F(DescriptorTest, IsClosedWhereNobodyTakesIt) {
  const size_t before = OpenFiles();
  for (const char* line : {kVersion, "nonsense", "", R"({"jsonrpc":"2.0","method":"ping"})"}) {
    ASSERT_TRUE(witness_.Send(std::string(line) + "\n", file_.get()));
  }
  EXPECT_TRUE(witness_.ReadLine().has_value());
  EXPECT_TRUE(witness_.ReadLine().has_value());
  EXPECT_TRUE(witness_.Ask(kVersion).contains("result"));
  EXPECT_EQ(OpenFiles(), before);
  // With half a line, of a connection that goes.
  {
    TestClient client(bench_);
    client.Send("{\"half", file_.get());
    bench_.Until([] { return false; }, 0.02);
  }
  EXPECT_TRUE(bench_.Until([&] { return bench_.server->connections() == 1; }));
  EXPECT_EQ(OpenFiles(), before);
}

TEST_F(DescriptorTest, BelongsToItsLine) {
  // Sent without a pause: the server finds bytes of several messages at once.
  ASSERT_TRUE(witness_.Send(std::string(kVersion) + "\n"));
  ASSERT_TRUE(witness_.Send(store_ + "\n", file_.get()));
  ASSERT_TRUE(witness_.Send(store_ + "\n"));
  EXPECT_TRUE(TryParse<Json>(*witness_.ReadLine()).value().contains("result"));
  EXPECT_TRUE(TryParse<Json>(*witness_.ReadLine()).value().contains("result"));
  EXPECT_EQ(ErrorOf(TryParse<Json>(*witness_.ReadLine()).value()),
            static_cast<int>(RpcCode::kInvalidParams));
  EXPECT_EQ(Contents(path_), "hello");
  // In pieces, with the descriptor at the first.
  ASSERT_TRUE(witness_.Send(store_.substr(0, 20), file_.get()));
  bench_.Until([] { return false; }, 0.02);
  EXPECT_EQ(witness_.Ask(store_.substr(20))["result"]["written"], true);
  EXPECT_EQ(Contents(path_), "hellohello");
}

TEST_F(DescriptorTest, MoreThanOneIsRefusedAndAllAreClosed) {
  const size_t before = OpenFiles();
  ASSERT_TRUE(witness_.Send(store_.substr(0, 20), file_.get()));
  bench_.Until([] { return false; }, 0.02);
  EXPECT_EQ(ErrorOf(witness_.Ask(store_.substr(20), file_.get())),
            static_cast<int>(RpcCode::kInvalidRequest));
  // Three in one message, which is more than there is room for.
  int fds[3] = {file_.get(), file_.get(), file_.get()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  const std::string line = store_ + "\n";
  iovec data{.iov_base = const_cast<char*>(line.data()), .iov_len = line.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(rights), fds, sizeof fds);
  ASSERT_EQ(sendmsg(witness_.fd(), &header, 0), static_cast<ssize_t>(line.size()));
  EXPECT_EQ(ErrorOf(TryParse<Json>(*witness_.ReadLine()).value()),
            static_cast<int>(RpcCode::kInvalidRequest));
  EXPECT_EQ(OpenFiles(), before);
  EXPECT_EQ(Contents(path_), "");
}

}  // namespace
}  // namespace suede
