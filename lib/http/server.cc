// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "http/message.h"

namespace suede {
namespace {

constexpr int kMaxAcceptsPerPoll = 32;
constexpr int64_t kPauseMs = 5;

int64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

int Listen(ListenAddress* address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(address->port);
  here.sin_addr.s_addr = htonl(address->ip);
  socklen_t size = sizeof here;
  if (bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 || listen(fd, 128) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0) {
    close(fd);
    return -1;
  }
  address->port = ntohs(here.sin_port);
  return fd;
}

}  // namespace

class HttpServer::Loop {
 public:
  Loop(HttpOptions options, int listener, int wake)
      : options_(std::move(options)), listener_(listener), wake_(wake) {
    threads_.emplace_back([this] { Run(); });
    pthread_setname_np(threads_.back().native_handle(), "suede-web");
    for (uint32_t i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this] { Work(); });
      pthread_setname_np(threads_.back().native_handle(), "suede-web-page");
    }
  }
  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    todo_.notify_all();
    eventfd_write(wake_, 1);
    for (std::thread& thread : threads_) thread.join();
    for (const auto& [id, connection] : connections_) close(connection.fd);
    close(listener_);
    close(wake_);
  }

 private:
  enum class State { kReads, kWorks, kWrites, kLingers };
  struct Connection {
    int fd;
    State state = State::kReads;
    int64_t begun_ms;  // start of the state
    int64_t moved_ms;  // last read or write
    std::string in;
    std::string out;
    size_t sent = 0;
    bool keeps_alive = false;
  };
  using Connections = std::map<uint64_t, Connection>;  // by a number that is never reused
  struct Job {
    uint64_t id;
    HttpHead head;
  };
  struct Done {
    uint64_t id;
    std::string answer;
  };

  // ---- Thread that serves connections.

  void Run() {
    std::vector<pollfd> fds;
    std::vector<uint64_t> ids;
    while (!Stops()) {
      fds = {{.fd = wake_, .events = POLLIN, .revents = 0},
             {.fd = listener_, .events = POLLIN, .revents = 0}};
      ids.clear();
      now_ms_ = NowMs();
      // If a connection found no place, the listener is not polled until `accept_ms_`.
      const bool accepts = now_ms_ >= accept_ms_;
      if (!accepts) fds[1].fd = -1;
      int64_t next = accepts ? now_ms_ + 1000 : accept_ms_;
      for (auto& [id, connection] : connections_) {
        next = std::min(next, DeadlineOf(connection));
        if (connection.state == State::kWorks) continue;
        const bool writes = connection.state == State::kWrites;
        fds.push_back({.fd = connection.fd, .events = static_cast<short>(writes ? POLLOUT : POLLIN),
                       .revents = 0});
        ids.push_back(id);
      }
      poll(fds.data(), fds.size(), static_cast<int>(std::max<int64_t>(0, next - now_ms_)));
      now_ms_ = NowMs();
      if (fds[0].revents != 0) TakeAnswers();
      for (size_t i = 0; i < ids.size(); ++i) {
        if (fds[i + 2].revents == 0) continue;
        const auto found = connections_.find(ids[i]);
        if (found != connections_.end() && !Serve(found->first, found->second)) End(found);
      }
      for (auto it = connections_.begin(); it != connections_.end();) {
        const auto here = it++;
        if (now_ms_ >= DeadlineOf(here->second)) End(here);
      }
      if (fds[1].revents != 0) Accept();
    }
  }

  bool Stops() {
    const std::lock_guard lock(mutex_);
    return stops_;
  }

  int64_t DeadlineOf(const Connection& c) const {
    switch (c.state) {
      case State::kReads:
        return c.begun_ms + (c.in.empty() && c.keeps_alive ? options_.keep_alive_ms
                                                           : options_.request_ms);
      case State::kWrites:
        return std::min(c.moved_ms + options_.request_ms, c.begun_ms + options_.answer_ms);
      case State::kLingers: return c.begun_ms + options_.keep_alive_ms;
      case State::kWorks: break;
    }
    return INT64_MAX;
  }

  void Enter(Connection& c, State state) {
    c.state = state;
    c.begun_ms = c.moved_ms = now_ms_;
  }

  void End(Connections::iterator which) {
    waiting_bytes_ -= which->second.out.size();
    close(which->second.fd);
    connections_.erase(which);
  }

  // Closes the connection that was idle for longest, except `but` and those whose response is being
  // made. `writes`: only connections that do not read their response. Returns false if there is
  // none.
  bool Displace(uint64_t but, bool writes) {
    auto found = connections_.end();
    for (auto it = connections_.begin(); it != connections_.end(); ++it) {
      const Connection& c = it->second;
      if (it->first == but || c.state == State::kWorks || (writes && c.state != State::kWrites)) {
        continue;
      }
      if (found == connections_.end() || c.moved_ms < found->second.moved_ms) found = it;
    }
    if (found == connections_.end()) return false;
    options_.counters->displaced.fetch_add(1, std::memory_order_relaxed);
    End(found);
    return true;
  }

  void Accept() {
    for (int i = 0; i < kMaxAcceptsPerPoll; ++i) {
      // If all connections wait for a response to be made, new ones wait in the listener's queue.
      if (connections_.size() >= options_.connections && !Displace(0, false)) return Pause();
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        // Without a free descriptor, poll would report the pending connection again at once.
        if (errno == EAGAIN || errno == EWOULDBLOCK) return;
        if ((errno == EMFILE || errno == ENFILE) && Displace(0, false)) continue;
        return Pause();
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_.emplace(++last_id_,
                           Connection{.fd = fd, .begun_ms = now_ms_, .moved_ms = now_ms_});
    }
  }

  void Pause() { accept_ms_ = now_ms_ + kPauseMs; }

  // Returns false if the connection has ended.
  bool Serve(uint64_t id, Connection& c) {
    if (c.state == State::kWrites) return Write(id, c);
    char buffer[4096];
    const ssize_t got = recv(c.fd, buffer, sizeof buffer, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    if (c.state == State::kLingers) return true;  // drained, so that the response is not lost
    c.moved_ms = now_ms_;
    if (c.in.empty()) c.begun_ms = now_ms_;
    c.in.append(buffer, static_cast<size_t>(got));
    return Read(id, c);
  }

  bool Read(uint64_t id, Connection& c) {
    HttpHead head = ParseHead(c.in);
    if (head.bytes == 0 && c.in.size() < options_.request_bytes) return true;
    if (head.bytes == 0 || head.bytes > options_.request_bytes) {
      c.keeps_alive = false;
      return Answer(id, c, {.status = 413, .body = "the request's header is too long\n"}, false);
    }
    c.in.erase(0, head.bytes);
    if (!head.is_good) {
      c.keeps_alive = false;
      return Answer(id, c, {.status = 400, .body = "this is no request\n"}, false);
    }
    options_.counters->requests.fetch_add(1, std::memory_order_relaxed);
    c.keeps_alive = head.keeps_alive;
    if (head.method != "GET" && head.method != "HEAD") {
      c.keeps_alive = false;
      options_.counters->refusals.fetch_add(1, std::memory_order_relaxed);
      return Answer(id, c, {.status = 405, .body = "this is only to be read: GET or HEAD\n"}, false);
    }
    if (options_.is_quick(head.path)) return Send(id, c, MakeAnswer(head));
    Enter(c, State::kWorks);
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({.id = id, .head = std::move(head)});
    }
    todo_.notify_one();
    return true;
  }

  bool Answer(uint64_t id, Connection& c, const HttpResponse& response, bool is_head) {
    std::string all = HeadOf(response, c.keeps_alive);
    if (!is_head) all += response.body;
    return Send(id, c, std::move(all));
  }

  bool Send(uint64_t id, Connection& c, std::string answer) {
    Enter(c, State::kWrites);
    c.out = std::move(answer);
    c.sent = 0;
    waiting_bytes_ += c.out.size();
    return Write(id, c);
  }

  bool Write(uint64_t id, Connection& c) {
    while (c.sent < c.out.size()) {
      const ssize_t sent =
          send(c.fd, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) {
        // Bounds the bytes of responses that clients do not read.
        while (waiting_bytes_ > options_.answer_bytes && Displace(id, true)) continue;
        return true;
      }
      if (sent < 0) return false;
      c.sent += static_cast<size_t>(sent);
      c.moved_ms = now_ms_;
    }
    waiting_bytes_ -= c.out.size();
    c.out = std::string();
    if (!c.keeps_alive) {
      shutdown(c.fd, SHUT_WR);
      Enter(c, State::kLingers);
      return true;
    }
    Enter(c, State::kReads);
    return c.in.empty() || Read(id, c);
  }

  void TakeAnswers() {
    eventfd_t count;
    eventfd_read(wake_, &count);
    std::vector<Done> done;
    {
      const std::lock_guard lock(mutex_);
      done.swap(done_);
    }
    for (Done& one : done) {
      const auto found = connections_.find(one.id);
      if (found == connections_.end()) continue;
      if (!Send(one.id, found->second, std::move(one.answer))) End(found);
    }
  }

  // ---- Any thread.

  std::string MakeAnswer(const HttpHead& head) {
    HttpResponse response;
    if (!options_.handler({.path = head.path, .query = head.query}, &response)) {
      response = {.status = 404, .body = "there is no such page\n"};
    }
    if (response.status != 200) {
      options_.counters->refusals.fetch_add(1, std::memory_order_relaxed);
    }
    std::string all = HeadOf(response, head.keeps_alive);
    if (head.method != "HEAD") all += response.body;
    return all;
  }

  // ---- Threads that make responses.

  void Work() {
    while (true) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        todo_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
        if (stops_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      std::string answer = MakeAnswer(job.head);
      {
        const std::lock_guard lock(mutex_);
        done_.push_back({.id = job.id, .answer = std::move(answer)});
      }
      eventfd_write(wake_, 1);
    }
  }

  const HttpOptions options_;
  const int listener_;
  const int wake_;
  // Members used only by the thread that serves connections.
  Connections connections_;
  uint64_t last_id_ = 0;
  size_t waiting_bytes_ = 0;  // of responses that are not yet read
  int64_t now_ms_ = 0;
  int64_t accept_ms_ = 0;  // time at which to accept again
  std::mutex mutex_;       // guards the members below
  std::condition_variable todo_;
  std::deque<Job> jobs_;
  std::vector<Done> done_;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpOptions options) {
  std::unique_ptr<HttpServer> server(new HttpServer());
  server->address_ = options.address;
  const int listener = Listen(&server->address_);
  if (listener < 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen at ", options.address.text(), ": ", std::strerror(errno),
        "; another program may have the port, or the address is not one of this machine; choose "
        "another"));
  }
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake < 0) {
    close(listener);
    return absl::ResourceExhaustedError("web server: no descriptor; raise the open file limit");
  }
  server->loop_ = std::make_unique<Loop>(std::move(options), listener, wake);
  return server;
}

}  // namespace suede
