// SPDX-License-Identifier: Apache-2.0
// The method that lists neighbours by LLDP, for every kind of daemon.
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"

namespace suede {
namespace {

Json CountersOf(const LldpCounters& counters) {
  Json values = Json::object();
  for (size_t i = 0; i < LldpCounterRows().size(); ++i) {
    values[std::string(LldpCounterRows()[i].name)] = counters.Get(static_cast<LldpCounter>(i));
  }
  return values;
}

Answer ListNeighbours(Call& call) {
  const LldpView view = call.daemon.Lldp();
  Json neighbours = Json::array();
  for (const LldpNeighbourView& one : view.neighbours) neighbours.push_back(one.ToJson());
  Json ports = Json::array();
  for (const LldpPortView& port : view.ports) {
    ports.push_back(Json{{"port", port.port}, {"counters", CountersOf(*port.counters)}});
  }
  return Json{{"neighbours", std::move(neighbours)}, {"ports", std::move(ports)}};
}

constexpr Member kPortRow[] = {
    Member::Text("port"),
    Member::Map("counters", Member::Type::kInteger, "name to value"),
};
constexpr Member kLldpResult[] = {
    ListOf<LldpNeighbourView>("neighbours"),
    Member::Rows("ports", kPortRow, "with lldp: on"),
};

constexpr Method kLldpMethods[] = {
    {"lldp.list", "Neighbours by LLDP, of ports with lldp: on, and settings that differ.",
     kLldpResult, ListNeighbours},
};

}  // namespace

std::span<const Method> LldpMethods() { return kLldpMethods; }

}  // namespace suede
