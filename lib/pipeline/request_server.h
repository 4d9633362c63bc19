// SPDX-License-Identifier: Apache-2.0
// The lcore's side of requests of the control thread: serves clients, administration and snapshots,
// and returns the rest as values.
//
// The server never calls the data path. A request that concerns PDUs, credit or peers leaves a
// value in todo(); the caller executes it, then lets the server answer:
//
//   while (server.Next(now)) {
//     …execute server.todo()…
//     server.Answer();
//   }
//
// Owned by the lcore, except done(), which any thread may read. Nothing here allocates, except the
// credit accounts of a client that attaches.
#ifndef SUEDE_PIPELINE_REQUEST_SERVER_H_
#define SUEDE_PIPELINE_REQUEST_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/coordinates.h"
#include "client/client_table.h"
#include "lcore/instance.h"
#include "lcore/mailbox.h"
#include "lcore/port_context.h"
#include "pipeline/reporter.h"
#include "serve/served_targets.h"

namespace suede {

// The rest of a request that has been served.
namespace todo {

// The claimants of {instance, vc_mask} have changed, or have claimed again.
struct ClaimsMoved {
  uint32_t instance = 0;
  uint8_t vc_mask = 0;
};
// Claims of any instance have ended.
struct ClientLeft {};
// The records that the queue of this slot still holds are to be discarded.
struct QueueInReset {
  uint16_t queue = 0;
};
// The instance takes part again.
struct InstanceUp {
  uint32_t instance = 0;
};
// An operator has changed the setting of the plane, one of several.
struct PlaneSet {
  uint32_t instance = 0;
  PlaneIndex plane = 0;
};

}  // namespace todo

// These requests concern peers and are left to the caller unchanged; their instance exists.
using Todo = std::variant<std::monostate, todo::ClaimsMoved, todo::ClientLeft, todo::QueueInReset,
                          todo::InstanceUp, todo::PlaneSet, request::Record, request::Trace,
                          request::ChangeSettings, request::SetPeerMac, request::LosePeer,
                          request::SetWeight, request::Ping, request::ProbePath,
                          request::SetSecrets, request::SetPeerSecrets, request::RotateKeys>;

class RequestServer {
 public:
  using Ports = std::vector<std::unique_ptr<PortContext>>;
  using Instances = std::vector<std::unique_ptr<Instance>>;

  // All arguments outlive the server.
  RequestServer(Mailbox& mailbox, ClientTable& clients, ServedTargets& targets, Reporter& reporter,
                const Ports& ports, const Instances& instances)
      : mailbox_(mailbox),
        clients_(clients),
        targets_(targets),
        reporter_(reporter),
        ports_(ports),
        instances_(instances) {}

  // Serves the next request. Returns false if there is none.
  bool Next(Time now);
  const Todo& todo() const { return todo_; }
  // The request is done: answers it.
  void Answer();

  // Called once in a poll iteration: answers requests whose clients are gone by now,
  void FinishDetaching() {
    if (clients_.detaching()) EndDetaching();
  }
  // and the Drain, if all records were taken and acknowledged. `is_idle`: see Lcore::IsIdle.
  void FinishDraining(bool is_idle);

  // Number of administration requests that have taken effect.
  uint32_t done() const { return done_.load(std::memory_order_acquire); }

 private:
  // How the served request is answered.
  enum class Answering : uint8_t {
    kNot,     // not, or not yet
    kReply,   // by reply_
    kCount,   // by done()
    kStates,  // by done(), and the service state is published to clients
  };

  Todo Serve(const request::Attach& asked);
  Todo Serve(const request::AttachTarget& asked);
  Todo Serve(const request::SetWindow& asked);
  Todo Serve(const request::Detach& asked);
  Todo Serve(const request::Claim& asked);
  Todo Serve(const request::Unclaim& asked);
  Todo Serve(const request::ResetQueue& asked);
  Todo Serve(const request::Drain& asked);
  Todo Serve(const request::SetPort& asked);
  Todo Serve(const request::SetInstance& asked);
  Todo Serve(const request::SetPlane& asked);
  Todo Serve(const request::SetWeight& asked);
  Todo Serve(const request::Record& asked) { return asked; }
  Todo Serve(const request::Trace& asked) { return asked; }
  // Other snapshots are written at once; the rest is left to the caller.
  template <typename Request>
  Todo Serve(const Request& asked) {
    if constexpr (requires { asked.snapshot; }) {
      reporter_.Write(*asked.snapshot, now_);
      return {};
    } else if constexpr (requires { asked.instance; }) {
      return IfKnown(asked);
    } else {
      return asked;
    }
  }

  // The request, if it names an existing instance.
  template <typename Request>
  Todo IfKnown(const Request& asked) const {
    return asked.instance < instances_.size() ? Todo(asked) : Todo();
  }
  bool Reply(LcoreReplyKind kind, uint32_t client, ClientVerdict verdict);
  void EndDetaching();
  void ShowService();

  Mailbox& mailbox_;
  ClientTable& clients_;
  ServedTargets& targets_;
  Reporter& reporter_;
  const Ports& ports_;
  const Instances& instances_;
  LcoreRequest request_;  // the request that is being served
  Todo todo_;
  LcoreReply reply_;
  Answering answering_ = Answering::kNot;
  bool drained_ = false;
  Time now_{};  // of this poll iteration
  std::atomic<uint32_t> done_{0};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_REQUEST_SERVER_H_
