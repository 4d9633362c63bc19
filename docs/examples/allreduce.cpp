// SPDX-License-Identifier: Apache-2.0
// An all-reduce over a ring of XPUs, of puts and counters alone: each XPU ends with the sum of the
// vectors of all. The lcores serve the windows, so no program has a thread for that.
//
//   allreduce NAME-OR-SOCKET XPUS OWN WORDS SECONDS
//
// Started for each OWN of XPUS (0,1,2,…), where WORDS is a multiple of their number N. A vector has
// N parts. In each of the first N - 1 steps an XPU puts a part to its neighbour, which adds it to
// its own and passes it on: then each has one part that is complete. These go around in N - 1
// further steps. Behind a part's octets goes an increment of the neighbour's counter, on the same
// plane and VC: when the counter says so, the octets are there. Ends with 0 if all sums are right;
// with 1 after SECONDS or on an error, 2 on wrong usage, 4 where the daemon is not reachable.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "suede/mem.hpp"

namespace {

using suede::client::MakeMemCall;
using suede::client::Memory;
using suede::client::MemoryTarget;
using Clock = std::chrono::steady_clock;

constexpr uint16_t kWindow = 3;
constexpr uint64_t kInboxOffset = 64;  // of the window; in front is the counter

int Fail(int error) {
  std::fprintf(stderr, "allreduce: %s\n", suede_mem_error_text());
  return error == -ENOENT || error == -ECONNREFUSED || error == -ECONNRESET ? 4 : 1;
}

// The window of an XPU: a counter of the steps that have arrived, and a place for the part of each.
class Inbox {
 public:
  explicit Inbox(uint64_t octets) : octets_(octets) {
    fd_ = memfd_create("allreduce", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ftruncate(fd_, static_cast<off_t>(octets)) != 0) std::abort();
    // The daemon takes no memory that could shrink.
    fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK);
  }
  ~Inbox() { close(fd_); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  int Offer(MemoryTarget& target) {
    suede_mem_window window{};
    window.id = kWindow;
    window.rights = SUEDE_MEM_RIGHT_READ | SUEDE_MEM_RIGHT_WRITE | SUEDE_MEM_RIGHT_ATOMIC;
    window.flags = SUEDE_MEM_SERVED_BY_LCORE;
    window.partition = -1;
    window.bytes = octets_;
    window.fd = fd_;
    const int error = target.AddWindow(&window);
    base_ = static_cast<uint8_t*>(window.base);
    return error;
  }
  uint64_t arrived() const {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(base_)).load(std::memory_order_acquire);
  }
  const uint64_t* part(uint64_t step, size_t words) const {
    return reinterpret_cast<const uint64_t*>(base_ + kInboxOffset) + step * words;
  }

 private:
  const uint64_t octets_;
  int fd_ = -1;
  uint8_t* base_ = nullptr;
};

class Ring {
 public:
  Ring(Memory& memory, const Inbox& inbox, uint16_t neighbour, Clock::time_point deadline)
      : memory_(memory), inbox_(inbox), neighbour_(neighbour), deadline_(deadline) {}

  // Waits until the neighbour has its window: it may not be there yet.
  int Find() {
    for (;;) {
      suede_mem_handle handle = 0;
      suede_mem_call call = CallAt(0, &handle);
      call.deadline_ms = 500;
      int error = memory_.FetchAdd<uint64_t>(call, 0);
      if (error == 0) error = memory_.Wait(handle);
      if (error != -EIO || Clock::now() >= deadline_) return error;
    }
  }
  // Puts the part to the neighbour, as that of the next step. Its words may be changed once the
  // next step has been taken.
  int Pass(std::span<const uint64_t> part) {
    // What the last step put has been read by then: it is committed.
    int error = memory_.WriteBarrier();
    const uint64_t at = kInboxOffset + sent_++ * part.size_bytes();
    if (error == 0) error = memory_.Put(CallAt(at), std::as_bytes(part));
    if (error == 0) error = memory_.Increment<uint64_t>(CallAt(0), 1, 63);
    memory_.Flush();
    return error;
  }
  // Waits for the part of the next step, and notes where it is.
  int Take(size_t words, const uint64_t** part) {
    while (inbox_.arrived() <= taken_) {
      if (const int error = memory_.Poll(); error < 0) return error;
      if (Clock::now() >= deadline_) return -ETIMEDOUT;
      std::this_thread::yield();
    }
    *part = inbox_.part(taken_++, words);
    return 0;
  }
  int End() { return memory_.WriteBarrier(); }

