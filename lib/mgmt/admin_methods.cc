// Methods that take ports and planes out of service and put them back, show clients' queues, and
// say how to see a port's frames.
#include <optional>
#include <utility>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

constexpr Param kPort = Param::Text("port", "Name of the port.", 32).Required();
constexpr Param kAdmin = Param::Choice("admin", "What to set.", "up|down").Required();
constexpr Param kSetPort[] = {kPort, kAdmin};
constexpr Param kHint[] = {kPort};
constexpr Param kSetPlane[] = {
    Param::Integer("xpu", "Own XPU.", 0, 1023).Required(),
    Param::Integer("instance", "Own instance number.", 0, 63).Required(),
    Param::Integer("plane", "Number of the plane.", 0, 15).Required(),
    kAdmin,
};

std::string_view UpOrDown(bool up) { return up ? "up" : "down"; }

Json ToJson(const PlaneView& plane) {
  return Json{{"xpu", plane.xpu},
              {"instance", plane.instance},
              {"plane", plane.plane},
              {"port", plane.port},
              {"admin", UpOrDown(plane.admin_up)},
              {"link", UpOrDown(plane.link_up)},
              {"state", UpOrDown(plane.up)}};
}

Answer ListPlanes(Call& call) {
  Json list = Json::array();
  for (const PlaneView& plane : call.endpoint.Planes()) list.push_back(ToJson(plane));
  return Json{{"planes", std::move(list)}};
}

// Answers once the lcore has taken it over.
Answer WhenDone(absl::StatusOr<AdminView::AdminQuestion> question, Json result) {
  if (!question.ok()) return question.status();
  return Answer::Later([done = *std::move(question),
                        result = std::move(result)]() -> std::optional<Outcome> {
    if (!done()) return std::nullopt;
    return Outcome{.status = {}, .result = result};
  });
}

Answer SetPort(Call& call) {
  const std::string& port = call.arguments.Text("port");
  const std::string& admin = call.arguments.Text("admin");
  return WhenDone(call.endpoint.SetPortAdmin(port, admin == "up"),
                  Json{{"port", port}, {"admin", admin}});
}

Answer SetPlane(Call& call) {
  const auto number = [&call](std::string_view name) {
    return static_cast<uint32_t>(call.arguments.Integer(name));
  };
  const std::string& admin = call.arguments.Text("admin");
  return WhenDone(call.endpoint.SetPlaneAdmin(number("xpu"), number("instance"), number("plane"),
                                              admin == "up"),
                  Json{{"xpu", number("xpu")},
                       {"instance", number("instance")},
                       {"plane", number("plane")},
                       {"admin", admin}});
}

Json ToJson(const QueueView& queue) {
  return Json{{"client", queue.client},
              {"queue", queue.queue},
              {"xpu", queue.xpu},
              {"instance", queue.instance},
              {"state", queue.state},
              {"ring_lines", queue.ring_lines},
              {"waiting_lines", queue.waiting_lines},
              {"credit_lines", queue.credit_lines},
              {"credit_used", queue.credit_used},
              {"discarded", queue.discarded}};
}

Answer ListQueues(Call& call) {
  return Answer::Later([question = call.endpoint.Queues()]() -> std::optional<Outcome> {
    const std::optional<std::vector<QueueView>> queues = question();
    if (!queues) return std::nullopt;
    Json list = Json::array();
    for (const QueueView& queue : *queues) list.push_back(ToJson(queue));
    return Outcome{.status = {}, .result = Json{{"queues", std::move(list)}}};
  });
}

Answer Hint(Call& call) {
  const std::string& name = call.arguments.Text("port");
  const std::vector<PortView> ports = call.endpoint.Ports();
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name != name) continue;
    const std::string prefix = call.endpoint.FilePrefix();
    return Json{
        {"capture", StrCat("suedectl --endpoint ", call.endpoint.Version().name,
                           " capture start ", name, " --file ", name, ".pcapng")},
        {"dumpcap", prefix.empty() ? Json()
                                   : Json(StrCat("dpdk-dumpcap --file-prefix=", prefix, " -i ",
                                                 ports[i].id, " -w ", name, ".pcapng"))}};
  }
  return absl::NotFoundError(StrCat("there is no port ", name, "; ports.list names them"));
}

constexpr Method kMethods[] = {
    {.name = "ports.set_admin",
     .sentence = "Takes a port out of the data path or puts it back: while it is down nothing "
                 "leaves, what comes is dropped, and what is in flight waits.",
     .result = "port, admin",
     .run = SetPort,
     .params = kSetPort,
     .changes = true},
    {.name = "ports.hint",
     .sentence = "Command lines that show a port's frames.",
     .result = "capture; dumpcap (null: EAL's memory is of this process alone, so that "
               "dpdk-dumpcap does not find the port)",
     .run = Hint,
     .params = kHint},
    {.name = "planes.list",
     .sentence = "Planes: the ports of each own instance.",
     .result = "planes: xpu, instance, plane (its number), port, admin (up, down), link (up, "
               "down), state (up: it carries traffic, for plane, port and link are up)",
     .run = ListPlanes},
    {.name = "planes.set_admin",
     .sentence = "The same as ports.set_admin for one instance on its port.",
     .result = "xpu, instance, plane, admin",
     .run = SetPlane,
     .params = kSetPlane,
     .changes = true},
    {.name = "queues.list",
     .sentence = "Clients' queues, as their lcores see them.",
     .result = "queues: client (its id), queue (number), xpu, instance, state (open; broken: the "
               "client wrote nonsense; leaving), ring_lines, waiting_lines (handed over and not "
               "taken yet), credit_lines, credit_used (lines that have not left for the network), "
               "discarded (commands that went nowhere: counters.get says why)",
     .run = ListQueues},
};

}  // namespace

std::span<const Method> AdminMethods() { return kMethods; }

}  // namespace suede
