// SPDX-License-Identifier: Apache-2.0
// Fields of the control PDUs, one row each, in the order of JSON: the codec, the JSON of suedectl
// and the dissector's table derive from them, and a test compares docs/control-pdus.md with them.
#ifndef SUEDE_WIRE_CONTROL_FIELDS_H_
#define SUEDE_WIRE_CONTROL_FIELDS_H_

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wire/control_pdu.h"

namespace suede {

// Place of a value in the body, and its range: other values are malformed. A value takes as many
// bytes as its member, big-endian, or some bits of them.
struct ControlPlace {
  int at;             // byte of the body
  uint8_t bits = 0;   // 0: all bits of the bytes
  uint8_t shift = 0;  // bits below these
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  bool optional = false;  // older bodies end in front of the field

  constexpr uint64_t mask() const { return bits == 0 ? UINT64_MAX : (uint64_t{1} << bits) - 1; }
};

inline constexpr int kControlFlagsAt = -3;  // the head's flags, seen from the body

constexpr ControlPlace ControlFlag(uint8_t bit) {
  return {.at = kControlFlagsAt, .bits = 1, .shift = bit};
}
constexpr ControlPlace HelloFeature(uint8_t bit) { return {.at = 33, .bits = 1, .shift = bit}; }
// Whole bytes with a range.
constexpr ControlPlace ControlRange(int at, uint64_t min, uint64_t max) {
  return {.at = at, .min = min, .max = max};
}

template <class M, class Message>
concept ControlMessageOf = std::same_as<std::remove_const_t<M>, Message>;

// VisitControlFields calls visit(name, label, place, member) for each field of a message but its
// identities. `name`: in JSON and, but for a few, in the dissector; `label`: in Wireshark.

template <ControlMessageOf<Hello> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("nonce", "Nonce", ControlRange(16, 1, UINT64_MAX), m.nonce);
  visit("echo", "Nonce that this answers", ControlPlace{24}, m.echo);
  visit("psn_scope", "A connection is", ControlRange(32, 0, 1), m.psn_scope);
  visit("answers_planes", "Answers PLANE and FENCE", HelloFeature(0), m.answers_planes);
  visit("sends_generations", "Sends in generations", HelloFeature(1), m.sends_generations);
  visit("counts_credit", "Counts credit", HelloFeature(2), m.counts_credit);
  visit("hears_pauses", "Hears of planes that are held up", HelloFeature(3), m.hears_pauses);
  visit("answers_congestion", "Answers CONGESTION", HelloFeature(4), m.answers_congestion);
  visit("wants_echoes", "Wants echoes of ECN marks", HelloFeature(5), m.wants_echoes);
  visit("answers_path", "Answers PATH", HelloFeature(6), m.answers_path);
  visit("selective", "Repairs selectively", HelloFeature(7), m.selective);
  visit("unordered", "PDUs may be delivered in any order", ControlFlag(1), m.unordered);
  visit("window_pdus", "Window in PDUs", ControlPlace{34}, m.window_pdus);
  visit("pack_limit_bytes", "Pack limit in bytes", ControlPlace{36}, m.pack_limit_bytes);
  visit("receive_bytes", "Can receive, in bytes", ControlPlace{38}, m.receive_bytes);
  visit("receive_lines", "Can receive, in lines", ControlPlace{40}, m.receive_lines);
  visit("sessions", "Sessions", ControlRange(42, 1, UINT16_MAX), m.sessions);
  visit("first", "First PSN", ControlPlace{44}, m.first);
  visit("credit_lines", "Lines that may be sent", ControlPlace{52}, m.credit_lines);
  visit("reply_wanted", "Reply wanted", ControlFlag(0), m.reply_wanted);
}

template <ControlMessageOf<NotReady> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("vc", "VC", ControlRange(16, 0, 3), m.vc);
  visit("expected", "Expected PSN", ControlPlace{18}, m.expected);
  visit("backoff_us", "Back-off in microseconds", ControlPlace{20}, m.backoff_us);
}

template <ControlMessageOf<Ready> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("vc", "VC", ControlRange(16, 0, 3), m.vc);
  visit("expected", "Expected PSN", ControlPlace{18}, m.expected);
}

