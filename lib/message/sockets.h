// SPDX-License-Identifier: Apache-2.0
// Message sockets of an XPU (docs/sockets.md).
//
// Takes calls, received commands, completions and the time, and gives commands to a sink; reads no
// clock and sends nothing itself. Memory is allocated by the constructor and by Open. One thread at
// a time uses it.
#ifndef SUEDE_MESSAGE_SOCKETS_H_
#define SUEDE_MESSAGE_SOCKETS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "message/channel.h"
#include "message/command.h"
#include "message/operations.h"
#include "message/status.h"

namespace suede::message {

inline constexpr uint32_t kMaxChannels = 4096;
// One in this many commands of DATA asks for a completion.
inline constexpr uint32_t kCommandsPerCompletion = 16;
// The cost of the longest command.
inline constexpr uint32_t kFullCost = CostOf(kDataBytes);

struct SocketsParams {
  uint16_t own_xpuid = 0;
  uint32_t planes = 1;       // 1 to kMaxPlanes
  uint32_t channels = 1024;  // 1 to kMaxChannels
  uint32_t data_vcs = 4;     // mask, not 0
  uint8_t control_vc = 3;    // none of data_vcs
  uint64_t seed = 0;         // drawn at random: tags are drawn from it
};

struct SocketParams {
  bool is_sender = false;
  bool is_datagram = false;
  bool is_private = false;
  int8_t plane = -1;  // -1: the receiver's XPU modulo the planes
  int8_t vc = -1;     // one of data_vcs; -1: the lowest
  uint16_t id = 0;
  uint32_t epoch = 0;
  uint32_t ring_bytes = 1 << 20;  // of a receiver
  uint32_t operations = 256;      // of a sender that are not complete
};

// Commands of one shape to one peer.
struct Burst {
  Peer to;
  const uint8_t* controls = nullptr;  // kControlBytes each, one behind the other
  const uint8_t* data = nullptr;      // data_bytes each, one behind the other
  uint32_t data_bytes = 0;            // 0: none
  uint32_t count = 0;                 // 1 to kCommandsPerCompletion
  bool wants_completion = false;      // count is 1 then
  uint64_t completion_tag = 0;        // the completion repeats it
};

class CommandSink {
 public:
  // Returns how many of the commands were taken, the first ones of the burst: fewer than all where
  // credit or room ends. kLost: the plane has no daemon.
  static constexpr int kLost = -1;
  virtual int Send(const Burst& burst) = 0;

 protected:
  ~CommandSink() = default;
};

struct SocketsCounters {
  uint64_t sent_bytes = 0;
  uint64_t sent_commands = 0;  // of DATA
  uint64_t received_bytes = 0;
  uint64_t received_commands = 0;    // of DATA
  uint64_t spilled_bytes = 0;        // of received_bytes: that waited in a ring
  uint64_t refused[kRefusals] = {};  // commands, by status, from kFirstRefusal on
  uint64_t stray = 0;                // answers that fit nothing that is open
  uint64_t foreign = 0;              // commands that are none of sockets
  uint64_t unanswered = 0;           // refusals that were not sent for want of a place
  uint64_t torn = 0;                 // datagrams whose sender gave them up midway
  uint64_t starved = 0;              // times that a peer's credit was missing
  uint64_t blocked = 0;              // times that the daemon's credit or room was missing
};

enum class Opened : uint8_t { kOk, kInvalid, kNoRoom, kExists, kBusy };
enum class Started : uint8_t { kOk, kInvalid, kNoRoom, kNotConnected, kTooLong, kFailed };
enum class Got : uint8_t { kOctets, kNothing, kEnd, kTooLong, kFailed, kInvalid };

class Sockets {
 public:
  explicit Sockets(const SocketsParams& params);

  // Opens a socket to `peers`: for a receiver one, or kAnyXpu. It begins to connect by itself.
  Opened Open(const SocketParams& params, std::span<const uint16_t> peers, uint32_t* socket);

