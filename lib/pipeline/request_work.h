// SPDX-License-Identifier: Apache-2.0
// Executes the parts of requests that concern the data path. RequestServer serves the rest. Owned
// by the lcore.
#ifndef SUEDE_PIPELINE_REQUEST_WORK_H_
#define SUEDE_PIPELINE_REQUEST_WORK_H_

#include <variant>

#include "lcore/lcore.h"
#include "lcore/mailbox.h"
#include "pipeline/effector.h"
#include "pipeline/plane_watch.h"
#include "pipeline/request_server.h"
#include "pipeline/sampler.h"
#include "pipeline/seal_work.h"
#include "pipeline/settings_work.h"
#include "pipeline/tracer.h"
#include "receive/deliver.h"
#include "send/path_prober.h"
#include "send/ping_sender.h"
#include "send/ring_drainer.h"
#include "send/run_queue.h"
#include "send/stage.h"

namespace suede {

class RequestWork {
 public:
  // The parts that requests change; all members outlive this object.
  struct Parts {
    Lcore& lcore;
    RunQueue& run_queue;
    RingDrainer& ring_drainer;
    Stager& stager;
    CreditGranter& granter;
    Deliverer& deliverer;
    Effector& effector;
    PlaneWatch& planes;
    SettingsWork& settings;
    PingSender& pings;
    PathProber& path_prober;
    SealWork& seals;
    Sampler& sampler;
    Tracer& tracer;
  };

  RequestWork(RequestServer& server, const Parts& parts) : server_(server), parts_(parts) {}

  // Called once in a poll iteration. Returns whether there was a request.
  bool Poll(Time now);

 private:
  void Do(std::monostate /*nothing*/) {}
  void Do(const todo::ClaimsMoved& moved);
  void Do(const todo::ClientLeft& left);
  void Do(const todo::QueueInReset& reset);
  void Do(const todo::InstanceUp& up);
  void Do(const todo::PlaneSet& set);
  void Do(const request::Record& request) {
    parts_.sampler.Write(*request.snapshot, parts_.lcore.now);
  }
  void Do(const request::Trace& request) {
    parts_.tracer.Serve(*request.snapshot, parts_.lcore.now);
  }
  void Do(const request::ChangeSettings& request) { parts_.settings.Begin(request.settings); }
  void Do(const request::SetPeerMac& request);
  void Do(const request::LosePeer& request);
  void Do(const request::SetWeight& request);
  void Do(const request::Ping& request) { parts_.pings.Send(request); }
  void Do(const request::ProbePath& request) { parts_.path_prober.Begin(request); }
  void Do(const request::SetSecrets& request) { parts_.seals.Take(*request.update, request.only); }
  void Do(const request::SetPeerSecrets& request) {
    parts_.seals.Take(InstanceOf(request.instance), request.peer, *request.update);
  }
  void Do(const request::RotateKeys& /*request*/) { parts_.seals.Rotate(); }

  Instance& InstanceOf(uint32_t number) { return *parts_.lcore.instances[number]; }

  RequestServer& server_;
  const Parts parts_;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_REQUEST_WORK_H_
