// SPDX-License-Identifier: Apache-2.0
// Shared memory of connections: a client's own, and a server's mappings of its client's.
#ifndef SUEDE_MEMIF_REGION_H_
#define SUEDE_MEMIF_REGION_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "local/fd.h"

namespace suede::memif {

// A mapping. Pages that fail become private ones (local/sigbus.h).
class Region {
 public:
  // Creates memory of at least `bytes` bytes for another process, in hugepages if there are any
  // free; to be sealed when the other process has mapped it. nullopt: out of memory.
  static std::optional<Region> Create(uint64_t bytes);
  // Maps another process's memory and seals it. nullopt: the descriptor is not of a memory file
  // that can be sealed, or of a shorter one. A page of another file may take its server's time to
  // load.
  static std::optional<Region> Map(Fd fd, uint64_t bytes);
  // Maps another process's plain file (local/passing.h), whose pages may vanish.
  static std::optional<Region> MapUnsealed(Fd fd, uint64_t bytes);

  ~Region() { Unmap(); }
  Region(Region&& other) noexcept
      : fd_(std::move(other.fd_)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(other.bytes_),
        guard_(std::exchange(other.guard_, -1)) {}
  Region& operator=(Region&&) = delete;

  int fd() const { return fd_.get(); }
  uint8_t* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  // Prevents other processes from removing pages, which a mapping survives but waits for, and from
  // mapping the memory again. Returns false if the memory cannot be sealed.
  bool Seal();
  // Whether a page has failed.
  bool broken() const;

 private:
  Region() = default;
  bool MapWhole(uint64_t page_bytes);
  void Unmap();

  Fd fd_;
  uint8_t* base_ = nullptr;
  uint64_t bytes_ = 0;
  int guard_ = -1;
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_REGION_H_
