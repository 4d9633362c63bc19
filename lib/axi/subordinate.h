// SPDX-License-Identifier: Apache-2.0
// Subordinate port: accepts the transactions of the own SoC, sends their requests, and returns the
// answers (docs/axi.md).
//
// The caller passes in transfers, received commands, completions and the time; commands go to a
// sink. The class reads no clock and performs no I/O. Only the constructor allocates memory. Not
// thread-safe: one thread at a time may call.
#ifndef SUEDE_AXI_SUBORDINATE_H_
#define SUEDE_AXI_SUBORDINATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "axi/address_map.h"
#include "axi/body.h"
#include "axi/channel.h"
#include "axi/command.h"
#include "axi/id_table.h"
#include "axi/linked_fifo.h"
#include "axi/status.h"
#include "axi/transfer.h"
#include "base/time.h"
#include "outbound/burst.h"
#include "outbound/completion_interval.h"
#include "outbound/sender_list.h"

namespace suede::axi {

struct SubordinateParams {
  uint32_t interfaces = 1;      // 1 to 16
  uint32_t bus_bytes = 32;      // 4 to 128, a power of 2
  uint32_t transactions = 256;  // open: 16 to 4096, a power of 2
  uint32_t transactions_to_target = 64;
  uint32_t address_places = 16;   // of AW, AR and B
  uint32_t beat_places = 32;      // of W and R
  uint32_t write_user_bytes = 0;  // of WUSER: 0 to 4
  bool is_unordered = false;
  uint8_t request_vc = 0;
  Duration deadline = std::chrono::seconds(1);
  uint32_t first_number = 0;  // random
};

struct SubordinateCounters {
  uint64_t writes = 0;  // accepted
  uint64_t reads = 0;
  std::array<uint64_t, SUEDE_AXI_STATUSES> ended = {};  // by status
  uint64_t stray = 0;                                   // answers to transactions that are not open
  uint64_t abandoned = 0;                               // by resets
  uint64_t malformed = 0;
  uint64_t foreign = 0;
};

class Subordinate {
 public:
  Subordinate(const SubordinateParams& params, AddressMap map);
  Subordinate(const Subordinate&) = delete;
  Subordinate& operator=(const Subordinate&) = delete;

  // ---- Channels. Send… return false where there is no credit, Take… where there is no transfer.
  bool SendAw(const Address& address) { return aw_.Send(address); }
  bool SendW(const WriteBeat& beat) { return w_.Send(beat); }
  bool SendAr(const Address& address) { return ar_.Send(address); }
  bool TakeB(WriteResponse* response) { return b_.Take(response); }
  bool TakeR(ReadBeat* beat) { return r_.Take(beat); }
  uint32_t aw_credit() const { return aw_.credit(); }
  uint32_t w_credit() const { return w_.credit(); }
  uint32_t ar_credit() const { return ar_.credit(); }

  // ---- Network
  // Accepts transfers, sends requests as far as credit permits, ends transactions whose deadline
  // has passed, and returns answers. Returns whether anything moved.
  bool Pump(BurstSink& sink, Time now);
  // Whether requests wait for credit.
  bool HasUnsent() const { return !active_.is_empty(); }
  // Processes a command that XPU `from.xpuid` sent on interface `from.plane` and the VC of answers.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // Processes the completion of the request whose last command had tag `number` and went to `to`.
  // `status` is SUEDE_STATUS_….
  void OnCompletion(const Route& to, uint32_t number, uint8_t status);
  // Ends the transactions of an interface whose daemon has gone. To be called before each Pump
  // until the interface is connected again.
  void OnInterfaceLost(uint32_t interface);
  // Empties the channels and forgets the open transactions. A transaction that was sent keeps its
  // place until its answer or its deadline, since the target counts it. Numbers continue.
  void Reset();

