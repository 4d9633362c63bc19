// One SUE instance: everything that an lcore keeps for one {XPU, instance number}.
#ifndef SUEDE_PIPELINE_INSTANCE_H_
#define SUEDE_PIPELINE_INSTANCE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "pack/scheduler.h"
#include "pipeline/params.h"
#include "pipeline/settings.h"
#include "pipeline/snapshot.h"
#include "stats/counters.h"
#include "stats/gauges.h"
#include "stats/histograms.h"
#include "transport/connection.h"
#include "transport/handshake.h"
#include "wire/encap.h"

namespace suede {

// What an instance tells of itself: written by its lcore, read by anybody.
struct InstanceStats {
  CounterBlock counters;
  GaugeBlock gauges;
  HistogramBlock histograms;
};

struct Instance {
  static constexpr uint16_t kNoPeer = 0xffff;
  static constexpr uint32_t kNoClient = ~0u;
  static constexpr uint32_t kAckClass = kVcCount;  // of PDUs without commands
  static constexpr uint32_t kClasses = kVcCount + 1;

  Instance(const InstanceParams& instance_params, const PortParams& port_params,
           InstanceStats* stats);

  uint32_t ConnectionIndex(uint32_t peer, uint32_t vc) const {
    return params.transport.psn_scope == PsnScope::kVc ? peer * kVcCount + vc : peer;
  }
  uint32_t PeerOfConnection(uint32_t connection) const {
    return params.transport.psn_scope == PsnScope::kVc ? connection / kVcCount : connection;
  }
  uint8_t VcOfConnection(uint32_t connection) const {
    return params.transport.psn_scope == PsnScope::kVc
               ? static_cast<uint8_t>(connection % kVcCount) : 0;
  }
  const HeaderTemplate& header(uint32_t peer, uint32_t traffic_class) const {
    return headers[peer * kClasses + traffic_class];
  }
  ConnectionState StateOf(uint32_t connection) const;
  // Whether PDUs were ever exchanged with the peer since it or we started.
  bool HasHistory(uint32_t peer) const;

  // What the settings of a running pipeline change: see settings.h.
  void Take(const Settings& settings);
  // The headers of a peer, by its parameters and the classes.
  void WriteHeaders(uint32_t peer, const PortParams& port_params);

  InstanceParams params;
  uint32_t widest_window = 0;  // PDUs that a window has ever been, for CheckInvariants
  CounterBlock& counters;
  GaugeBlock& gauges;
  HistogramBlock& histograms;
  uint32_t number = 0;       // in the pipeline
  uint32_t first_timer = 0;  // of the connections' timers, then the handshakes'
  uint32_t ack_list = 0;     // which of its port's ack_due has its delay

  std::array<uint16_t, kMaxXpus> peer_of_xpu;
  std::vector<HeaderTemplate> headers;      // [peer * kClasses + class]
  std::vector<Connection> connections;      // [ConnectionIndex]
  std::vector<Handshake> handshakes;        // [peer]
  std::vector<uint8_t> resolving;           // [peer]: its MAC address is not known yet
  std::vector<uint8_t> blocked;             // [connection]: VCs whose queue waits for it, a mask
  std::vector<uint8_t> flags;               // [connection]: the lists below that it is on
  static constexpr uint8_t kOnAckList = 1;
  static constexpr uint8_t kOnAckNow = 2;
  static constexpr uint8_t kOnRetransmit = 4;
  Scheduler scheduler;
  bool on_active_list = false;
  bool down = false;  // by the operator: nothing leaves, what comes is dropped, time stands still
  std::vector<bool> mismatched;  // [peer]: it speaks with another PSN scope, and that was told
  uint32_t inflight = 0;         // PDUs, and octets of commands in them
  uint64_t inflight_bytes = 0;
  uint32_t queued = 0;           // PDUs packed and not yet sent
  // Of Pipeline::PublishGauges: lines that were taken and whose credit was not returned;
  // connections by state, of the round that is under way.
  uint64_t credit_lines = 0;
  std::array<uint32_t, kConnectionStates> survey{};

  std::array<uint32_t, kVcCount> claimed_by;  // index of the client slot
  std::array<PduList, kVcCount> unclaimed;    // accepted PDUs that wait for a client
  std::array<uint32_t, kVcCount> unclaimed_count{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_INSTANCE_H_
