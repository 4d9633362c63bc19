// SPDX-License-Identifier: Apache-2.0
#include "perf/message_load.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/big_endian.h"

namespace suede::perf {
namespace {

constexpr uint32_t kRoomBytes = 65536;
constexpr int kWaitMs = 50;  // of a wait; signals are checked in between

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

MessageLoad::MessageLoad(LoadRecord& record, suede_sockets* sockets, const TscClock& clock,
                         const Options& options, uint32_t bytes)
    : OperationLoad(record, options, bytes),
      sockets_(sockets),
      clock_(clock),
      pattern_(std::max(bytes, kRoomBytes)),
      results_(slots()),
      buffer_(kRoomBytes) {}

MessageLoad::~MessageLoad() {
  suede_socket_close(sender_, 0, nullptr);
  suede_socket_close(receiver_, 0, nullptr);
}

bool MessageLoad::FailAsCall(int error) {
  record_.Fail(Outcome::kEndpointLost,
               error == -ECONNRESET ? "the daemon went away"
                                    : absl::StrCat("the stream to XPU ", options_.destinations[0],
                                                   " has failed: ", suede_mem_error_text()));
  return false;
}

int MessageLoad::OpenSockets() {
  const uint16_t id =
      options_.pingpong ? kEchoSocket : (options_.check ? kCheckSocket : kDropSocket);
  const uint16_t peer = options_.destinations[0];
  const suede_socket_params from = MessageSocket(options_, SUEDE_SOCKET_RECEIVE, peer, id);
  const suede_socket_params to = MessageSocket(options_, SUEDE_SOCKET_SEND, peer, id);
  const int error = suede_socket_open(sockets_, &from, &receiver_);
  return error != 0 ? error : suede_socket_open(sockets_, &to, &sender_);
}

Advance MessageLoad::Connect(Time now) {
  if (connecting_ == nullptr) {
    if (const int error = OpenSockets(); error != 0) {
      FailAsCall(error);
      return Advance::kIdle;
    }
    connecting_ = sender_;
  }
  if (deadline_ == kNever) deadline_ = now + Seconds(options_.connect_s);
  const int error = suede_socket_connect(connecting_, kWaitMs);
  if (error == 0) {
    is_connected_ = connecting_ == receiver_;
    if (is_connected_) return Advance::kDone;
    connecting_ = receiver_;
    deadline_ = kNever;
  } else if (error != -ETIMEDOUT) {
    FailAsCall(error);
  } else if (!record_.stop && clock_.Now() >= deadline_) {
    record_.Fail(Outcome::kPeerSilent,
                 absl::StrCat("XPU ", options_.destinations[0], " takes no messages (",
                              suede_socket_status_name(suede_socket_peer_status(connecting_, 0)),
                              "): is suede-perf --mode server --reaction message there?"));
  }
  return Advance::kWorked;
}

int MessageLoad::Start(size_t at) {
  // Passes no result in ping-pong mode: the message may be reused before a result is written.
  suede_socket_result* const result = options_.pingpong ? nullptr : &results_[at];
  return suede_socket_start_send(sender_, pattern_.At(started() * bytes_), bytes_, 0, result);
}

bool MessageLoad::HasEnded(size_t at) const {
  if (options_.pingpong) return echoed_bytes_ >= (ended() + 1) * bytes_;
  return results_[at].status != SUEDE_SOCKET_PENDING;
}

bool MessageLoad::OnEnd(size_t at) {
  if (options_.pingpong || results_[at].status == SUEDE_SOCKET_OK) return true;
  record_.Fail(Outcome::kEndpointLost,
               absl::StrCat("a message ended as ", suede_socket_status_name(results_[at].status)));
  return false;
}

// Receives and verifies echoes. Returns whether there were any.
bool MessageLoad::TakeEchoes() {
  const int count = suede_socket_receive(receiver_, buffer_.data(), kRoomBytes, 0);
  if (count == -EAGAIN) return false;
  if (count < 0) return FailAsCall(count);
  if (options_.check &&
      std::memcmp(buffer_.data(), pattern_.At(echoed_bytes_), static_cast<size_t>(count)) != 0) {
    ++record_.result.reverse.wrong;
  }
  echoed_bytes_ += static_cast<uint32_t>(count);
  return true;
}

bool MessageLoad::Poll(Time /*now*/) {
  if (!is_connected_ || record_.result.is_unfinished) return false;
  if (options_.pingpong) {
    if (!TakeEchoes()) return false;
  } else if (suede_sockets_poll(sockets_) == -ECONNRESET) {
    return FailAsCall(-ECONNRESET);
  }
  return CollectEnded();
}

Advance MessageLoad::Finish(Time /*now*/) {
  RunResult& result = record_.result;
  if (result.is_unfinished) return Advance::kDone;
  const int timeout_ms = static_cast<int>(options_.drain_s * 1000) + 1;
  const int error = suede_socket_close(std::exchange(sender_, nullptr), timeout_ms, nullptr);
  if (error != 0) FailAsCall(error);
  if (error != 0 || options_.pingpong) return Advance::kDone;
  uint8_t report[kReportBytes];
  for (uint32_t got = 0; got < kReportBytes;) {
    const int count = suede_socket_receive(receiver_, report + got, kReportBytes - got, timeout_ms);
    if (count < 0) {
      FailAsCall(count);
      return Advance::kDone;
    }
    got += static_cast<uint32_t>(count);
  }
  result.forward.data_bytes = LoadBe64(report);
  result.forward.received = result.forward.data_bytes / bytes_;
  result.forward.wrong = LoadBe64(report + 8);
  return Advance::kDone;
}

}  // namespace suede::perf
