// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_prober.h"

#include <algorithm>
#include <string>

namespace suede::ctl {
namespace {

constexpr uint32_t kMinFrameBytes = 60;

ForeignJson ParamsOf(const PathEnds& ends, uint32_t plane, const ProbeSpec& spec) {
  ForeignJson params{{"peer", ends.peer},
                     {"plane", plane},
                     {"class", spec.traffic_class},
                     {"count", spec.count},
                     {"interval_us", spec.interval_us},
                     {"timeout_ms", spec.timeout_ms}};
  if (ends.xpu) params["xpu"] = *ends.xpu;
  if (ends.instance) params["instance"] = *ends.instance;
  if (spec.bytes != 0) params["bytes"] = spec.bytes;
  if (spec.long_reply) params["long_reply"] = true;
  if (spec.sessions != 1) params["sessions"] = spec.sessions;
  if (spec.first_session != 0) params["first_session"] = spec.first_session;
  if (spec.ecn) params["ecn"] = *spec.ecn;
  if (spec.hop_limit) params["hop_limit"] = *spec.hop_limit;
  if (spec.to != "peer") params["to"] = std::string(spec.to);
  if (spec.pause) params["pause"] = true;
  return params;
}

}  // namespace

absl::StatusOr<ProbeRun> PathProber::Run(uint32_t plane, const ProbeSpec& spec) {
  if (frames_ + spec.count > max_frames_ || Clock::now() >= deadline_) {
    return absl::ResourceExhaustedError("the bound of time or frames is reached");
  }
  const absl::StatusOr<Json> result = call_("peers.probe_path", ParamsOf(ends_, plane, spec));
  if (!result.ok()) return result.status();
  absl::StatusOr<ProbeRun> run = ParseProbeRun(*result);
  if (!run.ok()) return run;
  frames_ += run->probes.size();
  bytes_ += run->probes.size() * std::max(spec.bytes, kMinFrameBytes);
  return run;
}

}  // namespace suede::ctl
