// SPDX-License-Identifier: Apache-2.0
// The data path of one lcore: from clients' rings to ports and back, run to completion.
//
// Poll is one poll iteration, and lists its steps in order. lib/send has the path of a command from
// ring to wire, lib/receive the path back; lib/peer makes the decisions about a peer, and
// effector.cc executes them. This room has the poll iteration, the set-up of a pipeline, and the
// requests of the control thread (request_work.h). The thread that calls Poll owns everything
// except the mailbox and the counters.
#ifndef SUEDE_PIPELINE_PIPELINE_H_
#define SUEDE_PIPELINE_PIPELINE_H_

#include <cstdint>

#include "lcore/lcore.h"
#include "lcore/mailbox.h"
#include "pipeline/drop_watch.h"
#include "pipeline/due_timers.h"
#include "pipeline/effector.h"
#include "pipeline/plane_watch.h"
#include "pipeline/reporter.h"
#include "pipeline/request_server.h"
#include "pipeline/request_work.h"
#include "pipeline/sampler.h"
#include "pipeline/seal_work.h"
#include "pipeline/settings_work.h"
#include "pipeline/tracer.h"
#include "receive/ack_scheduler.h"
#include "receive/congestion_grants.h"
#include "receive/credit_grants.h"
#include "receive/deliver.h"
#include "receive/pause_requester.h"
#include "receive/receiver.h"
#include "receive/refusals.h"
#include "send/ack_processor.h"
#include "send/completions.h"
#include "send/congestion_use.h"
#include "send/credit_use.h"
#include "send/path_prober.h"
#include "send/pauses.h"
#include "send/ping_sender.h"
#include "send/ring_drainer.h"
#include "send/run_queue.h"
#include "send/share_book.h"
#include "send/stage.h"
#include "serve/served_targets.h"

namespace suede {

// A component that shares the lcore: called once in a poll iteration, between receiving and
// transmitting.
class PollHook {
 public:
  virtual ~PollHook() = default;
  // Returns whether there was work.
  virtual bool Poll(Time now) = 0;
};

class Pipeline {
 public:
  static constexpr uint32_t kMaxClients = ClientTable::kMaxClients;
  static constexpr uint32_t kMaxQueues = ClientTable::kMaxQueues;

  Pipeline();

  // ---- Set-up, before the first Poll. Numbers count from 0. `packets`, if not null, outlives the
  // pipeline.
  uint32_t AddPort(Port* port, const PortParams& params, PacketLane* packets = nullptr);
  // Adds a queue pair of the port's device. Its number counts as a port's: instances assigned to it
  // send on it. Each of the device's pairs receives for the instances of all pairs.
  uint32_t AddPair(uint32_t port, Port* pair);
  uint32_t AddInstance(const InstanceParams& params);
  // Obeys pauses of the port's neighbour, and requests pauses (docs/pfc.md). `pauses` is the
  // device's, and outlives the pipeline; `sends`: queue pair `pair` sends its frames. To be called
  // for each of the device's queue pairs, before its instances are added.
  void SetPauses(uint32_t pair, PortPauses* pauses, bool sends);
  // Another lcore serves the port's device, too. To be called after every AddPair.
  void SharePort(uint32_t port, const PortNeighbour& neighbour);
  // The crypto device of instances that seal; outlives the pipeline. To be called before those
  // instances are added.
  void SetCrypto(Crypto* crypto) { lcore_.crypto = crypto; }
  void SetHook(PollHook* hook) { hook_ = hook; }
  // Polled every 64 us, when the load of clients' queues is published; it outlives the pipeline.
  void SetWaitPoller(PollHook* wait_poller) { wait_poller_ = wait_poller; }

  // ---- Operation.

  // One poll iteration. Returns whether there was work.
  bool Poll(Time now);
  // Counts the cycles of a poll iteration, including the wait after it; called by the caller of
  // Poll.
  void CountCycles(bool busy, uint64_t cycles) {
    lcore_.counters.Add(busy ? Counter::kBusyCycles : Counter::kIdleCycles, cycles);
  }

