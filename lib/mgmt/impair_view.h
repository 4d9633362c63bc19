// SPDX-License-Identifier: Apache-2.0
// Interface through which methods list and set the impairments of a switch's links
// (docs/switch.md).
#ifndef SUEDE_MGMT_IMPAIR_VIEW_H_
#define SUEDE_MGMT_IMPAIR_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace suede {

// Numeric keys, as in the configuration: name, maximum, unit, sentence.
#define SUEDE_IMPAIR_NUMBERS(X)                                                           \
  X(rate_gbps, 3200, "Gbit/s", "Rate of the cable; 0: no limit.")                         \
  X(delay_us, 10'000'000, "µs", "Delay of each frame.")                                   \
  X(jitter_us, 10'000'000, "µs", "Up to so much more delay; frames stay in order.")       \
  X(loss, 1, "", "Share of frames that are lost.")                                        \
  X(burst_begins, 1, "", "Chance per frame that a time of bursty loss begins.")           \
  X(burst_ends, 1, "", "Chance per frame that it ends.")                                  \
  X(burst_loss, 1, "", "Share of frames that are lost in it.")                            \
  X(reorder, 1, "", "Share of frames that are held back behind later ones.")              \
  X(reorder_delay_us, 10'000'000, "µs", "Up to so much they are held back; copies, too.") \
  X(duplicate, 1, "", "Share of frames that are delivered twice.")                        \
  X(bad_fcs, 1, "", "Share of frames that are dropped as by a bad FCS.")                  \
  X(flip, 1, "", "Share of frames that are delivered with a bit flipped.")                \
  X(longest_bytes, 65535, "bytes", "Longest frame that passes, without FCS; 0: any.")

inline constexpr std::string_view kDirections = "in|out";

// Impairments of the frames of one class, in addition to those of all frames.
struct ImpairOfClassView {
  uint32_t traffic_class = 0;
  double delay_us = 0;
  double loss = 0;
  double reorder = 0;
};

// The impairment of one direction of a port.
struct ImpairView {
  std::string port;
  bool out = false;  // direction: false: in, true: out
  bool clean = true;  // nothing is impaired
#define SUEDE_IMPAIR_VALUE(name, max, unit, sentence) double name = 0;
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_VALUE)
#undef SUEDE_IMPAIR_VALUE
  bool down = false;
  std::vector<uint32_t> hole_classes;
  std::vector<std::string> hole_destinations;  // MAC addresses, or AFH addresses as numbers
  std::vector<ImpairOfClassView> of_class;     // of classes with additional impairments
};

// A change of an ImpairView; a member without a value keeps its setting.
struct ImpairChange {
#define SUEDE_IMPAIR_CHANGE(name, max, unit, sentence) std::optional<double> name{};
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_CHANGE)
#undef SUEDE_IMPAIR_CHANGE
  std::optional<bool> down{};
  std::optional<std::vector<uint32_t>> hole_classes{};
  std::optional<std::vector<std::string>> hole_destinations{};
  // If set, delay_us, loss and reorder (and no other key) apply to this class, in addition.
  std::optional<uint32_t> traffic_class{};
};

struct ImpairWhere {
  std::string port;         // empty: all
  std::optional<bool> out;  // nullopt: both directions
};

// Control thread only. Does not block.
class ImpairControlView {
 public:
  virtual ~ImpairControlView() = default;

  // A query to be polled until it has a result.
  using DoneQuestion = std::function<std::optional<absl::Status>()>;
  virtual std::vector<ImpairView> Impairments() = 0;
  // If several directions are selected, all of them change or none.
  virtual DoneQuestion SetImpairment(const ImpairWhere& where, const ImpairChange& change) = 0;
  virtual DoneQuestion ClearImpairment(const ImpairWhere& where) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_IMPAIR_VIEW_H_
