// SPDX-License-Identifier: Apache-2.0
#include "perf/message_load.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/big_endian.h"

namespace suede::perf {
namespace {

constexpr uint32_t kRoomBytes = 65536;
constexpr int kPieceMs = 50;  // of a wait; signals are checked in between

}  // namespace

StreamPattern::StreamPattern(uint32_t max_bytes) : octets_(kPeriod + size_t{max_bytes}) {
  uint64_t state = 1;
  for (size_t i = 0; i < kPeriod; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    octets_[i] = static_cast<uint8_t>(state >> 56);
  }
  for (size_t i = kPeriod; i < octets_.size(); ++i) octets_[i] = octets_[i - kPeriod];
}

suede_socket_params MessageSocket(const Options& options, uint8_t direction, uint16_t peer,
                                  uint16_t id) {
  suede_socket_params params{};
  params.size = sizeof params;
  params.id = id;
  params.type = SUEDE_SOCKET_STREAM;
  params.direction = direction;
  params.epoch = kMessageEpoch;
  params.plane = SUEDE_MEM_AUTO;
  params.vc = static_cast<int8_t>(options.vcs[0]);
  params.peer = peer;
  params.max_operations = std::max(options.inflight, 16u);
  return params;
}

MessageLoad::MessageLoad(suede_sockets* sockets, const Options& options, uint32_t bytes,
                         const TscClock& clock, const std::atomic<bool>& stop,
                         WorkerProgress* progress)
    : sockets_(sockets),
      options_(options),
      bytes_(bytes),
      clock_(clock),
      stop_(stop),
      progress_(progress),
      pattern_(std::max(bytes, kRoomBytes)),
      messages_(options.inflight),
      room_(kRoomBytes) {
  result_.latency_is_rtt = true;
}

MessageLoad::~MessageLoad() {
  suede_socket_close(sender_, 0, nullptr);
  suede_socket_close(receiver_, 0, nullptr);
}

RunResult MessageLoad::Run() {
  if (OpenSockets()) {
    progress_->stage = Stage::kLoad;
    Load();
    progress_->stage = Stage::kDrain;
    Drain();
    Finish();
  }
  result_.interrupted = stop_;
  // The average replaces the peak of a run that is shorter than a window.
  result_.peak_per_second = std::max(track_.Peak(), result_.achieved_per_second());
  return std::move(result_);
}

bool MessageLoad::EndWith(Outcome outcome, std::string explanation) {
  if (result_.outcome != Outcome::kDone) return false;
  result_.outcome = outcome;
  result_.explanation = std::move(explanation);
  return false;
}

bool MessageLoad::FailAsCall(int error) {
  const bool is_gone = error == -ECONNRESET;
  return EndWith(Outcome::kEndpointLost,
                 is_gone ? "the daemon went away"
                         : absl::StrCat("the stream to XPU ", options_.destinations[0],
                                        " has failed: ", suede_mem_error_text()));
}

// ---- Before the load.

bool MessageLoad::Connect(suede_socket* socket) {
  const Time until = clock_.Now() + Seconds(options_.connect_s);
  for (;;) {
    const int error = suede_socket_connect(socket, kPieceMs);
    if (error == 0) return true;
    if (error != -ETIMEDOUT) return FailAsCall(error);
    if (stop_) return false;
    if (clock_.Now() < until) continue;
    const uint16_t xpuid = options_.destinations[0];
    return EndWith(Outcome::kPeerSilent,
                   absl::StrCat("XPU ", xpuid, " takes no messages (",
                                suede_socket_status_name(suede_socket_peer_status(socket, 0)),
                                "): is suede-perf --mode server --reaction message there?"));
  }
}

bool MessageLoad::OpenSockets() {
  const uint16_t id =
      options_.pingpong ? kEchoSocket : (options_.check ? kCheckSocket : kDropSocket);
  const uint16_t peer = options_.destinations[0];
  const suede_socket_params from = MessageSocket(options_, SUEDE_SOCKET_RECEIVE, peer, id);
  const suede_socket_params to = MessageSocket(options_, SUEDE_SOCKET_SEND, peer, id);
  int error = suede_socket_open(sockets_, &from, &receiver_);
  if (error == 0) error = suede_socket_open(sockets_, &to, &sender_);
  if (error != 0) return FailAsCall(error);
  return Connect(sender_) && Connect(receiver_);
}

// ---- The load.

bool MessageLoad::IsOver(Time now) const {
  if (stop_ || result_.outcome != Outcome::kDone) return true;
  if (options_.count > 0)
    return result_.measured + open() >= options_.count && now >= measured_from_;
  return now >= measured_from_ + Seconds(options_.duration_s);
}

bool MessageLoad::StartNext(Time now) {
  Message& message = messages_[started_ % messages_.size()];
  message.start = now;
  // Passes no result in ping-pong mode: the message may be reused before a result is written.
  suede_socket_result* const result = options_.pingpong ? nullptr : &message.result;
  const int error =
      suede_socket_start_send(sender_, pattern_.At(started_ * bytes_), bytes_, 0, result);
  if (error == -EAGAIN) return false;
  if (error != 0) return FailAsCall(error);
  ++started_;
  return true;
}

bool MessageLoad::HasEnded(const Message& message) const {
  if (options_.pingpong) return echoed_bytes_ >= (ended_ + 1) * bytes_;
  return message.result.status != SUEDE_SOCKET_PENDING;
}

void MessageLoad::OnEnd(const Message& message, Time now) {
  ++ended_;
  if (!options_.pingpong && message.result.status != SUEDE_SOCKET_OK) {
    EndWith(Outcome::kEndpointLost,
            absl::StrCat("a message ended as ", suede_socket_status_name(message.result.status)));
    return;
  }
  if (message.start < measured_from_) return;
  result_.latency_ns.Record(static_cast<uint64_t>((now - message.start).count()));
  ++result_.measured;
  track_.Add(now - measured_from_, 1);
  last_end_ = now;
}

// Receives and verifies echoes. Returns whether there were any.
bool MessageLoad::TakeEchoes() {
  const int count = suede_socket_receive(receiver_, room_.data(), kRoomBytes, 0);
  if (count == -EAGAIN) return false;
  if (count < 0) return FailAsCall(count);
  if (options_.check &&
      std::memcmp(room_.data(), pattern_.At(echoed_bytes_), static_cast<size_t>(count)) != 0) {
    ++result_.reverse.wrong;
  }
  echoed_bytes_ += static_cast<uint32_t>(count);
  return true;
}

bool MessageLoad::CollectCompletions() {
  if (options_.pingpong) {
    if (!TakeEchoes()) return false;
  } else if (suede_sockets_poll(sockets_) == -ECONNRESET) {
    return FailAsCall(-ECONNRESET);
  }
  const Time now = clock_.Now();
  const uint64_t before = ended_;
  // Messages of a stream complete in order.
  while (ended_ < started_ && HasEnded(messages_[ended_ % messages_.size()])) {
    OnEnd(messages_[ended_ % messages_.size()], now);
  }
  return ended_ != before;
}

void MessageLoad::Rest(bool worked) {
  constexpr uint32_t kPollsToYield = 64;
  idle_turns_ = worked ? 0 : idle_turns_ + 1;
  if (!options_.spin && idle_turns_ >= kPollsToYield) sched_yield();
}

void MessageLoad::Load() {
  measured_from_ = clock_.Now() + Seconds(options_.warmup_s);
  last_end_ = measured_from_;
  for (Time now = clock_.Now(); !IsOver(now); now = clock_.Now()) {
    while (open() < messages_.size() && !IsOver(now) && StartNext(now)) now = clock_.Now();
    const bool worked = CollectCompletions();
    progress_->sent.store(started_, std::memory_order_relaxed);
    Rest(worked);
  }
}

void MessageLoad::Drain() {
  const Time until = clock_.Now() + Seconds(options_.drain_s);
  while (open() != 0 && result_.outcome == Outcome::kDone && clock_.Now() < until) {
    Rest(CollectCompletions());
  }
  result_.sent = started_;
  result_.measured_time = last_end_ - measured_from_;
}

// Closes the stream, and receives the server's report.
void MessageLoad::Finish() {
  result_.forward.received = ended_;
  result_.forward.data_bytes = ended_ * bytes_;
  if (result_.outcome != Outcome::kDone || open() != 0) return;
  const int timeout_ms = static_cast<int>(options_.drain_s * 1000) + 1;
  const int error = suede_socket_close(sender_, timeout_ms, nullptr);
  sender_ = nullptr;
  if (error != 0) {
    FailAsCall(error);
    return;
  }
  if (options_.pingpong) return;
  uint8_t report[kReportBytes];
  for (uint32_t got = 0; got < kReportBytes;) {
    const int count = suede_socket_receive(receiver_, report + got, kReportBytes - got, timeout_ms);
    if (count < 0) {
      FailAsCall(count);
      return;
    }
    got += static_cast<uint32_t>(count);
  }
  result_.forward.data_bytes = LoadBe64(report);
  result_.forward.received = result_.forward.data_bytes / bytes_;
  result_.forward.wrong = LoadBe64(report + 8);
}

}  // namespace suede::perf