template <ControlMessageOf<PlaneHello> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("state", "State", ControlRange(16, 0, 2), m.state);
  visit("plane", "The sender's number of the plane", ControlRange(17, 0, 3), m.plane);
  visit("tx_generation", "Generation sent", ControlPlace{18}, m.tx_generation);
  visit("rx_generation", "Generation accepted", ControlPlace{20}, m.rx_generation);
  visit("sequence", "Sequence", ControlPlace{24}, m.sequence);
  visit("heard", "Heard", ControlPlace{28}, m.heard);
  visit("has_heard", "Heard is valid", ControlFlag(1), m.has_heard);
  visit("reply_wanted", "Reply wanted", ControlFlag(0), m.reply_wanted);
  visit("held_up", "Nothing leaves the sender on the plane that is named", ControlFlag(2),
        m.held_up);
  visit("failed", "Planes that have failed to a peer, by the sender's numbers",
        ControlPlace{.at = 22, .bits = 4}, m.failed);
  visit("hops", "Endpoints that may pass that on", ControlPlace{23}, m.hops);
  visit("heard_plane", "1 + the receiver's number of the plane that was heard",
        ControlPlace{.at = 22, .bits = 3, .shift = 4, .max = 4}, m.heard_plane);
  visit("paired", "The pair of planes is settled", ControlFlag(3), m.paired);
  visit("first", "First PSN", ControlPlace{32}, m.first);
  visit("more", "PSN of a further session", ControlPlace{40}, m.more);
}

template <ControlMessageOf<Fence> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("plane", "The sender's number of the plane", ControlRange(16, 0, 3), m.plane);
  visit("own", "The dead plane is", ControlRange(17, 0, 1), m.own);
  visit("generation", "Generation", ControlPlace{18}, m.generation);
  visit("oldest", "Oldest PSN not acknowledged", ControlPlace{20}, m.oldest);
  visit("more", "PSN of a further session", ControlPlace{28}, m.more);
}

template <ControlMessageOf<Fenced> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("plane", "The sender's number of the plane", ControlRange(16, 0, 3), m.plane);
  visit("repairs", "REPAIRs in front of this", ControlRange(17, 0, 64), m.repairs);
  visit("generation", "Generation", ControlPlace{18}, m.generation);
  visit("expected", "Expected PSN", ControlPlace{20}, m.expected);
  visit("more", "PSN of a further session", ControlPlace{28}, m.more);
}

template <ControlMessageOf<Credit> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("vc", "VC", ControlRange(16, 0, 3), m.vc);
  visit("grant", "Grant", ControlFlag(0), m.grant);
  visit("give_back", "Give back", ControlFlag(1), m.give_back);
  visit("reply_wanted", "Reply wanted", ControlFlag(2), m.reply_wanted);
  visit("on_demand", "Grants more when asked", ControlFlag(3), m.on_demand);
  visit("round", "Round", ControlPlace{18}, m.round);
  visit("limit", "Lines that may have been sent", ControlPlace{20}, m.limit);
  visit("accepted", "Lines accepted", ControlPlace{24}, m.accepted);
  visit("sent", "Lines sent", ControlPlace{28}, m.sent);
  visit("wanted", "Lines wanted", ControlPlace{32}, m.wanted);
}

template <ControlMessageOf<Congestion> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("request", "Request", ControlFlag(0), m.request);
  visit("grant", "Grant", ControlFlag(1), m.grant);
  visit("echo", "Echo", ControlFlag(2), m.echo);
  visit("target", "Limit asked for, in 256 octets", ControlPlace{16, 24}, m.target);
  visit("sent", "Sent, in 256 octets", ControlPlace{20, 24}, m.sent);
  visit("limit", "Limit, in 256 octets", ControlPlace{24, 24}, m.limit);
  visit("granted", "Limit granted, in 256 octets", ControlPlace{28, 24}, m.granted);
  visit("received", "PDUs with commands received", ControlPlace{32}, m.received);
  visit("marked", "Received PDUs with an ECN mark", ControlPlace{36}, m.marked);
  visit("trimmed", "PDUs that arrived trimmed", ControlPlace{40}, m.trimmed);
  visit("marked_sessions", "Slots of sessions with marks", ControlPlace{.at = 44, .optional = true},
        m.sessions);
}

template <ControlMessageOf<SessionNumber> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("slot", "Slot of the session", ControlRange(16, 0, 63), m.slot);
  visit("number", "Number that is asked for", ControlPlace{18}, m.number);
  visit("in_use", "Number in use until then", ControlPlace{20}, m.in_use);
  visit("turn", "Turn", ControlPlace{24}, m.turn);
  visit("answer", "Answer", ControlFlag(1), m.answer);
  visit("fence", "Fence", ControlFlag(2), m.fence);
  visit("anew", "Accepted anew", ControlFlag(3), m.anew);
  visit("psns", "First or expected PSN", ControlPlace{28}, m.psns);
  visit("repairs", "REPAIRs in front of this", ControlRange(17, 0, 64), m.repairs);
}

