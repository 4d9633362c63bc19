// SPDX-License-Identifier: Apache-2.0
#include "sockets_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

using suede::DeadlineOf;
using suede::Fail;
using suede::FailPlaneGone;
using suede::FailTimedOut;
using suede::LockGuard;
using suede::NowNs;
using suede::Plane;
using suede::message::Got;
using suede::message::Opened;
using suede::message::Sockets;
using suede::message::Started;
using suede::message::Status;

namespace {

constexpr uint32_t kCommandsOfPoll = 512;  // per {plane, VC}

int FailAs(Status status) {
  return Fail(-EIO, suede_socket_status_name(static_cast<uint32_t>(status)));
}

}  // namespace

suede_sockets::~suede_sockets() {
  if (thread_.is_started()) thread_.Stop();
  // Notifies the peers, as far as credit permits now.
  for (suede_socket* const socket : open_) {
    sockets_->Release(socket->index);
    delete socket;
  }
  if (sockets_ != nullptr && !open_.empty()) PollPlanes();
}

int suede_sockets::Open(const char* name_or_path, const suede_sockets_params& params) {
  data_vcs_ = params.data_vcs == 0 ? 4 : params.data_vcs;
  const uint32_t control_vcs = params.control_vcs == 0 ? 8 : params.control_vcs;
  const uint32_t channels = params.max_channels == 0 ? 1024 : params.max_channels;
  if (params.plane_count > SUEDE_MEM_MAX_PLANES) {
    return Fail(-EINVAL, "suede_sockets_params: plane_count is 0 to 16");
  }
  if (data_vcs_ > 15 || control_vcs > 15 || !std::has_single_bit(control_vcs) ||
      (data_vcs_ & control_vcs) != 0) {
    return Fail(-EINVAL, "suede_sockets_params: VCs are 0 to 3, and control has one of its own");
  }
  if (channels > suede::message::kMaxChannels) {
    return Fail(-EINVAL, "suede_sockets_params: max_channels is up to 4096");
  }
  const int error = planes_.Open(name_or_path, {params.planes, params.plane_count},
                                 params.timeout_ms, data_vcs_ | control_vcs);
  if (error != 0) return error;
  uint64_t seed = 0;
  if (const int failed = suede::Draw(&seed); failed != 0) return failed;
  control_vc_ = static_cast<uint8_t>(std::countr_zero(control_vcs));
  sockets_ = std::make_unique<Sockets>(suede::message::SocketsParams{.own_xpuid = xpuid(),
                                                                     .planes = planes_.size(),
                                                                     .channels = channels,
                                                                     .data_vcs = data_vcs_,
                                                                     .control_vc = control_vc_,
                                                                     .seed = seed});
  return 0;
}

int suede_sockets::Reconnect() {
  const LockGuard lock(lock_);
  PollPlanes();
  uint32_t reconnected = 0;
  const int error = planes_.Reconnect(&reconnected);
  reported_ &= ~reconnected;
  return error;
}

// ---- Progress.

void suede_sockets::TakeCommands(uint32_t plane, uint8_t vc) {
  planes_.TakeCommands(
      suede::PlaneIndex(plane), suede::Vc(vc), kCommandsOfPoll,
      [this](const suede::Route& from, auto... command) { sockets_->OnCommand(from, command...); });
}

bool suede_sockets::PollPlanes() {
  sockets_->OnTime(suede::TimeFromNs(suede::CoarseNs()));
  for (uint32_t i = 0; i < planes_.size(); ++i) {
    if (planes_.IsGivenUp(i)) continue;
    planes_.TakeCompletions(i, [this](const suede_completion& each) {
      sockets_->senders().OnCompletion(each.tag, each.status);
    });
    // Processes control commands first: credit, and failures of sockets.
    TakeCommands(i, control_vc_);
    for (uint8_t vc = 0; vc < SUEDE_VCS; ++vc) {
      if ((data_vcs_ & 1u << vc) != 0) TakeCommands(i, vc);
    }
  }
  sockets_->Pump(planes_);
  planes_.Flush();
  planes_.GiveUpLost([this](uint32_t plane) { sockets_->OnPlaneLost(plane); });
  return (planes_.given_up() & ~reported_) != 0;
}

