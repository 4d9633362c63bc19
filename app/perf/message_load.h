// SPDX-License-Identifier: Apache-2.0
// The load of message sockets: a stream of messages to a server. Measures each message until the
// server acknowledges it, or until its echo arrives.
//
// Uses libsuede-mem. Blocking. Not thread-safe.
#ifndef SUEDE_APP_PERF_MESSAGE_LOAD_H_
#define SUEDE_APP_PERF_MESSAGE_LOAD_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/options.h"
#include "perf/progress.h"
#include "perf/results.h"
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

class MessageLoad {
 public:
  // A load of messages of one size. All arguments must outlive it.
  MessageLoad(suede_sockets* sockets, const Options& options, uint32_t bytes, const TscClock& clock,
              const std::atomic<bool>& stop, WorkerProgress* progress);
  ~MessageLoad();

  RunResult Run();

 private:
  struct Message {
    suede_socket_result result = {};
    Time start{};
  };

  // Functions that return bool return false if they fail or make no progress.
  bool OpenSockets();
  bool Connect(suede_socket* socket);
  void Load();
  void Drain();
  void Finish();

  bool StartNext(Time now);
  bool CollectCompletions();
  bool TakeEchoes();
  bool HasEnded(const Message& message) const;
  void OnEnd(const Message& message, Time now);
  bool IsOver(Time now) const;
  void Rest(bool worked);
  bool EndWith(Outcome outcome, std::string explanation);
  bool FailAsCall(int error);
  uint64_t open() const { return started_ - ended_; }

  suede_sockets* const sockets_;
  const Options& options_;
  const uint32_t bytes_;
  const TscClock clock_;
  const std::atomic<bool>& stop_;
  WorkerProgress* const progress_;
  const StreamPattern pattern_;
  suede_socket* sender_ = nullptr;
  suede_socket* receiver_ = nullptr;  // for echoes, or for the report
  std::vector<Message> messages_;     // in flight, by number modulo the size
  std::vector<uint8_t> room_;
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  uint64_t echoed_bytes_ = 0;
  Time measured_from_{};
  Time last_end_{};
  uint32_t idle_turns_ = 0;
  RateTrack track_;
  RunResult result_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MESSAGE_LOAD_H_
