// SPDX-License-Identifier: Apache-2.0
#include "local/admission.h"

#include <unistd.h>

#include <optional>
#include <unordered_map>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr size_t kMinForReserve = 4;
constexpr size_t kShare = 3;  // times the free places

using Counts = std::unordered_map<uid_t, size_t>;  // connections of each user

// Returns the eligible guest to displace: of the user with the most connections, the one idle for
// longest. nullopt: no guest is eligible.
template <typename May>
std::optional<size_t> SelectVictim(std::span<const Guest> guests, const Counts& counts, May may) {
  std::optional<size_t> found;
  size_t max = 0;
  for (size_t i = 0; i < guests.size(); ++i) {
    const size_t count = counts.at(guests[i].uid);
    if (!may(guests[i], count) || (found && count < max)) continue;
    if (found && count == max && guests[*found].quiet_since_ms <= guests[i].quiet_since_ms) {
      continue;
    }
    found = i;
    max = count;
  }
  return found;
}

Admission Replace(std::span<const Guest> guests, const Counts& counts, size_t index, uid_t uid) {
  return {.verdict = Admission::Verdict::kReplace,
          .replaced = index,
          .reason = absl::StrCat("gives its place to uid ", uid, ": of the ", guests.size(),
                                 " connections, uid ", guests[index].uid, " has ",
                                 counts.at(guests[index].uid), ", and this one was ",
                                 guests[index].quiet_since_ms >= 0 ? "idle" : "busy")};
}

}  // namespace

bool IsPrivileged(uid_t uid) { return uid == 0 || uid == geteuid(); }

Admission Admit(std::span<const Guest> guests, uid_t uid, int64_t now_ms,
                const AdmissionRules& rules) {
  const bool is_privileged = rules.is_privileged(uid);
  const size_t kept = is_privileged || rules.places < kMinForReserve ? 0 : 1;
  const size_t usable = rules.places - kept;
  Counts counts;
  for (const Guest& guest : guests) ++counts[guest.uid];
  const size_t own = counts[uid];
  const bool has_room = guests.size() < usable;
  if (has_room && (is_privileged || own < kShare * (usable - guests.size()))) return {};
  const auto is_quiet = [&](const Guest& guest) {
    return guest.quiet_since_ms >= 0 && now_ms - guest.quiet_since_ms >= rules.grace_ms;
  };
  // While there is room, only the user's own connections are eligible, because other users keep
  // theirs.
  std::optional<size_t> goes = SelectVictim(guests, counts, [&](const Guest& guest, size_t count) {
    return is_quiet(guest) && (guest.uid == uid || (!has_room && count > own));
  });
  if (!goes && is_privileged && rules.ends_busy) {
    goes = SelectVictim(guests, counts, [&](const Guest& guest, size_t) {
      return !rules.is_privileged(guest.uid);
    });
  }
  if (goes) return Replace(guests, counts, *goes, uid);
  Admission refusal{.verdict = Admission::Verdict::kRefuse};
  if (has_room) {
    refusal.reason = absl::StrCat("uid ", uid, " has ", own, " of ", rules.places,
                                  " connections, and the free ones are for others; close some, or "
                                  "raise ",
                                  rules.setting);
  } else if (kept != 0 && guests.size() < rules.places) {
    refusal.reason =
        absl::StrCat("all ", rules.places, " connections but the one for root are taken; try later "
                     "or raise ", rules.setting);
  } else {
    refusal.reason = absl::StrCat("all ", rules.places,
                                  " connections are taken; try later or raise ", rules.setting);
  }
  return refusal;
}

}  // namespace suede
