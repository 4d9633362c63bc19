// SPDX-License-Identifier: Apache-2.0
// Impairments of a switch's links, for methods (docs/switch.md).
#ifndef SUEDE_MGMT_IMPAIR_VIEW_H_
#define SUEDE_MGMT_IMPAIR_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/row.h"

namespace suede {

// Numeric keys, as in the configuration: Y, name, maximum, unit, sentence.
#define SUEDE_IMPAIR_NUMBERS(X, Y)                                                           \
  X(Y, rate_gbps, 3200, "Gbit/s", "Rate of the cable; 0: no limit.")                         \
  X(Y, delay_us, 10'000'000, "µs", "Delay of each frame.")                                   \
  X(Y, jitter_us, 10'000'000, "µs", "Up to so much more delay; frames stay in order.")       \
  X(Y, loss, 1, "", "Share of frames that are lost.")                                        \
  X(Y, burst_begins, 1, "", "Chance per frame that a time of bursty loss begins.")           \
  X(Y, burst_ends, 1, "", "Chance per frame that it ends.")                                  \
  X(Y, burst_loss, 1, "", "Share of frames that are lost in it.")                            \
  X(Y, reorder, 1, "", "Share of frames that are held back behind later ones.")              \
  X(Y, reorder_delay_us, 10'000'000, "µs", "Up to so much they are held back; copies, too.") \
  X(Y, duplicate, 1, "", "Share of frames that are delivered twice.")                        \
  X(Y, bad_fcs, 1, "", "Share of frames that are dropped as by a bad FCS.")                  \
  X(Y, flip, 1, "", "Share of frames that are delivered with a bit flipped.")                \
  X(Y, longest_bytes, 65535, "bytes", "Longest frame that passes, without FCS; 0: any.")

// Fields that are rewritten, as in the configuration: Y, name, maximum, sentence.
#define SUEDE_IMPAIR_FIELDS(X, Y)                                                      \
  X(Y, dscp, 63, "DSCP that frames get; ESUN: its upper three bits. keep: their own.") \
  X(Y, ecn, 3, "ECN that frames get. keep: their own.")                                \
  X(Y, pcp, 7, "PCP that tagged frames get. keep: their own.")                         \
  X(Y, hop_limit, 255, "Hop limit that frames get; ESUN: 15 at most. keep: their own.")
// Word in place of a number: the field is not rewritten.
inline constexpr std::string_view kKeepField = "keep";
#define SUEDE_IMPAIR_FIELD_ROW(X, name, max, sentence) \
  X(std::optional<uint32_t>, name, .OrNull("unchanged"))

// Impairments of the frames of one class, in addition to those of all frames; a field replaces that
// of all frames.
#define SUEDE_IMPAIR_OF_CLASS_ROW(X)          \
  X(uint32_t, traffic_class, .Named("class")) \
  X(double, delay_us, .Unit("µs"))            \
  X(double, loss)                             \
  X(double, reorder)                          \
  SUEDE_IMPAIR_FIELDS(SUEDE_IMPAIR_FIELD_ROW, X)
SUEDE_ROW_STRUCT(ImpairOfClassView, SUEDE_IMPAIR_OF_CLASS_ROW);

// The impairment of one direction of a port. Destinations are MAC addresses, or AFH addresses as
// numbers.
#define SUEDE_IMPAIR_NUMBER_ROW(X, name, max, unit, sentence) X(double, name, .Unit(unit))
#define SUEDE_IMPAIR_ROW(X)                                                                     \
  X(std::string, port)                                                                          \
  X(bool, in, .Named("direction").OneOf("in|out"))                                              \
  X(bool, impaired)                                                                             \
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_NUMBER_ROW, X)                                              \
  X(bool, down, .OneOf("on|off").Note("on: all frames are lost"))                               \
  X(std::vector<uint32_t>, hole_classes, .Note("classes that disappear"))                       \
  X(std::vector<std::string>, hole_destinations, .Note("destinations that disappear"))          \
  X(std::vector<ImpairOfClassView>, of_class, .Note("classes that have something in addition")) \
  SUEDE_IMPAIR_FIELDS(SUEDE_IMPAIR_FIELD_ROW, X)                                                \
  X(bool, strip_tag, .OneOf("on|off").Note("on: frames lose their VLAN tag"))
SUEDE_ROW_STRUCT(ImpairView, SUEDE_IMPAIR_ROW);

// A change of an ImpairView; a member without a value keeps its setting.
struct ImpairChange {
#define SUEDE_IMPAIR_CHANGE(Y, name, max, unit, sentence) std::optional<double> name{};
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_CHANGE, )
#undef SUEDE_IMPAIR_CHANGE
  std::optional<bool> down{};
  std::optional<std::vector<uint32_t>> hole_classes{};
  std::optional<std::vector<std::string>> hole_destinations{};
  // The value of a rewritten field; nullopt inside: not rewritten.
#define SUEDE_IMPAIR_FIELD_CHANGE(Y, name, max, sentence) \
  std::optional<std::optional<uint32_t>> name{};
  SUEDE_IMPAIR_FIELDS(SUEDE_IMPAIR_FIELD_CHANGE, )
#undef SUEDE_IMPAIR_FIELD_CHANGE
  std::optional<bool> strip_tag{};
  // If set, delay_us, loss, reorder and the fields (and no other key) apply to this class, in
  // addition.
  std::optional<uint32_t> traffic_class{};
};

struct ImpairWhere {
  std::string port;         // empty: all
  std::optional<bool> out;  // nullopt: both directions
};

}  // namespace suede

#endif  // SUEDE_MGMT_IMPAIR_VIEW_H_
