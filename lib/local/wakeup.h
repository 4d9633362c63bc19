// SPDX-License-Identifier: Apache-2.0
// Wakes another process that sleeps on a descriptor, and never waits for it.
#ifndef SUEDE_LOCAL_WAKEUP_H_
#define SUEDE_LOCAL_WAKEUP_H_

#include <optional>
#include <utility>

#include "local/fd.h"

namespace suede {

// Two ends of a socket. The other process gets `handle`, which becomes readable: 8 bytes for each
// time it was rung, of which no two wait at once.
//
// An eventfd would do the same with one description for both: a holder could clear O_NONBLOCK and
// fill the counter, and the next that rings sleeps for good. An end of a socket has flags of its
// own, and the other process can only make Ring fail (it fills, shuts or closes its end), and
// nothing else.
class Wakeup {
 public:
  // Nothing where there are no descriptors.
  static std::optional<Wakeup> Create();

  void Ring() const;
  // The end to pass on; FreeHandle once that is done.
  int handle() const { return handle_.get(); }
  void FreeHandle() { handle_.Reset(); }

 private:
  Wakeup(Fd rope, Fd handle) : rope_(std::move(rope)), handle_(std::move(handle)) {}
  Fd rope_;
  Fd handle_;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_WAKEUP_H_
