// SPDX-License-Identifier: Apache-2.0
// A target: executes requests against its windows and answers them (docs/memory.md).
//
// Takes received commands, and gives responses to a sink; reads no clock and sends nothing itself.
// Memory is allocated by the constructor alone. Owned by the thread that serves requests, or
// guarded by its lock.
#ifndef SUEDE_MEM_TARGET_H_
#define SUEDE_MEM_TARGET_H_

#include <cstdint>
#include <vector>

#include "base/sue.h"
#include "mem/request.h"
#include "mem/response.h"
#include "mem/status.h"
#include "mem/window_table.h"

namespace suede::mem {

inline constexpr uint32_t kMaxPlanes = 16;

struct TargetParams {
  uint32_t planes = 1;              // 1 to kMaxPlanes
  uint32_t response_places = 4096;  // for responses that wait, of all initiators
  uint32_t places_of_one = 1024;    // of one initiator, at most
  uint32_t notice_places = 1024;
};

// Where a command goes to, or comes from.
struct Route {
  uint16_t xpuid = 0;
  uint8_t plane = 0;
  uint8_t vc = 0;
  bool operator==(const Route&) const = default;
};

class ResponseSink {
 public:
  // False: there is no credit for {xpuid, vc} now, and nothing was sent.
  virtual bool Send(const Route& to, const uint8_t* control, uint32_t control_bytes,
                    const uint8_t* data, uint32_t data_bytes) = 0;

 protected:
  ~ResponseSink() = default;
};

// A put with immediate that was executed.
struct Notice {
  uint16_t source = 0;  // XPU
  uint16_t window = 0;
  uint32_t bytes = 0;  // of the whole put, from `offset` on
  uint64_t offset = 0;
  uint32_t immediate = 0;
};

struct TargetCounters {
  uint64_t executed[9] = {};         // by Opcode; 0 is unused
  uint64_t refused[kRefusals] = {};  // by status, from kFirstRefusal on
  uint64_t foreign = 0;              // commands that are no requests
  uint64_t dropped = 0;              // requests without a place for their response
  uint64_t written_bytes = 0;        // by puts
  uint64_t read_bytes = 0;           // by gets
  uint64_t waited = 0;               // responses that waited for credit
};

class Target {
 public:
  explicit Target(const TargetParams& params);

  WindowTable& windows() { return windows_; }
  const TargetCounters& counters() const { return counters_; }

  // A command that arrived from XPU `from.xpuid` on plane `from.plane` (from.vc is ignored).
  // Acknowledgements may wait for Flush, to be joined.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes, ResponseSink& sink);
  // The end of a batch of commands, and every now and then while HasWaiting(): hands over all that
  // the sink takes, of up to `max` {initiator, VC} that wait. The next call goes on behind these.
  void Flush(ResponseSink& sink, uint32_t max = UINT32_MAX);
  // Whether responses wait for credit.
  bool HasWaiting() const { return first_active_ != kNone; }
  // The connection of a plane is new: forgets responses that wait there, as their requests are lost
  // to the initiators anyway.
  void OnPlaneLost(uint32_t plane);

  // Takes a notice. False: there is none.
  bool TakeNotice(Notice* notice);
  bool has_notices() const { return notices_in_ != notices_out_; }
  uint32_t free_notice_places() const {
    return static_cast<uint32_t>(notices_.size() - (notices_in_ - notices_out_));
  }

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Responses that wait, of one {plane, initiator, VC}: a list of places.
  struct Lane {
    uint32_t head = kNone;
    uint32_t tail = kNone;
    uint32_t next_active = kNone;  // lanes with waiting responses are a list, too
  };
  struct Place {
    uint32_t next = kNone;
    uint16_t data_bytes = 0;
    uint8_t control_bytes = 0;
    uint8_t control[kResponseControlBytes];
    uint8_t data[kRequestDataBytes];
  };
  // An acknowledgement that further requests may join.
  struct Run {
    Route to;
    Status status = Status::kOk;
    uint32_t number = 0;
    uint32_t count = 0;  // 0: there is none
  };

  uint32_t LaneOf(const Route& to) const {
    return (uint32_t{to.plane} * kMaxXpus + to.xpuid) * kVcCount + to.vc;
  }
  bool HasRoomFor(uint16_t xpuid) const;
  Status Execute(const Route& to, const Request& request, ResponseSink& sink);
  Status Write(const Route& to, const Request& request, uint8_t* memory);
  void Note(uint16_t source, const Request& request);
  void OnNotice(uint16_t source, const Request& request);
  void Acknowledge(const Route& to, uint32_t number, Status status, ResponseSink& sink);
  void EndRun(ResponseSink& sink);
  void Answer(const Route& to, const Response& response, ResponseSink& sink);
  void Keep(const Route& to, const uint8_t* control, uint32_t control_bytes,
            const Response& response);
  void AddActive(uint32_t lane);
  bool SendWaiting(uint32_t lane, ResponseSink& sink);
  void FreeFirst(uint32_t lane);

  WindowTable windows_;
  TargetCounters counters_;
  Run run_;
  std::vector<Lane> lanes_;  // [plane][XPU][VC]
  std::vector<Place> places_;
  std::vector<uint32_t> held_;  // places of each initiator
  std::vector<Notice> notices_;
  uint64_t notices_in_ = 0;
  uint64_t notices_out_ = 0;
  uint32_t first_free_ = 0;
  uint32_t free_ = 0;
  uint32_t first_active_ = kNone;
  uint32_t last_active_ = kNone;
  uint32_t places_of_one_;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_TARGET_H_
