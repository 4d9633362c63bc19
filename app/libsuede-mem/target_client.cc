// SPDX-License-Identifier: Apache-2.0
#include "target_client.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "suede/registers.h"

using suede::Fail;
using suede::FailPlaneGone;
using suede::LockGuard;
using suede::Plane;
using suede::mem::Target;
using suede::mem::Window;
using suede::mem::WindowFile;
using suede::mem::WindowTable;

namespace {

constexpr uint32_t kBatch = 64;  // commands per {plane, VC} and poll iteration
constexpr int64_t kPartitionEveryNs = 1'000'000'000;

int FailServed() { return Fail(-EBUSY, "a thread serves the target"); }

}  // namespace

suede_mem_target::~suede_mem_target() {
  // Keeps the error text, since a failed open destroys its target, too.
  if (thread_.is_started()) thread_.Stop();
  for (const auto& [id, mapping] : mappings_) munmap(mapping.address, mapping.bytes);
}

int suede_mem_target::Open(const char* name_or_path, const suede_mem_target_params& params) {
  const uint32_t places = params.response_places == 0 ? 4096 : params.response_places;
  const uint32_t notices = params.notice_places == 0 ? 1024 : params.notice_places;
  request_vcs_ = params.request_vcs == 0 ? 1 : params.request_vcs;
  if (params.plane_count > SUEDE_MEM_MAX_PLANES || request_vcs_ > 15) {
    return Fail(-EINVAL, "suede_mem_target_params: plane_count is 0 to 16, VCs are 0 to 3");
  }
  if (places < 64 || places > 65536 || notices > 65536) {
    return Fail(
        -EINVAL,
        "suede_mem_target_params: response_places is 64 to 65536, notice_places 1 to 65536");
  }
  const int error = planes_.Open(name_or_path, {params.planes, params.plane_count},
                                 params.timeout_ms, request_vcs_);
  if (error != 0) return error;
  target_ = std::make_unique<Target>(suede::mem::TargetParams{
      .planes = planes_.size(), .response_places = places, .notice_places = notices});
  return 0;
}

int suede_mem_target::Reconnect() {
  const std::lock_guard<std::mutex> no_start(thread_.mutex());
  if (thread_.is_started()) return FailServed();
  const LockGuard lock(lock_);
  ProcessLostPlanes();
  uint32_t reconnected = 0;
  int error = planes_.Reconnect(&reconnected);
  if (error == 0) error = RegisterAgain(reconnected);
  if (error == 0) is_lost_ = false;
  return error;
}

// ---- Windows.

namespace {

// Returns the registration of a window that the program serves.
suede_window WindowOfProgram(uint32_t id) {
  return {.size = sizeof(suede_window), .id = static_cast<uint16_t>(id), .program = 1};
}

// Maps the memory of a window's file descriptor. Returns 0 or a negative errno.
int Map(const suede_mem_window& window, void** address, uint64_t* bytes) {
  struct stat info;
  if (fstat(window.fd, &info) != 0) return Fail(-errno, "fstat of the window's descriptor failed");
  // Access behind the end of the file would raise SIGBUS.
  if (window.fd_offset > INT64_MAX - window.bytes ||
      info.st_size < static_cast<int64_t>(window.fd_offset + window.bytes)) {
    return Fail(-EINVAL, "the window is longer than what its descriptor names");
  }
  // Rounds up to whole pages of the file's page size.
  const auto page = static_cast<uint64_t>(info.st_blksize);
  *bytes = (window.bytes + page - 1) / page * page;
  const auto offset = static_cast<off_t>(window.fd_offset);
  *address = mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, window.fd, offset);
  // A read-only window may use memory that is sealed against writes.
  if (*address == MAP_FAILED && window.rights == SUEDE_MEM_RIGHT_READ) {
    *address = mmap(nullptr, *bytes, PROT_READ, MAP_SHARED, window.fd, offset);
  }
  return *address != MAP_FAILED ? 0 : Fail(-errno, "mmap of the window's descriptor failed");
}

}  // namespace

