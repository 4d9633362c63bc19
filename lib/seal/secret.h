// SPDX-License-Identifier: Apache-2.0
// A secret of 32 octets from which keys are derived: in locked memory, overwritten at its end, and
// of a type that cannot be printed or formatted. One thread.
#ifndef SUEDE_SEAL_SECRET_H_
#define SUEDE_SEAL_SECRET_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <span>
#include <utility>

#include "seal/locked_memory.h"

namespace suede {

class Secret {
 public:
  static constexpr size_t kBytes = 32;

  // Empty until Make.
  Secret() = default;
  Secret(Secret&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}
  Secret& operator=(Secret&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Secret() { LockedMemory::OfProcess().Free(bytes_); }

  // Allocates memory filled with zeros. Returns false if there is none; LockedMemory::Shortage has
  // the reason.
  bool Make() {
    LockedMemory& memory = LockedMemory::OfProcess();
    if (bytes_ == nullptr) bytes_ = static_cast<uint8_t*>(memory.Allocate(kBytes));
    if (bytes_ == nullptr) return false;
    explicit_bzero(bytes_, kBytes);
    return true;
  }

  explicit operator bool() const { return bytes_ != nullptr; }
  // The octets of the secret, which must not be empty.
  std::span<uint8_t, kBytes> bytes() { return std::span<uint8_t, kBytes>(bytes_, kBytes); }
  std::span<const uint8_t, kBytes> bytes() const {
    return std::span<const uint8_t, kBytes>(bytes_, kBytes);
  }

  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;
  template <typename Sink>
  friend void AbslStringify(Sink&, const Secret&) = delete;

 private:
  uint8_t* bytes_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_SEAL_SECRET_H_
