// SPDX-License-Identifier: Apache-2.0
// Decides who gets a place among a bounded number of connections.
#ifndef SUEDE_LOCAL_ADMISSION_H_
#define SUEDE_LOCAL_ADMISSION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace suede {

// root, and the user that the daemon runs as.
bool IsPrivileged(uid_t uid);

// A connection that has a place. Guests are given in the order in which they came.
struct Guest {
  uid_t uid = 0;
  // Since when nothing is done for it, and nothing it asked for is under way; -1: something is.
  int64_t quiet_since_ms = -1;
};

struct AdmissionRules {
  size_t places = 0;
  const char* setting = "";  // the key with the number of places: named in refusals
  int64_t grace_ms = 100;    // after which a quiet connection may be ended for another
  // Whether the last resort of a privileged user is the place of another that is not quiet.
  bool ends_busy = false;
  std::function<bool(uid_t)> is_privileged = IsPrivileged;
};

struct Admission {
  enum class Verdict { kRoom, kReplace, kRefuse };
  Verdict verdict = Verdict::kRoom;
  size_t replaced = 0;  // index of the guest that has to go for it
  std::string reason;   // of kReplace and kRefuse, in plain words
};

// Whether a connection of `uid` gets a place.
//
// One place of four or more is kept for privileged users. A user gets another of the rest as long
// as it has less than three times as many as are free: three quarters of all where it is alone, and
// there is always something left for the next. Beyond that, the user's own connection that was
// quiet for longest is replaced. Where nothing is free, the quietest connection of a user that has
// more connections may be replaced, too; so a user with few loses none to a user with many.
Admission Admit(std::span<const Guest> guests, uid_t uid, int64_t now_ms,
                const AdmissionRules& rules);

}  // namespace suede

#endif  // SUEDE_LOCAL_ADMISSION_H_
