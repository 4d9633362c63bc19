// A small web server to be looked at, on civetweb: GET and HEAD, answers that are made whole before
// they are sent, bounds on everything that comes from outside.
//
// Threads of its own serve it. The handler is called by any of them, several at a time.
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

struct mg_connection;
struct mg_context;

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
  std::atomic<uint64_t> requests{0};  // that came whole
  std::atomic<uint64_t> refusals{0};  // those of them that got another answer than 200
};

struct HttpOptions {
  ListenAddress address;  // IPv4: Debian's civetweb knows no other
  // What may be asked for, by path; false: 404. `response` is for the handler to fill in.
  std::function<bool(const HttpRequest& request, HttpResponse* response)> handler;
  HttpCounters* counters = nullptr;  // outlives the server
  uint32_t threads = 32;            // connections that are served at a time
  uint32_t request_bytes = 8192;    // of a request's line and header
  int64_t request_ms = 2000;        // in which a request comes, and some of an answer is read
  int64_t keep_alive_ms = 1000;     // that a connection may lie idle
  std::function<void(std::string_view line)> log;  // what civetweb complains of
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpOptions options);
  ~HttpServer();  // waits for requests that are being served
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens, the port resolved.
  const ListenAddress& address() const { return address_; }

 private:
  explicit HttpServer(HttpOptions options) : options_(std::move(options)) {}
  int Serve(mg_connection* connection);
  static int OnRequest(mg_connection* connection);
  static int OnMessage(const mg_connection* connection, const char* message);

  const HttpOptions options_;
  mg_context* context_ = nullptr;
  ListenAddress address_;
};

}  // namespace suede

#endif  // SUEDE_HTTP_SERVER_H_
