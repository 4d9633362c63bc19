// SPDX-License-Identifier: Apache-2.0
// Methods that capture a port's frames to a file that the client passes.
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"

namespace suede {
namespace {

constexpr Param kCapturedPort = Param::Text("port", "Name of the port.", 32).Required();
constexpr Param kDrops = Param::Boolean(
    "drops", "Frames that the port drops, each with the counter of its drop as its comment.");
constexpr Param kStart[] = {
    kCapturedPort,
    kDrops,
    Param::Integer("snap_bytes", "Bytes of a frame that are kept.", 64, 9728, "9728"),
    Param::Integer("frames", "Max frames that wait to be written; more are counted and lost.", 128,
                   65536, "2048"),
    Param::Integer("seconds", "When it ends by itself; 0: with capture.stop.", 0, 86400, "0"),
    Param::Integer("frames_per_s",
                   "Max frames written in a second; more wait, and are lost without room; 0: any "
                   "number. By default 0, with drops 10000.",
                   0, 10000000),
};
constexpr Param kStop[] = {kCapturedPort, kDrops};

Answer Start(Call& call) {
  const Arguments& a = call.arguments;
  const CaptureQuery query{.port = a.Text("port"),
                           .drops = a.Boolean("drops"),
                           .snap_bytes = *Given(a, "snap_bytes"),
                           .frames = *Given(a, "frames"),
                           .seconds = *Given(a, "seconds"),
                           .frames_per_s = Given(a, "frames_per_s")};
  absl::Status status = call.daemon.StartCapture(query, std::move(call.descriptor));
  if (!status.ok()) return status;
  return Json{{"port", query.port}};
}

constexpr Member kStartedResult[] = {Member::Text("port")};
constexpr Member kCapturesResult[] = {ListOf<CaptureView>("captures")};

constexpr Method kCaptureMethods[] = {
    {.name = "capture.start",
     .sentence = "Copies the frames that a port sends and receives, or drops, to a pcapng file.",
     .result = kStartedResult,
     .run = Start,
     .params = kStart,
     .changes = true,
     .descriptor = DescriptorParam{.name = "file", .sentence = "Regular file that is written."}},
    {"capture.stop", "Ends the capture of a port; its file is then whole.", CaptureView::kMembers,
     [](Call& call) -> Answer {
       return OutcomeOf(
           call.daemon.StopCapture(call.arguments.Text("port"), call.arguments.Boolean("drops")));
     },
     kStop, /*changes=*/true},
    {"capture.list", "Captures that are under way.", kCapturesResult,
     [](Call& call) -> Answer { return OutcomeOf(call.daemon.ListCaptures(), "captures"); }},
};

}  // namespace

std::span<const Method> CaptureMethods() { return kCaptureMethods; }

}  // namespace suede
