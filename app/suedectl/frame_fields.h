// SPDX-License-Identifier: Apache-2.0
// What a frame's JSON object can say of its headers: one row for each field, from which reading,
// writing, --help and the tests of docs/frames.md derive.
#ifndef SUEDE_SUEDECTL_FRAME_FIELDS_H_
#define SUEDE_SUEDECTL_FRAME_FIELDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/encap.h"

namespace suede::ctl {

// Sets of encapsulations, a bit for each in the order of Encap.
inline constexpr uint32_t kInUdp4 = 0x01;
inline constexpr uint32_t kInUdp6 = 0x02;
inline constexpr uint32_t kInUdp = kInUdp4 | kInUdp6;
inline constexpr uint32_t kInAfh1 = 0x04;
inline constexpr uint32_t kInAfh1s = 0x08;
inline constexpr uint32_t kInAfh2 = 0x10;
inline constexpr uint32_t kInAfh2c = 0x20;
inline constexpr uint32_t kInAll = 0x3f;
inline constexpr uint32_t kInTaggable = kInUdp | kInAfh1 | kInAfh1s;
inline constexpr uint32_t kInAfh = kInAll & ~kInUdp;

enum class FieldKind : uint8_t {
  kNumber,     // least to most
  kFlag,       // true, false
  kMac,        // "02:00:00:00:bc:a9"
  kMacPrefix,  // "02:53:55:45"
  kIpAddress,  // "198.18.3.23", "fd00::1"
};

// When decode prints a field.
enum class Shown : uint8_t {
  kAlways,
  kUnusual,  // where a suede port sends something else
  kNever,    // encode alone reads it
};

// id, name, kind, encapsulations, least, most, shown, default, sentence. In the order of output.
#define SUEDE_FRAME_FIELDS(X)                                                                    \
  X(TimeNs, "time_ns", Number, All, 0, 2147483647999999999, Unusual, "0",                        \
    "when it was captured, in ns since 1970; for captures alone")                                \
  X(Dmac, "dmac", Mac, Udp, 0, 0, Always, "zero", "destination MAC address")                     \
  X(Smac, "smac", Mac, Udp, 0, 0, Always, "zero", "source MAC address")                          \
  X(MacPrefix, "mac_prefix", MacPrefix, Afh1 | kInAfh1s, 0, 0, Always, "02:53:55:45",            \
    "first 4 bytes of both MAC addresses")                                                       \
  X(DstFwd, "dst_fwd", Number, Afh, 0, 0xffffffff, Always, "(instance << 10) | dst_xpuid",       \
    "destination forwarding address; 16 bits but for afh2")                                      \
  X(SrcFwd, "src_fwd", Number, Afh, 0, 0xffffffff, Always, "(instance << 10) | xpuid",           \
    "source forwarding address; 16 bits but for afh2")                                           \
  X(EtherType, "ether_type", Number, Afh, 0x600, 0xffff, Always, "34997, afh1s 34998",           \
    "EtherType; not 33024, a tag's")                                                             \
  X(Pcp, "pcp", Number, Taggable, 0, 7, Always, "0",                                             \
    "priority of the tag; a frame has one where pcp, dei or vid is there")                       \
  X(Dei, "dei", Number, Taggable, 0, 1, Unusual, "0", "drop eligible indicator of the tag")      \
  X(Vid, "vid", Number, Taggable, 0, 4095, Always, "0", "VLAN of the tag")                       \
  X(Sip, "sip", IpAddress, Udp, 0, 0, Always, "zero", "source IP address")                       \
  X(Dip, "dip", IpAddress, Udp, 0, 0, Always, "zero", "destination IP address")                  \
  X(Dport, "dport", Number, Udp, 0, 0xffff, Always, "3333", "destination port")                  \
  X(Session, "session", Number, Udp | kInAfh1s | kInAfh2, 0, 0xffff, Always, "0",                \
    "session: source port less 49152, modulo 65536, or entropy; 8 bits in afh2")                 \
  X(Dscp, "dscp", Number, All & ~kInAfh1, 0, 63, Always, "0", "DSCP")                            \
  X(Ecn, "ecn", Number, All & ~kInAfh1, 0, 3, Always, "0", "ECN")                                \
  X(HopLimit, "hop_limit", Number, Udp | kInAfh1s | kInAfh2, 0, 255, Always, "64",               \
    "TTL, hop limit or hop count")                                                               \
  X(FlowLabel, "flow_label", Number, Udp6, 0, 0xfffff, Unusual, "0", "flow label")               \
  X(IpId, "ip_id", Number, Udp4, 0, 0xffff, Unusual, "0", "identification")                      \
  X(IpFlags, "ip_flags", Number, Udp4, 0, 7, Unusual, "2", "4 reserved, 2 DF, 1 MF")             \
  X(IpLength, "ip_length", Number, Udp, 0, 0xffff, Unusual, "up to the end of the PDU",          \
    "total length of IPv4, payload length of IPv6")                                              \
  X(IpChecksum, "ip_checksum", Number, Udp4, 0, 0xffff, Unusual, "computed", "header checksum")  \
  X(UdpChecksum, "udp_checksum", Flag, Udp4, 0, 1, Unusual, "false",                             \
    "whether a UDP checksum is there (computed), or 0")                                          \
  X(ShimReserved, "shim_reserved", Number, Afh1s, 0, 15, Unusual, "0",                           \
    "reserved bits of the shim's first byte")                                                    \
  X(Ver, "ver", Number, All, 0, 3, Always, "0; 3 with control_pdu", "RH: version")               \
  X(Op, "op", Number, All, 0, 3, Always, "2", "RH: 0 ACK, 1 NACK, 2 and 3 nothing")              \
  X(Rsv, "rsv", Number, All & ~kInAfh2c, 0, 3, Unusual, "0", "RH: reserved bits 11:10")          \
  X(Xpuid, "xpuid", Number, All, 0, 1023, Always, "0; afh2c: of src_fwd", "RH: the sending XPU") \
  X(Psn, "psn", Number, All, 0, 0xffff, Always, "0", "RH: PSN")                                  \
  X(Vc, "vc", Number, All, 0, 3, Always, "0", "RH: virtual channel")                             \
  X(Rsvd, "rsvd", Number, All & ~kInAfh2c, 0, 15, Unusual, "0", "RH: reserved bits 13:10 of vc") \
  X(Partition, "partition", Number, All, 0, 1023, Always, "0", "RH: partition")                  \
  X(Rpsn, "rpsn", Number, All, 0, 0xffff, Always, "0", "RH: PSN that is acknowledged")           \
  X(Padding, "padding", Number, All, 0, 0xffff, Always, "up to a frame of 60 bytes",             \
    "bytes of padding between commands and R-CRC")                                               \
  X(Instance, "instance", Number, All, 0, 63, Never, "0",                                        \
    "for the default of dst_fwd and src_fwd")                                                    \
  X(DstXpuid, "dst_xpuid", Number, All, 0, 1023, Never, "0", "for the default of dst_fwd")

enum class Field : uint8_t {
#define SUEDE_FRAME_FIELD_ID(id, ...) k##id,
  SUEDE_FRAME_FIELDS(SUEDE_FRAME_FIELD_ID)
#undef SUEDE_FRAME_FIELD_ID
      kCount
};
inline constexpr size_t kFieldCount = static_cast<size_t>(Field::kCount);

struct FieldRow {
  Field field;
  std::string_view name;
  FieldKind kind;
  uint32_t encaps;
  uint64_t least;
  uint64_t most;
  Shown shown;
  std::string_view fallback;  // what encode takes where the field is missing
  std::string_view sentence;
  bool In(Encap encap) const { return (encaps >> static_cast<uint32_t>(encap) & 1) != 0; }
};

// The rows, indexed by Field.
std::span<const FieldRow, kFieldCount> FieldRows();

// The largest number that the field holds in this encapsulation.
uint64_t MostOf(const FieldRow& row, Encap encap);

// Fields that are known. Each kind of value fits a NetAddress: MAC addresses, prefixes and numbers
// are in `low`.
class FieldValues {
 public:
  const std::optional<NetAddress>& operator[](Field field) const { return values_[Index(field)]; }
  bool Has(Field field) const { return values_[Index(field)].has_value(); }
  // The value, or what to take where there is none.
  NetAddress AddressOr(Field field, NetAddress fallback) const {
    return values_[Index(field)].value_or(fallback);
  }
  uint64_t WordOr(Field field, uint64_t fallback) const {
    return AddressOr(field, {.low = fallback}).low;
  }
  template <class Number>
  Number NumberOr(Field field, uint64_t fallback) const {
    return static_cast<Number>(WordOr(field, fallback));
  }
  void Set(Field field, NetAddress value) { values_[Index(field)] = value; }
  void Set(Field field, uint64_t value) { values_[Index(field)] = {.low = value}; }
  friend bool operator==(const FieldValues&, const FieldValues&) = default;

 private:
  static size_t Index(Field field) { return static_cast<size_t>(field); }
  std::array<std::optional<NetAddress>, kFieldCount> values_;
};

// MAC addresses as the 48 bits of a value.
uint64_t MacWord(const uint8_t* bytes);
MacAddress MacOfWord(uint64_t word);

// The text of the kinds that are text.
std::string FormatValue(FieldKind kind, Encap encap, const NetAddress& value);
std::optional<NetAddress> ParseValue(FieldKind kind, Encap encap, const std::string& text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_FIELDS_H_
