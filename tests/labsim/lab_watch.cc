// SPDX-License-Identifier: Apache-2.0
// Curves, events and the depths of queues, while a run goes on.
#include "lab_watch.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "endpoint/lcore_event_names.h"
#include "endpoint/pipeline_params.h"

namespace suede::lab {
namespace {

using Kind = Curves::Kind;

constexpr Duration kFirstGap = std::chrono::microseconds(10);
constexpr int64_t kDepthsOfGap = 10;  // looks at the depths of queues between two points
constexpr uint32_t kMaxFlows = 64;    // of a load; those of more are shown by destination

double SecondsOf(Duration time) { return static_cast<double>(time.count()) / 1e9; }

// class_drop_tail_total: tail; rx_drop_rcrc_total: rcrc.
std::string ReasonOfCounter(std::string_view counter) {
  const size_t drop = counter.find("drop_");
  std::string_view before = counter.substr(0, drop);
  for (const std::string_view prefix : {"class_", "rx_", "tx_"}) {
    if (before.starts_with(prefix)) before.remove_prefix(prefix.size());
  }
  if (before.ends_with('_')) before.remove_suffix(1);
  std::string_view after = counter.substr(drop + 5);
  if (after.ends_with("_total")) after.remove_suffix(6);
  return std::string(before) + std::string(after);
}

// The plane of a daemon's port: of its link, or of the mesh.
std::optional<uint32_t> PlaneOf(const Plan& plan, const std::string& node, const PortConfig& port) {
  if (IsCentre(port)) return port.plane;
  for (const PlanLink& link : plan.links) {
    for (const PlanEnd* end : {&link.a, &link.b}) {
      if (end->node == node && end->port == port.name) return link.plane;
    }
  }
  return std::nullopt;
}

}  // namespace

LabWatch::LabWatch(LabRun& run)
    : run_(run),
      nodes_(SwitchNodesOf(run)),
      stalls_(run),
      gap_(std::min(kFirstGap, run.plan().sample)) {
  for (const SwitchNode& node : nodes_) drops_.emplace_back(node.ports);
  for (const auto& endpoint : run.endpoints()) {
    for (const InstanceConfig& instance : endpoint->config().instances) {
      xpus_.push_back(static_cast<uint16_t>(instance.xpu));
    }
    const std::vector<PortConfig>& ports = endpoint->config().ports;
    for (uint32_t p = 0; p < ports.size(); ++p) {
      if (const auto plane = PlaneOf(run.plan(), endpoint->name(), ports[p])) {
        planes_[endpoint.get()][*plane].push_back(p);
      }
    }
  }
}

// ---- Time.

void LabWatch::Sample() {
  const Time now = run_.now();
  if (next_depth_ <= now) {
    if (!loads_are_over_) Depths();
    next_depth_ = now + gap_ / kDepthsOfGap;
  }
  if (stalls_.next() <= now) stalls_.Look();
  if (next_point_ > now) return;
  HearAll();
  Point();
  if (curves_.Thin()) gap_ = std::min(2 * gap_, run_.plan().sample);
  next_point_ = now + gap_;
}

void LabWatch::Depths() {
  const auto ns = static_cast<uint64_t>((gap_ / kDepthsOfGap).count());
  depth_ns_ += ns;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (uint32_t p = 0; p < nodes_[n].ports.size(); ++p) {
      const SwitchPortView& port = nodes_[n].ports[p];
      uint32_t classes = 0;
      for (uint32_t left = port.port().output().waiting(); left != 0; left &= left - 1) {
        classes |=
            1u << port.at->params().ClassOfQueue(static_cast<uint32_t>(std::countr_zero(left)));
      }
      for (; classes != 0; classes &= classes - 1) {
        const auto c = static_cast<uint32_t>(std::countr_zero(classes));
        depths_[{n, p, c}][port.QueuedBytes(c)] += ns;
      }
    }
  }
}

void LabWatch::Point() {
  curves_.BeginPoint(run_.now());
  for (const auto& endpoint : run_.endpoints()) PointOf(*endpoint);
  for (const SwitchNode& node : nodes_) PointOf(node);
  PointOfLoads();
  PointOfLatencies();
}

void LabWatch::AddDrops(const std::string& node, const std::string& counter, uint64_t value) {
  if (value == 0 || counter.find("_drop_") == std::string::npos) return;
  curves_.Set("drops", "1/s", Kind::kGrowth, {{"node", node}, {"reason", ReasonOfCounter(counter)}},
              static_cast<double>(value));
}

