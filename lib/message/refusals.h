// SPDX-License-Identifier: Apache-2.0
// Pending REFUSEs of commands that belong to no channel: max one per plane and XPU.
#ifndef SUEDE_MESSAGE_REFUSALS_H_
#define SUEDE_MESSAGE_REFUSALS_H_

#include <cstdint>
#include <vector>

#include "message/channel.h"
#include "message/command.h"
#include "message/status.h"
#include "outbound/burst.h"

namespace suede::message {

class Refusals {
 public:
  explicit Refusals(uint32_t planes);

  // Refuses the command of `from`. Returns false if no REFUSE will be sent, as one to the XPU is
  // pending.
  bool Add(const Route& from, const Command& command, uint32_t tag, Status status);
  // Sends the pending REFUSEs that the sink accepts.
  void Pump(uint8_t control_vc, BurstSink& sink);
  void DropPlane(uint32_t plane);
  // Aborts if the state is inconsistent.
  void CheckInvariants() const;

 private:
  struct Refusal {
    Status status = Status::kOk;  // kOk: none
    uint16_t id = 0;
    uint32_t tag = 0;
    uint32_t epoch = 0;
  };
  std::vector<Refusal> refusals_;  // [plane][XPU]
  std::vector<uint32_t> places_;   // indices in use
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_REFUSALS_H_
