// SPDX-License-Identifier: Apache-2.0
// Begins, ends and reads the traces of the lcores (docs/trace.md).
#ifndef SUEDE_APP_ENDPOINT_TRACING_H_
#define SUEDE_APP_ENDPOINT_TRACING_H_

#include "endpoint/lcore_query.h"
#include "lcore/trace.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Must outlive its questions and the lcores' work. Control thread only.
class Tracing {
 public:
  explicit Tracing(Endpoint* endpoint) : endpoint_(endpoint), snapshots_(endpoint) {}

  // As the methods of EndpointView.
  Question<TraceChangeView> Begin(const TraceQuery& query) {
    return Change(query, TraceWish::kBegin);
  }
  Question<TraceChangeView> End(const TraceQuery& query) { return Change(query, TraceWish::kEnd); }
  Question<TraceListView> Read(const TraceQuery& query);

 private:
  Question<TraceChangeView> Change(const TraceQuery& query, TraceWish wish);

  Endpoint* const endpoint_;
  SnapshotPool<TraceSnapshot> snapshots_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_TRACING_H_
