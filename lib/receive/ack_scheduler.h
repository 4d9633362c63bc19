// SPDX-License-Identifier: Apache-2.0
// Acknowledgements that are owed: at once, or when their delay is over and no data has taken them
// along. Owned by the lcore.
#ifndef SUEDE_RECEIVE_ACK_SCHEDULER_H_
#define SUEDE_RECEIVE_ACK_SCHEDULER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"

namespace suede {

class AckScheduler {
 public:
  // `lcore` outlives this.
  explicit AckScheduler(Lcore& lcore) : lcore_(lcore) {}

  // The connection, which has that number, may owe one.
  static void Schedule(Instance& instance, ConnectionIndex number, const Connection& connection,
                       Time now) {
    const bool at_once = connection.MustAckNow(instance.params.transport);
    const uint8_t list = at_once ? Instance::kOnAckNow : Instance::kOnAckList;
    if ((instance.flags[number] & list) != 0) [[likely]]
      return;
    at_once ? ScheduleNow(instance, number) : ScheduleDelayed(instance, number, connection, now);
  }
  // At once, whatever its delay: it does owe one.
  static void ScheduleNow(Instance& instance, ConnectionIndex connection);
  // After the data of a turn, which has taken along as many as it could. Where the port has no
  // room, its acknowledgements wait, and nothing else does.
  void Send(PortContext& port, Time now);

 private:
  static void ScheduleDelayed(Instance& instance, ConnectionIndex number,
                              const Connection& connection, Time now);
  bool SendDelayed(PortContext& port, DelayedAcks& list, Time now);
  bool Flush(Instance& instance, ConnectionIndex connection, uint8_t list);
  bool SendAck(Instance& instance, ConnectionIndex connection);
  Psn UnsequencedPsn(const Instance& instance, const Link& link,
                     const Connection& connection) const;

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_ACK_SCHEDULER_H_
