// SPDX-License-Identifier: Apache-2.0
// Manager port: issues the transactions of remote XPUs to the own SoC, and answers them
// (docs/axi.md).
//
// Received commands, transfers of the SoC and the time go in; transfers and commands come out. The
// class reads no clock and performs no I/O. The constructor allocates the memory, and each place of
// the table of transactions is set up at its first use. One owner.
#ifndef SUEDE_AXI_MANAGER_H_
#define SUEDE_AXI_MANAGER_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "axi/answer_lanes.h"
#include "axi/assembly.h"
#include "axi/channel.h"
#include "axi/issue_ids.h"
#include "axi/monitor.h"
#include "axi/served.h"
#include "axi/transfer.h"
#include "base/time.h"
#include "outbound/burst.h"

namespace suede::axi {

struct ManagerParams {
  uint32_t interfaces = 1;                 // 1 to 16
  uint32_t bus_bytes = 32;                 // 4 to 128, a power of two
  uint32_t transactions = 1024;            // whole ones, until their answer is sent
  uint32_t transactions_per_source = 128;  // of these, of one {interface, source}
  uint32_t ids = 64;                       // AxIDs, from 0 on, of each direction
  uint32_t address_places = 16;            // of each AW, AR and B channel
  uint32_t beat_places = 32;               // of each W and R channel
  uint32_t read_user_bytes = 0;            // of RUSER, 0 to 4
  bool has_monitor = true;                 // false: exclusive accesses are refused
  bool is_unordered = false;               // ordering of the instances
  uint8_t answer_vc = 1;
  Duration deadline = std::chrono::seconds(1);  // of an answer without credit
};

struct ManagerCounters {
  uint64_t served_writes = 0;  // transactions taken
  uint64_t served_reads = 0;
  uint64_t served_bytes = 0;      // active octets of these
  uint64_t busy = 0;              // requests refused: more of one source than permitted
  uint64_t dropped = 0;           // likewise, without credit for the refusal
  uint64_t reset = 0;             // transactions ended by a reset
  uint64_t expired = 0;           // answers that found no credit until their deadline
  uint64_t truncated = 0;         // requests of which not all commands arrived
  uint64_t exclusive_failed = 0;  // exclusive writes that were not issued
  uint64_t unexpected = 0;        // transfers of the SoC that no transaction waits for
  uint64_t malformed = 0;         // commands that break a rule of the format
  uint64_t foreign = 0;           // commands of other classes or kinds
};

class Manager {
 public:
  explicit Manager(const ManagerParams& params);

  // ---- Network
  // Whether the port takes commands. To be asked before each OnCommand.
  bool CanTake() const { return !in_reset_ && !table_.is_full(); }
  // Processes a command of the VC of requests. from.plane is the interface; from.vc is ignored.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes, Time now, BurstSink& sink);
  // Issues transactions as far as the channels have places, sends answers as far as there is
  // credit, and drops those past their deadline. To be called after commands and transfers, and
  // periodically while HasAnswers(). Returns whether anything moved.
  bool Pump(BurstSink& sink, Time now);
  bool HasAnswers() const { return !answers_.is_empty(); }
  // The daemon of an interface has gone: answers there are discarded, also those to come.
  void OnInterfaceLost(uint32_t interface);

  // ---- SoC
  // Remove the oldest transfer of a channel. Return false where it is empty.
  bool TakeAw(Address* address) { return aw_.Take(address); }
  bool TakeW(WriteBeat* beat) { return w_.Take(beat); }
  bool TakeAr(Address* address) { return ar_.Take(address); }
  // The port takes transfers of B and R out of their buffers at once: each transaction has memory
  // for its answer.
  uint32_t b_credit() const { return params_.address_places; }
  uint32_t r_credit() const { return params_.beat_places; }
  // Return false, and count, where no transaction of the AxID waits for the transfer.
  bool SendB(const WriteResponse& response);
  bool SendR(const ReadBeat& beat);
  // Resets the port, or ends its reset. Pump still sends answers during a reset.
  void Reset(bool in_reset);

  ManagerCounters counters() const;
  // Transactions of which the answer has not been sent.
  uint32_t open() const { return table_.entered(); }
  // Transactions that the port can take now.
  uint32_t room() const { return in_reset_ ? 0 : params_.transactions - table_.entered(); }
  // Places of the table that were ever used.
  uint32_t touched() const { return table_.touched(); }
  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  // Transactions of one direction.
  struct Stream {
    explicit Stream(uint32_t id_count) : ids(id_count) {}
    ServedQueue queue;  // to be issued; of the first, some bursts may be
    IssueIds ids;       // issued
  };

  void Enter(Served* served, BurstSink& sink);
  bool PumpReads();
  bool PumpWrites();
  bool PumpData();
  bool IssueNext(Stream& stream, Channel<Address>& channel);
  bool Start(Served* served, Stream& stream);
  bool MayIssueExclusive(const Served& served) const;
  void AddBeat(Served* served, const ReadBeat& beat);
  void AddPart(Served* served, const ReadBeat& beat, const Issue::Beat& at, uint8_t response);
  void EndWrite(Served* served, uint8_t response);
  void EndRead(Served* served);
  void EndByReset(Served* served);
  void Complete(Served* served);

  const ManagerParams params_;
  ServedTable table_;
  Assembly assembly_;
  AnswerLanes answers_;
  Monitor monitor_;
  Stream reads_;
  Stream writes_;
  // Writes with W beats to come, in the order of their AW.
  LinkedFifo<Served, &Served::next_data> data_;
  Channel<Address> aw_;
  Channel<WriteBeat> w_;
  Channel<Address> ar_;
  std::vector<uint8_t> is_surplus_;  // by AxID: R beats up to the next RLAST are of no transaction
  std::vector<uint32_t> epochs_;     // of the interfaces: losses
  ManagerCounters counters_;         // without those of the parts
  Time now_ = {};                    // of the last call that was given it
  bool in_reset_ = false;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_MANAGER_H_