  uint32_t open() const { return open_; }
  const SubordinateCounters& counters() const { return counters_; }
  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  enum class State : uint8_t {
    kFree,
    kCollecting,  // a write whose last beat has not come
    kReady,       // not sent
    kSending,     // some of its commands are sent
    kSent,
    kEnded,      // its answer is known
    kAbandoned,  // sent before a reset; the target may still count it
  };
  // Stored at its number modulo the size of the table.
  struct Transaction {
    State state = State::kFree;
    Direction direction = Direction::kRead;
    Kind kind = Kind::kRead;
    Status status = Status::kOk;
    bool is_first = false;   // of those of its {ID, direction} that were not returned
    bool is_queued = false;  // in its lane
    bool is_returned = false;
    bool has_route = false;
    bool is_long = false;   // a write of several commands
    uint8_t next_part = 0;  // to send
    uint32_t number = 0;
    uint32_t waits_for_number = 0;
    const Transaction* waits_for = nullptr;  // has to end first while it has this number
    Body* body = nullptr;                    // of the request until it is sent, then of the answer
    Transaction* next_of_id = nullptr;
    Transaction* next_in_lane = nullptr;
    Transaction* next_to_return = nullptr;
    Address address = {};  // at the target
    Route to;
    Time deadline{};
    Answer answer;
    bool has_answer = false;            // the first command of it
    std::array<uint64_t, 2> user = {};  // BUSER
  };
  // Transactions to one {interface, XPU}, in the order of their sending.
  struct Lane {
    LinkedFifo<Transaction, &Transaction::next_in_lane> queue;
    uint32_t open = 0;         // transactions that have not ended
    uint32_t long_writes = 0;  // of these, writes of several commands that are not answered
    CompletionInterval completions;
  };
  using OfId = LinkedFifo<Transaction, &Transaction::next_of_id>;
  // Transactions of one direction whose answer can be returned.
  using Returns = LinkedFifo<Transaction, &Transaction::next_to_return>;

  static uint64_t KeyOf(Direction direction, uint32_t id) {
    return uint64_t{id} << 1 | static_cast<uint64_t>(direction);
  }
  uint32_t IndexOf(uint32_t number) const { return number & (params_.transactions - 1); }
  static uint32_t LaneIndex(const Route& to) { return uint32_t{to.plane} * kMaxXpus + to.xpuid; }
  Lane& LaneOf(const Transaction& transaction) { return lanes_[LaneIndex(transaction.to)]; }
  Returns& ReturnsOf(Direction direction) { return returns_[static_cast<size_t>(direction)]; }

  // ---- Accepting
  bool AcceptWrites(Time now);
  bool AcceptReads(Time now);
  Transaction* Accept(Direction direction, const Address& address);
  void JoinId(Transaction& transaction);
  void CollectBeat(Transaction& transaction, const WriteBeat& beat, Time now);
  void Queue(Transaction& transaction, Time now);

  // ---- Sending
  bool PumpLane(uint32_t lane, BurstSink& sink, bool* has_moved);
  bool SendParts(Transaction& transaction, BurstSink& sink, bool* has_moved);
  bool IsHeld(const Transaction& transaction, const Lane& lane) const;

  // ---- Answers
  void OnAnswer(Transaction& transaction, const Command& command, const uint8_t* data,
                uint32_t data_bytes);
  void OnReadParts(Transaction& transaction);
  bool IsAwaited(const Transaction& transaction, const Command& command, const Route& from) const;

  // ---- Ends
  void End(Transaction& transaction, Status status);
  void Fail(Transaction& transaction, Status status);
  void LeaveLane(const Transaction& transaction);
  void Expire(Time now);
  bool ReturnB();
  bool ReturnR();
  ReadBeat BeatOf(const Transaction& transaction, uint32_t number) const;
  void Release(Returns& returns);
  void Free(Transaction& transaction);

  const SubordinateParams params_;
  const AddressMap map_;
  SubordinateCounters counters_;
  Channel<Address> aw_;
  Channel<WriteBeat> w_;
  Channel<Address> ar_;
  Channel<WriteResponse> b_;
  Channel<ReadBeat> r_;
  std::vector<Transaction> transactions_;
  std::vector<Body> bodies_;  // of these
  std::vector<Lane> lanes_;   // [interface][XPU]
  SenderList active_;         // lanes with transactions to send
  IdTable<OfId> ids_;
  std::array<Returns, 2> returns_;
  Transaction* collecting_ = nullptr;
  uint32_t beats_returned_ = 0;  // of the first read to return
  uint32_t next_number_;
  uint32_t open_ = 0;
  Time earliest_ = kNever;  // lower bound on the deadlines
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_SUBORDINATE_H_
