// SPDX-License-Identifier: Apache-2.0
// Admission control for a bounded number of connections.
#ifndef SUEDE_LOCAL_ADMISSION_H_
#define SUEDE_LOCAL_ADMISSION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace suede {

// Whether the user is root, or the user that the daemon runs as.
bool IsPrivileged(uid_t uid);

// A connection that has a place. Guests are listed in the order of their arrival.
struct Guest {
  uid_t uid = 0;
  // Time in ms since which the connection has no work and no pending request; -1: busy.
  int64_t quiet_since_ms = -1;
};

struct AdmissionRules {
  size_t places = 0;
  const char* setting = "";  // configuration key of the number of places, named in refusals
  int64_t grace_ms = 100;    // idle time after which a connection may be displaced
  // Whether a privileged user may displace a busy connection of an unprivileged one as a last
  // resort.
  bool ends_busy = false;
  std::function<bool(uid_t)> is_privileged = IsPrivileged;
};

struct Admission {
  enum class Verdict { kRoom, kReplace, kRefuse };
  Verdict verdict = Verdict::kRoom;
  size_t replaced = 0;  // index of the displaced guest
  std::string reason;   // of kReplace and kRefuse, for people
};

// Decides whether a new connection of `uid` gets a place.
//
// One place of four or more is reserved for privileged users. A user may take another of the rest
// while it has less than three times as many connections as there are free places: a single user
// gets at most three quarters of all, and some places stay free for others. Beyond that, the user's
// own connection that was idle for longest is displaced. If no place is free, the longest idle
// connection of a user with more connections may be displaced, too; so a user with few connections
// loses none to a user with many.
Admission Admit(std::span<const Guest> guests, uid_t uid, int64_t now_ms,
                const AdmissionRules& rules);

}  // namespace suede

#endif  // SUEDE_LOCAL_ADMISSION_H_
