// SPDX-License-Identifier: Apache-2.0
// Target of memory operations: executes requests on its windows and responds (docs/memory.md).
//
// The caller passes in received commands; responses go to a sink. The class reads no clock and
// performs no I/O. Only the constructor allocates memory. Not thread-safe: owned by the thread that
// serves requests, or guarded by the caller's lock.
#ifndef SUEDE_MEM_TARGET_H_
#define SUEDE_MEM_TARGET_H_

#include <cstdint>
#include <vector>

#include "base/sue.h"
#include "mem/request.h"
#include "mem/response.h"
#include "mem/status.h"
#include "mem/window_table.h"
#include "outbound/burst.h"
#include "outbound/sender_list.h"

namespace suede::mem {

inline constexpr uint32_t kMaxPlanes = 16;

struct TargetParams {
  uint32_t planes = 1;                       // 1 to kMaxPlanes
  uint32_t response_places = 4096;           // for responses waiting for credit, of all initiators
  uint32_t max_places_per_initiator = 1024;  // maximum per initiator
  uint32_t notice_places = 1024;
};

class ResponseSink {
 public:
  // Sends a response. Returns false, and sends nothing, if {xpuid, vc} has no credit.
  virtual bool Send(const Route& to, const uint8_t* control, uint32_t control_bytes,
                    const uint8_t* data, uint32_t data_bytes) = 0;

 protected:
  ~ResponseSink() = default;
};

// Notice of an executed put with immediate.
struct Notice {
  uint16_t source = 0;  // XPU
  uint16_t window = 0;
  uint32_t bytes = 0;  // of the whole put, starting at `offset`
  uint64_t offset = 0;
  uint32_t immediate = 0;
};

struct TargetCounters {
  uint64_t executed[9] = {};         // by Opcode; 0 is unused
  uint64_t refused[kRefusals] = {};  // by status, from kFirstRefusal on
  uint64_t foreign = 0;              // commands that are not requests
  uint64_t dropped = 0;              // requests dropped for lack of a response place
  uint64_t written_bytes = 0;        // by puts
  uint64_t read_bytes = 0;           // by gets
  uint64_t waited = 0;               // responses that waited for credit
};

class Target {
 public:
  explicit Target(const TargetParams& params);

  WindowTable& windows() { return windows_; }
  const TargetCounters& counters() const { return counters_; }

  // Processes a command from XPU `from.xpuid` on plane `from.plane` (from.vc is ignored). May hold
  // an acknowledgement back until Flush, to coalesce it with others.
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes, ResponseSink& sink);
  // Sends pending responses of up to `max` waiting {plane, initiator, VC}, as far as credit
  // permits; the next call continues with the others. To be called after each batch of commands,
  // and periodically while HasWaiting().
  void Flush(ResponseSink& sink, uint32_t max = UINT32_MAX);
  // Whether responses wait for credit.
  bool HasWaiting() const { return !active_.is_empty(); }
  // Discards the responses that wait on a plane whose daemon connection was lost; the initiators
  // treat their requests as lost.
  void OnPlaneLost(uint32_t plane);

  // Removes the oldest notice. Returns false if there is none.
  bool TakeNotice(Notice* notice);
  bool has_notices() const { return notices_in_ != notices_out_; }
  uint32_t free_notice_places() const {
    return static_cast<uint32_t>(notices_.size() - (notices_in_ - notices_out_));
  }

  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Queue of the responses of one {plane, initiator, VC} that wait for credit.
  struct Lane {
    uint32_t head = kNone;
    uint32_t tail = kNone;
  };
  struct Place {
    uint32_t next = kNone;
    uint16_t data_bytes = 0;
    uint8_t control_bytes = 0;
    uint8_t control[kResponseControlBytes];
    uint8_t data[kRequestDataBytes];
  };
  // A pending acknowledgement, which further requests may extend.
  struct Run {
    Route to;
    Status status = Status::kOk;
    uint32_t number = 0;
    uint32_t count = 0;  // 0: none pending
  };

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
  bool SendWaiting(uint32_t lane, ResponseSink& sink);
  void FreeFirst(uint32_t lane);

  WindowTable windows_;
  TargetCounters counters_;
  Run run_;
  std::vector<Lane> lanes_;  // [plane][XPU][VC]
  SenderList active_;        // lanes with waiting responses
  std::vector<Place> places_;
  std::vector<uint32_t> held_;  // places in use, by initiator
  std::vector<Notice> notices_;
  uint64_t notices_in_ = 0;
  uint64_t notices_out_ = 0;
  uint32_t first_free_ = 0;
  uint32_t free_ = 0;
  uint32_t places_of_one_;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_TARGET_H_
