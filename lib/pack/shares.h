// SPDX-License-Identifier: Apache-2.0
// Shares of a bounded resource among many users, so that no user starves the others: each has a few
// units of its own, and of the shared rest a multiple of the free units (a dynamic threshold). A
// single user gets nearly all units; several get equal shares without knowing of each other. Every
// operation is O(1).
#ifndef SUEDE_PACK_SHARES_H_
#define SUEDE_PACK_SHARES_H_

#include <algorithm>
#include <cstdint>

namespace suede {

class Shares {
 public:
  // A user may have this many times the free units of the shared part.
  static constexpr int32_t kTimesFree = 4;

  struct Division {
    uint32_t limit = 0;  // total of all users
    uint32_t users = 0;
    uint32_t max_own = 1;
  };
  // Returns the own part of each user: half of `limit` for all users together, at most `max_own`
  // each, at least one.
  static uint32_t OwnOf(const Division& division) {
    const auto& [limit, users, max_own] = division;
    return std::clamp(users == 0 ? max_own : limit / 2 / users, 1u, max_own);
  }

  // `own`: units that each user may always have. `shared`: units that all users share beyond that.
  void Set(uint32_t own, uint32_t shared) {
    own_ = own;
    shared_ = shared;
    free_ = static_cast<int32_t>(shared);
  }
  // Changes the size of the shared part; users keep their units.
  void Resize(uint32_t shared) {
    free_ += static_cast<int32_t>(shared) - static_cast<int32_t>(shared_);
    shared_ = shared;
  }

  // Whether a user with `has` units may take another.
  bool MayTake(uint32_t has) const {
    return has < own_ || static_cast<int32_t>(has - own_) < kTimesFree * free_;
  }
  // How many more the user may take now.
  uint32_t Room(uint32_t has) const {
    if (has >= own_) return RoomShared(has - own_);
    return own_ - has + RoomShared(0);
  }
  // How many more the user may take one by one, with MayTake before each.
  uint32_t RoomInARow(uint32_t has) const {
    const uint32_t of_own = has < own_ ? own_ - has : 0;
    const int32_t more = kTimesFree * free_ - static_cast<int32_t>(has + of_own - own_);
    if (more <= 0) return of_own;
    return of_own + (static_cast<uint32_t>(more) + kTimesFree) / (kTimesFree + 1);
  }
  // Whether the user has more than a fifth of the shared part that others have not taken.
  bool IsMuch(uint32_t has) const {
    return has > own_ && kTimesFree * static_cast<int32_t>(has - own_) > free_;
  }
  // A user with `has` units took one.
  void OnTake(uint32_t has) { free_ -= has >= own_ ? 1 : 0; }
  // A user with `has` units took `count`.
  void OnTake(uint32_t has, uint32_t count) {
    const uint32_t left = has < own_ ? own_ - has : 0;
    if (count > left) free_ -= static_cast<int32_t>(count - left);
  }
  // A user with `has` units returned `count`.
  void OnReturn(uint32_t has, uint32_t count) {
    if (has > own_) free_ += static_cast<int32_t>(std::min(count, has - own_));
  }

  uint32_t own() const { return own_; }
  int32_t free() const { return free_; }
  // For a caller that recounts: the shared part of `has`.
  uint32_t SharedOf(uint32_t has) const { return has > own_ ? has - own_ : 0; }
  bool Agrees(uint64_t taken) const {
    return free_ == static_cast<int32_t>(shared_) - static_cast<int32_t>(taken);
  }

 private:
  uint32_t RoomShared(uint32_t has) const {
    if (free_ <= 0) return 0;
    const int32_t more = kTimesFree * free_ - static_cast<int32_t>(has);
    return static_cast<uint32_t>(std::clamp(more, 0, free_));
  }

  uint32_t own_ = 1;
  uint32_t shared_ = 0;
  int32_t free_ = 0;
};

}  // namespace suede

#endif  // SUEDE_PACK_SHARES_H_
