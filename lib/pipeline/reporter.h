// SPDX-License-Identifier: Apache-2.0
// What a pipeline shows of itself: gauges to the control thread, load to the clients whose queues
// it serves (docs/shared-memory.md, "Load"), and snapshots to an asker.
//
// The reporter reads instances and changes nothing of them but their gauges. Owned by the lcore.
// The time of a turn here is bounded, with any number of instances, queues and peers.
#ifndef SUEDE_PIPELINE_REPORTER_H_
#define SUEDE_PIPELINE_REPORTER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/client_table.h"
#include "lcore/instance.h"
#include "lcore/snapshot.h"

namespace suede {

class Reporter {
 public:
  using Instances = std::vector<std::unique_ptr<Instance>>;

  // Both outlive the reporter.
  Reporter(const Instances& instances, ClientTable& clients)
      : instances_(instances), clients_(clients) {}
  // For the instance that was added last.
  void AddInstance() { of_instances_.emplace_back(); }

  // ---- Gauges.

  Time gauges_due() const { return gauges_due_; }
  // The connections from `first` up to `end` of an instance, which has some.
  struct Counted {
    uint32_t instance = 0;
    ConnectionIndex first = 0;
    ConnectionIndex end = 0;
  };
  // Returns those connections that were looked at this time.
  Counted PublishGauges(Time now);

  // ---- Load.

  Time load_due() const { return load_due_; }
  // Costs nothing without clients. A call looks at a few queues at most. The load of a queue whose
  // instance is idle is published with a heartbeat only.
  void PublishLoad(Time now);
  // Publishes the load of the queues of a client that was attached just now.
  void ShowLoadOf(uint32_t client, Time now);

  // ---- Snapshots.

  // As of now. The asker may read them once their `done` is set, which is the last thing.
  void Write(ConnectionSnapshot& out, Time now) const;
  void Write(PlaneSnapshot& out, Time now) const;
  void Write(QueueSnapshot& out, Time now) const;

 private:
  // The state of an instance from look to look.
  struct OfInstance {
    // For PublishGauges: lines that were taken and whose credit was not returned; connections by
    // state, of the round that is under way.
    uint64_t taken_lines = 0;
    std::array<uint32_t, kConnectionStates> states{};
    uint64_t window_octets = 0;  // of congestion control
    // For PublishLoad: taken lines whose credit was not returned, of the last round over the queues
    // and of the round under way.
    uint32_t credit_lines = 0;
    uint32_t counted_lines = 0;
    uint32_t round = 0;
    // Destinations, each as of the last look at it.
    uint32_t next_peer = 0;  // to be looked at
    uint32_t paused = 0;
    uint32_t unreachable = 0;
    uint32_t map_changes = 0;
    DestinationMap paused_map;
    DestinationMap unreachable_map;
  };

  Counted CountConnections();
  void MeasureLoad(QueueSlot& slot, Time now);
  void ShowLoad(QueueSlot& slot, Time now);
  void CheckDestinations(const Instance& instance);
  static DestinationState DestinationOf(const Instance& instance, const QueueSlot& slot,
                                        uint16_t xpuid);

  const Instances& instances_;
  ClientTable& clients_;
  std::vector<OfInstance> of_instances_;
  Time gauges_due_{};
  uint32_t counting_instance_ = 0;  // where CountConnections goes on
  ConnectionIndex counting_connection_ = 0;
  Time load_due_{};
  uint32_t load_next_ = 0;  // in serving(), where PublishLoad goes on
  uint32_t load_round_ = 1;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_REPORTER_H_
