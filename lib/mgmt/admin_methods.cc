// SPDX-License-Identifier: Apache-2.0
// Methods that set ports administratively down and up, list clients' queues, and give commands that
// capture a port's frames.
#include <optional>
#include <utility>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/port_admin.h"

namespace suede {
namespace {

constexpr Param kPort = port_admin::kPort;
constexpr Param kHint[] = {kPort};

Json ToJson(const QueueView& queue) {
  return Json{{"client", queue.client},
              {"queue", queue.queue},
              {"of_lcore", queue.of_lcore},
              {"xpu", queue.xpu},
              {"instance", queue.instance},
              {"state", queue.state},
              {"ring_lines", queue.ring_lines},
              {"waiting_lines", queue.waiting_lines},
              {"credit_lines", queue.credit_lines},
              {"credit_used", queue.credit_used},
              {"discarded", queue.discarded},
              {"paused", queue.paused}};
}

Answer ListQueues(Call& call) {
  return Answer::Later([question = call.endpoint().Queues()]() -> std::optional<Outcome> {
    const std::optional<std::vector<QueueView>> queues = question();
    if (!queues) return std::nullopt;
    Json list = Json::array();
    for (const QueueView& queue : *queues) list.push_back(ToJson(queue));
    return Outcome{.status = {}, .result = Json{{"queues", std::move(list)}}};
  });
}

Answer Hint(Call& call) {
  const std::string& name = call.arguments.Text("port");
  const std::vector<PortView> ports = call.endpoint().Ports();
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name != name) continue;
    const std::string prefix = call.endpoint().FilePrefix();
    return Json{
        {"capture", StrCat("suedectl --endpoint ", call.endpoint().Version().name,
                           " capture start ", name, " --file ", name, ".pcapng")},
        {"dumpcap", prefix.empty() ? Json()
                                   : Json(StrCat("dpdk-dumpcap --file-prefix=", prefix, " -i ",
                                                 ports[i].id, " -w ", name, ".pcapng"))}};
  }
  return absl::NotFoundError(StrCat("there is no port ", name, "; ports.list names them"));
}

constexpr Member kHintsResult[] = {
    Member::Text("capture"),
    Member::Text("dumpcap").OrNull(
        "EAL's memory is of this process alone, so that dpdk-dumpcap does not find the port"),
};
constexpr Member kQueueRow[] = {
    Member::Integer("client", "its id"),
    Member::Integer("queue", "number"),
    Member::Boolean("of_lcore", "carries responses of memory requests that the lcore executes"),
    members::kXpu,
    members::kInstance,
    Member::Choice("state", "open|broken|leaving", "broken: the client wrote invalid indices"),
    Member::Integer("ring_lines"),
    Member::Integer("waiting_lines", "handed over and not taken yet"),
    Member::Integer("credit_lines"),
    Member::Integer("credit_used", "lines that have not left for the network"),
    Member::Integer("discarded", "commands that were discarded; counters.get has the reason"),
    Member::Text(
        "paused",
        "VCs of which nothing leaves now, as the neighbours of all planes pause them (pfc: "
        "software): 0,1; empty: none"),
};
constexpr Member kQueuesResult[] = {Member::Rows("queues", kQueueRow)};

constexpr Method kAdminMethods[] = {
    {.name = "ports.set_admin",
     .sentence = "Takes a port out of the data path or puts it back: while it is down nothing "
                 "leaves, received frames are dropped, and PDUs in flight wait.",
     .result = port_admin::kResult,
     .run = port_admin::Set,
     .params = port_admin::kParams,
     .changes = true},
    {.name = "ports.hint",
     .sentence = "Command lines that show a port's frames.",
     .result = kHintsResult,
     .run = Hint,
     .params = kHint},
    {.name = "queues.list",
     .sentence = "Clients' queues, as their lcores see them.",
     .result = kQueuesResult,
     .run = ListQueues},
};

}  // namespace

std::span<const Method> AdminMethods() { return kAdminMethods; }

}  // namespace suede
