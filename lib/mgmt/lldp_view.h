// SPDX-License-Identifier: Apache-2.0
// Neighbours that a daemon knows by LLDP (docs/lldp.md), for methods.
#ifndef SUEDE_MGMT_LLDP_VIEW_H_
#define SUEDE_MGMT_LLDP_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mgmt/row.h"
#include "stats/lldp_counters.h"

namespace suede {

#define SUEDE_LLDP_DIFFERENCE_ROW(X)                          \
  X(std::string, what, .Named("name").Note("of the setting")) \
  X(std::string, own)                                         \
  X(std::string, theirs)
SUEDE_ROW_STRUCT(LldpDifferenceView, SUEDE_LLDP_DIFFERENCE_ROW);

#define SUEDE_LLDP_NEIGHBOUR_ROW(X)                                                            \
  X(std::string, port, .Note("own one"))                                                       \
  X(std::string, chassis, .Note("its id"))                                                     \
  X(std::string, port_id, .Note("of the neighbour's port"))                                    \
  X(std::string, system, .Note("its name").OrNull("not sent"))                                 \
  X(uint64_t, age_ns, .Named("age_s").Seconds())                                               \
  X(uint32_t, ttl_s, .Unit("s"))                                                               \
  X(std::vector<LldpDifferenceView>, differences, .Note("from the own settings"))              \
  X(std::optional<std::string>, assigned,                                                      \
    .Note("address and prefix length for the port").OrNull("none assigned"))                   \
  X(std::optional<std::string>, address_state,                                                 \
    .Note("used, off: not accepted, or the reason why it is refused").OrNull("none assigned")) \
  X(std::optional<std::string>, gateway, .OrNull("none"))                                      \
  X(std::optional<uint32_t>, max_frame_bytes, .Unit("bytes").OrNull("not sent"))               \
  X(std::optional<std::string>, pfc_classes, .OrNull("not sent"))                              \
  X(std::optional<bool>, llr, .OneOf("on|off").OrNull("no link options sent"))                 \
  X(std::optional<std::string>, cbfc,                                                          \
    .OneOf("on|off|sender|receiver").OrNull("no link options sent"))                           \
  X(uint32_t, credit_bytes, .Unit("bytes").OrNull("no credit"))                                \
  X(std::vector<uint32_t>, credits, .Note("granted to link VC 0 to 7"))                        \
  X(std::string, port_description, .OrNull("not sent"))                                        \
  X(std::string, system_description, .OrNull("not sent"))
SUEDE_ROW_STRUCT(LldpNeighbourView, SUEDE_LLDP_NEIGHBOUR_ROW);

struct LldpPortView {
  std::string port;
  const LldpCounters* counters = nullptr;
};

struct LldpView {
  std::vector<LldpNeighbourView> neighbours;
  std::vector<LldpPortView> ports;  // with lldp: on
};

}  // namespace suede

#endif  // SUEDE_MGMT_LLDP_VIEW_H_
