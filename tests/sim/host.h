// SPDX-License-Identifier: Apache-2.0
// A machine of the world: ports, a daemon on them and the daemon's one client. The daemon may die,
// and with it the client; another life of both begins with another epoch and empty hands.
#ifndef SUEDE_TESTS_SIM_HOST_H_
#define SUEDE_TESTS_SIM_HOST_H_

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "client/client_queue.h"
#include "content.h"
#include "lcore/secrets_update.h"
#include "lcore/settings.h"
#include "pipeline/pipeline.h"
#include "sim/sim.h"
#include "wiring.h"

namespace suede {

class Host {
 public:
  // A command whose completion was asked for; its tag is its index.
  struct Tagged {
    StreamName stream;
    uint32_t sequence;
    uint32_t known_life;  // of the destination, that we had heard of when it was sent
    bool completed;
  };

  // A command that the daemon has not taken yet.
  struct InRing {
    StreamName stream;
    uint32_t sequence;
    uint32_t end;  // of it in the ring
  };

  Host(uint32_t host_number, std::vector<SimPort*> host_ports)
      : number(host_number), ports(std::move(host_ports)) {}

  uint32_t packed_pdus = 0;  // as PortParams has it
  bool pfc = false;          // its ports obey pauses and ask for them
  PauseParams pause_params;
  std::optional<uint8_t> trimmed_dscp;  // as PortParams has it
  LinkParams link;  // of its ports
  Crypto* crypto = nullptr;  // where it seals
  uint32_t secrets = 0;      // that it has

  void Boot(const InstanceParams& params, const Wiring& wiring, const SegmentShape& shape,
            Time now);
  // The process is gone, and its memory with it. SimPort::Restart says what becomes of its frames.
  void TearDown();

  bool alive() const { return pipeline_ != nullptr; }
  Pipeline& pipeline() { return *pipeline_; }
  const Pipeline& pipeline() const { return *pipeline_; }
  uint32_t boots() const { return boots_; }
  uint32_t life() const { return boots_ - 1; }
  // The life that a host that boots now may hear of.
  uint32_t known_life() const { return alive() ? boots_ - 1 : boots_; }
  void Claim(uint8_t vcs = 0xf);
  // Positions in a queue's ring: behind the last command that was flushed, and behind the last one
  // that the daemon has taken.
  uint32_t SentUpTo(uint32_t queue) const { return RingOf(queue).head.value; }
  uint32_t TakenUpTo(uint32_t queue) const { return RingOf(queue).tail.value; }

  uint64_t Count(Counter counter) const {
    return pipeline_->counters(0).Get(counter) + pipeline_->port_counters().Get(counter);
  }

  const uint32_t number;
  const std::vector<SimPort*> ports;  // of the planes
  uint32_t to_send = 0;
  uint32_t burst = 0;  // of these, commands that its client is about to send
  Time next_burst{};
  Time asleep_until{};  // it is stopped, and goes on then
  Time runs_until{};    // where the CPU is scarce: it has the CPU until then,
  Time next_run{};      // and again from then on
  Time died_at{};
  Time back_at{};                              // a dead one boots then
  std::array<uint64_t, kCounterCount> past{};  // the counts of former lives

  // ---- State of this life.
  bool claimed = false;
  std::vector<ClientQueue> queues;
  std::vector<ClientReceiver> receivers;
  std::vector<std::deque<InRing>> in_ring;  // by queue
  std::deque<uint32_t> owes;                // hosts whose requests have no answer yet
  std::vector<Tagged> tags;
  uint32_t completions = 0;
  std::vector<uint32_t> known_lives;  // of each host: see Tagged
  std::vector<uint32_t> met_lives;    // of each host: nothing of earlier ones is accepted any more
  SettingsChange change;
  bool wants_secrets = false;  // of another partition
  bool SetSecrets(uint16_t partition);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const suede_ring& RingOf(uint32_t queue) const;

  uint32_t boots_ = 0;
  SegmentShape shape_;
  std::unique_ptr<void, Free> segment_;
  std::vector<std::unique_ptr<PortPauses>> pauses_;  // of its ports
  SecretsUpdate secrets_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_HOST_H_
