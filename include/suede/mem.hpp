// SPDX-License-Identifier: Apache-2.0
// A thin C++ layer over mem.h: the same calls in classes that manage lifetimes. C++20, header only.
//
// Errors are those of mem.h: negative errno values; suede_mem_error_text() returns the text.
#ifndef SUEDE_MEM_HPP_
#define SUEDE_MEM_HPP_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mem.h"

namespace suede::client {

// Octets `offset` and on of a window of an XPU.
struct Remote {
  uint16_t xpuid = 0;
  uint16_t window = 0;
  uint64_t offset = 0;
  uint32_t key = 0;
};

// Returns the arguments of a call: automatic plane and VC, counter 0, the default deadline.
inline suede_mem_call MakeMemCall(const Remote& to, suede_mem_result* result = nullptr,
                                  suede_mem_handle* handle = nullptr) {
  suede_mem_call call{};
  call.size = sizeof call;
  call.xpuid = to.xpuid;
  call.window = to.window;
  call.offset = to.offset;
  call.key = to.key;
  call.plane = SUEDE_MEM_AUTO;
  call.vc = SUEDE_MEM_AUTO;
  call.result = result;
  call.handle = handle;
  return call;
}

// An initiator; one thread at a time uses it.
class Memory {
 public:
  Memory() = default;

  // Returns 0 or an error. Open closes an earlier connection.
  int Open(const std::string& name_or_path, suede_mem_params params = {}) {
    params.size = sizeof params;
    suede_mem* mem = nullptr;
    mem_.reset();
    const int result = suede_mem_open(name_or_path.c_str(), &params, &mem);
    mem_.reset(mem);
    return result;
  }
  int Reconnect() { return suede_mem_reconnect(mem_.get()); }
  uint16_t xpuid() const { return suede_mem_xpuid(mem_.get()); }

  // Operations that do not block; the octets and the room stay the operation's until its end.
  int Put(const suede_mem_call& call, std::span<const std::byte> source) {
    return suede_mem_put(mem_.get(), &call, source.data(), source.size());
  }
  int PutImmediate(const suede_mem_call& call, std::span<const std::byte> source,
                   uint32_t immediate) {
    return suede_mem_put_immediate(mem_.get(), &call, source.data(), source.size(), immediate);
  }
  int Get(const suede_mem_call& call, std::span<std::byte> room) {
    return suede_mem_get(mem_.get(), &call, room.data(), room.size());
  }
  int PutMany(const suede_mem_call& call, std::span<const uint16_t> xpuids,
              std::span<const std::byte> source) {
    return suede_mem_put_many(mem_.get(), &call, xpuids.data(),
                              static_cast<uint32_t>(xpuids.size()), source.data(), source.size());
  }
  int PutMesh(const suede_mem_call& call, suede_mem_mesh mesh, std::span<const std::byte> source) {
    mesh.size = sizeof mesh;
    return suede_mem_put_mesh(mem_.get(), &call, &mesh, source.data(), source.size());
  }
  // Word is uint32_t or uint64_t.
  template <class Word>
  int FetchAdd(const suede_mem_call& call, Word amount) {
    return suede_mem_fetch_add(mem_.get(), &call, kBits<Word>, amount);
  }
  template <class Word>
  int CompareSwap(const suede_mem_call& call, Word expected, Word desired) {
    return suede_mem_compare_swap(mem_.get(), &call, kBits<Word>, expected, desired);
  }
  template <class Word>
  int Swap(const suede_mem_call& call, Word value) {
    return suede_mem_swap(mem_.get(), &call, kBits<Word>, value);
  }
  template <class Word>
  int Increment(const suede_mem_call& call, Word amount, uint32_t boundary) {
    return suede_mem_increment(mem_.get(), &call, kBits<Word>, amount, boundary);
  }
  template <class Word>
  int ReadIncrement(const suede_mem_call& call, Word amount, uint32_t boundary) {
    return suede_mem_read_increment(mem_.get(), &call, kBits<Word>, amount, boundary);
  }