int suede_mem_target::AddWindow(suede_mem_window* window) {
  uint32_t key = window->key;
  const bool is_of_lcore = (window->flags & SUEDE_MEM_SERVED_BY_LCORE) != 0;
  if ((window->flags & ~(SUEDE_MEM_DRAW_KEY | SUEDE_MEM_SERVED_BY_LCORE)) != 0 ||
      window->partition < -1 || window->partition > 1023 || window->rights > Window::kAllRights) {
    return Fail(-EINVAL, "suede_mem_window: flags, rights or partition are out of range");
  }
  if (window->bytes < suede::mem::kMinWindowBytes || window->bytes > suede::mem::kMaxWindowBytes) {
    return Fail(-EINVAL, "a window has 8 to 2^40 octets");
  }
  if ((window->flags & SUEDE_MEM_DRAW_KEY) != 0) {
    do {
      if (const int error = suede::Draw(&key); error != 0) return error;
    } while (key == 0);
  }
  const LockGuard lock(lock_);
  if (target_->windows().Find(window->id) != nullptr) {
    return Fail(-EEXIST, "there is a window of this id");
  }
  if (is_of_lcore && window->base != nullptr) {
    return Fail(-EINVAL, "a window that the lcore serves has a descriptor, and no base");
  }
  if (window->partition >= 0 && !is_of_lcore) {
    if (const int error = ReadPartition(); error != 0) return error;
  }
  Mapping mapping;
  std::shared_ptr<WindowFile> file;
  void* base = window->base;
  if (is_of_lcore) {
    if (const int error = MapLcoreWindow(*window, &file); error != 0) return error;
    base = file->base() + window->fd_offset;
  } else if (base == nullptr) {
    if (const int error = Map(*window, &mapping.address, &mapping.bytes); error != 0) return error;
    base = mapping.address;
  }
  const WindowTable::Added added = target_->windows().Add(
      window->id, {.base = static_cast<uint8_t*>(base),
                   .bytes = window->bytes,
                   .key = key,
                   .partition = window->partition < 0 ? Window::kAnyPartition
                                                      : static_cast<uint16_t>(window->partition),
                   .rights = static_cast<uint8_t>(window->rights),
                   .is_served_by_lcore = is_of_lcore});
  int error = 0;
  if (added != WindowTable::Added::kOk) {
    error = Fail(-EINVAL, "suede_mem_window: id, rights or base are out of range");
  } else if (is_of_lcore) {
    error = AddLcoreWindow(*window, key, file);
  } else if (on_lcore_ != 0) {
    error = AddToPlanes(WindowOfProgram(window->id));
  }
  if (error != 0) {
    if (added == WindowTable::Added::kOk) target_->windows().Remove(window->id);
    if (mapping.address != nullptr) munmap(mapping.address, mapping.bytes);
    return error;
  }
  if (!is_of_lcore) program_windows_.insert(window->id);
  if (mapping.address != nullptr) mappings_[window->id] = mapping;
  window->base = base;
  window->key = key;
  return 0;
}

int suede_mem_target::RemoveWindow(uint32_t id) {
  const LockGuard lock(lock_);
  if (target_->windows().Find(id) == nullptr) return Fail(-ENOENT, "there is no window of this id");
  if (const int error = RemoveFromPlanes(id, planes_.size()); error != 0) return error;
  target_->windows().Remove(id);
  program_windows_.erase(id);
  lcore_windows_.erase(id);
  const auto mapping = mappings_.find(id);
  if (mapping != mappings_.end()) {
    munmap(mapping->second.address, mapping->second.bytes);
    mappings_.erase(mapping);
  }
  return 0;
}

// ---- Windows that the lcore serves.

// Moves execution of the plane's requests to the lcore. Serves the requests received before first,
// so that afterwards only notices and requests forwarded by the lcore arrive.
int suede_mem_target::MoveToLcore(uint32_t number) {
  Plane* plane = &planes_[number];
  const suede_instance& instance = plane->instance();
  int error = suede_unclaim(plane->client(), instance.xpuid, instance.instance, request_vcs_);
  if (error != 0) return suede::FailAsSuede(error);
  for (uint8_t vc = 0; vc < SUEDE_VCS; ++vc) {
    // Terminates, because the unclaimed VC receives no more requests.
    while ((request_vcs_ & 1u << vc) != 0 && ServeVc(number, vc) != 0) continue;
  }
  target_->Flush(*this);
  plane->Flush();
  if (target_->has_notices()) has_notices_.store(true, std::memory_order_release);
  error = suede_serve(plane->client(), instance.xpuid, instance.instance, request_vcs_);
  if (error == 0) return 0;
  error = suede::FailAsSuede(error);
  if (suede_claim(plane->client(), instance.xpuid, instance.instance, request_vcs_) != 0) {
    plane->OnLost();
  }
  return error;
}