int suede_sockets::Poll() {
  const LockGuard lock(lock_);
  if (!PollPlanes()) return 0;
  reported_ = planes_.given_up();
  return FailPlaneGone();
}

// Sleeps, without the lock, until commands, completions or credit arrive, at most 2 ms.
void suede_sockets::Sleep(int64_t deadline_ns) {
  constexpr int64_t kMaxMs = 2;
  pollfd fds[SUEDE_MEM_MAX_PLANES] = {};
  nfds_t count = 0;
  {
    const LockGuard lock(lock_);
    const suede_wait_set want{.credit_queues = sockets_->HasUnsent() ? 1u : 0u,
                              .completion_queues = 1,
                              .rx_vcs = data_vcs_ | 1u << control_vc_};
    for (Plane& plane : planes_) {
      if (!plane.is_connected()) continue;
      if (suede_arm(plane.client(), &want) != 0) return;
      fds[count++] = {.fd = suede_eventfd(plane.client()), .events = POLLIN, .revents = 0};
    }
  }
  const int64_t left_ms = (deadline_ns - NowNs()) / 1'000'000;
  const auto timeout_ms = static_cast<int>(std::clamp<int64_t>(left_ms, 0, kMaxMs));
  if (poll(fds, count, timeout_ms) <= 0) return;
  for (nfds_t i = 0; i < count; ++i) {
    uint64_t wakes;
    if ((fds[i].revents & POLLIN) != 0) static_cast<void>(!read(fds[i].fd, &wakes, sizeof wakes));
  }
}

void suede_sockets::Idle(Backoff* backoff, int64_t deadline_ns) {
  if (backoff->idler.OnIdle(!lock_.IsAwaited())) Sleep(deadline_ns);
}

template <class Done>
int suede_sockets::PollUntil(int timeout_ms, const Done& is_done) {
  const int64_t deadline = DeadlineOf(timeout_ms);
  Backoff backoff;
  for (;;) {
    {
      const LockGuard lock(lock_);
      PollPlanes();
      if (is_done()) return 0;
      if (sockets_->progress() != backoff.progress) backoff.idler.OnBusy();
      backoff.progress = sockets_->progress();
    }
    if (NowNs() >= deadline) return FailTimedOut();
    Idle(&backoff, deadline);
  }
}

// ---- The thread.

void suede_sockets::Run() {
  Backoff backoff;
  while (!thread_.must_stop()) {
    if (!lock_.IsAwaited()) {
      const LockGuard lock(lock_);
      PollPlanes();
      if (sockets_->progress() != backoff.progress) backoff.idler.OnBusy();
      backoff.progress = sockets_->progress();
    }
    Idle(&backoff, INT64_MAX);
  }
}

// ---- Sockets.

