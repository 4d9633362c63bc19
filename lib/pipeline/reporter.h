// SPDX-License-Identifier: Apache-2.0
// Publishes the state of a pipeline: gauges to the control thread, load to the clients whose queues
// it serves (docs/shared-memory.md, "Load"), and snapshots on request.
//
// The reporter reads instances and changes only their gauges. Owned by the lcore. Its time in a
// poll iteration is bounded, with any number of instances, queues and peers.
#ifndef SUEDE_PIPELINE_REPORTER_H_
#define SUEDE_PIPELINE_REPORTER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/client_table.h"
#include "lcore/instance.h"
#include "lcore/wait_snapshot.h"

namespace suede {

class Reporter {
 public:
  using Instances = std::vector<std::unique_ptr<Instance>>;

  // Both outlive the reporter.
  Reporter(const Instances& instances, ClientTable& clients)
      : instances_(instances), clients_(clients) {}
  // Adds the instance that was added to the lcore last.
  void AddInstance() { of_instances_.emplace_back(); }

  // ---- Gauges.

  Time gauges_due() const { return gauges_due_; }
  // The connections [`first`, `end`) of an instance.
  struct Counted {
    uint32_t instance = 0;
    ConnectionIndex first = 0;
    ConnectionIndex end = 0;
  };
  // Returns the connections that were counted in this call.
  Counted PublishGauges(Time now);

  // ---- Load.

  Time load_due() const { return load_due_; }
  // Does nothing without clients. A call measures a few queues at most. The load of a queue whose
  // instance is idle is published only as a heartbeat.
  void PublishLoad(Time now);
  // Publishes the load of the queues of a client that was just attached.
  void ShowLoadOf(uint32_t client, Time now);

  // ---- Snapshots.

  // Writes the state as of `now`. The requester may read a snapshot once its `done` is set, as the
  // last step.
  void Write(ConnectionSnapshot& out, Time now) const;
  void Write(PlaneSnapshot& out, Time now) const;
  void Write(WaitSnapshot& out, Time now) const;
  void Write(QueueSnapshot& out, Time now) const;

 private:
  // The state of an instance between calls.
  struct OfInstance {
    // For PublishGauges: lines that were taken and whose credit was not returned; connections by
    // state, of the present round.
    uint64_t taken_lines = 0;
    std::array<uint32_t, kConnectionStates> states{};
    uint64_t window_octets = 0;  // of congestion control
    // For PublishLoad: taken lines whose credit was not returned, of the last round over the queues
    // and of the present round.
    uint32_t credit_lines = 0;
    uint32_t counted_lines = 0;
    uint32_t round = 0;
    // Destinations, each as of its last check.
    uint32_t next_peer = 0;  // to be checked
    uint32_t paused = 0;
    uint32_t unreachable = 0;
    uint32_t map_changes = 0;
    DestinationMap paused_map;
    DestinationMap unreachable_map;
  };

  ReaderRow ReaderOf(const Instance& instance, Vc vc) const;
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
  uint32_t counting_instance_ = 0;  // where CountConnections continues
  ConnectionIndex counting_connection_ = 0;
  Time load_due_{};
  uint32_t load_next_ = 0;  // in serving(), where PublishLoad continues
  uint32_t load_round_ = 1;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_REPORTER_H_
