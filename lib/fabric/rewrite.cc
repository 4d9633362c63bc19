// SPDX-License-Identifier: Apache-2.0
#include "fabric/rewrite.h"

#include <cstring>

#include "wire/ethernet.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kMacBytes = 12;  // of both addresses

bool RewriteDs(const RewriteParams& to, const FrameView& view, uint8_t* frame) {
  const uint8_t before = view.ds_byte(frame);
  const uint8_t dscp = to.dscp.value_or(before >> 2);
  const uint8_t ecn = to.ecn.value_or(before & 3);
  const auto wanted = static_cast<uint8_t>(dscp << 2 | ecn);
  if (wanted == before) return false;
  view.set_ds_byte(frame, wanted);
  return view.ds_byte(frame) != before;  // the header may hold fewer bits
}

bool RewriteHopLimit(uint8_t to, const FrameView& view, uint8_t* frame) {
  const uint8_t before = view.hop_limit(frame);
  if (to == before) return false;
  view.set_hop_limit(frame, to);
  return view.hop_limit(frame) != before;
}

}  // namespace

RewriteParams RewriteParams::Over(const RewriteParams& general) const {
  return {.dscp = dscp ? dscp : general.dscp,
          .ecn = ecn ? ecn : general.ecn,
          .pcp = pcp ? pcp : general.pcp,
          .hop_limit = hop_limit ? hop_limit : general.hop_limit};
}

bool RewriteFields(const RewriteParams& to, const FrameView& view, uint8_t* frame) {
  bool changed = false;
  // The fields of another revision of ESUN are not known.
  if (view.network != NetworkHeader::kNone && view.error != ViewError::kRevision) {
    changed |= RewriteDs(to, view, frame);
    if (to.hop_limit && view.has_hop_limit(frame)) {
      changed |= RewriteHopLimit(*to.hop_limit, view, frame);
    }
  }
  if (to.pcp && view.tagged && *to.pcp != view.pcp) {
    view.set_pcp(frame, *to.pcp);
    changed = true;
  }
  return changed;
}

bool StripTag(const FrameView& view, Frame* frame) {
  if (!view.tagged) return false;
  std::memmove(frame->data + kTagBytes, frame->data, kMacBytes);
  frame->data += kTagBytes;
  frame->length -= kTagBytes;
  return true;
}

}  // namespace suede::fabric
