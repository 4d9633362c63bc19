// SPDX-License-Identifier: Apache-2.0
// Answers of the manager port on their way to the sources of their requests.
#ifndef SUEDE_AXI_ANSWER_LANES_H_
#define SUEDE_AXI_ANSWER_LANES_H_

#include <cstdint>
#include <vector>

#include "axi/served.h"
#include "axi/status.h"
#include "base/time.h"
#include "outbound/burst.h"
#include "outbound/sender_list.h"

namespace suede::axi {

// Each {interface, source} has a queue, so one without credit delays no other. The commands of one
// answer follow each other. One owner; allocates in the constructor.
class AnswerLanes {
 public:
  // `table` gets each transaction back whose answer is sent or dropped.
  AnswerLanes(uint32_t lanes, uint8_t vc, Duration deadline, ServedTable& table);

  bool is_empty() const { return active_.is_empty(); }
  const ServedQueue& Queue(uint32_t lane) const { return lanes_[lane]; }
  uint64_t expired() const { return expired_; }

  // Adds a transaction whose `answer` and body are complete.
  void Append(Served* served, Time now);
  // Sends an answer without body, past those that wait. Returns false where there is no credit, or
  // not all commands of another answer were sent.
  bool Refuse(uint32_t lane, uint32_t number, bool is_read, Status status, BurstSink& sink);
  // Sends the answers of up to kLanesPerCall sources, as far as credit permits; the next call
  // continues with the others. Returns whether anything was sent or dropped.
  bool Send(BurstSink& sink, Time now);
  // Drops the answers of an interface.
  void DropInterface(uint32_t interface);

  // Aborts if the state is inconsistent. Returns the number of transactions.
  uint32_t CheckInvariants() const;

 private:
  static constexpr uint32_t kLanesPerCall = 64;

  enum class Outcome : uint8_t { kSent, kNoCredit, kLost };
  Outcome SendOne(Served* served, BurstSink& sink, bool* moved);
  // Returns whether the queue is empty then.
  bool SendLane(uint32_t lane, BurstSink& sink, Time now, bool* moved);

  std::vector<ServedQueue> lanes_;
  SenderList active_;  // lanes that are not empty
  ServedTable& table_;
  const Duration deadline_;
  const uint8_t vc_;
  uint64_t expired_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ANSWER_LANES_H_
