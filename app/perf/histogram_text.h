// SPDX-License-Identifier: Apache-2.0
// The histogram of a run's latencies as text (--histogram).
#ifndef SUEDE_APP_PERF_HISTOGRAM_TEXT_H_
#define SUEDE_APP_PERF_HISTOGRAM_TEXT_H_

#include <string>

#include "base/histogram.h"

namespace suede::perf {

// Returns a line for each range of latencies, with its samples, their share, the share up to the
// range's end, and a bar. Ranges adjoin from the minimum to the maximum, and none is wider than a
// power of two. Lines begin with '#', as those of heads do. Empty without samples.
std::string HistogramText(const Histogram& ns);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_HISTOGRAM_TEXT_H_