  // The control thread's side.
  Mailbox& mailbox() { return mailbox_; }
  const CounterBlock& counters(uint32_t instance) const {
    return lcore_.instances[instance]->stats.counters;
  }
  const GaugeBlock& gauges(uint32_t instance) const {
    return lcore_.instances[instance]->stats.gauges;
  }
  const HistogramBlock& histograms(uint32_t instance) const {
    return lcore_.instances[instance]->stats.histograms;
  }
  // Frames and drops that belong to no instance.
  const CounterBlock& port_counters() const { return lcore_.counters; }
  uint32_t instance_count() const { return static_cast<uint32_t>(lcore_.instances.size()); }
  // Number of SetPort, SetInstance, SetPlane and SetWeight that have taken effect.
  uint32_t admin_done() const { return requests_.done(); }
  // The outcome of the last Ping of the instance.
  const PingBoard& ping_board(uint32_t instance) const {
    return lcore_.instances[instance]->ping.board;
  }

  // The tap of frames that are received on a port, or on a queue pair of its device, and dropped.
  TapPoint& drop_tap(uint32_t port) { return lcore_.ports[port]->drops; }

  // For tests: no record waits in a ring, and Lcore::IsIdle.
  bool IsQuiet() const;
  const Instance& instance(uint32_t number) const { return *lcore_.instances[number]; }
  void CheckInvariants() const;

 private:
  bool PollPort(PortContext& port, Time now);
  uint64_t Process(PortContext& port, Frame* const* frames, uint32_t count, Time now);
  uint64_t ProcessWatched(PortContext& port, Frame* const* frames, uint32_t count, Time now);
  bool StagePdus(Time now);
  void ObeyPauses(Time now);
  bool RequestPauses(Time now);
  void EmitStorm(const PortContext& port, VcMask flows);
  void FollowLinkSpeeds();
  void Report(Time now);

  Mailbox mailbox_;
  Lcore lcore_{mailbox_.events};

  // From ring to wire.
  RunQueue run_queue_;
  ShareBook shares_{lcore_, run_queue_};
  Completions completions_{lcore_, run_queue_, shares_};
  CreditUse credit_use_{lcore_, run_queue_, completions_};
  CongestionUse congestion_{lcore_, run_queue_};
  RingDrainer ring_drainer_{lcore_, run_queue_};
  Stager stager_{lcore_, run_queue_, shares_, completions_, credit_use_, congestion_};
  // From wire to ring.
  AckProcessor ack_processor_{{.lcore = lcore_,
                               .run_queue = run_queue_,
                               .completions = completions_,
                               .congestion = congestion_,
                               .stager = stager_}};
  AckScheduler ack_scheduler_{lcore_};
  CreditGranter granter_{ClientTable::kMaxClients};
  CreditGrants grants_{lcore_, granter_};
  CongestionGrants congestion_grants_{lcore_};
  Deliverer deliverer_{lcore_, granter_};
  Refusals refusals_{lcore_};
  PauseRequester pause_requester_{lcore_};
  EarlyKeeper early_keeper_{lcore_};
  Receiver receiver_{{.lcore = lcore_,
                      .granter = granter_,
                      .congestion_grants = congestion_grants_,
                      .deliverer = deliverer_,
                      .refusals = refusals_,
                      .pause_requester = pause_requester_,
                      .early_keeper = early_keeper_},
                     ack_processor_};
  DropWatch drop_watch_{lcore_};
  // Decisions about peers.
  Pauses pauses_{lcore_};
  Effector effector_{{.lcore = lcore_,
                      .run_queue = run_queue_,
                      .completions = completions_,
                      .credit_use = credit_use_,
                      .congestion = congestion_,
                      .stager = stager_,
                      .granter = granter_,
                      .grants = grants_,
                      .congestion_grants = congestion_grants_,
                      .pauses = pauses_}};
  DueTimers due_timers_{lcore_, credit_use_, pauses_, effector_};
  PlaneWatch planes_{lcore_, effector_};
  // Requests of the control thread, and reports to it.
  SettingsWork settings_{lcore_, run_queue_, shares_, effector_};
  PingSender pings_{lcore_};
  PathProber path_prober_{lcore_};
  SealWork seals_{lcore_, effector_};
  Reporter reporter_{lcore_.instances, lcore_.clients};
  Sampler sampler_{lcore_, congestion_grants_};
  Tracer tracer_{lcore_};
  ServedTargets targets_{lcore_.clients};
  RequestServer requests_{mailbox_,  lcore_.clients, targets_,
                          reporter_, lcore_.ports,   lcore_.instances};
  RequestWork request_work_;
  PollHook* hook_ = nullptr;
  PollHook* wait_poller_ = nullptr;
  bool has_pauses_ = false;  // a port obeys pauses, or sends on credit
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_PIPELINE_H_
