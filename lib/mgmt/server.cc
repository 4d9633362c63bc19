// SPDX-License-Identifier: Apache-2.0
#include "mgmt/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "local/passing.h"
#include "mgmt/connection.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

constexpr int kMaxAcceptsPerPoll = 8;
constexpr size_t kReadBytes = 16384;
constexpr int64_t kNoDeadline = INT64_MAX;

int64_t NowUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

// Returns the greeting. An endpoint's greeting does not name the kind, because endpoints were once
// the only kind.
std::string Greeting(const ManagementOptions& options, DaemonKind kind) {
  Json greeting{{"suede", options.version}, {"protocol", kRpcProtocol}, {"name", options.name}};
  if (kind != DaemonKind::kEndpoint) greeting["kind"] = NameOf(kind);
  return Dump(greeting) + "\n";
}

}  // namespace

absl::StatusOr<std::unique_ptr<ManagementServer>> ManagementServer::Create(
    const ManagementOptions& options, const Catalog* catalog, DaemonView* daemon) {
  absl::StatusOr<std::unique_ptr<Listener>> listener =
      Listener::Create(options.socket_path, options.socket_mode, Listener::Kind::kStream);
  if (!listener.ok()) return listener.status();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  std::unique_ptr<ManagementServer> server(
      new ManagementServer(options, catalog, daemon, std::move(*listener), epoll, timer));
  epoll_event accept{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_event time{.events = EPOLLIN, .data = {.ptr = server.get()}};
  if (epoll < 0 || timer < 0 ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, server->listener_->fd(), &accept) != 0 ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &time) != 0) {
    return absl::ResourceExhaustedError(
        StrCat("management server: ", std::strerror(errno), "; raise the open file limit"));
  }
  return server;
}

ManagementServer::ManagementServer(const ManagementOptions& options, const Catalog* catalog,
                                   DaemonView* daemon, std::unique_ptr<Listener> listener,
                                   int epoll, int timer)
    : options_(options),
      catalog_(catalog),
      daemon_(daemon),
      listener_(std::move(listener)),
      epoll_(epoll),
      timer_(timer),
      accepts_(TokenBucket::QuarterAtOnce(options.limits.accepts_per_s)) {}

ManagementServer::~ManagementServer() {
  if (timer_ >= 0) close(timer_);
  if (epoll_ >= 0) close(epoll_);
}

void ManagementServer::Poll() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  if (count <= 0) return;
  const int64_t now_us = NowUs();
  now_ms_ = now_us / 1000;
  poll_end_us_ = now_us + options_.limits.poll_budget_us;
  bool accepts = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.ptr == nullptr) {
      accepts = true;
    } else if (event.data.ptr == this) {
      uint64_t expirations;
      [[maybe_unused]] const ssize_t n = read(timer_, &expirations, sizeof expirations);
    } else {
      auto& connection = *static_cast<Connection*>(event.data.ptr);
      connection.has_work = true;
      // The client is gone: its request need not wait any longer.
      if ((event.events & EPOLLHUP) != 0 && connection.session.waits()) End(connection);
    }
  }
  // Each poll iteration begins with another connection, as a connection may use up all of the time.
  if (++first_ >= connections_.size()) first_ = 0;
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = *connections_[(first_ + i) % connections_.size()];
    if (connection.has_work || connection.is_throttled || connection.session.waits()) {
      Serve(connection);
    }
    CheckTimes(connection);
    Watch(connection);
  }
  std::erase_if(connections_, [](const auto& connection) { return !connection->socket.ok(); });
  if (accepts || !listens_) Accept();
  SetTimer();
}

void ManagementServer::Accept() {
  for (int i = 0; i < kMaxAcceptsPerPoll; ++i) {
    // Connections over the rate limit wait in the listener's queue.
    WatchListener(accepts_.Take(TimeFromMs(now_ms_)));
    if (!listens_) return;
    bool turned_away;
    const int socket = listener_->Accept(&turned_away);
    if (turned_away) ++counters_.refused;
    if (socket < 0) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    if (std::string reason; !MakeRoom(peer, &reason)) {
      RejectConnection(socket, peer, reason);
      continue;
    }
    auto on_change = [this, peer](const Method& method) {
      if (options_.log == nullptr) return;
      options_.log(StrCat(method.name, " by pid=", peer.pid, " uid=", peer.uid));
    };
    auto connection = std::make_unique<Connection>(
        socket,
        Session(catalog_, daemon_, options_.limits.session, std::move(on_change),
                {.pid = peer.pid, .uid = peer.uid}),
        TokenBucket::QuarterAtOnce(options_.limits.requests_per_s));
    epoll_event what{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &what) != 0) continue;
    connection->pid = peer.pid;
    connection->uid = peer.uid;
    connection->active_ms = now_ms_;
    connection->events = EPOLLIN;
    connection->out = Greeting(options_, daemon_->kind());
    Flush(*connection);
    Watch(*connection);
    ++counters_.accepted;
    connections_.push_back(std::move(connection));
  }
}