  void Flush() { suede_mem_flush(mem_.get()); }
  int Poll() { return suede_mem_poll(mem_.get()); }
  int Test(suede_mem_handle handle, suede_mem_result* result = nullptr) {
    return suede_mem_test(mem_.get(), handle, result);
  }
  int Wait(suede_mem_handle handle, suede_mem_result* result = nullptr, int timeout_ms = -1) {
    return suede_mem_wait(mem_.get(), handle, result, timeout_ms);
  }
  int WriteBarrier(uint32_t counter = 0, int timeout_ms = -1,
                   suede_mem_failures* failures = nullptr) {
    return suede_mem_write_barrier(mem_.get(), counter, timeout_ms, failures);
  }
  int ReadBarrier(uint32_t counter = 0, int timeout_ms = -1,
                  suede_mem_failures* failures = nullptr) {
    return suede_mem_read_barrier(mem_.get(), counter, timeout_ms, failures);
  }
  suede_mem_counts Counts() const {
    suede_mem_counts counts{};
    counts.size = sizeof counts;
    suede_mem_get_counts(mem_.get(), &counts);
    return counts;
  }
  suede_mem* get() const { return mem_.get(); }

 private:
  template <class Word>
  static constexpr uint32_t kBits = [] {
    static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
    return static_cast<uint32_t>(sizeof(Word) * 8);
  }();
  struct Close {
    void operator()(suede_mem* mem) const { suede_mem_close(mem); }
  };
  std::unique_ptr<suede_mem, Close> mem_;
};

// A target with windows; any thread may use it.
class MemoryTarget {
 public:
  MemoryTarget() = default;

  int Open(const std::string& name_or_path, suede_mem_target_params params = {}) {
    params.size = sizeof params;
    suede_mem_target* target = nullptr;
    target_.reset();
    const int result = suede_mem_target_open(name_or_path.c_str(), &params, &target);
    target_.reset(target);
    return result;
  }
  int Reconnect() { return suede_mem_target_reconnect(target_.get()); }
  int AddWindow(suede_mem_window* window) {
    window->size = sizeof *window;
    return suede_mem_target_add_window(target_.get(), window);
  }
  // A window of all rights in any partition over the memory of `octets`, without a key.
  int AddWindow(uint16_t id, std::span<std::byte> octets) {
    suede_mem_window window{};
    window.id = id;
    window.rights = SUEDE_MEM_RIGHT_READ | SUEDE_MEM_RIGHT_WRITE | SUEDE_MEM_RIGHT_ATOMIC;
    window.partition = -1;
    window.bytes = octets.size();
    window.base = octets.data();
    return octets.data() == nullptr ? -EINVAL : AddWindow(&window);
  }
  int RemoveWindow(uint32_t id) { return suede_mem_target_remove_window(target_.get(), id); }
  int Serve(uint32_t max = 1024) { return suede_mem_target_serve(target_.get(), max); }
  int Wait(int timeout_ms) { return suede_mem_target_wait(target_.get(), timeout_ms); }
  int Start() { return suede_mem_target_start(target_.get()); }
  int Stop() { return suede_mem_target_stop(target_.get()); }
  int Take(std::span<suede_mem_notice> notices) {
    return suede_mem_target_take(target_.get(), notices.data(),
                                 static_cast<uint32_t>(notices.size()));
  }
  suede_mem_target_counts Counts() const {
    suede_mem_target_counts counts{};
    counts.size = sizeof counts;
    suede_mem_target_get_counts(target_.get(), &counts);
    return counts;
  }
  suede_mem_target* get() const { return target_.get(); }

 private:
  struct Close {
    void operator()(suede_mem_target* target) const { suede_mem_target_close(target); }
  };
  std::unique_ptr<suede_mem_target, Close> target_;
};

}  // namespace suede::client

#endif  // SUEDE_MEM_HPP_
