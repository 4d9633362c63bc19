// SPDX-License-Identifier: Apache-2.0
// A small web server for monitoring: GET and HEAD only, responses that are complete before they are
// sent, and bounds on all input.
//
// One thread serves all connections without blocking on any; a few threads make responses. So a
// client that does not send, or does not read, occupies a connection but delays no other client.
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
  std::string_view query;  // behind '?', as sent
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpCounters {
  std::atomic<uint64_t> requests{0};   // received completely
  std::atomic<uint64_t> refusals{0};   // requests with a status other than 200
  std::atomic<uint64_t> displaced{0};  // connections closed in favour of others
};

struct HttpOptions {
  ListenAddress address;  // IPv4
  // Makes the response for a path; false: 404. Called by any of the threads that make responses,
  // several at a time.
  std::function<bool(const HttpRequest& request, HttpResponse* response)> handler;
  // Whether the response for the path is quick to make: then the thread that serves the connections
  // makes it, and others wait.
  std::function<bool(std::string_view path)> is_quick = [](std::string_view) { return false; };
  HttpCounters* counters = nullptr;  // must outlive the server
  uint32_t threads = 4;              // that make responses
  uint32_t connections = 128;        // maximum; more displace the longest idle one
  uint32_t request_bytes = 8192;     // maximum of a request's line and header
  size_t answer_bytes = 32u << 20;   // maximum of all unread responses; displaces likewise
  int64_t request_ms = 2000;         // to receive a request, and to send a part of a response
  int64_t answer_ms = 30'000;        // to send a whole response
  int64_t keep_alive_ms = 1000;      // idle time of a connection between requests
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpOptions options);
  ~HttpServer();  // waits for responses that are being made
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns the listening address, with the resolved port.
  const ListenAddress& address() const { return address_; }

 private:
  class Loop;
  HttpServer();

  ListenAddress address_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace suede

#endif  // SUEDE_HTTP_SERVER_H_
