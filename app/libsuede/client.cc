// SPDX-License-Identifier: Apache-2.0
// Connecting and waiting. abi.cc has the functions of suede.h.
#include "client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shm/wait.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

using suede::Fail;
namespace protocol = suede::protocol;

std::vector<std::string> suede::PathsOf(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  const std::string tail = "/" + name + "/" + protocol::kSocketName;
  std::vector<std::string> paths;
  if (geteuid() != 0) {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    paths.push_back(runtime != nullptr && *runtime != 0
                        ? std::string(runtime) + "/suede" + tail
                        : "/tmp/suede-" + std::to_string(geteuid()) + tail);
  }
  paths.push_back("/run/suede" + tail);
  return paths;
}

int suede::FailGone() { return Fail(-ECONNRESET, "the daemon has gone"); }

int suede_queue::FailUnusable() const {
  if (!ring) return suede::FailGone();
  return Fail(-EBUSY, "a reset has not been answered yet: call suede_reset_queue again");
}

int suede::FailNull(const char* call, const char* argument, const char* source) {
  return Fail(-EINVAL, "cannot %s: %s is NULL; take it from %s", call, argument, source);
}

int suede::FailCommand(const CommandFields& fields) {
  constexpr uint32_t kFlags =
      SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION;
  if (fields.xpuid >= SUEDE_XPUS) {
    return Fail(-EINVAL, "cannot send: xpuid is %u; use 0 to %u", fields.xpuid, SUEDE_XPUS - 1);
  }
  if (fields.vc >= SUEDE_VCS) {
    return Fail(-EINVAL, "cannot send: vc is %u; use 0 to %u", fields.vc, SUEDE_VCS - 1);
  }
  if ((fields.flags & ~kFlags) != 0) {
    return Fail(-EINVAL, "cannot send: flags are 0x%x; use SUEDE_RECORD_… only", fields.flags);
  }
  if (fields.control_units < 1 || fields.control_units > 9) {
    return Fail(-EINVAL,
                "cannot send: bits 3:0 of the control's first byte are %u; use suede_set_lengths",
                fields.control_units);
  }
  return Fail(-EINVAL,
              "cannot send: the control says that data follow, and data is NULL; set data, or "
              "use suede_set_lengths with 0");
}

int suede_queue::FailSend(suede::SendResult result) {
  if (client->IsGoneNowAndThen()) return suede::FailGone();
  seen_state = SUEDE_QUEUE_READY;
  if (result == suede::SendResult::kWouldBlock) return -EAGAIN;
  const bool is_broken = result == suede::SendResult::kBroken;
  seen_state = is_broken ? SUEDE_QUEUE_BROKEN : SUEDE_QUEUE_IN_RESET;
  return is_broken ? Fail(-EIO, "the daemon has stopped serving the queue")
                   : Fail(-EBUSY, "the queue is in reset");
}

int suede_client::Connect() {
  int result = -ENOENT;
  for (const std::string& path : paths) {
    result = channel.Connect(path.c_str(), timeout_ms, &hello);
    if (result != -ENOENT && result != -ECONNREFUSED) break;
  }
  if (result == 0) result = OpenSegment();
  if (result != 0) Disconnect();
  return result;
}

void suede_client::Disconnect() {
  // Without GOODBYE the daemon would treat the client as crashed. Errors do not matter: the daemon
  // may be gone.
  const protocol::Goodbye goodbye;
  if (segment != nullptr) channel.TrySend(&goodbye, sizeof goodbye);
  channel.Close();
  gone.store(true, std::memory_order_relaxed);
  for (suede_queue& queue : queues) {
    queue.ring.reset();
    queue.load.reset();
  }
  for (Receiver& receiver : receivers) receiver.ring.reset();
  offsets.reset();
  if (segment != nullptr) munmap(segment, segment_bytes);
  segment = nullptr;
  if (eventfd >= 0) close(eventfd);
  eventfd = -1;
}

