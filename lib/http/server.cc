#include "http/server.h"

#include <civetweb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

const char* ReasonOf(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

// Everything that an answer begins with. What a page of ours may do in a browser: load what comes
// from here and nothing else.
std::string HeadOf(const HttpResponse& response, bool keeps_alive) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.status, " ", ReasonOf(response.status),
                   "\r\nContent-Type: ", std::string(response.content_type),
                   "\r\nContent-Length: ", response.body.size(),
                   "\r\nCache-Control: no-store"
                   "\r\nX-Content-Type-Options: nosniff"
                   "\r\nX-Frame-Options: DENY"
                   "\r\nReferrer-Policy: no-referrer"
                   "\r\nContent-Security-Policy: default-src 'none'; "
                   "script-src 'self'; style-src 'self'; connect-src 'self'; "
                   "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  if (response.status == 405) absl::StrAppend(&head, "\r\nAllow: GET, HEAD");
  absl::StrAppend(&head, "\r\nConnection: ", keeps_alive ? "keep-alive" : "close", "\r\n\r\n");
  return head;
}

// Whether civetweb will wait for another request, which it decides by the same words.
bool KeepsAlive(const mg_connection* connection, const mg_request_info& request) {
  const char* const wish = mg_get_header(connection, "Connection");
  if (wish != nullptr) return mg_strcasecmp(wish, "keep-alive") == 0;
  return request.http_version != nullptr && std::string_view(request.http_version) == "1.1";
}

// Connects to where the server listens, and goes.
void Knock(const ListenAddress& address) {
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(address.port);
  there.sin_addr.s_addr = htonl(address.ip);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  static_cast<void>(connect(fd, reinterpret_cast<sockaddr*>(&there), sizeof there));
  close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpOptions options) {
  static const unsigned features = mg_init_library(MG_FEATURES_DEFAULT);
  static_cast<void>(features);
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(options)));
  const HttpOptions& o = server->options_;
  const std::string listen = o.address.text();
  const std::string threads = absl::StrCat(o.threads);
  const std::string bytes = absl::StrCat(o.request_bytes);
  const std::string request_ms = absl::StrCat(o.request_ms);
  const std::string keep_ms = absl::StrCat(o.keep_alive_ms);
  const char* const settings[] = {"listening_ports", listen.c_str(),
                                  "num_threads", threads.c_str(),
                                  "max_request_size", bytes.c_str(),
                                  "request_timeout_ms", request_ms.c_str(),
                                  "enable_keep_alive", "yes",
                                  "keep_alive_timeout_ms", keep_ms.c_str(),
                                  "tcp_nodelay", "1",
                                  "listen_backlog", "128",
                                  nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = OnRequest;
  callbacks.log_message = OnMessage;
  server->context_ = mg_start(&callbacks, server.get(), const_cast<const char**>(settings));
  if (server->context_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen at ", listen, ": another program may have the port, or the address is not "
        "one of this machine; choose another"));
  }
  mg_server_port ports[2] = {};
  const int count = mg_get_server_ports(server->context_, std::size(ports), ports);
  server->address_ = o.address;
  if (count > 0) server->address_.port = static_cast<uint16_t>(ports[0].port);
  return server;
}

HttpServer::~HttpServer() {
  if (context_ == nullptr) return;
  // civetweb looks up from its listening socket once in two seconds, or when somebody comes.
  std::atomic<bool> stopped{false};
  std::thread stopper([&] {
    mg_stop(context_);
    stopped = true;
  });
  while (!stopped) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!stopped) Knock(address_);
  }
  stopper.join();
}

int HttpServer::OnRequest(mg_connection* connection) {
  return static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)))->Serve(connection);
}

int HttpServer::OnMessage(const mg_connection* connection, const char* message) {
  const auto* server =
      static_cast<const HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  if (server != nullptr && server->options_.log) server->options_.log(message);
  return 1;
}

// Returns the status: the request is dealt with.
int HttpServer::Serve(mg_connection* connection) {
  const mg_request_info& info = *mg_get_request_info(connection);
  options_.counters->requests.fetch_add(1, std::memory_order_relaxed);
  const std::string_view method = info.request_method;
  HttpResponse response;
  // A body would be read as the next request.
  bool keeps_alive = KeepsAlive(connection, info) && info.content_length <= 0 &&
                     mg_get_header(connection, "Transfer-Encoding") == nullptr;
  if (method != "GET" && method != "HEAD") {
    response = {.status = 405, .body = "this is only to be read: GET or HEAD\n"};
    keeps_alive = false;
  } else if (info.local_uri == nullptr ||
             !options_.handler({.path = info.local_uri,
                                .query = info.query_string != nullptr ? info.query_string : ""},
                               &response)) {
    response = {.status = 404, .body = "there is no such page\n"};
  }
  if (response.status != 200) {
    options_.counters->refusals.fetch_add(1, std::memory_order_relaxed);
  }
  std::string all = HeadOf(response, keeps_alive);
  if (method != "HEAD") all += response.body;
  mg_write(connection, all.data(), all.size());
  if (!keeps_alive) mg_disable_connection_keep_alive(connection);
  return response.status;
}

}  // namespace suede