int suede_mem_target::AddToPlanes(const suede_window& window) {
  for (size_t i = 0; i < planes_.size(); ++i) {
    if ((on_lcore_ & 1u << i) == 0 || !planes_[i].is_connected()) continue;
    if (int error = suede_add_window(planes_[i].client(), &window); error != 0) {
      error = suede::FailAsSuede(error);
      static_cast<void>(RemoveFromPlanes(window.id, i));
      return error;
    }
  }
  return 0;
}

// Removes a window from the first `planes` planes. Ignores planes whose daemon has gone, as their
// windows are gone, too.
int suede_mem_target::RemoveFromPlanes(uint32_t id, size_t planes) {
  for (size_t i = 0; i < planes; ++i) {
    if ((on_lcore_ & 1u << i) == 0) continue;
    const int error = suede_remove_window(planes_[i].client(), id);
    if (error != 0 && error != -ENOENT && error != -ECONNRESET) {
      return suede::FailAsSuede(error);
    }
  }
  return 0;
}

// Finds the existing mapping of the window's memfd, or maps it. Returns 0 or a negative errno.
int suede_mem_target::MapLcoreWindow(const suede_mem_window& window,
                                     std::shared_ptr<WindowFile>* file) {
  const bool is_read_only = window.rights == SUEDE_MEM_RIGHT_READ;
  for (const auto& [id, other] : lcore_windows_) {
    if (other.file->IsOf(window.fd)) *file = other.file;
  }
  if (*file == nullptr) {
    if (const int error = WindowFile::Map(window.fd, is_read_only, file); error != 0) return error;
  }
  const uint64_t bytes = (*file)->bytes();
  if (window.fd_offset > bytes || window.bytes > bytes - window.fd_offset) {
    return Fail(-EINVAL, "the window is longer than what its descriptor names");
  }
  if (is_read_only || (*file)->is_writable()) return 0;
  return Fail(-EACCES, "the rights of the window permit writes, its descriptor does not");
}

int suede_mem_target::AddLcoreWindow(const suede_mem_window& window, uint32_t key,
                                     const std::shared_ptr<WindowFile>& file) {
  for (size_t i = 0; i < planes_.size(); ++i) {
    if ((on_lcore_ & 1u << i) != 0) continue;
    if (!planes_[i].is_connected()) return FailPlaneGone();
    if (const int error = MoveToLcore(static_cast<uint32_t>(i)); error != 0) return error;
    on_lcore_ |= 1u << i;
    for (const uint32_t id : program_windows_) {
      const suede_window of_program = WindowOfProgram(id);
      const int error = suede_add_window(planes_[i].client(), &of_program);
      if (error != 0) return suede::FailAsSuede(error);
    }
  }
  LcoreWindow kept{.window = {.size = sizeof(suede_window),
                              .id = window.id,
                              .rights = static_cast<uint8_t>(window.rights),
                              .key = key,
                              .partition = static_cast<uint32_t>(window.partition),
                              .bytes = window.bytes,
                              .fd_offset = window.fd_offset,
                              .fd = file->fd()},
                   .file = file};
  if (const int error = AddToPlanes(kept.window); error != 0) return error;
  lcore_windows_.emplace(window.id, kept);
  has_lcore_windows_ = true;
  return 0;
}

// Replaces sealed memfds, which a new daemon cannot map for writing, unless another plane's daemon
// still serves them.
int suede_mem_target::RenewFiles(uint32_t planes) {
  for (size_t i = 0; i < planes_.size(); ++i) {
    const bool is_served = (on_lcore_ & 1u << i) != 0 && planes_[i].is_connected();
    if (is_served && (planes & 1u << i) == 0) return 0;
  }
  for (auto& [id, kept] : lcore_windows_) {
    if (const int error = kept.file->RenewIfSealed(); error != 0) return error;
  }
  return 0;
}

