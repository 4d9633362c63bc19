// SPDX-License-Identifier: Apache-2.0
// The web server, spoken to over sockets: its answers, and the input that it survives.
#include "http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace suede {
namespace {

// A connection that sends any bytes, and reads until the other side ends it or an answer
// with a length is whole.
class Raw {
 public:
  explicit Raw(const HttpServer& server) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server.address().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Raw() { close(socket_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  bool Send(std::string_view text) {
    return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  std::string Answer(bool has_body = true) {
    std::string all;
    char buffer[4096];
    while (!IsWhole(all, has_body)) {
      const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      all.append(buffer, static_cast<size_t>(got));
    }
    return all;
  }
  // Whether the other side ends the connection within the patience above.
  bool IsEnded() {
    char byte;
    ssize_t got;
    while ((got = recv(socket_, &byte, 1, 0)) > 0) continue;
    return got == 0 || errno == ECONNRESET;
  }

 private:
  static bool IsWhole(const std::string& all, bool has_body) {
    const size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = all.find("Content-Length: ");
    if (!has_body || length == std::string::npos || length > end) return !has_body;
    return all.size() >= end + 4 + std::stoul(all.substr(length + 16));
  }
  const int socket_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { Start(300); }
  void Start(int64_t patience_ms) {
    HttpOptions options;
    options.counters = &counters;
    options.request_ms = patience_ms;
    options.keep_alive_ms = patience_ms;
    options.handler = [this](const HttpRequest& request, HttpResponse* response) {
      const std::lock_guard lock(mutex);
      seen.push_back(std::string(request.path) + "?" + std::string(request.query));
      if (request.path == "/large") response->body.assign(8 << 20, 'x');
      if (request.path == "/wrong") response->status = 503;
      if (request.path == "/page") response->body = "hello";
      return request.path.size() > 1;
    };
    auto started = HttpServer::Start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }
  std::string Get(const std::string& target) {
    Raw raw(*server);
    raw.Send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return raw.Answer();
  }
  std::mutex mutex;
  std::vector<std::string> seen;
  HttpCounters counters;
  std::unique_ptr<HttpServer> server;
};

TEST_F(HttpServerTest, AnswersGetAndHead) {
  const std::string page = Get("/page?peers=1&x=2");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\n")) << page;
  EXPECT_TRUE(page.ends_with("\r\n\r\nhello")) << page;
  EXPECT_NE(page.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_EQ(seen.back(), "/page?peers=1&x=2");
  Raw raw(*server);
  raw.Send("HEAD /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string head = raw.Answer(false);
  EXPECT_TRUE(head.ends_with("Connection: close\r\n\r\n")) << head;
  EXPECT_NE(head.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(raw.IsEnded());
  EXPECT_TRUE(Get("/wrong").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(Get("/").starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(counters.requests, 4);
  EXPECT_EQ(counters.refusals, 2);
}

TEST_F(HttpServerTest, RefusesEveryOtherMethod) {
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    Raw raw(*server);
    raw.Send(method + " /page HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ");
    const std::string answer = raw.Answer();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << method << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD\r\n"), std::string::npos);
    EXPECT_TRUE(raw.IsEnded()) << method;
  }
  EXPECT_TRUE(seen.empty());
}

TEST_F(HttpServerTest, KeepsAConnectionForTheNextRequest) {
  Raw raw(*server);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(raw.Send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_TRUE(raw.Answer().ends_with("hello"));
  }
  EXPECT_EQ(counters.requests, 3);
}

TEST_F(HttpServerTest, AnOldClientGetsAnAnswerAndTheEnd) {
  Raw raw(*server);
  raw.Send("GET /page HTTP/1.0\r\n\r\n");
  EXPECT_NE(raw.Answer().find("Connection: close\r\n\r\nhello"), std::string::npos);
  EXPECT_TRUE(raw.IsEnded());
}

TEST_F(HttpServerTest, NoBodyIsTakenForARequest) {
  Raw raw(*server);
  raw.Send("GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 36\r\n\r\n"
           "GET /inner HTTP/1.1\r\nHost: a\r\n\r\n....");
  raw.Answer();
  EXPECT_TRUE(raw.IsEnded());
  Raw chunked(*server);
  chunked.Send("GET /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
               "0\r\n\r\nGET /inner HTTP/1.1\r\nHost: a\r\n\r\n");
  chunked.Answer();
  EXPECT_TRUE(chunked.IsEnded());
  for (const std::string& one : seen) EXPECT_EQ(one, "/page?");
}

TEST_F(HttpServerTest, AHeaderThatIsTooLongEndsTheConnection) {
  Raw raw(*server);
  raw.Send("GET /page HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 2000; ++i) {
    if (!raw.Send("X-Filler: 0123456789012345678901234567890123456789\r\n")) break;
  }
  EXPECT_TRUE(raw.IsEnded());
  EXPECT_TRUE(seen.empty());
  EXPECT_TRUE(Get("/page").ends_with("hello"));
}

TEST_F(HttpServerTest, GarbageDisturbsNobody) {
  std::mt19937 random(3);
  const std::string start = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n";
  for (int i = 0; i < 300; ++i) {
    Raw raw(*server);
    std::string text = i % 2 == 0 ? std::string(random() % 400, '\0') : start;
    for (char& c : text) {
      if (i % 2 == 0 || random() % 16 == 0) c = static_cast<char>(random());
    }
    raw.Send(text);
  }
  EXPECT_TRUE(Get("/page").ends_with("hello"));
}

TEST_F(HttpServerTest, SlowAndSilentConnectionsEndAndOthersAreServed) {
  // As many as a hundred, which is more than there are threads.
  std::vector<std::unique_ptr<Raw>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<Raw>(*server));
    if (i % 2 == 0) slow.back()->Send("GET /page HTTP/1.1\r\nX: ");
  }
  EXPECT_TRUE(Get("/page").ends_with("hello"));
  for (const auto& raw : slow) EXPECT_TRUE(raw->IsEnded());
}

TEST_F(HttpServerTest, WhoDoesNotReadHoldsUpAThreadForAWhileOnly) {
  std::vector<std::unique_ptr<Raw>> deaf;
  for (int i = 0; i < 40; ++i) {
    deaf.push_back(std::make_unique<Raw>(*server));
    deaf.back()->Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_TRUE(Get("/page").ends_with("hello"));
}

TEST_F(HttpServerTest, NobodyWaitsBehindWhoDoesNotReadOrSendsNothing) {
  Start(600'000);
  std::vector<std::unique_ptr<Raw>> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(std::make_unique<Raw>(*server));
    if (i % 3 == 0) all.back()->Send("GET /page HTTP/1.1\r\nX: ");
    if (i < 40) all.back()->Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Get("/page").ends_with("hello")) << i;
  Raw reader(*server);
  reader.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_GT(reader.Answer().size(), size_t{8} << 20);
  EXPECT_GT(counters.displaced, 0u);
}

TEST_F(HttpServerTest, EndsWhileConnectionsAreOpen) {
  Raw idle(*server);
  idle.Send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(idle.Answer().ends_with("hello"));
  Raw half(*server);
  half.Send("GET /pa");
  server.reset();
  EXPECT_TRUE(idle.IsEnded());
}

TEST_F(HttpServerTest, SaysWhereItListensAndWhyItCannot) {
  EXPECT_EQ(server->address().host(), "127.0.0.1");
  EXPECT_NE(server->address().port, 0);
  HttpOptions options;
  options.address = server->address();
  options.counters = &counters;
  options.handler = [](const HttpRequest&, HttpResponse*) { return true; };
  const auto second = HttpServer::Start(std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("cannot listen at " + server->address().text()),
            std::string_view::npos);
}

}  // namespace
}  // namespace suede
