// SPDX-License-Identifier: Apache-2.0
// Eight XPUs, each an initiator and a target of lib/mem, over a network that does to commands what
// an endpoint may: it delays them, in unordered mode reorders them, and where a target restarts, is
// unreachable or an initiator's daemon goes, loses them and says so as the daemon would.
//
// Every request that is delivered is executed by a sequential model as well, and every answer is
// compared with the model's.
#ifndef SUEDE_TESTS_MEM_MEMORY_PLAY_H_
#define SUEDE_TESTS_MEM_MEMORY_PLAY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mem/initiator.h"
#include "mem/target.h"
#include "memory_model.h"

namespace suede::mem {

inline constexpr uint16_t kNodes = 8;
inline constexpr uint32_t kMemoryBytes = 2048;

// A step of an XPU's program.
struct Step {
  enum class Kind : uint8_t {
    kOperation,
    kMany,
    kWriteBarrier,
    kReadBarrier,
    kRestartTarget,
    kUnreachable,
    kLosePlane,
  };
  Kind kind = Kind::kOperation;
  Call call;                      // source, room, key and result are filled in
  std::vector<uint16_t> targets;  // of kMany
  bool has_stale_key = false;
  uint8_t fill = 0;  // of the octets of a put
  bool IsFault() const { return kind >= Kind::kRestartTarget; }
};
using Program = std::vector<Step>;
std::string Describe(const Step& step);

// An operation that was started, or a part of a multicast.
struct Tracked {
  uint16_t source = 0;
  Call call;
  suede_mem_result result = {};
  std::vector<uint8_t> octets;  // of a put, or the room of a get
  uint64_t sent_bytes = 0;
  bool is_sent = false;
  bool is_part = false;
  bool is_disturbed = false;      // a request of it was refused or lost
  std::vector<uint32_t> numbers;  // of its requests
};

class MemoryPlay {
 public:
  // `is_served_by_lcore`: the targets do not execute requests, but take notices of those that do.
  MemoryPlay(uint64_t seed, bool is_unordered, bool is_served_by_lcore = false);
  virtual ~MemoryPlay() = default;
  MemoryPlay(const MemoryPlay&) = delete;
  MemoryPlay& operator=(const MemoryPlay&) = delete;

  // Runs the programs to their end. Returns what went wrong; empty where all is right.
  std::string Run(const std::array<Program, kNodes>& programs);

 protected:
  static constexpr uint32_t kRequestVcs = 0b0101;
  static constexpr uint8_t kResponseVc = 1;

  struct Command {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
    uint32_t number = 0;            // of a request
    bool wants_completion = false;  // of a request
  };
  struct Node final : BurstSink, ResponseSink {
    int Send(const Burst& burst) override;
    bool Send(const Route& to, const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
              uint32_t data_bytes) override;
    MemoryPlay* play = nullptr;
    uint16_t xpuid = 0;
    std::unique_ptr<Initiator> initiator;
    std::unique_ptr<Target> target;
    alignas(8) uint8_t memory[kMemoryBytes] = {};
    MemoryModel model{kMemoryBytes};
    size_t next_step = 0;
  };
  using LaneKey = std::array<uint16_t, 3>;  // from, to, VC

  // ---- The network. False: there is no room now.
  virtual bool OfferRequest(const LaneKey& key, const Command& command) = 0;
  virtual bool OfferResponse(const LaneKey& key, const Command& command) = 0;
  // Moves on by something. False: nothing is under way.
  virtual bool MoveOn() = 0;
  // Whether anything is under way, or comes to be so without a call.
  virtual bool IsMoving() = 0;
  // Faults; see Step.
  virtual void RestartTarget(Node& node) = 0;
  virtual void MakeUnreachable(uint16_t xpuid) = 0;
  virtual void LosePlane(Node& node) = 0;

  // ---- Events that the network brings.
  void OnRequest(const LaneKey& key, const Command& command);
  // The model's part of it, for a request that was executed elsewhere, or is.
  void Check(const LaneKey& key, const Command& command);
  void OnResponse(const LaneKey& key, const Command& command);
  void OnCompletion(const LaneKey& key, uint32_t number, int status);
  // A request that may have been lost.
  void Disturb(uint16_t source, uint32_t number);
  // Forgets all commands of the XPU that wait to be sent.
  void ForgetUnsent(uint16_t source);

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  void Wrong(const std::string& what) {
    if (error_.empty()) error_ = what;
  }
  void MakeTarget(Node& node);
  Node& node(uint16_t xpuid) { return nodes_[xpuid]; }
  bool is_unordered() const { return is_unordered_; }
  bool is_served_by_lcore() const { return is_elsewhere_; }

 private:
  bool MovesAtAll();
  bool DoStep(Node& node, const Step& step);
  void StartStep(Node& node, const Step& step);
  Tracked& Record(Node& node, const Call& call, const Step& step);
  void CheckSent(const LaneKey& key, const Command& command);
  bool MatchesNext(const Tracked& operation, const Command& command) const;
  void CheckNotice(uint16_t source, uint32_t number);
  void CheckBarrier(const Node& node, const Step& step);
  void CheckOperation(const Tracked& operation, bool is_complete);
  void CheckEnd();

  const bool is_unordered_;
  const bool is_elsewhere_;
  std::mt19937_64 random_;
  std::string error_;
  std::array<Node, kNodes> nodes_;
  std::map<LaneKey, std::deque<Tracked*>> to_send_;  // operations with requests to be sent
  std::deque<Tracked> operations_;
  std::map<std::pair<uint16_t, uint32_t>, Tracked*> by_number_;  // {source, number}
  std::map<std::pair<uint16_t, uint32_t>, Verdict> verdicts_;    // of executed requests
  bool has_faults_ = false;
  uint32_t next_key_ = 1;
  Time now_{};
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_MEMORY_PLAY_H_
