// SPDX-License-Identifier: Apache-2.0
#include "simbricks/link.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "local/passing.h"

namespace suede::simbricks {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);  // for an intro, for the last messages
constexpr auto kRetryInterval = std::chrono::milliseconds(100);

ConnectionPlan PlanOf(const LinkOptions& options) {
  const QueuePlan queue{.entry_bytes = kHeaderBytes + options.room, .entries = options.entries};
  ConnectionPlan plan{.to_connecter = queue, .to_listener = queue};
  plan.to_listener.offset = plan.to_connecter.end();
  return plan;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Link>> Link::Open(const LinkOptions& options) {
  if (!options.listens) {
    if (options.path.empty() || options.path.size() >= sizeof sockaddr_un::sun_path) {
      return absl::InvalidArgumentError(absl::StrCat("socket ", options.path, ": a path has 1 to ",
                                                     sizeof sockaddr_un::sun_path - 1, " bytes"));
    }
    return std::unique_ptr<Link>(new Link(options, nullptr));
  }
  auto listener = Listener::Create(options.path, 0600, Listener::Kind::kStream);
  if (!listener.ok()) return listener.status();
  return std::unique_ptr<Link>(new Link(options, *std::move(listener)));
}

void Link::Poll(Time now) {
  now_ = now;
  if (listener_ != nullptr) {
    Accept();
  } else if (!socket_.ok() && now >= retry_at_) {
    Connect();
  }
  if (!socket_.ok()) return;
  if (!has_intro_) {
    ReceiveIntro();
  } else if (!is_closing_) {
    CheckSocket();
  } else if (now >= deadline_) {
    End();
  }
}

void Link::Accept() {
  bool turned_away = false;
  Fd client(listener_->Accept(&turned_away));
  if (!client.ok()) return;
  if (socket_.ok()) {
    ++busy_;
    return;
  }
  socket_ = std::move(client);
  deadline_ = now_ + kPatience;
  plan_ = PlanOf(options_);
  if (auto memory = memif::Region::Create(plan_.to_listener.end())) {
    memory_.emplace(*std::move(memory));
  }
  if (!memory_ || !SendIntro()) Fail(memory_ ? Fault::kIntro : Fault::kMemory);
}

void Link::Connect() {
  retry_at_ = now_ + kRetryInterval;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options_.path.copy(address.sun_path, sizeof address.sun_path - 1);
  socket_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.ok() ||
      connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno != last_error_) {
      std::fprintf(stderr, "suede-simbricks: %s: cannot connect to %s: %s; trying again\n", name(),
                   options_.path.c_str(), std::strerror(errno));
    }
    last_error_ = errno;
    socket_.Reset();
    return;
  }
  last_error_ = 0;
  // A listener may take long to accept, and may accept only once: no deadline.
  if (!SendIntro()) Fail(Fault::kIntro);
}

bool Link::SendIntro() {
  const std::string intro = listener_ != nullptr ? MakeListenerIntro(options_.upper, plan_)
                                                 : MakeConnecterIntro(options_.upper);
  const int fd = memory_ ? memory_->fd() : -1;
  return SendWithFd(socket_.get(), intro, fd) == static_cast<ssize_t>(intro.size());
}

void Link::ReceiveIntro() {
  char intro[kMaxIntroBytes + 1];
  Received received = ReceiveWithFd(socket_.get(), intro, sizeof intro);
  if (received.bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
    if (now_ >= deadline_) Fail(Fault::kTimeout);
    return;
  }
  const auto bytes = static_cast<size_t>(std::max<ssize_t>(received.bytes, 0));
  const Fault fault = Establish({intro, bytes}, std::move(received.fd));
  if (fault != Fault::kNone) return Fail(fault);
  reader_.Attach(memory_->base(), listener_ != nullptr ? plan_.to_listener : plan_.to_connecter);
  writer_.Attach(memory_->base(), listener_ != nullptr ? plan_.to_connecter : plan_.to_listener);
  has_intro_ = true;
  deadline_ = kNever;
  ++generation_;
  if (lines_.Take(now_)) std::fprintf(stderr, "suede-simbricks: %s: connected\n", name());
}

// Checks the peer's intro, and maps a listener's memory.
Fault Link::Establish(std::span<const char> intro, Fd fd) {
  if (listener_ != nullptr) return ReadConnecterIntro(intro, options_.upper);
  const Fault fault = ReadListenerIntro(intro, options_.upper, &plan_);
  if (fault != Fault::kNone) return fault;
  if (!fd.ok() || !IsPlainFile(fd.get())) return Fault::kDescriptor;
  const uint64_t bytes = std::max(plan_.to_connecter.end(), plan_.to_listener.end());
  auto memory = memif::Region::MapUnsealed(std::move(fd), bytes);
  if (!memory) return Fault::kQueues;
  memory_.emplace(*std::move(memory));
  return Fault::kNone;
}

void Link::CheckSocket() {
  char byte;
  const ssize_t n = ReceivePacket(socket_.get(), &byte, sizeof byte);
  if (n > 0) return Fail(Fault::kIntro);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  is_closing_ = true;
  deadline_ = now_ + kPatience;
}

bool Link::Next(Header* header) {
  if (!is_connected()) return false;
  if (memory_->broken()) {
    Fail(Fault::kMemory);
    return false;
  }
  if (!reader_.Peek(header)) {
    if (is_closing_) End();
    return false;
  }
  if (header->type == kSync) {
    reader_.Release();
    return false;
  }
  if (header->type == kTerminate) {
    End();
    return false;
  }
  return true;
}

void Link::Fail(Fault fault) {
  ++faults_[static_cast<size_t>(fault)];
  if (lines_.Take(now_)) {
    std::fprintf(stderr, "suede-simbricks: %s: cannot keep the connection: %s (%s)\n", name(),
                 SentenceOf(fault), NameOf(fault));
  }
  End();
}

void Link::End() {
  if (is_connected()) {
    if (!memory_->broken() && writer_.HasPlace()) writer_.Send({.type = kTerminate});
    if (lines_.Take(now_)) std::fprintf(stderr, "suede-simbricks: %s: disconnected\n", name());
  }
  socket_.Reset();
  memory_.reset();
  has_intro_ = false;
  is_closing_ = false;
  deadline_ = kNever;
  retry_at_ = now_ + kRetryInterval;
}

}  // namespace suede::simbricks