int suede_sockets::OpenSocket(const suede_socket_params& params, suede_socket** socket) {
  if (params.type > SUEDE_SOCKET_DATAGRAM || params.direction > SUEDE_SOCKET_RECEIVE ||
      (params.flags & ~SUEDE_SOCKET_PRIVATE) != 0 ||
      params.target_count > SUEDE_SOCKET_MAX_TARGETS || params.max_operations > 65536 ||
      (params.target_count != 0 && params.targets == nullptr)) {
    return Fail(-EINVAL, "suede_socket_params: type, direction, flags or limits are out of range");
  }
  const bool is_sender = params.direction == SUEDE_SOCKET_SEND;
  std::vector<uint16_t> peers(params.targets, params.targets + params.target_count);
  if (peers.empty()) {
    const bool is_any = params.peer == SUEDE_SOCKET_ANY;
    // Only SUEDE_SOCKET_ANY denotes any XPU; kAnyXpu as a number is out of range.
    if (!is_any && params.peer >= SUEDE_XPUS) return Fail(-EINVAL, "the peer is XPU 0 to 1023");
    peers.push_back(is_any ? suede::message::kAnyXpu : params.peer);
  }
  const suede::message::SocketParams wanted{
      .is_sender = is_sender,
      .is_datagram = params.type == SUEDE_SOCKET_DATAGRAM,
      .is_private = (params.flags & SUEDE_SOCKET_PRIVATE) != 0,
      .plane = params.plane,
      .vc = params.vc,
      .id = params.id,
      .epoch = params.epoch,
      .ring_bytes = params.ring_bytes == 0 ? 1u << 20 : params.ring_bytes,
      .operations = params.max_operations == 0 ? 256 : params.max_operations};
  const LockGuard lock(lock_);
  PollPlanes();
  uint32_t index = 0;
  switch (sockets_->Open(wanted, peers, &index)) {
    case Opened::kInvalid:
      return Fail(-EINVAL, "peers, plane, VC or ring are out of range, or a datagram is private");
    case Opened::kNoRoom:
      return Fail(-EAGAIN, "all channels are in use");
    case Opened::kExists:
      return Fail(-EEXIST, "there is a socket of this direction, peer, id and epoch");
    case Opened::kBusy:
      return Fail(-EBUSY, "a private stream has the VC, or would not have it alone");
    case Opened::kOk:
      break;
  }
  for (uint32_t i = 0; i < peers.size(); ++i) {
    if (!planes_.IsGivenUp(sockets_->PeerOf(index, i).name.plane)) continue;
    sockets_->Release(index);
    return FailPlaneGone();
  }
  *socket = new suede_socket{.owner = this, .index = index};
  open_.insert(*socket);
  PollPlanes();
  return 0;
}

// Returns the error of a call on a failed socket.
int suede_sockets::FailSocket(const suede_socket& socket) const {
  if (planes_.IsGivenUp(sockets_->PeerOf(socket.index, 0).name.plane)) return FailPlaneGone();
  return FailAs(sockets_->StatusOf(socket.index));
}

int suede_sockets::Connect(const suede_socket& socket, int timeout_ms) {
  int result = 0;
  const int error = PollUntil(timeout_ms, [&] {
    const Status status = sockets_->StatusOf(socket.index);
    if (status == Status::kPending) return false;
    result = status == Status::kOk ? 0 : FailSocket(socket);
    return true;
  });
  return error != 0 ? error : result;
}

int suede_sockets::StartLocked(const suede_socket& socket, const void* data, uint64_t bytes,
                               int64_t deadline_ns, suede_socket_result* result, uint64_t* number) {
  const suede::Time deadline =
      deadline_ns == INT64_MAX ? suede::kNever : suede::TimeFromNs(deadline_ns);
  switch (sockets_->senders().Send(socket.index, static_cast<const uint8_t*>(data), bytes, deadline,
                                   result, number)) {
    case Started::kInvalid:
      return Fail(-EINVAL, "the socket receives, or there are no data");
    case Started::kNoRoom:
      return Fail(-EAGAIN, "all operations of the socket are in use");
    case Started::kNotConnected:
      return Fail(-ENOTCONN, "the socket is not connected yet");
    case Started::kTooLong:
      return Fail(-EMSGSIZE, "a datagram has to fit into half of each receiver's ring");
    case Started::kFailed:
      return FailSocket(socket);
    case Started::kOk:
      break;
  }
  return 0;
}

int suede_sockets::StartSend(const suede_socket& socket, const void* data, uint64_t bytes,
                             uint32_t deadline_ms, suede_socket_result* result) {
  const bool is_endless = deadline_ms == 0 || deadline_ms == SUEDE_MEM_NO_DEADLINE;
  const int64_t deadline =
      is_endless ? INT64_MAX : suede::CoarseNs() + int64_t{deadline_ms} * 1'000'000;
  const LockGuard lock(lock_);
  PollPlanes();
  const int error = StartLocked(socket, data, bytes, deadline, result, nullptr);
  if (error == 0) {
    sockets_->Pump(planes_);
    planes_.Flush();
  }
  return error;
}

