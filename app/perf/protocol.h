// SPDX-License-Identifier: Apache-2.0
// The content of suede-perf's commands (docs/suede-perf.md, "In-band protocol").
//
// SUE interprets only the lengths in a command's first two bytes; the opcode class beside them is
// free for programs.
#ifndef SUEDE_APP_PERF_PROTOCOL_H_
#define SUEDE_APP_PERF_PROTOCOL_H_

#include <cstdint>
#include <optional>

#include "base/big_endian.h"
#include "base/sue.h"
#include "perf/names.h"

namespace suede::perf {

// Opcode class, bits 7:5 of byte 0. Bit 0: verifiable content; bit 1: sent back by an echo server.
enum class Opcode : uint8_t {
  kLoad = 0,
  kCheckedLoad = 1,
  kEcho = 2,
  kCheckedEcho = 3,
  kProtocol = 7,
};

// Minimum control length of commands that carry a flow (byte 2) and a sequence number (bytes 4 to
// 7); shorter ones are only counted.
inline constexpr uint32_t kSequencedControlBytes = 8;
inline constexpr uint32_t kMaxFlows = 16;  // maximum of queues of one sender

inline Opcode OpcodeOf(const uint8_t* control) { return static_cast<Opcode>(control[0] >> 5); }
inline bool IsChecked(Opcode opcode) { return (static_cast<uint8_t>(opcode) & 1) != 0; }
inline bool IsEcho(Opcode opcode) { return (static_cast<uint8_t>(opcode) & 2) != 0; }

// Writes bytes 0 and 1: the lengths of control (even) and data, and the opcode.
inline void SetShape(uint8_t* control, Opcode opcode, uint32_t control_bytes, uint32_t data_bytes) {
  control[0] = static_cast<uint8_t>((static_cast<uint32_t>(opcode) << 5) |
                                    (data_bytes > 0 ? 0x10u : 0u) | (control_bytes / 2));
  control[1] = static_cast<uint8_t>(data_bytes > 0 ? data_bytes - 1 : 0);
}
inline void SetOpcode(uint8_t* control, Opcode opcode) {
  control[0] = static_cast<uint8_t>((static_cast<uint32_t>(opcode) << 5) | (control[0] & 0x1f));
}

// Messages of the protocol: class 7, control of 8 bytes with the code in byte 2, the flow in byte 3
// and the run in bytes 4 to 7.
enum class Code : uint8_t {
  kStart = 1,          // client: begins a run on this stream; the server resets its counts
  kReady = 2,          // server's answer
  kReportRequest = 3,  // client: requests the counts of this stream
  kReport = 4,         // server's answer
  kArrive = 5,         // rank to rank 0: waits at a barrier
  kGo = 6,             // rank 0: all have arrived
  kAccount = 7,        // rank to rank 0: its sums
};

struct Message {
  Code code = Code::kStart;
  uint8_t flow = 0;
  uint32_t run = 0;
};

// Data of kStart: the load that the server sends back on this stream.
struct ReverseLoad {
  bool wanted = false;
  bool check = false;
  uint16_t control_bytes = kSequencedControlBytes;
  uint16_t data_bytes = 0;
  uint16_t pack_every = 0;
  uint32_t rate = 0;  // commands per second on this stream; 0: full speed
};

// Data of kReady.
struct ServerTraits {
  bool echoes = false;
};

// A receiver's counts of one stream {source, VC, flow} in one run. Data of kReport.
struct StreamCounts {
  uint64_t received = 0;  // commands, without messages and duplicates
  uint64_t data_bytes = 0;
  uint64_t wrong = 0;       // content does not match the sequence number
  uint64_t lost = 0;        // sequence numbers never received
  uint64_t duplicated = 0;  // sequence numbers received again
  uint64_t misordered = 0;  // sequence numbers received after a later one
  uint64_t sent_back = 0;   // commands of the reverse load

  void Add(const StreamCounts& other);
};
// In the order of kReport.
inline constexpr Named<uint64_t StreamCounts::*> kCountFields[] = {
    {&StreamCounts::received, "received"},     {&StreamCounts::data_bytes, "data_bytes"},
    {&StreamCounts::wrong, "wrong"},           {&StreamCounts::lost, "lost"},
    {&StreamCounts::duplicated, "duplicated"}, {&StreamCounts::misordered, "misordered"},
    {&StreamCounts::sent_back, "sent_back"}};

// The phase that a rank begins after a barrier.
enum class Next : uint8_t { kWarmUp = 0, kMeasure = 1, kAccount = 2, kLeave = 3 };

// Data of kArrive. The message's run is a random number of the process, which kGo repeats.
struct Arrival {
  uint32_t barrier = 0;  // 0: the start, then one after each iteration
};

// Data of kGo.
struct Release {
  uint32_t barrier = 0;
  Next next = Next::kWarmUp;
  uint8_t tag = 0;  // tag of the run, in byte 3 of its load
};

// Data of kAccount: sums over the flows of load received by the rank; x is the rate of a flow in
// bytes per second.
struct Account {
  StreamCounts counts;
  uint32_t flows = 0;
  double sum_x = 0;
  double sum_x2 = 0;

  void Add(const Account& other);
  // Returns Jain's fairness index, 1/flows to 1; 0: no flows.
  double Fairness() const;
};

inline constexpr uint32_t kMessageControlBytes = 8;
inline constexpr uint32_t kStartDataBytes = 12;
inline constexpr uint32_t kReadyDataBytes = 2;
inline constexpr uint32_t kReportDataBytes = 56;
inline constexpr uint32_t kArriveDataBytes = 8;
inline constexpr uint32_t kGoDataBytes = 8;
inline constexpr uint32_t kAccountDataBytes = 80;
inline constexpr uint32_t kMaxMessageDataBytes = 80;

// An encoded message. `data` is contiguous with `control`, so both can be copied at once.
struct EncodedMessage {
  uint8_t control[kMessageControlBytes] = {};
  uint8_t data[kMaxMessageDataBytes] = {};
};

inline uint8_t FlowOf(const EncodedMessage& message) { return message.control[3]; }
inline void SetFlow(EncodedMessage& message, uint8_t flow) { message.control[3] = flow; }

EncodedMessage EncodeStart(const Message& message, const ReverseLoad& load);
EncodedMessage EncodeReady(const Message& message, const ServerTraits& traits);
EncodedMessage EncodeReportRequest(const Message& message);
EncodedMessage EncodeReport(const Message& message, const StreamCounts& counts);
EncodedMessage EncodeArrive(uint32_t run, const Arrival& arrival);
EncodedMessage EncodeGo(uint32_t run, const Release& release);
EncodedMessage EncodeAccount(uint32_t run, const Account& account);

// Return nullopt for invalid messages, and for commands of other programs on the same XPU.
std::optional<Message> DecodeMessage(const uint8_t* control, uint32_t control_bytes);
std::optional<ReverseLoad> DecodeReverseLoad(const uint8_t* data, uint32_t bytes);
std::optional<ServerTraits> DecodeServerTraits(const uint8_t* data, uint32_t bytes);
std::optional<StreamCounts> DecodeStreamCounts(const uint8_t* data, uint32_t bytes);
std::optional<Arrival> DecodeArrival(const uint8_t* data, uint32_t bytes);
std::optional<Release> DecodeRelease(const uint8_t* data, uint32_t bytes);
std::optional<Account> DecodeAccount(const uint8_t* data, uint32_t bytes);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PROTOCOL_H_
