// SPDX-License-Identifier: Apache-2.0
// The list of all methods.
#ifndef SUEDE_MGMT_CATALOG_H_
#define SUEDE_MGMT_CATALOG_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/method.h"

namespace suede {

// Immutable, so any thread may use it. Refers to methods where they are declared.
class Catalog {
 public:
  explicit Catalog(std::initializer_list<std::span<const Method>> tables);

  // Returns all methods, in the order of the tables.
  const std::vector<const Method*>& methods() const { return methods_; }
  const Method* Find(std::string_view name) const;

 private:
  std::vector<const Method*> methods_;
};

// Catalogs of each kind of daemon, joined from the tables of this room. For a further subject, add
// a file NAME_methods.cc with a table, and an interface beside endpoint_view.h or switch_view.h if
// its methods need new data.
const Catalog& EndpointCatalog();
const Catalog& SwitchCatalog();

// Methods of both kinds of daemon.
std::span<const Method> CaptureMethods();
std::span<const Method> LinkMethods();
std::span<const Method> LldpMethods();

// Methods of an endpoint.
std::span<const Method> RpcMethods();
std::span<const Method> DaemonMethods();  // of a switch, too
std::span<const Method> EndpointMethods();
std::span<const Method> LogMethods();
std::span<const Method> CounterMethods();
std::span<const Method> ConnectionMethods();
std::span<const Method> AdminMethods();
std::span<const Method> KeyMethods();
std::span<const Method> PeerMethods();
std::span<const Method> PlaneMethods();
std::span<const Method> ConfigMethods();
std::span<const Method> RecordMethods();
std::span<const Method> TraceMethods();
std::span<const Method> RegisterMethods();
std::span<const Method> EventMethods();

// Methods of a switch.
std::span<const Method> SwitchRpcMethods();
std::span<const Method> SwitchMethods();
std::span<const Method> ImpairMethods();
std::span<const Method> SwitchLogMethods();
std::span<const Method> SwitchCounterMethods();
std::span<const Method> SwitchEventMethods();
std::span<const Method> SwitchConfigMethods();

// Returns the entry of rpc.describe for a method.
Json Describe(const Method& method);

// Returns a line for each name: `counter NAME` of the scope total, `port_counter NAME` of the scope
// port, `event KIND`; for programs that check a name before a query. `kinds`: "|a|b", like
// kEventNames.
std::string NamesAsText(const CounterSetView& total, const CounterSetView& port,
                        std::string_view kinds);

}  // namespace suede

#endif  // SUEDE_MGMT_CATALOG_H_
