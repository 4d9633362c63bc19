// SPDX-License-Identifier: Apache-2.0
// The clients of one lcore: their queues, which of them are served, their receive rings, and the
// claimants of the VCs of each instance.
//
// The table never calls the data path. The caller applies the effect of a change on PDUs and
// credit, which follows from its verdicts and from claimant(). Owned by the lcore. Allocates after
// AddInstance only in Attach (the credit accounts of a new queue).
#ifndef SUEDE_CLIENT_CLIENT_TABLE_H_
#define SUEDE_CLIENT_CLIENT_TABLE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "client/slots.h"
#include "stats/counters.h"

namespace suede {

enum class ClientVerdict : uint8_t {
  kDone,
  kBusy,     // no room for more clients or queues
  kClaimed,  // another client has claimed one of the VCs, or the client has not and cannot give it
             // up
  kUnknown,  // no such client, queue or instance; or a client that is attached already
};

// A client whose queues are to be served.
struct NewClient {
  uint32_t client = 0;
  void* segment = nullptr;
  const SegmentShape* shape = nullptr;
  const uint32_t* queue_instances = nullptr;  // of each queue
  const uint8_t* queue_vc_masks = nullptr;    // VCs that each may send on; nullptr: all
};

class ClientTable {
 public:
  static constexpr uint32_t kMaxClients = 64;
  static constexpr uint32_t kMaxQueues = 256;
  static constexpr uint32_t kNone = ~0u;  // no slot

  ClientTable();

  // Adds an instance, with the next number, whose VCs may be claimed.
  void AddInstance() {
    claimants_.emplace_back().fill(kNone);
    in_service_.push_back(true);
  }

  // ---- Attachment and detachment.

  // Attaches a client. The published states of its queues do not change before Open.
  ClientVerdict Attach(const NewClient& client);
  // Publishes to the client that its queues may be used.
  void Open(uint32_t client);
  // The client is gone: no more commands are delivered to it, commands that it had handed over are
  // still taken. Its claims end at once.
  ClientVerdict Detach(uint32_t client);
  bool detaching() const { return detaching_; }
  // Stops serving empty queues whose clients are gone.
  void RetireQueues();
  // Returns a client that has detached and whose queues are no longer served, each client once.
  std::optional<uint32_t> TakeDetached();

  // ---- Claims: commands for {instance, VC} go to one client.

  ClientVerdict Claim(uint32_t client, InstanceIndex instance, uint32_t vc_mask);
  ClientVerdict Unclaim(uint32_t client, InstanceIndex instance, uint32_t vc_mask);
  // The slot of the client that has claimed the VC; kNone: none has.
  uint32_t claimant(uint32_t instance, uint32_t vc) const { return claimants_[instance][vc]; }

  // ---- Reset of a queue.

  // BeginReset returns the queue's slot, or kNone. Between both calls the caller takes and discards
  // the queue's records.
  uint32_t BeginReset(uint32_t client, uint16_t queue);
  void EndReset(uint32_t number);

  // ---- The end of service: from BeginDrain on, at most a ring of records is taken from a queue.

  void BeginDrain();
  bool draining() const { return draining_; }
  // Whether all records that the rings held at BeginDrain were taken.
  bool IsDrained() const;
  // No record is taken from now on.
  void EndDrain();

  // ---- States of queues and VCs, published to their clients.

  // Sets whether an operator has the instance in service.
  void SetService(uint32_t instance, bool in_service) { in_service_[instance] = in_service; }
  void ShowStates();
  // Publishes that the daemon no longer serves the queue. Returns whether this is new.
  static bool ShowBroken(QueueSlot& slot);
  // Whether to emit an event for a command of the queue with the error mark: max a few times a
  // second, or one client would take the room of all other events.
  static bool MayEmitError(QueueSlot& slot, Time now);

  // ---- The data path's side.

  // Numbers of the queues to poll.
  const std::vector<uint16_t>& serving() const { return serving_; }
  const std::vector<QueueSlot>& queues() const { return queues_; }
  QueueSlot& queue(uint32_t number) { return queues_[number]; }
  const QueueSlot& queue(uint32_t number) const { return queues_[number]; }
  ClientSlot& client(uint32_t slot) { return clients_[slot]; }
  RxRingWriter& ring(uint32_t client, uint32_t vc) { return clients_[client].rings[vc]; }
  const RxRingWriter& ring(uint32_t client, uint32_t vc) const {
    return clients_[client].rings[vc];
  }
  // The slot of a client by its number; kNone: there is none.
  uint32_t Find(uint32_t client) const;

  // One of the queue's tagged commands has ended.
  void Complete(uint16_t number, uint64_t tag, uint16_t xpuid, uint8_t vc, uint8_t status,
                CounterBlock& counters) {
    QueueSlot& slot = queues_[number];
    if (slot.state != QueueSlot::State::kServing) return;
    if (!slot.completions.Push(tag, xpuid, vc, status)) {
      counters.Add(Counter::kCompletionsLost);
      return;
    }
    counters.Add(Counter::kCompletions);
    if (slot.completions_dirty) return;
    slot.completions_dirty = true;
    dirty_queues_.push_back(number);
  }
  // One of the queue's runs has ended.
  static void EndRun(QueueSlot& slot) {
    if (--slot.runs == 0 && slot.state == QueueSlot::State::kGone) {
      slot.state = QueueSlot::State::kFree;
    }
  }
  // Records were written to the client's ring.
  void MarkReceived(ClientSlot& client, uint32_t vc) {
    if (client.dirty[vc]) return;
    client.dirty[vc] = true;
    dirty_clients_.push_back(&client);
  }
  // Publish the completions and the received commands since the last call to clients.
  void PublishCompletions();
  void PublishReceived();

  // For tests: aborts if the table contradicts itself.
  void CheckInvariants() const;

 private:
  uint32_t FreeClient() const;
  bool MayClaim(uint32_t slot, InstanceIndex instance, uint32_t vc_mask, bool claim) const;
  ClientVerdict SetClaims(uint32_t client, InstanceIndex instance, uint32_t vc_mask, bool claim);
  uint32_t StateOf(const QueueSlot& slot) const;
  void ShowReceiveStates(uint32_t slot);
  bool IsServed(uint32_t client) const;

  std::vector<QueueSlot> queues_;
  std::vector<uint16_t> serving_;
  std::vector<ClientSlot> clients_;
  std::vector<std::array<uint32_t, kVcCount>> claimants_;  // [instance][VC]: slots
  std::vector<bool> in_service_;                           // [instance]
  std::vector<uint16_t> dirty_queues_;                     // with completions to be published
  std::vector<ClientSlot*> dirty_clients_;                 // with received commands to be published
  bool detaching_ = false;                                 // a client is detaching
  bool draining_ = false;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_TABLE_H_
