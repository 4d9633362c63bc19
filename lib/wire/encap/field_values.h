// SPDX-License-Identifier: Apache-2.0
// Names of the fields of a frame's headers: one row for each, by which text forms of frames are
// parsed, written and documented. The file of each header declares its fields.
#ifndef SUEDE_WIRE_ENCAP_FIELD_VALUES_H_
#define SUEDE_WIRE_ENCAP_FIELD_VALUES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/encap/header.h"

namespace suede {

enum class FieldKind : uint8_t {
  kNumber,     // min to max
  kFlag,       // true, false
  kMac,        // "02:00:00:00:bc:a9"
  kMacPrefix,  // "02:53:55:45"
  kIpAddress,  // "198.18.3.23", "fd00::1"
};

// Condition under which a description shows a field.
enum class Shown : uint8_t {
  kAlways,
  kUnusual,  // if a suede port sends another value
  kNever,    // read only
};

// id, name, kind, min, max, shown, default, sentence; in the order of output. A max of 0 means that
// the width of the header's field gives it. In default and sentence, {NAME} stands for text that
// depends on the headers (field_values.cc).
#define SUEDE_FIELD_KEYS(X)                                                                     \
  X(TimeNs, "time_ns", Number, 0, 2147483647999999999, Unusual, "0",                            \
    "when it was captured, in ns since 1970; for captures alone")                               \
  X(Dmac, "dmac", Mac, 0, 0, Always, "zero", "destination MAC address")                         \
  X(Smac, "smac", Mac, 0, 0, Always, "zero", "source MAC address")                              \
  X(MacPrefix, "mac_prefix", MacPrefix, 0, 0, Always, "02:53:55:45",                            \
    "first 4 bytes of both MAC addresses")                                                      \
  X(DstFwd, "dst_fwd", Number, 0, 0, Always, "(instance << 10) | dst_xpuid",                    \
    "destination forwarding address; {bits}")                                                   \
  X(SrcFwd, "src_fwd", Number, 0, 0, Always, "(instance << 10) | xpuid",                        \
    "source forwarding address; {bits}")                                                        \
  X(EtherType, "ether_type", Number, 0x600, 0, Always, "{ether_types}",                         \
    "EtherType; not 33024, a tag's")                                                            \
  X(Pcp, "pcp", Number, 0, 0, Always, "0",                                                      \
    "priority of the tag; a frame has one where pcp, dei or vid is there")                      \
  X(Dei, "dei", Number, 0, 0, Unusual, "0", "drop eligible indicator of the tag")               \
  X(Vid, "vid", Number, 0, 0, Always, "0", "VLAN of the tag")                                   \
  X(Sip, "sip", IpAddress, 0, 0, Always, "zero", "source IP address")                           \
  X(Dip, "dip", IpAddress, 0, 0, Always, "zero", "destination IP address")                      \
  X(Dport, "dport", Number, 0, 0, Always, "3333", "destination port")                           \
  X(Session, "session", Number, 0, 0, Always, "0",                                              \
    "session: source port less 49152, modulo 65536, entropy, or flow label; {bits}")            \
  X(Dscp, "dscp", Number, 0, 0, Always, "0", "DSCP")                                            \
  X(Cos, "cos", Number, 0, 0, Always, "0", "CoS of ESUN")                                       \
  X(Ecn, "ecn", Number, 0, 0, Always, "0", "ECN")                                               \
  X(HopLimit, "hop_limit", Number, 0, 0, Always, "{hop_limits}",                                \
    "TTL, hop limit or hop count; {bits}")                                                      \
  X(LabelValid, "label_valid", Number, 0, 0, Unusual, "1",                                      \
    "F of ESUN: the flow label, which is the session, is valid")                                \
  X(UserDefined, "user_defined", Number, 0, 0, Unusual, "0", "user-defined bits of ESUN")       \
  X(EsunReserved, "esun_reserved", Number, 0, 0, Unusual, "0", "reserved bits of ESUN")         \
  X(FlowLabel, "flow_label", Number, 0, 0, Unusual, "0", "flow label")                          \
  X(IpId, "ip_id", Number, 0, 0, Unusual, "0", "identification")                                \
  X(IpFlags, "ip_flags", Number, 0, 0, Unusual, "2", "4 reserved, 2 DF, 1 MF")                  \
  X(IpLength, "ip_length", Number, 0, 0, Unusual, "up to the end of the PDU",                   \
    "total length of IPv4, payload length of IPv6")                                             \
  X(IpChecksum, "ip_checksum", Number, 0, 0, Unusual, "computed", "header checksum")            \
  X(UdpChecksum, "udp_checksum", Flag, 0, 1, Unusual, "false",                                  \
    "whether a UDP checksum is there (computed), or 0")                                         \
  X(ShimReserved, "shim_reserved", Number, 0, 0, Unusual, "0",                                  \
    "reserved bits of the shim's first byte")                                                   \
  X(Ver, "ver", Number, 0, 0, Always, "0; 3 with control_pdu", "RH: version")                   \
  X(Op, "op", Number, 0, 0, Always, "2", "RH: 0 ACK, 1 NACK, 2 and 3 nothing")                  \
  X(Rsv, "rsv", Number, 0, 0, Unusual, "0", "RH: reserved bits 11:10")                          \
  X(Xpuid, "xpuid", Number, 0, 0, Always, "0; {rh_holders}: of src_fwd", "RH: the sending XPU") \
  X(Psn, "psn", Number, 0, 0, Always, "0", "RH: PSN")                                           \
  X(Vc, "vc", Number, 0, 0, Always, "0", "RH: virtual channel")                                 \
  X(Rsvd, "rsvd", Number, 0, 0, Unusual, "0", "RH: reserved bits 13:10 of vc")                  \
  X(Partition, "partition", Number, 0, 0, Always, "0", "RH: partition")                         \
  X(Rpsn, "rpsn", Number, 0, 0, Always, "0", "RH: PSN that is acknowledged")                    \
  X(Padding, "padding", Number, 0, 0xffff, Always, "up to a frame of 60 bytes",                 \
    "bytes of padding between commands and R-CRC")                                              \
  X(Instance, "instance", Number, 0, 63, Never, "0", "for the default of dst_fwd and src_fwd")  \
  X(DstXpuid, "dst_xpuid", Number, 0, 1023, Never, "0", "for the default of dst_fwd")

enum class FieldKey : uint8_t {
#define SUEDE_FIELD_KEY_ID(id, ...) k##id,
  SUEDE_FIELD_KEYS(SUEDE_FIELD_KEY_ID)
#undef SUEDE_FIELD_KEY_ID
      kCount,
  kNone = kCount
};
inline constexpr size_t kFieldCount = static_cast<size_t>(FieldKey::kCount);

struct FieldRow {
  FieldKey field;
  std::string_view name;
  FieldKind kind;
  EncapSet encaps;
  uint64_t min;
  uint64_t max;  // in the widest header
  Shown shown;
  std::string fallback;  // the value if the field is missing
  std::string sentence;
  bool In(Encap encap) const { return encaps.Has(encap); }
};

// The rows, indexed by FieldKey.
std::span<const FieldRow, kFieldCount> FieldRows();

// Returns the largest number that the field can hold in this encapsulation.
uint64_t MaxOf(const FieldRow& row, Encap encap);

// Values of known fields. Each kind of value fits a NetAddress: MAC addresses, prefixes and numbers
// are in `low`.
class FieldValues {
 public:
  const std::optional<NetAddress>& operator[](FieldKey field) const {
    return values_[Index(field)];
  }
  bool Has(FieldKey field) const { return values_[Index(field)].has_value(); }
  // Returns the value, or `fallback` if there is none.
  NetAddress AddressOr(FieldKey field, NetAddress fallback) const {
    return values_[Index(field)].value_or(fallback);
  }
  uint64_t WordOr(FieldKey field, uint64_t fallback) const {
    return AddressOr(field, {.low = fallback}).low;
  }
  template <class Number>
  Number NumberOr(FieldKey field, uint64_t fallback) const {
    return static_cast<Number>(WordOr(field, fallback));
  }
  void Set(FieldKey field, NetAddress value) { values_[Index(field)] = value; }
  void Set(FieldKey field, uint64_t value) { values_[Index(field)] = {.low = value}; }
  friend bool operator==(const FieldValues&, const FieldValues&) = default;

 private:
  static size_t Index(FieldKey field) { return static_cast<size_t>(field); }
  std::array<std::optional<NetAddress>, kFieldCount> values_;
};

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_FIELD_VALUES_H_