template <ControlMessageOf<Repair> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("vc", "VC", ControlRange(16, 0, 3), m.vc);
  visit("slot", "Slot of the session", ControlRange(17, 0, 63), m.slot);
  visit("expected", "Expected PSN", ControlPlace{18}, m.expected);
  visit("fenced_plane", "About the fence of a plane", ControlFlag(0), m.fenced_plane);
  visit("fenced_session", "About the fence of a session", ControlFlag(1), m.fenced_session);
  visit("plane", "Fenced plane", ControlRange(20, 0, 3), m.plane);
  visit("generation", "Generation", ControlPlace{22}, m.generation);
  visit("marks", "PSNs that have arrived, or are wanted", ControlPlace{24}, m.marks);
}

constexpr ControlPlace PathPresence(uint8_t bit) { return {.at = 17, .bits = 1, .shift = bit}; }

template <ControlMessageOf<Path> M>
[[gnu::always_inline]] constexpr void VisitControlFields(M& m, const auto& visit) {
  visit("report", "Report", ControlFlag(0), m.report);
  visit("long_reply", "The report has the probe's length", ControlFlag(1), m.long_reply);
  visit("class", "Class", ControlRange(16, 0, Path::kClasses - 1), m.traffic_class);
  visit("frame_bytes", "Bytes of the probe's frame", ControlPlace{18}, m.bytes);
  visit("probe", "Number of the probe", ControlPlace{20}, m.number);
  visit("sent_ns", "Departure of the probe in ns", ControlPlace{24}, m.sent_ns);
  visit("received_ns", "Arrival of the probe in ns", ControlPlace{32}, m.received_ns);
  visit("order", "Probes that arrived before", ControlPlace{40}, m.order);
  visit("has_ds", "The probe had a DSCP", PathPresence(0), m.there.has_ds);
  visit("has_hops", "The probe had a hop limit", PathPresence(1), m.there.has_hops);
  visit("tagged", "The probe had a tag", PathPresence(2), m.there.tagged);
  visit("ds", "DSCP and ECN of the probe", ControlPlace{44}, m.there.ds);
  visit("hops", "Hop limit of the probe", ControlPlace{45}, m.there.hops);
  visit("tci", "Tag of the probe", ControlPlace{46}, m.there.tci);
  visit("sent_has_ds", "The report has a DSCP", PathPresence(3), m.sent.has_ds);
  visit("sent_has_hops", "The report has a hop limit", PathPresence(4), m.sent.has_hops);
  visit("sent_tagged", "The report has a tag", PathPresence(5), m.sent.tagged);
  visit("sent_ds", "DSCP and ECN of the report", ControlPlace{48}, m.sent.ds);
  visit("sent_hops", "Hop limit of the report", ControlPlace{49}, m.sent.hops);
  visit("sent_tci", "Tag of the report", ControlPlace{50}, m.sent.tci);
  visit("address_drops", "Frames for other addresses", ControlPlace{52}, m.address_drops);
  visit("rcrc_drops", "Frames with a wrong R-CRC", ControlPlace{56}, m.rcrc_drops);
  visit("not_sue_drops", "Frames that are not SUE's", ControlPlace{60}, m.not_sue_drops);
  visit("trimmed", "Trimmed frames", ControlPlace{64}, m.trimmed);
  visit("pauses", "PFC frames", ControlPlace{68}, m.pauses);
}

// Number of values in a member, and bytes of each on the wire.
template <class Value>
struct ControlValue {
  static constexpr uint32_t kCount = 1;
  static constexpr uint32_t kBytes = sizeof(Value);
};
template <class Value, size_t kSize>
struct ControlValue<std::array<Value, kSize>> {
  static constexpr uint32_t kCount = kSize;
  static constexpr uint32_t kBytes = sizeof(Value);
};
template <>
struct ControlValue<MorePsns> {
  static constexpr uint32_t kCount = MorePsns::kMax;  // at most
  static constexpr uint32_t kBytes = sizeof(Psn);
};

template <>
struct ControlValue<PsnMarks> {
  static constexpr uint32_t kCount = 2 * kPsnWords;  // at most
  static constexpr uint32_t kBytes = sizeof(uint64_t);
};

// Bytes of the body without `more` and `marks`, and without optional fields if `required`.
template <class Message>
constexpr uint32_t ControlBodyBytes(bool required) {
  uint32_t bytes = 0;
  const Message message;
  VisitControlFields(message, [&]<class V>(auto, auto, const ControlPlace& place, const V&) {
    if (std::same_as<V, MorePsns> || std::same_as<V, PsnMarks> || (place.optional && required))
      return;
    const int end = place.at + static_cast<int>(ControlValue<V>::kBytes * ControlValue<V>::kCount);
    if (end > 0) bytes = std::max(bytes, static_cast<uint32_t>(end));
  });
  return bytes;
}

}  // namespace suede

#endif  // SUEDE_WIRE_CONTROL_FIELDS_H_
