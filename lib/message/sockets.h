// SPDX-License-Identifier: Apache-2.0
// Message sockets of an XPU (docs/sockets.md).
//
// The caller passes in calls, received commands, completions and the time; commands go to a sink.
// The class reads no clock and performs no I/O. Only the constructor and Open allocate memory. Not
// thread-safe: one thread at a time may call.
#ifndef SUEDE_MESSAGE_SOCKETS_H_
#define SUEDE_MESSAGE_SOCKETS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "message/channel.h"
#include "message/channel_table.h"
#include "message/command.h"
#include "message/operations.h"
#include "message/refusals.h"
#include "message/status.h"
#include "outbound/burst.h"
#include "outbound/sender_list.h"

namespace suede::message {

// Cost of a DATA of maximum length.
inline constexpr uint32_t kFullCost = CostOf(kDataBytes);

struct SocketsParams {
  uint16_t own_xpuid = 0;
  uint32_t planes = 1;       // 1 to kMaxPlanes
  uint32_t channels = 1024;  // 1 to kMaxChannels
  uint32_t data_vcs = 4;     // mask, not 0
  uint8_t control_vc = 3;    // not in data_vcs
  uint64_t seed = 0;         // random; seeds the generation of tags
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
  uint32_t operations = 256;      // of a sender: maximum of incomplete operations
};

struct SocketsCounters {
  uint64_t sent_bytes = 0;
  uint64_t sent_commands = 0;  // of DATA
  uint64_t received_bytes = 0;
  uint64_t received_commands = 0;    // of DATA
  uint64_t spilled_bytes = 0;        // part of received_bytes that was buffered in a ring
  uint64_t refused[kRefusals] = {};  // commands, by status, from kFirstRefusal on
  uint64_t stray = 0;                // CREDIT, CLOSED and REFUSE that match no open channel
  uint64_t foreign = 0;              // commands of other classes or lengths
  uint64_t unanswered = 0;           // refusals not sent, as one to the XPU was pending
  uint64_t torn = 0;                 // datagrams that the sender aborted midway
  uint64_t starved = 0;              // times a peer's credit was exhausted
  uint64_t blocked = 0;              // times the daemon's credit or queue was exhausted
};

enum class Opened : uint8_t { kOk, kInvalid, kNoRoom, kExists, kBusy };
enum class Started : uint8_t { kOk, kInvalid, kNoRoom, kNotConnected, kTooLong, kFailed };
enum class Got : uint8_t { kOctets, kNothing, kEnd, kTooLong, kFailed, kInvalid };

class Sockets {
 public:
  explicit Sockets(const SocketsParams& params);

  // Opens a socket to `peers` and schedules its connection setup. A receiver has one peer, or
  // kAnyXpu.
  Opened Open(const SocketParams& params, std::span<const uint16_t> peers, uint32_t* socket);

  // kPending: the socket waits for a peer. kOk: connected or ended. Otherwise the status of the
  // first failed peer.
  Status StatusOf(uint32_t socket) const;
  // Status of a closed sender. A peer that closed first counts as successful if it had read
  // everything.
  Status OutcomeOf(uint32_t socket) const;
  // Status of one peer. While it is not connected: kPending, or why it does not accept.
  Status PeerStatus(uint32_t socket, uint32_t peer) const;
  const Channel& PeerOf(uint32_t socket, uint32_t peer) const {
    return channels_[sockets_[socket].channels[peer]];
  }
  uint32_t PeerCount(uint32_t socket) const {
    return static_cast<uint32_t>(sockets_[socket].channels.size());
  }

  // Starts to send. `data` must stay valid until the operation is pushed or complete. Writes
  // *result (may be null) when the operation is pushed and when it completes, and stores the
  // operation's number in *number (may be null).
  Started Send(uint32_t socket, const uint8_t* data, uint64_t bytes, Time deadline,
               suede_socket_result* result, uint64_t* number);
  bool IsSender(uint32_t socket) const { return sockets_[socket].params.is_sender; }
  // The operations of a sender.
  OperationQueue& operations(uint32_t socket) { return *sockets_[socket].operations; }