int suede_client::OpenSegment() {
  protocol::Open open;
  open.queue_count = params.queue_count;
  for (uint32_t q = 0; q < params.queue_count; ++q) {
    if (params.instance_count == 0) {
      open.instances[q] = hello.instances[0];
      continue;
    }
    const suede_instance& from = params.instances[params.instance_count == 1 ? 0 : q];
    open.instances[q] = {.xpuid = from.xpuid, .instance = from.instance};
  }
  protocol::Reply reply;
  int fds[2] = {-1, -1};
  int result = channel.Call(&open, timeout_ms, &reply, fds);
  if (result == 0) result = MapSegment(fds[0], reply.value);
  if (fds[0] >= 0) close(fds[0]);  // the mapping remains valid
  eventfd = fds[1];
  protocol::Sealed sealed;
  if (result == 0) result = channel.Call(&sealed, timeout_ms, &reply, nullptr);
  if (result == 0) result = ReadHead();
  if (result != 0) return result;
  queues.resize(params.queue_count);
  for (uint32_t q = 0; q < params.queue_count; ++q) {
    queues[q].client = this;
    queues[q].index = q;
    queues[q].seen_state = SUEDE_QUEUE_READY;
    queues[q].is_resetting = false;
    queues[q].ring.emplace(segment, q);
    queues[q].load.emplace(segment, segment_bytes, q);
    if (!queues[q].load->has_area()) continue;
    for (uint32_t slot = 0; slot < SUEDE_WISHES; ++slot) {
      queues[q].load->SetWish(slot, queues[q].wishes[slot]);
    }
  }
  for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
    receivers[vc].ring.emplace(segment, vc);
    receivers[vc].seen_state = SUEDE_QUEUE_READY;
  }
  gone.store(false, std::memory_order_relaxed);
  return 0;
}

int suede_client::MapSegment(int fd, uint64_t bytes) {
  struct stat info;
  // F_SEAL_SHRINK rules out SIGBUS on access.
  if (fd < 0 || fstat(fd, &info) != 0 || static_cast<uint64_t>(info.st_size) < bytes ||
      (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0) {
    return Fail(-EPROTO, "the segment of the daemon is invalid");
  }
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return Fail(-ENOMEM, "mmap: %s", std::strerror(errno));
  segment = base;
  segment_bytes = bytes;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0) {
    return Fail(-EPROTO, "cannot seal the segment: %s; use Linux 5.1 or later",
                std::strerror(errno));
  }
  return 0;
}

// Reads and checks the segment's header. The daemon has formatted the segment before.
int suede_client::ReadHead() {
  madvise(segment, segment_bytes, MADV_POPULATE_WRITE);  // prefaults the pages
  const auto* head = static_cast<const suede_segment*>(segment);
  const suede::SegmentShape shape{.queue_count = head->queue_count,
                                  .tx_lines = head->tx_lines,
                                  .rx_lines = head->rx_lines,
                                  .completion_count = head->completion_count,
                                  .credit_lines = head->credit_lines,
                                  .aggregate_lines = head->aggregate_lines};
  if (head->magic != SUEDE_LAYOUT_MAGIC || head->version != SUEDE_LAYOUT_VERSION ||
      !shape.IsValid() || head->size > segment_bytes || head->queue_count != params.queue_count) {
    return Fail(-EPROTO, "the daemon's segment has another layout");
  }
  offsets.emplace(shape);
  // Segments of older daemons end where the load areas would begin; LoadReader handles that.
  return offsets->load <= segment_bytes ? 0 : Fail(-EPROTO, "the daemon's segment is too small");
}

int suede_client::ClaimAgain() {
  for (protocol::Claim& claim : claims) {
    protocol::Reply reply;
    if (const int result = channel.Call(&claim, timeout_ms, &reply, nullptr); result != 0) {
      return result;
    }
  }
  return 0;
}

bool suede_client::IsGone() {
  if (channel.HasEnded()) gone.store(true, std::memory_order_relaxed);
  return gone.load(std::memory_order_relaxed);
}

