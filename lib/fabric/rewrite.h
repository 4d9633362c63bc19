// SPDX-License-Identifier: Apache-2.0
// Fields of frames that a misconfigured device overwrites (docs/switch.md, "Impairments").
#ifndef SUEDE_FABRIC_REWRITE_H_
#define SUEDE_FABRIC_REWRITE_H_

#include <cstdint>
#include <optional>

#include "fabric/frame_view.h"
#include "port/frame.h"

namespace suede::fabric {

// Values that frames get where their headers have the field; nullopt: the frame's own.
struct RewriteParams {
  std::optional<uint8_t> dscp;  // 0 to 63; of ESUN the upper three bits, as CoS
  std::optional<uint8_t> ecn;   // 0 to 3
  std::optional<uint8_t> pcp;   // 0 to 7
  std::optional<uint8_t> hop_limit;
  bool operator==(const RewriteParams&) const = default;

  // Returns these values, and those of `general` for the rest.
  RewriteParams Over(const RewriteParams& general) const;
};

// Return whether the frame has changed; StripTag makes its view invalid then.
bool RewriteFields(const RewriteParams& to, const FrameView& view, uint8_t* frame);
bool StripTag(const FrameView& view, Frame* frame);

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_REWRITE_H_