int suede_sockets::Send(const suede_socket& socket, const void* data, uint64_t bytes,
                        int timeout_ms, uint64_t* pushed_bytes) {
  suede_socket_result result{};
  uint64_t number = 0;
  const int64_t deadline = DeadlineOf(timeout_ms);
  int started = 0;
  int error = PollUntil(timeout_ms, [&] {
    started = StartLocked(socket, data, bytes, deadline, &result, &number);
    return started != -EAGAIN;
  });
  if (error == 0) error = started;
  if (error == 0) {
    // The operation's deadline bounds this wait.
    Status status = Status::kOk;
    PollUntil(-1, [&] {
      if (!sockets_->senders().operations(socket.index)->IsPushed(number)) return false;
      status = sockets_->senders().operations(socket.index)->ForgetResult(number);
      return true;
    });
    if (result.status > SUEDE_SOCKET_PENDING) status = static_cast<Status>(result.status);
    if (status == Status::kTimedOut) {
      error = FailTimedOut();
    } else if (status != Status::kOk) {
      error = FailAs(status);
    }
  }
  if (pushed_bytes != nullptr) *pushed_bytes = result.pushed_bytes;
  return error;
}

int suede_sockets::Drain(const suede_socket& socket, int timeout_ms) {
  int result = 0;
  const int error = PollUntil(timeout_ms, [&] {
    if (sockets_->senders().operations(socket.index) == nullptr) {
      result = Fail(-EINVAL, "the socket receives");
      return true;
    }
    if (!sockets_->senders().operations(socket.index)->is_empty()) return false;
    const Status failure = sockets_->senders().operations(socket.index)->TakeFailure();
    if (failure != Status::kOk) result = FailAs(failure);
    return true;
  });
  return error != 0 ? error : result;
}

int suede_sockets::Receive(const suede_socket& socket, void* room, uint32_t bytes, int timeout_ms) {
  auto* const octets = static_cast<uint8_t*>(room);
  int result = 0;
  uint32_t taken = 0;
  bool is_offered = false;
  const int error = PollUntil(timeout_ms, [&] {
    if (is_offered) {
      const uint32_t filled = sockets_->receivers().Filled(socket.index);
      if (filled != 0) {
        sockets_->receivers().WithdrawBuffer(socket.index);
        is_offered = false;
        // Appends octets that the ring holds behind these.
        uint32_t more = 0;
        if (filled < bytes)
          sockets_->receivers().Receive(socket.index, octets + filled, bytes - filled, &more);
        result = static_cast<int>(filled + more);
        return true;
      }
    }
    switch (sockets_->receivers().Receive(socket.index, octets, bytes, &taken)) {
      case Got::kOctets:
        result = static_cast<int>(taken);
        break;
      case Got::kNothing:
        if (!is_offered && timeout_ms != 0 && bytes != 0) {
          is_offered = sockets_->receivers().OfferBuffer(socket.index, octets, bytes);
        }
        return false;
      case Got::kEnd:
        result = Fail(-ENODATA, "the sender has closed");
        break;
      case Got::kTooLong:
        result = Fail(-EMSGSIZE, "the datagram is longer than the room");
        break;
      case Got::kFailed:
        result = FailSocket(socket);
        break;
      case Got::kInvalid:
        result = Fail(-EINVAL, "the socket sends");
        break;
    }
    if (is_offered) sockets_->receivers().WithdrawBuffer(socket.index);
    is_offered = false;
    return true;
  });
  if (is_offered) {
    const LockGuard lock(lock_);
    const uint32_t filled = sockets_->receivers().WithdrawBuffer(socket.index);
    if (filled != 0) return static_cast<int>(filled);
  }
  if (error == 0) return result;
  return timeout_ms == 0 ? Fail(-EAGAIN, "there is nothing to receive") : error;
}

