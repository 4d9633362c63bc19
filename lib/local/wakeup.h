// SPDX-License-Identifier: Apache-2.0
// Wakes another process that sleeps on a descriptor; never blocks.
#ifndef SUEDE_LOCAL_WAKEUP_H_
#define SUEDE_LOCAL_WAKEUP_H_

#include <optional>
#include <utility>

#include "local/fd.h"

namespace suede {

// A socket pair. The other process gets `handle`, which becomes readable: it holds 8 bytes per
// notification, and at most one unread notification.
//
// An eventfd would share one file description between both: a holder could clear O_NONBLOCK and
// fill the counter, and the next writer would sleep forever. Each end of a socket pair has its own
// flags, and the other process can only make Ring fail (by filling, shutting down or closing its
// end).
class Wakeup {
 public:
  // Returns nullopt if there are no free descriptors.
  static std::optional<Wakeup> Create();

  void Ring() const;
  // End of the socket pair to pass to the other process; call FreeHandle once that is done.
  int handle() const { return handle_.get(); }
  void FreeHandle() { handle_.Reset(); }

 private:
  Wakeup(Fd rope, Fd handle) : sender_(std::move(rope)), handle_(std::move(handle)) {}
  Fd sender_;
  Fd handle_;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_WAKEUP_H_
