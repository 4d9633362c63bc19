// SPDX-License-Identifier: Apache-2.0
// Methods that capture a port's frames to a file that the client passes.
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/daemon_view.h"

namespace suede {
namespace {

constexpr Param kCapturedPort = Param::Text("port", "Name of the port.", 32).Required();
constexpr Param kStart[] = {
    kCapturedPort,
    Param::Integer("snap_bytes", "Bytes of a frame that are kept.", 64, 9728, "9728"),
    Param::Integer("frames", "Frames that wait to be written, at most; more are counted and lost.",
                   128, 65536, "2048"),
    Param::Integer("seconds", "When it ends by itself; 0: with capture.stop.", 0, 86400, "0"),
};
constexpr Param kStop[] = {kCapturedPort};

Json ToJson(const CaptureView& view) {
  return Json{{"port", view.port}, {"written", view.written}, {"dropped", view.dropped}};
}

Answer Start(Call& call) {
  const Arguments& a = call.arguments;
  const CaptureQuery query{.port = std::string(a.Text("port")),
                           .snap_bytes = static_cast<uint32_t>(a.Integer("snap_bytes")),
                           .frames = static_cast<uint32_t>(a.Integer("frames")),
                           .seconds = static_cast<uint32_t>(a.Integer("seconds"))};
  absl::Status status = call.daemon.StartCapture(query, std::move(call.descriptor));
  if (!status.ok()) return status;
  return Json{{"port", query.port}};
}

Answer Stop(Call& call) {
  absl::StatusOr<CaptureView> view = call.daemon.StopCapture(call.arguments.Text("port"));
  if (!view.ok()) return view.status();
  return ToJson(*view);
}

Answer ListCaptures(Call& call) {
  Json list = Json::array();
  for (const CaptureView& view : call.daemon.ListCaptures()) list.push_back(ToJson(view));
  return Json{{"captures", std::move(list)}};
}

constexpr Member kStartedResult[] = {members::kPort};
constexpr Member kCaptureResult[] = {
    members::kPort,
    Member::Integer("written", "frames in the file"),
    Member::Integer("dropped", "frames that found no room"),
};
constexpr Member kCapturesResult[] = {Member::Rows("captures", kCaptureResult)};

constexpr Method kCaptureMethods[] = {
    {.name = "capture.start",
     .sentence = "Copies the frames that a port sends and receives to a pcapng file.",
     .result = kStartedResult,
     .run = Start,
     .params = kStart,
     .changes = true,
     .descriptor = DescriptorParam{.name = "file", .sentence = "Regular file that is written."}},
    {.name = "capture.stop",
     .sentence = "Ends the capture of a port; its file is then whole.",
     .result = kCaptureResult,
     .run = Stop,
     .params = kStop,
     .changes = true},
    {.name = "capture.list",
     .sentence = "Captures that are under way.",
     .result = kCapturesResult,
     .run = ListCaptures},
};

}  // namespace

std::span<const Method> CaptureMethods() { return kCaptureMethods; }

}  // namespace suede