void LabWatch::PointOf(const LabEndpoint& endpoint) {
  const std::string& node = endpoint.name();
  const CounterSnapshot counters = endpoint.Counters();
  const auto retransmissions = counters[static_cast<size_t>(Counter::kTxRetransmissions)];
  curves_.Set("retransmissions", "1/s", Kind::kGrowth, {{"node", node}},
              static_cast<double>(retransmissions));
  for (size_t i = 0; i < kCounterCount; ++i) {
    if (counters[i] != 0) AddDrops(node, std::string(CounterRows()[i].name), counters[i]);
  }
  for (const auto& [plane, ports] : planes_[&endpoint]) {
    uint64_t bytes = 0;
    for (const uint32_t port : ports) bytes += endpoint.BytesOf(port).received;
    curves_.Set("plane_throughput", "bytes/s", Kind::kGrowth,
                {{"node", node}, {"plane", absl::StrCat(plane)}}, static_cast<double>(bytes));
  }
  const Config& config = endpoint.config();
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    const PortPauses* const pauses = endpoint.pauses(p);
    for (uint32_t flow = 0; pauses != nullptr && flow < kLinkFlows; ++flow) {
      const Duration paused = pauses->PausedFor(pauses->ClassOf(flow), run_.now());
      if (paused.count() == 0) continue;
      curves_.Set("paused", "share", Kind::kGrowth,
                  {{"node", node},
                   {"port", config.ports[p].name},
                   {"vc", FlowNames(static_cast<VcMask>(1u << flow))}},
                  SecondsOf(paused));
    }
  }
}

void LabWatch::PointOf(const SwitchNode& node) {
  std::vector<uint64_t> of_port(SwitchPortRows().size());
  std::vector<uint64_t> of_class(SwitchClassRows().size());
  for (const SwitchPortView& port : node.ports) {
    const fabric::SwitchPort& own = port.port();
    for (size_t i = 0; i < of_port.size(); ++i) {
      of_port[i] += own.counters().Get(static_cast<SwitchPortCounter>(i));
    }
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      for (size_t i = 0; i < of_class.size(); ++i) {
        of_class[i] += own.counters(c).Get(static_cast<SwitchClassCounter>(i));
      }
      const Curves::Labels where = {
          {"node", node.name}, {"port", port.name}, {"class", absl::StrCat(c)}};
      if (const uint32_t bytes = port.QueuedBytes(c); bytes != 0) {
        curves_.Set("queue_depth", "bytes", Kind::kLevel, where, bytes);
      }
      const Duration paused = own.output().pauses().paused_for(c, run_.now());
      if (paused.count() != 0) {
        curves_.Set("paused", "share", Kind::kGrowth, where, SecondsOf(paused));
      }
    }
  }
  for (size_t i = 0; i < of_port.size(); ++i) {
    AddDrops(node.name, std::string(SwitchPortRows()[i].name), of_port[i]);
  }
  for (size_t i = 0; i < of_class.size(); ++i) {
    AddDrops(node.name, std::string(SwitchClassRows()[i].name), of_class[i]);
  }
  const auto growth = [&](const char* name, SwitchClassCounter counter) {
    curves_.Set(name, "1/s", Kind::kGrowth, {{"node", node.name}},
                static_cast<double>(of_class[static_cast<size_t>(counter)]));
  };
  growth("ecn_marks", SwitchClassCounter::kMarked);
  growth("trims", SwitchClassCounter::kTrimmed);
  double used = 0;
  for (const fabric::Switch* at : node.switches()) used += at->buffer().used();
  curves_.Set("buffer_used", "bytes", Kind::kLevel, {{"node", node.name}}, used);
}

void LabWatch::PointOfLoads() {
  std::map<std::tuple<std::string, std::string, std::string, uint32_t>, uint64_t> flows;
  for (const auto& process : run_.processes()) {
    const perf::Options& o = process->options();
    const size_t ranks = o.ranks.size();
    const bool is_incast = o.traffic.pattern == perf::Pattern::kIncast;
    const bool many = (is_incast ? ranks : ranks * ranks) > kMaxFlows;
    for (const perf::IntervalCells& cells : process->cells()) {
      for (const uint16_t source : ranks != 0 ? o.ranks : xpus_) {
        for (const uint8_t vc : o.vcs) {
          const uint64_t bytes = cells.bytes_of(source, vc);
          if (bytes == 0) continue;
          flows[{process->load(), many ? "*" : absl::StrCat(source), absl::StrCat(cells.own()),
                 vc}] += bytes;
        }
      }
    }
  }
  for (const auto& [flow, bytes] : flows) {
    const auto& [load, source, destination, vc] = flow;
    curves_.Set("goodput", "bytes/s", Kind::kGrowth,
                {{"load", load},
                 {"source", source},
                 {"destination", destination},
                 {"vc", absl::StrCat(vc)}},
                static_cast<double>(bytes));
  }
}