  // Copies up to `max` octets of a stream, or one datagram, to `room`. *bytes: the number copied;
  // for kTooLong the length of the datagram, which stays queued.
  Got Receive(uint32_t socket, uint8_t* room, uint32_t max, uint32_t* bytes);
  // Offers a buffer that receives a stream's octets directly, until WithdrawBuffer. Returns false,
  // and does nothing, for a datagram socket, if octets are queued, or if a buffer is already
  // offered.
  bool OfferBuffer(uint32_t socket, uint8_t* room, uint32_t max);
  // Octets written to the offered buffer so far.
  uint32_t Filled(uint32_t socket) const { return sockets_[socket].filled_bytes; }
  // Withdraws the offered buffer. Returns the number of octets written to it.
  uint32_t WithdrawBuffer(uint32_t socket);

  // Starts to close; a sender sends END behind its operations. IsClosed reports the end.
  void Close(uint32_t socket);
  // Whether close is complete: every peer has confirmed the END or has failed.
  bool IsClosed(uint32_t socket) const;
  // Frees the socket; `socket` becomes invalid. Notifies the peers of a socket that is not closed.
  void Release(uint32_t socket);

  // Sends pending commands, as far as credit permits.
  void Pump(BurstSink& sink);
  // Whether Pump has commands to send.
  bool HasUnsent() const { return !data_list_.is_empty() || !control_list_.is_empty(); }
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // Processes the completion of a command. `status` is SUEDE_STATUS_….
  void OnCompletion(uint64_t completion_tag, uint8_t status);
  // Sets the time, for the calls that follow. Expires operations and channels, and schedules
  // CONNECTs.
  void OnTime(Time now);
  // Fails the channels of a plane whose daemon has gone.
  void OnPlaneLost(uint32_t plane);

  uint32_t free_channels() const { return channels_.free(); }
  const SocketsCounters& counters() const { return counters_; }
  // Changes with each valid received command, and each operation that is pushed or completes.
  uint64_t progress() const { return progress_; }

  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  struct Socket {
    bool is_open = false;
    bool is_closing = false;
    SocketParams params;
    std::vector<uint32_t> channels;
    std::optional<OperationQueue> operations;  // of a sender
    uint8_t* room = nullptr;                   // buffer of OfferBuffer
    uint32_t room_bytes = 0;
    uint32_t filled_bytes = 0;
  };

  // ---- Sockets and channels.
  uint32_t OpenChannel(uint32_t socket, const Name& name, const Traits& traits);
  void Schedule(uint32_t index, uint8_t what);
  void FailChannel(uint32_t index, Status status);
  void LetGo(uint32_t index);

  // ---- Operations.
  void CompleteOperation(Socket& socket, uint64_t number, Status status);
  void UpdateOperations(Socket& socket);
  void ExpireOperation(Socket& socket, uint64_t number);

  // ---- Sending.
  enum class Pumped : uint8_t { kIdle, kMore, kBlocked };
  Pumped PumpChannel(uint32_t index, BurstSink& sink);
  Pumped SendData(uint32_t index, Socket& socket, BurstSink& sink, uint32_t* budget);
  Pumped SendEnd(uint32_t index, BurstSink& sink);
  bool PumpControl(uint32_t index, BurstSink& sink);
  bool SendControl(uint32_t index, uint8_t what, BurstSink& sink);

  // ---- Receiving.
  void OnConnect(const Route& from, const Command& command);
  void OnAnnounce(const Route& from, const Command& command);
  void OnAccept(const Route& from, const Command& command);
  void OnCredit(const Route& from, const Command& command);
  void OnRefuse(const Route& from, const Command& command);
  void OnClosed(const Route& from, const Command& command);
  void OnData(const Route& from, const Command& command);
  void OnEnd(const Route& from, const Command& command);
  uint32_t FindReceiver(const Route& from, const Command& command);
  void Place(uint32_t index, const Command& command);
  void OnReleased(uint32_t index);
  bool Waits(const Channel& channel) const;
  void ScheduleProbe(Channel& channel);
  void OnTime(uint32_t index);
  void Refuse(const Route& from, const Command& command, uint32_t tag, Status status);

  const SocketsParams params_;
  std::vector<Socket> sockets_;
  ChannelTable channels_;
  std::vector<uint32_t> free_sockets_;
  SenderList data_list_;
  SenderList control_list_;
  Refusals refusals_;
  SocketsCounters counters_;
  uint64_t progress_ = 0;
  Time now_{};
  Time earliest_ = kNever;  // when OnTime next has work
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SOCKETS_H_