 private:
  // On one plane and VC, so that all arrives in the order of the calls.
  suede_mem_call CallAt(uint64_t offset, suede_mem_handle* handle = nullptr) const {
    suede_mem_call call = MakeMemCall(
        {.xpuid = neighbour_, .window = kWindow, .offset = offset, .key = 0}, nullptr, handle);
    call.plane = 0;
    call.vc = 0;
    return call;
  }

  Memory& memory_;
  const Inbox& inbox_;
  const uint16_t neighbour_;
  const Clock::time_point deadline_;
  uint64_t sent_ = 0;
  uint64_t taken_ = 0;
};

// `rank` is the place of the own XPU in the ring of `ranks`.
int AllReduce(Ring& ring, std::vector<uint64_t>& vector, size_t rank, size_t ranks) {
  const size_t words = vector.size() / ranks;
  const auto part_of = [&](size_t number) {
    return std::span(vector).subspan(number % ranks * words, words);
  };
  for (size_t step = 0; step < 2 * (ranks - 1); ++step) {
    if (const int error = ring.Pass(part_of(rank + 2 * ranks - step)); error != 0) return error;
    const uint64_t* arrived = nullptr;
    if (const int error = ring.Take(words, &arrived); error != 0) return error;
    const std::span<uint64_t> own = part_of(rank + 2 * ranks - step - 1);
    const bool adds = step < ranks - 1;
    for (size_t i = 0; i < words; ++i) own[i] = arrived[i] + (adds ? own[i] : 0);
  }
  return ring.End();
}

std::vector<uint16_t> ParseXpus(const char* text) {
  std::vector<uint16_t> xpus;
  char* end = nullptr;
  do {
    xpus.push_back(static_cast<uint16_t>(std::strtoul(text, &end, 10)));
    text = end + 1;
  } while (*end == ',');
  return xpus;
}

// What XPU `xpuid` adds to word `place`.
uint64_t Term(uint16_t xpuid, size_t place) { return (xpuid + 1) * (place * place + 7); }

}  // namespace

int main(int argc, char** argv) {
  const std::vector<uint16_t> xpus = argc == 6 ? ParseXpus(argv[2]) : std::vector<uint16_t>();
  const auto own = static_cast<uint16_t>(argc == 6 ? std::atoi(argv[3]) : 0);
  const size_t words = argc == 6 ? std::strtoul(argv[4], nullptr, 10) : 0;
  size_t rank = 0;
  while (rank < xpus.size() && xpus[rank] != own) ++rank;
  if (xpus.size() < 2 || rank == xpus.size() || words == 0 || words % xpus.size() != 0) {
    std::fprintf(stderr, "usage: allreduce NAME-OR-SOCKET XPUS OWN WORDS SECONDS\n");
    return 2;
  }
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(std::atol(argv[5]));
  const uint64_t part_octets = words / xpus.size() * sizeof(uint64_t);
  Inbox inbox(kInboxOffset + 2 * (xpus.size() - 1) * part_octets);
  suede_mem_target_params of_target{};
  suede_mem_params of_memory{};
  of_target.plane_count = of_memory.plane_count = 1;
  of_target.planes[0].xpuid = of_memory.planes[0].xpuid = own;
  MemoryTarget target;
  Memory memory;
  int error = target.Open(argv[1], of_target);
  if (error == 0) error = inbox.Offer(target);
  if (error == 0) error = memory.Open(argv[1], of_memory);
  Ring ring(memory, inbox, xpus[(rank + 1) % xpus.size()], deadline);
  if (error == 0) error = ring.Find();
  std::vector<uint64_t> vector(words);
  for (size_t i = 0; i < words; ++i) vector[i] = Term(own, i);
  if (error == 0) error = AllReduce(ring, vector, rank, xpus.size());
  if (error != 0) return Fail(error);
  size_t wrong = 0;
  for (size_t i = 0; i < words; ++i) {
    uint64_t sum = 0;
    for (const uint16_t xpuid : xpus) sum += Term(xpuid, i);
    wrong += sum != vector[i] ? 1 : 0;
  }
  std::printf("XPU %u: %zu sums of %zu XPUs, %zu wrong\n", own, words, xpus.size(), wrong);
  return wrong == 0 ? 0 : 1;
}