void ManagementServer::WatchListener(bool watch) {
  if (watch == listens_) return;
  listens_ = watch;
  epoll_event what{.events = watch ? EPOLLIN : 0u, .data = {.ptr = nullptr}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_->fd(), &what);
}

bool ManagementServer::MakeRoom(const ucred& peer, std::string* reason) {
  std::vector<Guest> guests;
  guests.reserve(connections_.size());
  for (const auto& connection : connections_) {
    guests.push_back({.uid = connection->uid, .quiet_since_ms = connection->quiet_since_ms()});
  }
  Admission admission = Admit(guests, peer.uid, now_ms_,
                              {.places = options_.max_clients,
                               .setting = "management.max_clients",
                               .ends_busy = true,
                               .is_privileged = options_.is_privileged});
  *reason = std::move(admission.reason);
  if (admission.verdict == Admission::Verdict::kRefuse) return false;
  if (admission.verdict == Admission::Verdict::kReplace) {
    Connection& replaced = *connections_[admission.replaced];
    ++counters_.displaced;
    EmitLimit("connections", replaced, *reason);
    if (replaced.out.empty()) {
      Refuse(replaced, {.code = RpcCode::kTooManyClients, .message = *reason});
      Flush(replaced);
    }
    End(replaced);
    connections_.erase(connections_.begin() + static_cast<ptrdiff_t>(admission.replaced));
  }
  return true;
}

void ManagementServer::RejectConnection(int socket, const ucred& peer, const std::string& reason) {
  ++counters_.refused;
  const Fd owned(socket);
  if (options_.on_limit != nullptr) options_.on_limit("connections", peer.pid, peer.uid, reason);
  const std::string line =
      ErrorAnswer("null", {.code = RpcCode::kTooManyClients, .message = reason}) + "\n";
  // Best effort: the line fits into the empty buffer of a new socket.
  SendWithFd(socket, line, -1);
}

void ManagementServer::Serve(Connection& connection) {
  connection.has_work = false;
  connection.active_ms = now_ms_;
  const uint64_t requests = connection.session.requests();
  const uint64_t failed = connection.session.failed();
  uint32_t budget = options_.limits.max_requests_per_poll;
  while (connection.socket.ok()) {
    Flush(connection);
    if (!connection.out.empty() || connection.ends) break;
    if (budget == 0 || IsPollBudgetSpent()) {
      connection.has_work = true;
      break;
    }
    if (!connection.session.idle()) {
      const bool waited = connection.session.waits();
      if (!waited && !MayRequest(connection)) break;
      connection.session.Run(now_ms_, connection.out);
      if (connection.session.waits()) break;
      if (!waited) --budget;
    } else if (connection.in.has_line()) {
      if (!TakeLine(connection)) --budget;
    } else if (!Receive(connection)) {
      break;
    }
  }
  connection.in.Compact();
  if (connection.in.size() == 0) connection.line_since_ms = -1;
  else if (connection.line_since_ms < 0) connection.line_since_ms = now_ms_;
  counters_.requests += connection.session.requests() - requests;
  counters_.requests_failed += connection.session.failed() - failed;
}

// Returns false if the line was empty.
bool ManagementServer::TakeLine(Connection& connection) {
  std::string line;
  PassedFd passed;
  connection.in.Take(&line, &passed);
  connection.line_since_ms = -1;
  if (line.find_first_not_of(" \t\r") == std::string::npos) return false;
  connection.session.Start(line, std::move(passed));
  return true;
}

bool ManagementServer::Receive(Connection& connection) {
  connection.in.Compact();
  const size_t piece = connection.in.size();
  if (piece >= options_.limits.line_bytes) {
    ++counters_.too_long;
    EmitLimit("line_bytes", connection, "sent a line without an end; ended");
    Refuse(connection, {.code = RpcCode::kLineTooLong,
                        .message = StrCat("no newline in ", options_.limits.line_bytes,
                                          " bytes; send less in one request")});
    return true;
  }
  if (connection.peer_closed) {
    End(connection);
    return false;
  }
  char buffer[kReadBytes];
  const size_t room = std::min(sizeof buffer, options_.limits.line_bytes - piece);
  Received received = ReceiveWithFd(connection.socket.get(), buffer, room);
  if (received.bytes < 0) {
    if (errno != EAGAIN && errno != EINTR) End(connection);
    return false;
  }
  // Requests that the client had sent before are still served.
  if (received.bytes == 0) {
    connection.peer_closed = true;
    return true;
  }
  connection.in.Add(std::move(received), buffer);
  return true;
}

