// SPDX-License-Identifier: Apache-2.0
// Traces of PDUs (docs/trace.md): the rows of trace.list of one endpoint, or of both ends joined.
// No I/O.
#ifndef SUEDE_APP_SUEDECTL_TRACE_ROWS_H_
#define SUEDE_APP_SUEDECTL_TRACE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {

// Returns the object of --json: rows; with `far`, the result of the other end, also far_rows and
// ways, those of PDUs of which both ends have a row. Results are untrusted.
Json TraceJson(const Json& own, const Json* far);
// Formats it, with names.
std::string TraceText(const Json& trace, size_t columns, const XpuNames& names = {});

// Times of one endpoint's PDUs, over any number of results of trace.list.
class TraceTimes {
 public:
  void Add(const Json& result);
  // Medians; nullopt: no PDU has both times.
  std::optional<double> queued_to_acked_us() const { return Median(acked_ns_); }
  std::optional<double> delivered_to_read_us() const { return Median(read_ns_); }
  size_t acked() const { return acked_ns_.size(); }
  size_t read() const { return read_ns_.size(); }

 private:
  static std::optional<double> Median(std::vector<int64_t> ns);

  std::vector<int64_t> acked_ns_;
  std::vector<int64_t> read_ns_;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_TRACE_ROWS_H_
