// SPDX-License-Identifier: Apache-2.0
#include "local/fd.h"

#include <unistd.h>

#include "local/call_limit.h"

namespace suede {

void Fd::Reset() {
  if (fd_ < 0) return;
  const CallLimit limit;  // another process may have passed it
  close(Release());
}

}  // namespace suede