// Registers the windows with the restarted daemons of `planes`, a mask. A plane that fails is
// marked lost.
int suede_mem_target::RegisterAgain(uint32_t planes) {
  register_index_.reset();
  if ((planes & on_lcore_) != 0) {
    if (const int error = RenewFiles(planes); error != 0) return error;
  }
  for (size_t i = 0; i < planes_.size(); ++i) {
    if ((planes & on_lcore_ & 1u << i) == 0) continue;
    suede_client* client = planes_[i].client();
    const suede_instance& instance = planes_[i].instance();
    int error = suede_serve(client, instance.xpuid, instance.instance, request_vcs_);
    for (auto it = program_windows_.begin(); error == 0 && it != program_windows_.end(); ++it) {
      const suede_window of_program = WindowOfProgram(*it);
      error = suede_add_window(client, &of_program);
    }
    for (auto it = lcore_windows_.begin(); error == 0 && it != lcore_windows_.end(); ++it) {
      it->second.window.fd = it->second.file->fd();
      error = suede_add_window(client, &it->second.window);
    }
    if (error != 0) {
      error = suede::FailAsSuede(error);
      planes_[i].OnLost();
      return error;
    }
  }
  return 0;
}

// Finds the registers of the target's instance. Returns a negative errno.
int suede_mem_target::FindInstance() {
  suede_client* const client = planes_[0].client();
  const suede_instance& own = planes_[0].instance();
  uint64_t count = 0;
  int error = suede_register_read(client, SUEDE_REG_ENDPOINT_INSTANCES,
                                  SUEDE_REG_ENDPOINT_INSTANCES_BITS, &count);
  for (uint32_t i = 0; error == 0 && i < count; ++i) {
    uint64_t xpu = 0;
    uint64_t number = 0;
    error =
        suede_register_read(client, SUEDE_REG_INSTANCE_XPU(i), SUEDE_REG_INSTANCE_XPU_BITS, &xpu);
    if (error != 0) break;
    error = suede_register_read(client, SUEDE_REG_INSTANCE_INSTANCE(i),
                                SUEDE_REG_INSTANCE_INSTANCE_BITS, &number);
    if (xpu != own.xpuid || number != own.instance) continue;
    register_index_ = i;
    return error;
  }
  return error != 0 ? error : -ENOENT;
}

int suede_mem_target::ReadPartition() {
  uint64_t partition = 0;
  int error = register_index_ ? 0 : FindInstance();
  if (error == 0) {
    error = suede_register_read(planes_[0].client(), SUEDE_REG_INSTANCE_PARTITION(*register_index_),
                                SUEDE_REG_INSTANCE_PARTITION_BITS, &partition);
  }
  // If the partition is unknown, restricted windows refuse all requests.
  target_->windows().SetPartition(error == 0 ? static_cast<uint16_t>(partition)
                                             : Window::kAnyPartition);
  partition_read_ns_ = suede::CoarseNs();
  return error == 0 ? 0 : suede::FailAsSuede(error);
}

void suede_mem_target::RefreshPartition() {
  if (!target_->windows().NamesPartitions()) return;
  if (suede::CoarseNs() - partition_read_ns_ >= kPartitionEveryNs) ReadPartition();
}

// ---- Serving.

bool suede_mem_target::Send(const suede::Route& to, const uint8_t* control, uint32_t control_bytes,
                            const uint8_t* data, uint32_t data_bytes) {
  static_cast<void>(control_bytes);  // the control encodes both lengths
  return planes_.Send(
             {.to = to, .controls = control, .data = data, .data_bytes = data_bytes, .count = 1}) >
         0;
}

// Serves one batch of a VC's commands. Leaves notices that do not fit in the receive ring.
uint32_t suede_mem_target::ServeVc(uint32_t plane, uint8_t vc) {
  const bool brings_notices = (on_lcore_ & 1u << plane) != 0;
  const uint32_t max = brings_notices ? std::min(kBatch, target_->free_notice_places()) : kBatch;
  return planes_.TakeCommands(suede::PlaneIndex(plane), suede::Vc(vc), max,
                              [this](const suede::Route& from, auto... command) {
                                target_->OnCommand(from, command..., *this);
                              });
}

uint32_t suede_mem_target::ServePlanes(uint32_t max) {
  RefreshPartition();
  uint32_t served = 0;
  uint32_t before;
  do {
    before = served;
    for (uint32_t plane = 0; plane < planes_.size(); ++plane) {
      if (!planes_[plane].is_connected()) continue;
      for (uint8_t vc = 0; vc < SUEDE_VCS; ++vc) {
        if ((request_vcs_ & 1u << vc) != 0) served += ServeVc(plane, vc);
      }
    }
    if (served != before || target_->HasWaiting()) target_->Flush(*this);
    planes_.Flush();
  } while (served != before && served < max);
  if (target_->has_notices()) has_notices_.store(true, std::memory_order_release);
  return served;
}

