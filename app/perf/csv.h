// SPDX-License-Identifier: Apache-2.0
// Results as CSV, in base units: the runs, histograms and samples of their latencies. Each text
// begins with a line of column names; missing values are empty.
#ifndef SUEDE_APP_PERF_CSV_H_
#define SUEDE_APP_PERF_CSV_H_

#include <string>
#include <vector>

#include "perf/options.h"
#include "perf/results.h"

namespace suede::perf {

// --csv: a row for each run that is done.
std::string RunsCsv(const Options& options, const std::vector<RunResult>& results);
// --histogram_csv: a row for each bucket with samples.
std::string HistogramsCsv(const std::vector<RunResult>& results);
// --samples: a row for each sample, in the order of their ends in each queue.
std::string SamplesCsv(const std::vector<RunResult>& results);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_CSV_H_