  // kPending: it waits for a peer. kOk: connected, or ended. Otherwise how the first peer failed.
  Status StatusOf(uint32_t socket) const;
  // StatusOf a sender that has closed. A peer that closed first has not failed if its program
  // had taken everything.
  Status OutcomeOf(uint32_t socket) const;
  // The status of one peer; while the socket waits, kPending, or why the peer does not accept.
  Status PeerStatus(uint32_t socket, uint32_t peer) const;
  const Channel& PeerOf(uint32_t socket, uint32_t peer) const {
    return channels_[sockets_[socket].channels[peer]];
  }
  uint32_t PeerCount(uint32_t socket) const {
    return static_cast<uint32_t>(sockets_[socket].channels.size());
  }

  // Starts to send. `data` is read until the operation is pushed or complete; *result (may be null)
  // is written at its end. The number of the operation goes to *number (may be null).
  Started Send(uint32_t socket, const uint8_t* data, uint64_t bytes, Time deadline,
               suede_socket_result* result, uint64_t* number);
  // Whether nothing of the operation's data is needed any more.
  bool IsPushed(uint32_t socket, uint64_t number) const;
  // Does not write the operation's result any more. kOk, or how a target has failed so far.
  Status ForgetResult(uint32_t socket, uint64_t number);
  bool IsSender(uint32_t socket) const { return sockets_[socket].params.is_sender; }
  // Operations of a sender that are not complete.
  uint32_t OpenOperations(uint32_t socket) const {
    const OperationQueue& operations = *sockets_[socket].operations;
    return static_cast<uint32_t>(operations.next() - operations.first());
  }
  // Whether all targets that are left have everything.
  bool IsDrained(uint32_t socket) const { return sockets_[socket].operations->is_empty(); }
  // The first failure of an operation since this was asked last; kOk: there was none.
  Status TakeFailure(uint32_t socket);

  // Takes octets of a stream, or a datagram, `max` octets at most. *bytes: how many; with kTooLong
  // the length of the datagram, which stays.
  Got Receive(uint32_t socket, uint8_t* room, uint32_t max, uint32_t* bytes);
  // Room into which a stream's octets may go as they arrive, until TakeBack. False: octets wait to
  // be received, and nothing was offered.
  bool OfferRoom(uint32_t socket, uint8_t* room, uint32_t max);
  // Octets that are in the room so far.
  uint32_t Filled(uint32_t socket) const { return sockets_[socket].filled_bytes; }
  // Takes the room back; returns how many octets are in it.
  uint32_t TakeBack(uint32_t socket);

  // A sender sends END behind its operations; see IsClosed.
  void Close(uint32_t socket);
  // Whether all peers have everything and know the end, or have failed.
  bool IsClosed(uint32_t socket) const;
  // Gives the socket up: `socket` is void. Peers of one that is not closed are told.
  void Release(uint32_t socket);

