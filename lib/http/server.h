// SPDX-License-Identifier: Apache-2.0
// A small web server for monitoring: GET and HEAD, answers that are made whole before they are
// sent, bounds on everything that comes from outside.
//
// One thread serves all connections and waits for none of them; a few make answers. So a client
// that does not send, or does not read, takes a connection and never the time of others.
#ifndef SUEDE_HTTP_SERVER_H_
#define SUEDE_HTTP_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/listen_address.h"

namespace suede {

struct HttpRequest {
  std::string_view path;
  std::string_view query;  // behind '?', as it was sent
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpCounters {
  std::atomic<uint64_t> requests{0};   // that came whole
  std::atomic<uint64_t> refusals{0};   // requests whose answer was not 200
  std::atomic<uint64_t> displaced{0};  // connections that ended for others
};

struct HttpOptions {
  ListenAddress address;  // IPv4
  // Answers requests, by path; false: 404. `response` is for the handler to fill in. Called by
  // any of the threads that make answers, several at a time.
  std::function<bool(const HttpRequest& request, HttpResponse* response)> handler;
  // Whether that answer is made at once: by the thread that serves the connections, which waits.
  std::function<bool(std::string_view path)> is_quick = [](std::string_view) { return false; };
  HttpCounters* counters = nullptr;  // outlives the server
  uint32_t threads = 4;             // that make answers
  uint32_t connections = 128;       // at a time; for another the one goes that has stood still longest
  uint32_t request_bytes = 8192;    // of a request's line and header
  size_t answer_bytes = 32u << 20;  // of answers that wait to be read, of all connections; likewise
  int64_t request_ms = 2000;        // in which a request comes, and some of an answer is read
  int64_t answer_ms = 30'000;       // in which all of an answer is read
  int64_t keep_alive_ms = 1000;     // that a connection may lie idle
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpOptions options);
  ~HttpServer();  // waits for answers that are being made
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The address at which the server listens, the port resolved.
  const ListenAddress& address() const { return address_; }

 private:
  class Loop;
  HttpServer();

  ListenAddress address_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace suede

#endif  // SUEDE_HTTP_SERVER_H_