int suede_sockets::CloseSocket(suede_socket* socket, int timeout_ms, uint32_t* status) {
  Status outcome = Status::kOk;
  {
    const LockGuard lock(lock_);
    outcome = sockets_->StatusOf(socket->index);
    sockets_->Close(socket->index);
  }
  const int error = PollUntil(timeout_ms, [&] { return sockets_->IsClosed(socket->index); });
  const LockGuard lock(lock_);
  if (sockets_->senders().operations(socket->index) != nullptr)
    outcome = sockets_->OutcomeOf(socket->index);
  if (outcome == Status::kPending) outcome = Status::kOk;  // a receiver that never connected
  if (error != 0 && outcome == Status::kOk) outcome = Status::kTimedOut;
  sockets_->Release(socket->index);
  PollPlanes();
  open_.erase(socket);
  delete socket;
  if (status != nullptr) *status = static_cast<uint32_t>(outcome);
  if (error != 0) return error;
  return outcome == Status::kOk ? 0 : FailAs(outcome);
}

// ---- Queries.

uint32_t suede_sockets::StatusOf(const suede_socket& socket) {
  const LockGuard lock(lock_);
  return static_cast<uint32_t>(sockets_->StatusOf(socket.index));
}

uint32_t suede_sockets::PeerStatusOf(const suede_socket& socket, uint32_t peer) {
  const LockGuard lock(lock_);
  if (peer >= sockets_->PeerCount(socket.index)) return SUEDE_SOCKET_NOT_OPEN;
  return static_cast<uint32_t>(sockets_->PeerStatus(socket.index, peer));
}

int suede_sockets::GetInfo(const suede_socket& socket, suede_socket_info* info) {
  const LockGuard lock(lock_);
  const suede::message::Channel& first = sockets_->PeerOf(socket.index, 0);
  const bool is_any = first.name.xpuid == suede::message::kAnyXpu;
  *info = {.size = sizeof *info,
           .peer = is_any ? uint16_t{SUEDE_SOCKET_ANY} : first.name.xpuid,
           .plane = first.name.plane,
           .vc = first.traits.vc,
           .waiting_bytes = 0,
           .ring_bytes = UINT32_MAX,
           .used_bytes = 0,
           .open_operations = 0,
           .reserved = 0};
  if (first.ring != nullptr) {
    info->waiting_bytes = first.ring->octets();
    info->ring_bytes = first.ring->bytes();
    info->used_bytes = static_cast<uint32_t>(first.ring->received() - first.ring->released());
    return 0;
  }
  info->open_operations = sockets_->senders().operations(socket.index)->open();
  for (uint32_t i = 0; i < sockets_->PeerCount(socket.index); ++i) {
    const suede::message::Channel& channel = sockets_->PeerOf(socket.index, i);
    info->ring_bytes = std::min(info->ring_bytes, channel.window_bytes);
    const uint64_t used = channel.sent + channel.window_bytes - channel.limit;
    info->used_bytes = std::max(info->used_bytes, static_cast<uint32_t>(used));
  }
  return 0;
}

int suede_sockets::GetCounts(suede_sockets_counts* counts) {
  const LockGuard lock(lock_);
  const suede::message::SocketsCounters& counters = sockets_->counters();
  *counts = {.size = sizeof *counts,
             .reserved = 0,
             .sent_bytes = counters.sent_bytes,
             .sent_commands = counters.sent_commands,
             .received_bytes = counters.received_bytes,
             .received_commands = counters.received_commands,
             .spilled_bytes = counters.spilled_bytes,
             .refused = {},
             .stray_answers = counters.stray,
             .foreign_commands = counters.foreign,
             .unanswered = counters.unanswered,
             .torn_datagrams = counters.torn,
             .starved = counters.starved,
             .blocked = counters.blocked};
  std::copy(std::begin(counters.refused), std::end(counters.refused), counts->refused);
  return 0;
}
