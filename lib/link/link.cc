// SPDX-License-Identifier: Apache-2.0
#include "link/link.h"

namespace suede {

template class BasicLink<LinkStack>;

}  // namespace suede
