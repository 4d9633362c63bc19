// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_marks.h"

#include "wire/encap/fields.h"

namespace suede {

FrameMarks MarksOf(const FrameRules& rules, std::span<const uint8_t> frame) {
  FieldValues values;
  ReadHeader(rules, frame, values);
  FrameMarks marks;
  marks.has_ds = values.Has(FieldKey::kEcn);
  // The CoS of ESUN is the upper three bits of a DSCP.
  const uint64_t dscp = values.WordOr(FieldKey::kDscp, values.WordOr(FieldKey::kCos, 0) << 3);
  marks.ds = static_cast<uint8_t>(dscp << 2 | values.WordOr(FieldKey::kEcn, 0));
  marks.has_hops = values.Has(FieldKey::kHopLimit);
  marks.hops = values.NumberOr<uint8_t>(FieldKey::kHopLimit, 0);
  marks.tagged = values.Has(FieldKey::kVid);
  marks.tci = static_cast<uint16_t>(values.WordOr(FieldKey::kPcp, 0) << 13 |
                                    values.WordOr(FieldKey::kDei, 0) << 12 |
                                    values.WordOr(FieldKey::kVid, 0));
  return marks;
}

FrameMarks MarksOf(const FrameRules& rules, const HeaderTemplate& header) {
  // The RH, which follows, is in no header but afh2c's.
  return MarksOf(rules, {header.bytes + HeaderTemplate::kMaxBytes - header.length, header.length});
}

}  // namespace suede
