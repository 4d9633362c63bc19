// SPDX-License-Identifier: Apache-2.0
// The endpoint behind the two interfaces, as TxSide and RxSide see it: a daemon, or the network in
// the simulation.
//
// One thread calls them, once in each clock cycle. No call waits.
#ifndef SUEDE_RTL_LINK_H_
#define SUEDE_RTL_LINK_H_

#include <cstdint>

#include "command.h"

namespace suede::rtl {

class TxLink {
 public:
  virtual ~TxLink() = default;
  // Goes on with what is under way; the first call of a cycle. False while the endpoint takes no
  // commands: it is in reset, or the connection is lost.
  virtual bool IsReady() = 0;
  // False if there is no credit for the command now. Requires IsReady.
  virtual bool Send(const Command& command) = 0;
  // Ends the Sends of a cycle.
  virtual void Flush() = 0;
  // Discards commands that are not packed; not ready until that is done.
  virtual void Reset() = 0;
  // Returns the number of one more command that was sent and may be lost, or -1.
  virtual int64_t TakeLost() = 0;
  // Returns the number of commands that were sent and whose outcome is not known.
  virtual uint64_t pending() const = 0;
};

class RxLink {
 public:
  virtual ~RxLink() = default;
  // As above. Commands that have arrived stay.
  virtual bool IsReady() = 0;
  // Takes the next command of a VC. Requires IsReady.
  virtual bool Receive(uint8_t vc, Command* command) = 0;
  // Drops the commands that have arrived; not ready until that is done.
  virtual void Reset() = 0;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_LINK_H_
