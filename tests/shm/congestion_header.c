/* SPDX-License-Identifier: Apache-2.0 */
/* suede/congestion.h is C as well. */
#include "suede/congestion.h"

uint32_t LoadInC(const suede_queue* queue);

uint32_t LoadInC(const suede_queue* queue) {
  suede_congestion congestion = {.size = sizeof congestion};
  return suede_get_congestion(queue, &congestion) == 0 ? congestion.load : UINT32_MAX;
}