bool suede_client::MakeWait(const suede_wait_set& want, protocol::Wait* wait) {
  if (segment == nullptr) return false;
  wait->credit_queues = want.credit_queues;
  wait->completion_queues = want.completion_queues;
  wait->rx_vcs = want.rx_vcs;
  for (const suede_queue& queue : queues) {
    const uint32_t bit = 1u << queue.index;
    if ((want.credit_queues & bit) != 0) {
      wait->returned[queue.index] = queue.ring->seen_returned();
      wait->tail[queue.index] = queue.ring->seen_tail();
      wait->state[queue.index] = queue.seen_state;
    }
    if ((want.completion_queues & bit) != 0) {
      wait->completion[queue.index] = queue.ring->completion_position();
    }
  }
  for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
    if ((want.rx_vcs & 1u << vc) == 0) continue;
    wait->rx[vc] = receivers[vc].ring->position();
    wait->rx_state[vc] = static_cast<uint8_t>(receivers[vc].seen_state);
  }
  return true;
}

uint32_t suede_client::ReceiveState(uint32_t vc) const {
  const auto* head = static_cast<const suede_segment*>(segment);
  return suede::LoadAcquire(head->rx_state[vc].value);
}

bool suede_client::IsReady(const protocol::Wait& wait, suede_wait_set* ready) const {
  const suede::WaitReady found = suede::FindReady(segment, *offsets, wait);
  if (!found.any()) return false;
  *ready = {found.credit_queues, found.completion_queues, found.rx_vcs};
  return true;
}

void suede_client::SendWaits() {
  protocol::Wait all;
  for (const protocol::Wait* wait : waits) {
    for (uint32_t q = 0; q < SUEDE_MAX_QUEUES; ++q) {
      if ((wait->credit_queues & 1u << q) != 0) {
        all.returned[q] = wait->returned[q];
        all.tail[q] = wait->tail[q];
        all.state[q] = wait->state[q];
      }
      if ((wait->completion_queues & 1u << q) != 0) all.completion[q] = wait->completion[q];
    }
    for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
      if ((wait->rx_vcs & 1u << vc) == 0) continue;
      all.rx[vc] = wait->rx[vc];
      all.rx_state[vc] = wait->rx_state[vc];
    }
    all.credit_queues |= wait->credit_queues;
    all.completion_queues |= wait->completion_queues;
    all.rx_vcs |= wait->rx_vcs;
  }
  channel.TrySend(&all, sizeof all);
}

// Sleeps until a signal, the end of the connection or the deadline, for at most 100 ms. Returns 0
// or a negative errno.
int suede_client::WaitOnce(const protocol::Wait& wait, int64_t deadline_ms) {
  size_t others;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    waits.push_back(&wait);
    others = waits.size() - 1;
    SendWaits();
  }
  int64_t left = deadline_ms - suede::ClockMs();
  // Bounds the sleep: only one of several threads consumes a signal, and the message may not have
  // reached the daemon.
  left = std::clamp<int64_t>(left, 0, others != 0 ? 1 : 100);
  pollfd what[2] = {{.fd = eventfd, .events = POLLIN, .revents = 0},
                    {.fd = channel.fd(), .events = POLLRDHUP, .revents = 0}};
  const int n = poll(what, 2, static_cast<int>(left));
  const int error = n < 0 ? errno : 0;
  const bool is_signalled = n > 0 && (what[0].revents & POLLIN) != 0;
  if (is_signalled) {
    uint64_t count;
    [[maybe_unused]] const ssize_t bytes = read(eventfd, &count, sizeof count);
  }
  if (n > 0 && what[1].revents != 0) IsGone();
  const std::lock_guard<std::mutex> lock(mutex);
  waits.erase(std::find(waits.begin(), waits.end(), &wait));
  // The daemon drops all waits when it signals. Renews those of other threads, or withdraws this
  // one.
  if (!is_signalled || !waits.empty()) SendWaits();
  return -error;
}
