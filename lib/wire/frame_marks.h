// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a network header that a switch may change (docs/path.md).
#ifndef SUEDE_WIRE_FRAME_MARKS_H_
#define SUEDE_WIRE_FRAME_MARKS_H_

#include <cstdint>
#include <span>

#include "wire/control_pdu.h"
#include "wire/encap/header.h"

namespace suede {

// Returns the marks of a frame of a port with these rules. afh2c: none once ParseFrame has restored
// the RH, which replaces the fields.
FrameMarks MarksOf(const FrameRules& rules, std::span<const uint8_t> frame);
// Returns the marks of frames with this header as they leave.
FrameMarks MarksOf(const FrameRules& rules, const HeaderTemplate& header);

}  // namespace suede

#endif  // SUEDE_WIRE_FRAME_MARKS_H_