void ManagementServer::Flush(Connection& connection) {
  while (connection.out_from < connection.out.size()) {
    const std::string_view rest = std::string_view(connection.out).substr(connection.out_from);
    const ssize_t sent = SendWithFd(connection.socket.get(), rest, -1);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return End(connection);
      if (connection.unread_since_ms < 0) connection.unread_since_ms = now_ms_;
      return;
    }
    connection.out_from += static_cast<size_t>(sent);
    connection.unread_since_ms = -1;
  }
  connection.out = std::string();
  connection.out_from = 0;
  if (connection.ends) End(connection);
}

void ManagementServer::CheckTimes(Connection& connection) {
  if (!connection.socket.ok()) return;
  const ManagementLimits& limits = options_.limits;
  const int64_t unread = connection.unread_since_ms;
  if (unread >= 0 && now_ms_ - unread >= limits.unread_ms) {
    ++counters_.not_reading;
    EmitLimit("unread_ms", connection, "does not read its answers; ended");
    return End(connection);
  }
  // Only while the server waits just for the rest of the line.
  const bool is_ours = !connection.session.idle() || connection.has_work || !connection.out.empty();
  if (connection.in.size() == 0 || is_ours || connection.ends) return;
  if (connection.line_since_ms >= 0 && now_ms_ - connection.line_since_ms >= limits.line_ms) {
    ++counters_.too_late;
    EmitLimit("line_ms", connection, "sent half a line; ended");
    Refuse(connection, {.code = RpcCode::kLineTooLate,
                        .message = StrCat("no newline for ", limits.line_ms,
                                          " ms after the first byte of a line; send it in one")});
    Flush(connection);
  }
}

void ManagementServer::Refuse(Connection& connection, const RpcError& error) {
  StrAppend(&connection.out, ErrorAnswer("null", error), "\n");
  connection.ends = true;
}

void ManagementServer::End(Connection& connection) {
  if (!connection.socket.ok()) return;
  ++counters_.gone;
  connection.socket.Reset();  // which also removes it from epoll
}

void ManagementServer::Watch(Connection& connection) {
  if (!connection.socket.ok()) return;
  uint32_t events = 0;
  if (!connection.out.empty()) {
    events = EPOLLOUT;
  } else if (connection.session.idle() && !connection.has_work && !connection.peer_closed) {
    events = EPOLLIN;
  }
  if (events == connection.events) return;
  connection.events = events;
  epoll_event what{.events = events, .data = {.ptr = &connection}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.socket.get(), &what);
}

int64_t ManagementServer::NextDeadlineMs(const Connection& connection) const {
  if (connection.is_throttled) return now_ms_ + 1;
  if (connection.has_work) return now_ms_;
  if (connection.session.waits()) return std::max(now_ms_ + 1, connection.session.next_poll_ms());
  const ManagementLimits& limits = options_.limits;
  if (connection.unread_since_ms >= 0) return connection.unread_since_ms + limits.unread_ms;
  if (connection.line_since_ms >= 0) return connection.line_since_ms + limits.line_ms;
  return kNoDeadline;
}

void ManagementServer::SetTimer() {
  int64_t next = listens_ ? kNoDeadline : now_ms_ + 1;
  for (const auto& connection : connections_) next = std::min(next, NextDeadlineMs(*connection));
  itimerspec when{};
  if (next != kNoDeadline) {
    // Relative, and never 0, which would disarm the timer.
    const int64_t wait = std::max<int64_t>(0, next - now_ms_);
    when.it_value = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000 + 1000};
  }
  timerfd_settime(timer_, 0, &when, nullptr);
}

bool ManagementServer::MayRequest(Connection& connection) {
  const bool may = connection.requests.Take(TimeFromMs(now_ms_));
  if (!may && !connection.is_throttled) ++counters_.throttled;
  if (!may && !connection.rate_limit_reported) {
    connection.rate_limit_reported = true;
    EmitLimit("requests_per_s", connection, "asks too often; has to wait");
  }
  connection.is_throttled = !may;
  return may;
}

void ManagementServer::EmitLimit(std::string_view limit, const Connection& connection,
                                 std::string_view reason) {
  if (options_.on_limit == nullptr) return;
  options_.on_limit(limit, connection.pid, connection.uid, reason);
}

bool ManagementServer::IsPollBudgetSpent() const { return NowUs() >= poll_end_us_; }

}  // namespace suede