// Percentiles of the latencies measured since the point before.
void LabWatch::PointOfLatencies() {
  using Buckets = perf::IntervalCells::Buckets;
  std::map<std::string, std::vector<uint64_t>> sums;
  std::map<std::string, std::string> kinds;
  for (const auto& process : run_.processes()) {
    if (process->role() == Role::kServer) continue;
    std::vector<uint64_t>& sum = sums[process->load()];
    sum.resize(Buckets::kBuckets);
    const perf::Options& o = process->options();
    const bool requests = o.traffic.pattern == perf::Pattern::kRequestResponse;
    kinds[process->load()] = o.mode == perf::Mode::kWorkload ? (requests ? "response" : "transfer")
                             : o.completions > 0             ? "completion"
                                                             : "rtt";
    for (const perf::IntervalCells& cells : process->cells()) {
      for (uint32_t b = 0; b < Buckets::kBuckets; ++b) sum[b] += cells.latencies_in(b);
    }
  }
  for (auto& [load, sum] : sums) {
    std::vector<uint64_t>& before = latencies_[load];
    before.resize(Buckets::kBuckets);
    uint64_t count = 0;
    for (uint32_t b = 0; b < Buckets::kBuckets; ++b) count += sum[b] - before[b];
    for (const auto& [name, share] :
         {std::pair("latency_p50", 0.5), std::pair("latency_p99", 0.99)}) {
      if (count == 0) break;
      const auto wanted = static_cast<uint64_t>(static_cast<double>(count) * share);
      uint64_t seen = 0;
      uint32_t b = 0;
      while ((seen += sum[b] - before[b]) <= wanted && b + 1 < Buckets::kBuckets) ++b;
      curves_.Set(name, "s", Kind::kLevel,
                  {{"load", load}, {"process", load}, {"kind", kinds[load]}},
                  static_cast<double>(Buckets::LargestIn(b)) / 1e9);
    }
    before = std::move(sum);
  }
}

// ---- Events.

void LabWatch::Add(const std::string& source, const std::string& node, const char* severity,
                   const std::string& name, const std::string& text) {
  events_.push_back({{"t", SecondsAt(run_.now())},
                     {"end", nullptr},
                     {"source", source},
                     {"node", node.empty() ? Json() : Json(node)},
                     {"severity", severity},
                     {"name", name},
                     {"text", text}});
}

size_t LabWatch::Say(const char* severity, const char* name, const std::string& text) {
  Add("lab", "", severity, name, text);
  return events_.size() - 1;
}

void LabWatch::EndOf(size_t event) { events_[event]["end"] = SecondsAt(run_.now()); }

void LabWatch::HearAll() {
  for (const auto& endpoint : run_.endpoints()) {
    endpoint->Hear([&](uint32_t lcore, const LcoreEvent& event) {
      const EventRow& row = RowOf(KindOf(event.kind));
      const uint32_t xpu = endpoint->XpuOf(lcore, event.instance);
      std::string text = absl::StrCat("peer=", event.peer_xpuid, " plane=", event.plane);
      if (event.kind == LcoreEventKind::kPlaneDown) {
        text += " reason=" + std::string(NameOf(static_cast<PlaneDownReason>(event.what)));
      }
      const std::string severity(NameOf(row.severity));
      Add(absl::StrCat("xpu", xpu), endpoint->name(), severity.c_str(), std::string(row.name),
          text);
    });
  }
  HearStorms();
  HearDrops();
}

void LabWatch::HearDrops() {
  constexpr const char* kCauses[] = {"down", "pause", "credit", "rate"};  // by WaitCause
  for (size_t n = 0; n < nodes_.size(); ++n) {
    drops_[n].Look(run_.now(), [&](EventKind kind, const SwitchPortView& port, uint64_t count,
                                   const fabric::DropNote& latest) {
      const EventRow& row = RowOf(kind);
      const std::string severity(NameOf(row.severity));
      std::string text = absl::StrCat("port=", port.name, " class=", latest.traffic_class,
                                      " destination=", port.NameOfDestination(latest.destination),
                                      " count=", count);
      if (kind == EventKind::kAgeDrops) {
        absl::StrAppend(&text, " reason=", kCauses[static_cast<size_t>(latest.cause)]);
      }
      Add(nodes_[n].name, nodes_[n].name, severity.c_str(), std::string(row.name), text);
    });
  }
}

void LabWatch::HearStorms() {
  const auto& switches = run_.fabric().switches();
  for (size_t s = 0; s < switches.size(); ++s) {
    for (uint32_t p = 0; p < switches[s]->ports.size(); ++p) {
      const uint8_t stormy = switches[s]->the_switch().port(p).output().pauses().stormy();
      uint8_t& before = stormy_[{s, p}];
      for (uint32_t changed = stormy ^ before; changed != 0; changed &= changed - 1) {
        const auto c = static_cast<uint32_t>(std::countr_zero(changed));
        const EventRow& row =
            RowOf((stormy >> c & 1) != 0 ? EventKind::kStormBegan : EventKind::kStormEnded);
        const std::string severity(NameOf(row.severity));
        Add(switches[s]->name, switches[s]->name, severity.c_str(), std::string(row.name),
            absl::StrCat("port=", switches[s]->config.ports[p].name, " class=", c));
      }
      before = stormy;
    }
  }
}

}  // namespace suede::lab
