// SPDX-License-Identifier: Apache-2.0
#include "router/cable.h"

namespace suede {

uint32_t Cable::End::Give(Frame* const* frames, uint32_t count) {
  uint32_t given = 0;
  while (given < count && out_.Push(frames[given])) ++given;
  out_.Publish();
  if (far_.bell_ != nullptr) far_.bell_->Ring();
  return given;
}

}  // namespace suede