// Processes newly lost planes. Returns whether there are any.
bool suede_mem_target::ProcessLostPlanes() {
  return planes_.GiveUpLost([this](uint32_t plane) { target_->OnPlaneLost(plane); });
}

int suede_mem_target::Serve(uint32_t max) {
  if (thread_.is_started()) return FailServed();
  const LockGuard lock(lock_);
  const uint32_t served = ServePlanes(max);
  if (ProcessLostPlanes()) return FailPlaneGone();
  return static_cast<int>(served);
}

int suede_mem_target::Wait(int timeout_ms) {
  if (thread_.is_started()) return FailServed();
  const int64_t deadline = suede::DeadlineOf(timeout_ms);
  for (uint32_t round = 0;; ++round) {
    Plane& plane = planes_[round % planes_.size()];
    if (!plane.is_connected()) return FailPlaneGone();
    bool wants_credit = false;
    {
      const LockGuard lock(lock_);
      wants_credit = target_->HasWaiting();
    }
    const suede_wait_set want{
        .credit_queues = wants_credit ? 1u : 0u, .completion_queues = 0, .rx_vcs = request_vcs_};
    const int64_t left_ms = (deadline - suede::NowNs()) / 1'000'000;
    const int64_t max_ms = planes_.size() == 1 ? 1000 : 1;
    if (left_ms < 0) return 0;
    const int result = suede_wait(plane.client(), &want, nullptr,
                                  static_cast<int>(left_ms < max_ms ? left_ms : max_ms));
    if (result < 0) return suede::FailAsSuede(result);
    if (result > 0) return 1;
    if (suede::NowNs() >= deadline) return 0;
  }
}

void suede_mem_target::Run() {
  constexpr int kWaitMs = 10;
  suede::Idler idler;
  for (uint32_t round = 0; !thread_.must_stop(); ++round) {
    if (lock_.IsAwaited()) {
      sched_yield();
      continue;
    }
    uint32_t served;
    bool has_waiting;
    {
      const LockGuard lock(lock_);
      served = ServePlanes(kBatch);
      has_waiting = target_->HasWaiting();
      if (ProcessLostPlanes()) {
        is_lost_ = true;
        return;
      }
    }
    if (served != 0) {
      idler.OnBusy();
    } else {
      idler.OnIdle(planes_[round % planes_.size()], request_vcs_, has_waiting,
                   planes_.size() == 1 ? kWaitMs : 1);
    }
  }
}

// ---- Queries.

int suede_mem_target::Take(suede_mem_notice* notices, uint32_t max) {
  const bool may_serve =
      has_lcore_windows_.load(std::memory_order_relaxed) && !thread_.is_started();
  if (!may_serve && !has_notices_.load(std::memory_order_acquire)) {
    return is_lost_ ? FailPlaneGone() : 0;
  }
  const LockGuard lock(lock_);
  if (may_serve) {
    ServePlanes(kBatch);
    if (ProcessLostPlanes() && !target_->has_notices()) return FailPlaneGone();
  }
  uint32_t taken = 0;
  suede::mem::Notice notice;
  while (taken < max && target_->TakeNotice(&notice)) {
    notices[taken++] = {.source_xpuid = notice.source,
                        .window = notice.window,
                        .bytes = notice.bytes,
                        .offset = notice.offset,
                        .immediate = notice.immediate,
                        .reserved = 0};
  }
  has_notices_.store(target_->has_notices(), std::memory_order_relaxed);
  return static_cast<int>(taken);
}

int suede_mem_target::GetCounts(suede_mem_target_counts* counts) {
  const LockGuard lock(lock_);
  const suede::mem::TargetCounters& counters = target_->counters();
  uint64_t atomics = 0;
  for (int code = 4; code <= 8; ++code) atomics += counters.executed[code];
  *counts = {.size = sizeof *counts,
             .reserved = 0,
             .puts = counters.executed[1],
             .puts_with_immediate = counters.executed[2],
             .gets = counters.executed[3],
             .atomics = atomics,
             .written_bytes = counters.written_bytes,
             .read_bytes = counters.read_bytes,
             .refused = {},
             .dropped = counters.dropped,
             .foreign_commands = counters.foreign,
             .waited = counters.waited};
  for (uint32_t i = 0; i < suede::mem::kRefusals; ++i) counts->refused[i] = counters.refused[i];
  return 0;
}
