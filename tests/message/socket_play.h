// SPDX-License-Identifier: Apache-2.0
// XPUs with sockets that do random things, over a network that does to commands what an endpoint
// may: it delays them, VCs overtake each other, and where a process or an endpoint restarts, or a
// peer is not reachable, it loses them and says so as the daemon would.
//
// The data of each receiver is compared with what its sender sent.
#ifndef SUEDE_TESTS_MESSAGE_SOCKET_PLAY_H_
#define SUEDE_TESTS_MESSAGE_SOCKET_PLAY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "message/sockets.h"

namespace suede::message {

inline constexpr uint16_t kNodes = 5;

struct PlayOptions {
  bool has_faults = false;
  bool repeats = false;  // commands that arrive twice
};

class SocketPlay {
 public:
  SocketPlay(uint64_t seed, const PlayOptions& options);
  SocketPlay(const SocketPlay&) = delete;
  SocketPlay& operator=(const SocketPlay&) = delete;

  // Does so many random things, then lets all come to an end. Returns what went wrong; empty where
  // all is right.
  std::string Run(uint32_t steps);

  // Counters of all nodes and lives.
  const SocketsCounters& totals() const { return totals_; }
  uint64_t ended() const { return ended_; }  // receivers that got all of their sender, and its end

 private:
  static constexpr uint8_t kControlVc = 3;
  using LaneKey = std::array<uint16_t, 3>;  // from, to, VC

  struct Sent {  // an operation
    std::vector<uint8_t> octets;
    suede_socket_result result = {};
  };
  // A socket as its program sees it; of a life of a node.
  struct Open {
    uint32_t life = 0;
    uint16_t node = 0;
    uint32_t socket = 0;
    SocketParams params;
    std::vector<uint16_t> peers;
    std::vector<uint32_t> tags;  // of its channels
    bool is_open = true;         // otherwise released, or its node has ended
    bool has_closed = false;     // a sender whose close succeeded
    bool ends_soon = false;
    std::deque<Sent> sent;
    uint32_t sender_tag = 0;  // of a connected receiver
    uint16_t sender_node = 0;
    bool got_end = false;
    std::vector<uint8_t> octets;                 // a stream's, received
    std::vector<std::vector<uint8_t>> messages;  // datagrams, received
  };
  struct UnderWay {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
    size_t completion = 0;
  };
  struct Completion {
    uint64_t tag = 0;
    bool is_wanted = false;
    int status = -1;
  };
  struct Lane {
    std::deque<UnderWay> commands;
    std::vector<Completion> completions;
    size_t reported = 0;
  };
  struct Node final : BurstSink {
    int Send(const Burst& burst) override;
    SocketPlay* play = nullptr;
    uint16_t xpuid = 0;
    uint32_t life = 0;
    std::unique_ptr<Sockets> sockets;
  };

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  void Wrong(const std::string& what) {
    if (error_.empty()) error_ = what;
  }
  void Begin(Node& node);
  void AddTotals(const Sockets& sockets);
  Open* Choose(bool is_sender);

  void DoStep();
  void OpenSocket();
  void MatchSomebody(Open* open);
  void SendSomething();
  void Receive(Open& open, uint32_t max);
  void CloseSomething();
  void Release(Open& open);
  void DoFault();
  void EndLife(Node& node);
  void DropTo(uint16_t xpuid, int status);

  void Pump();
  bool MoveOn();
  void Deliver(const LaneKey& key, Lane& lane);
  bool TellCompletion(const LaneKey& key, Lane& lane);
  void Settle();
  void NoteSender(Open& open);
  void Finish();
  static bool Match(const Open& sender, std::vector<uint32_t>::const_iterator tag,
                    const Open& receiver);
  void CheckReceiver(const Open& receiver);
  static bool Matches(const Open& receiver, size_t at, const Open& sender, size_t next,
                      bool must_be_all);
  void CheckStream(const Open& receiver, const Open& sender, const std::string& which);
  static bool MatchesMessages(const Open& receiver, size_t at, const Open& sender, size_t next);

  const PlayOptions options_;
  std::mt19937_64 random_;
  std::string error_;
  std::array<Node, kNodes> nodes_;
  std::map<LaneKey, Lane> lanes_;
  std::deque<Open> opens_;
  SocketsCounters totals_;
  uint64_t ended_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace suede::message

#endif  // SUEDE_TESTS_MESSAGE_SOCKET_PLAY_H_