  // Sends what may be sent now.
  void Pump(CommandSink& sink);
  // Whether commands wait for the daemon's credit.
  bool HasUnsent() const { return !data_list_.is_empty() || !control_list_.is_empty(); }
  void OnCommand(const Peer& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // `status` is SUEDE_STATUS_….
  void OnCompletion(uint64_t completion_tag, uint8_t status);
  // The time, before other calls; ends what is too late.
  void OnTime(Time now);
  // The daemon of a plane has gone.
  void OnPlaneLost(uint32_t plane);

  uint32_t free_channels() const { return static_cast<uint32_t>(free_channels_.size()); }
  const SocketsCounters& counters() const { return counters_; }
  // Changes with each command that is received, and each operation that is complete.
  uint64_t progress() const { return progress_; }

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  struct Socket {
    bool is_open = false;
    bool is_closing = false;
    SocketParams params;
    std::vector<uint32_t> channels;
    std::optional<OperationQueue> operations;  // of a sender
    uint64_t pushed = 0;                       // operations whose data is not needed any more
    Status untold = Status::kOk;               // a target's failure that no operation has told yet
    Status failure = Status::kOk;              // of the operations since TakeFailure
    uint8_t* room = nullptr;                   // room that is offered
    uint32_t room_bytes = 0;
    uint32_t filled_bytes = 0;
  };
  // A refusal of a command that belongs to no channel; one for each {plane, XPU}.
  struct Refusal {
    Status status = Status::kOk;  // kOk: none
    uint16_t id = 0;
    uint32_t tag = 0;
    uint32_t epoch = 0;
  };

  // ---- Sockets and channels.
  bool IsValid(const SocketParams& params, std::span<const uint16_t> peers) const;
  bool IsVcTaken(const Name& name, const Traits& traits) const;
  uint8_t PlaneOf(const SocketParams& params, uint16_t peer) const;
  uint32_t TakeChannel(uint32_t socket, const Name& name, const Traits& traits);
  void FreeChannel(uint32_t index);
  uint32_t Find(const Name& name) const;
  // Why there is no socket of this name: another epoch, or none at all.
  Status WhyAbsent(const Name& name) const;
  uint32_t FindTag(uint32_t tag, const Peer& from) const;
  void Schedule(uint32_t index, uint8_t what);
  void FailChannel(uint32_t index, Status status);
  void LetGo(uint32_t index);
  bool IsNeeded(const Channel& channel) const;

  // ---- Operations.
  void CompleteOperation(Socket& socket, uint64_t number, Status status);
  void UpdateOperations(Socket& socket);
  void ExpireOperation(Socket& socket, uint64_t number);
  static uint64_t MessageCost(uint64_t bytes);

  // ---- Sending.
  enum class Pumped : uint8_t { kIdle, kMore, kBlocked };
  // Commands of DATA in a row.
  struct Run {
    uint32_t count = 0;
    uint32_t bytes = 0;         // of each
    bool is_last = false;       // the operation ends with it
    bool completes = false;     // it asks for a completion
    bool wants_credit = false;  // the last of them does
  };
  static Run NextRun(const Channel& channel, uint64_t left, uint32_t budget, bool is_newest);
  static void EncodeRun(const Channel& channel, const Run& run, uint8_t* controls);
  Pumped PumpChannel(uint32_t index, CommandSink& sink);
  Pumped SendData(uint32_t index, Socket& socket, CommandSink& sink, uint32_t* budget);
  Pumped SendEnd(uint32_t index, CommandSink& sink);
  void EndOperation(Channel& channel);
  bool PumpControl(uint32_t index, CommandSink& sink);
  bool SendControl(uint32_t index, uint8_t what, CommandSink& sink);
  void PumpRefusals(CommandSink& sink);

  // ---- Receiving.
  void OnConnect(const Peer& from, const Command& command);
  void OnAnnounce(const Peer& from, const Command& command);
  void OnAccept(const Peer& from, const Command& command);
  void OnCredit(const Peer& from, const Command& command);
  void OnRefuse(const Peer& from, const Command& command);
  void OnClosed(const Peer& from, const Command& command);
  void OnData(const Peer& from, const Command& command);
  void OnEnd(const Peer& from, const Command& command);
  uint32_t FindReceiver(const Peer& from, const Command& command);
  Status CheckData(const Channel& channel, const Command& command) const;
  void Place(uint32_t index, const Command& command);
  void OnReleased(uint32_t index);
  bool Waits(const Channel& channel) const;
  void AskLater(Channel& channel);
  void OnTime(uint32_t index);
  void Refuse(const Peer& from, const Command& command, uint32_t tag, Status status);
  void Acknowledge(Channel& channel, uint64_t position);

  uint64_t Draw();

  const SocketsParams params_;
  std::vector<Socket> sockets_;
  std::vector<Channel> channels_;
  std::vector<uint32_t> free_sockets_;
  std::vector<uint32_t> free_channels_;
  std::map<uint64_t, uint32_t> names_;  // Name::Key to channels of open sockets
  ChannelList data_list_;
  ChannelList control_list_;
  std::vector<Refusal> refusals_;         // [plane][XPU]
  std::vector<uint32_t> refused_places_;  // places that are in use
  SocketsCounters counters_;
  uint64_t random_;
  uint64_t progress_ = 0;
  Time now_{};
  Time earliest_ = kNever;  // of anything that OnTime does
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SOCKETS_H_
