// SPDX-License-Identifier: Apache-2.0
// Methods that begin, list and clear traces of PDUs.
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/known_peers.h"

namespace suede {
namespace {

constexpr Param kTraceXpu = Param::Integer("xpu", "Own XPU. Without it, all.", 0, 1023);
constexpr Param kTraceInstance =
    Param::Integer("instance", "Own instance number, likewise.", 0, 63);
constexpr Param kTraceOwn[] = {kTraceXpu, kTraceInstance};
constexpr Param kTraceAdd[] = {
    kTraceXpu,
    kTraceInstance,
    Param::Integer("peer", "Only PDUs to and from this XPU.", 0, 1023),
    Param::Integer("vc", "Only PDUs of this VC.", 0, 3),
    Param::Integer("stride", "Only PDUs whose PSN is a multiple of it.", 1, 65535, "1"),
    Param::Integer("count", "PDUs of each direction.", 1, 64, "16"),
};

TraceQuery OwnEndOf(const Arguments& arguments) {
  return {.xpu = Given(arguments, "xpu"), .instance = Given(arguments, "instance")};
}

// Returns OK if an instance is among those that the query names.
absl::Status CheckInstances(EndpointView& endpoint, const TraceQuery& query) {
  for (const InstanceView& view : endpoint.Instances()) {
    if (query.xpu.value_or(view.xpu) == view.xpu &&
        query.instance.value_or(view.instance) == view.instance)
      return absl::OkStatus();
  }
  return absl::NotFoundError("no instance has this xpu and instance; see instances.list");
}

Answer AddTrace(Call& call) {
  TraceQuery query = OwnEndOf(call.arguments);
  query.peer = Given(call.arguments, "peer");
  query.vc = Given(call.arguments, "vc");
  query.stride = *Given(call.arguments, "stride");
  query.count = *Given(call.arguments, "count");
  if (absl::Status s = CheckInstances(call.endpoint(), query); !s.ok()) return s;
  if (absl::Status s = CheckPeer(call.endpoint(), query.peer); !s.ok()) return s;
  return Answer::To(call.endpoint().BeginTrace(query));
}

Answer ListTrace(Call& call) {
  const TraceQuery query = OwnEndOf(call.arguments);
  if (absl::Status s = CheckInstances(call.endpoint(), query); !s.ok()) return s;
  return Answer::To(call.endpoint().ReadTrace(query));
}

Answer ClearTrace(Call& call) {
  const TraceQuery query = OwnEndOf(call.arguments);
  if (absl::Status s = CheckInstances(call.endpoint(), query); !s.ok()) return s;
  return Answer::To(call.endpoint().EndTrace(query));
}

constexpr Method kTraceMethods[] = {
    {.name = "trace.add",
     .sentence = "Begins a trace of the next PDUs: the times at which they reach each stage "
                 "(trace.md). Discards the rows of the trace before.",
     .result = TraceChangeView::kMembers,
     .run = AddTrace,
     .params = kTraceAdd},
    {.name = "trace.list",
     .sentence = "PDUs of the trace, each with the times that it has reached so far.",
     .result = TraceListView::kMembers,
     .run = ListTrace,
     .params = kTraceOwn},
    {.name = "trace.clear",
     .sentence = "Ends the trace, and discards its rows.",
     .result = TraceChangeView::kMembers,
     .run = ClearTrace,
     .params = kTraceOwn},
};

}  // namespace

std::span<const Method> TraceMethods() { return kTraceMethods; }

}  // namespace suede
