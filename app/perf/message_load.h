// SPDX-License-Identifier: Apache-2.0
// The load of message sockets, as the backend of a LoadRun: a stream of messages to a server.
// Measures each message until the server acknowledges it, or until its echo arrives.
//
//   connect  opens and connects the sockets
//   finish   closes the stream, and receives the server's report
//
// Uses libsuede-mem. Connect and Finish block. Not thread-safe.
#ifndef SUEDE_APP_PERF_MESSAGE_LOAD_H_
#define SUEDE_APP_PERF_MESSAGE_LOAD_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/operation_load.h"
#include "suede/socket.h"

namespace suede::perf {

// Ids of a server's sockets, by its treatment of received data; equal in both directions.
inline constexpr uint16_t kDropSocket = 1;
inline constexpr uint16_t kCheckSocket = 2;  // verifies the data, and drops it
inline constexpr uint16_t kEchoSocket = 3;
inline constexpr uint32_t kMessageEpoch = 0;
inline constexpr uint32_t kReportBytes = 16;  // number of received octets, number of wrong pieces

// The data of every stream, determined by the position.
class StreamPattern {
 public:
  explicit StreamPattern(uint32_t max_bytes);
  // Returns the `max_bytes` octets from a position on.
  const uint8_t* At(uint64_t position) const { return octets_.data() + position % kPeriod; }

 private:
  static constexpr uint32_t kPeriod = 65521;
  std::vector<uint8_t> octets_;
};

// Returns the parameters of the socket for one end of a stream.
suede_socket_params MessageSocket(const Options& options, uint8_t direction, uint16_t peer,
                                  uint16_t id);

class MessageLoad : public OperationLoad<MessageLoad> {
 public:
  static constexpr uint32_t kStartsPerClockRead = 1;

  // A load of messages of one size. All arguments must outlive it.
  MessageLoad(LoadRecord& record, suede_sockets* sockets, const TscClock& clock,
              const Options& options, uint32_t bytes);
  ~MessageLoad();

  bool Poll(Time now);
  Advance Connect(Time now);
  Advance Finish(Time now);
  void Flush() {}

  // For OperationLoad.
  Time Now() const { return clock_.Now(); }
  static constexpr bool ends_in_order() { return true; }
  int Start(size_t at);
  void FailStart(int error) { FailAsCall(error); }
  bool HasEnded(size_t at) const;
  bool OnEnd(size_t at);

 private:
  int OpenSockets();
  bool TakeEchoes();
  bool FailAsCall(int error);  // returns false

  suede_sockets* const sockets_;
  const TscClock clock_;
  const StreamPattern pattern_;
  suede_socket* sender_ = nullptr;
  suede_socket* receiver_ = nullptr;  // for echoes, or for the report
  std::vector<suede_socket_result> results_;
  std::vector<uint8_t> buffer_;
  uint64_t echoed_bytes_ = 0;
  suede_socket* connecting_ = nullptr;
  Time deadline_ = kNever;  // deadline of connecting_
  bool is_connected_ = false;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MESSAGE_LOAD_H_
