// SPDX-License-Identifier: Apache-2.0
// Sends pending acknowledgements: at once, or when their delay has expired and no data has
// piggybacked them. Owned by the lcore.
#ifndef SUEDE_RECEIVE_ACK_SCHEDULER_H_
#define SUEDE_RECEIVE_ACK_SCHEDULER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"

namespace suede {

class AckScheduler {
 public:
  // `lcore` outlives this object.
  explicit AckScheduler(Lcore& lcore) : lcore_(lcore) {}

  // Schedules an acknowledgement if the connection `number` has one pending.
  static void Schedule(ReceiveState& rx, const PlanePorts& ports, ConnectionIndex number,
                       const Connection& connection, Time now) {
    const bool at_once = connection.rx().MustAckNow(rx.params.transport);
    const uint8_t list = at_once ? ReceiveState::kOnAckNow : ReceiveState::kOnAckList;
    if ((rx.ack_flags[number] & list) != 0) [[likely]]
      return;
    at_once ? ScheduleNow(rx, ports, number) : ScheduleDelayed(rx, ports, number, connection, now);
  }
  // Schedules the pending acknowledgement without delay.
  static void ScheduleNow(ReceiveState& rx, const PlanePorts& ports, ConnectionIndex number);
  // Sends acknowledgements; called after the data of a poll iteration, which has piggybacked as
  // many as possible. If the port has no room, only its own acknowledgements wait.
  void Send(PortContext& port, Time now);

 private:
  static void ScheduleDelayed(ReceiveState& rx, const PlanePorts& ports, ConnectionIndex number,
                              const Connection& connection, Time now);
  bool SendDelayed(PortContext& port, DelayedAcks& list, Time now);
  bool Flush(Instance& instance, ConnectionIndex connection, uint8_t list);
  bool SendAck(Instance& instance, ConnectionIndex connection);
  static void SendReport(Instance& instance, ConnectionIndex connection);
  Psn UnsequencedPsn(const ReceiveState& rx, const Link& link, const Connection& connection) const;

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_ACK_SCHEDULER_H_
