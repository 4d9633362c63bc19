// SPDX-License-Identifier: Apache-2.0
// Results of a run at its end: counters, queues, the times of flows.
#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "lab_watch.h"

namespace suede::lab {
namespace {

constexpr size_t kMaxFlowTimes = 20'000;

// Jain's index.
double FairnessOf(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double x : values) {
    sum += x;
    squares += x * x;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

// The smallest depth that so large a share of the time does not exceed.
uint32_t DepthOf(const std::map<uint32_t, uint64_t>& ns_of_depth, uint64_t all_ns, double share) {
  uint64_t seen = 0;
  for (const auto& [depth, ns] : ns_of_depth) seen += ns;
  uint64_t up_to = all_ns - std::min(seen, all_ns);  // it was empty
  const double wanted = static_cast<double>(all_ns) * share;
  if (static_cast<double>(up_to) >= wanted) return 0;
  for (const auto& [depth, ns] : ns_of_depth) {
    up_to += ns;
    if (static_cast<double>(up_to) >= wanted) return depth;
  }
  return ns_of_depth.empty() ? 0 : ns_of_depth.rbegin()->first;
}

// `value` gives that of a row.
template <class Value, class Rows>
void AddCounters(const Value& value, const Rows& rows, Json& sum) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Json& at = sum[std::string(rows[i].name)];
    at = (at.is_null() ? uint64_t{0} : at.template get<uint64_t>()) + value(i);
  }
}

// Adds the counters of a switch's port.
void AddCountersOf(const SwitchPortView& view, Json& sum) {
  const fabric::SwitchPort& port = view.port();
  AddCounters([&](size_t i) { return port.counters().Get(static_cast<SwitchPortCounter>(i)); },
              SwitchPortRows(), sum);
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    AddCounters([&](size_t i) { return port.counters(c).Get(static_cast<SwitchClassCounter>(i)); },
                SwitchClassRows(), sum);
  }
}

}  // namespace

Json LabWatch::Series() const {
  return curves_.ToJson({"goodput", "plane_throughput", "buffer_used"});
}

// ---- Nodes.

Json LabWatch::FinalOf(const LabEndpoint& endpoint) const {
  Json counters = Json::object();
  const CounterSnapshot sums = endpoint.Counters();
  for (size_t i = 0; i < kCounterCount; ++i) counters[std::string(CounterRows()[i].name)] = sums[i];
  Json ports = Json::object();
  for (uint32_t p = 0; p < endpoint.config().ports.size(); ++p) {
    ports[endpoint.config().ports[p].name] = {{"port_rx_bytes_total", endpoint.BytesOf(p).received},
                                              {"port_tx_bytes_total", endpoint.BytesOf(p).sent}};
  }
  const auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const SwitchNode& each) {
    return each.name == endpoint.name();
  });
  if (node != nodes_.end()) {
    for (const SwitchPortView& port : node->ports) AddCountersOf(port, ports[port.name]);
  }
  return {{"counters", counters}, {"ports", ports}, {"buffer", nullptr}};
}

Json LabWatch::FinalOf(const LabSwitch& at, const SwitchNode& node) const {
  Json counters = Json::object();
  Json ports = Json::object();
  for (const SwitchPortView& port : node.ports) {
    AddCountersOf(port, counters);
    AddCountersOf(port, ports[port.name]);
  }
  const fabric::Switch& the_switch = at.the_switch();
  const fabric::SharedBuffer& buffer = the_switch.buffer();
  return {{"counters", counters},
          {"ports", ports},
          {"buffer",
           {{"bytes", the_switch.params().buffer_bytes},
            {"cell_bytes", the_switch.params().cell_bytes},
            {"used_bytes", buffer.used()},
            {"most_used_bytes", buffer.max_used()},
            {"shared_bytes", buffer.shared_bytes()},
            {"shared_free_bytes", buffer.shared_free()},
            {"headroom_used_bytes", buffer.headroom_used()},
            {"most_headroom_used_bytes", buffer.max_headroom_used()}}}};
}

Json LabWatch::Final() const {
  Json result = Json::object();
  for (const auto& endpoint : run_.endpoints()) result[endpoint->name()] = FinalOf(*endpoint);
  for (const SwitchNode& node : nodes_) {
    const LabSwitch* const at = run_.fabric().SwitchNamed(node.name);
    if (at != nullptr) result[node.name] = FinalOf(*at, node);
  }
  for (auto& [name, node] : result.items()) node["events"] = Json::array();
  for (const Json& event : events_) {
    if (event["node"].is_null()) continue;
    result[event["node"].get<std::string>()]["events"].push_back({{"kind", event["name"]}});
  }
  return result;
}

// ---- Queues.

Json LabWatch::Queues() const {
  Json list = Json::array();
  for (const auto& [where, depths] : depths_) {
    const auto& [n, p, c] = where;
    const SwitchPortView& port = nodes_[n].ports[p];
    double sum = 0;
    for (const auto& [depth, ns] : depths) {
      sum += static_cast<double>(depth) * static_cast<double>(ns);
    }
    list.push_back({{"node", nodes_[n].name},
                    {"port", port.name},
                    {"class", c},
                    {"mean_bytes", sum / static_cast<double>(std::max<uint64_t>(depth_ns_, 1))},
                    {"p50_bytes", DepthOf(depths, depth_ns_, 0.5)},
                    {"p99_bytes", DepthOf(depths, depth_ns_, 0.99)},
                    {"most_bytes", port.MaxQueuedBytes(c)}});
  }
  return list;
}

// ---- Flows.

std::vector<LabWatch::FlowTime> LabWatch::FlowTimes() const {
  std::map<std::pair<std::string, uint32_t>, const perf::FlowLog*> logs;  // by load and rank
  const auto each = [&](const auto& act) {
    for (const auto& process : run_.processes()) {
      for (size_t i = 0; i < process->flow_logs().size(); ++i) {
        act(*process, process->RankOf(process->options().own[i]), process->flow_logs()[i]);
      }
    }
  };
  each([&](const LabProcess& process, uint32_t rank, const perf::FlowLog& log) {
    logs[{process.load(), rank}] = &log;
  });
  std::vector<FlowTime> flows;
  each([&](const LabProcess& process, uint32_t rank, const perf::FlowLog& log) {
    for (const perf::FlowLog::Entry& entry : log.flows) {
      const auto source = logs.find({process.load(), entry.source});
      if (source == logs.end() || entry.iteration >= source->second->begins.size()) continue;
      flows.push_back({.process = &process,
                       .iteration = entry.iteration,
                       .source = entry.source,
                       .destination = rank,
                       .bytes = entry.bytes,
                       .begin = source->second->begins[entry.iteration],
                       .end = entry.last});
    }
  });
  std::stable_sort(flows.begin(), flows.end(), [](const FlowTime& a, const FlowTime& b) {
    return std::tie(a.process->load(), a.iteration, a.destination, a.source) <
           std::tie(b.process->load(), b.iteration, b.destination, b.source);
  });
  return flows;
}

Json LabWatch::Flows() const {
  Json list = Json::array();
  for (const FlowTime& flow : FlowTimes()) {
    if (list.size() == kMaxFlowTimes) break;
    const auto& ranks = flow.process->options().ranks;
    list.push_back({{"load", flow.process->load()},
                    {"iteration", flow.iteration},
                    {"source", ranks[flow.source]},
                    {"destination", ranks[flow.destination]},
                    {"bytes", flow.bytes},
                    {"begin_s", SecondsAt(flow.begin)},
                    {"end_s", SecondsAt(flow.end)}});
  }
  return list;
}

// Bit/s of the links of the daemon where a rank is.
double LabWatch::RateOf(const LabProcess& process, uint32_t rank) const {
  const uint16_t xpu = process.options().ranks[rank];
  double gbps = 0;
  for (const auto& endpoint : run_.endpoints()) {
    const Config& config = endpoint->config();
    for (const InstanceConfig& instance : config.instances) {
      if (instance.xpu != xpu || instance.instance != 0) continue;
      for (const InstancePort& at : instance.ports) {
        for (const PlanLink& link : run_.plan().links) {
          for (const PlanEnd* end : {&link.a, &link.b}) {
            const bool same =
                end->node == endpoint->name() && end->port == config.ports[at.port].name;
            if (same) gbps += link.rate_gbps;
          }
        }
      }
    }
  }
  return gbps * 1e9;
}

Json LabWatch::Iterations() const {
  Json list = Json::array();
  const std::vector<FlowTime> flows = FlowTimes();
  for (size_t first = 0; first < flows.size() && list.size() < kMaxFlowTimes;) {
    size_t end = first;
    std::vector<double> times;
    uint64_t bytes = 0;
    Time begin = kNever;
    Time last{};
    bool one_target = true;
    const FlowTime& head = flows[first];
    for (; end < flows.size(); ++end) {
      const FlowTime& flow = flows[end];
      if (flow.process->load() != head.process->load() || flow.iteration != head.iteration) break;
      times.push_back(static_cast<double>((flow.end - flow.begin).count()) / 1e9);
      bytes += flow.bytes;
      begin = std::min(begin, flow.begin);
      last = std::max(last, flow.end);
      one_target &= flow.destination == head.destination;
    }
    const double seconds = static_cast<double>((last - begin).count()) / 1e9;
    const double rate = one_target ? RateOf(*head.process, head.destination) : 0;
    const bool known = rate > 0 && seconds > 0;
    std::sort(times.begin(), times.end());
    list.push_back(
        {{"load", head.process->load()},
         {"iteration", head.iteration},
         {"flows", times.size()},
         {"bytes", bytes},
         {"begin_s", SecondsAt(begin)},
         {"seconds", seconds},
         {"first_flow_seconds", times.front()},
         {"median_flow_seconds", times[times.size() / 2]},
         {"last_flow_seconds", times.back()},
         {"fairness", FairnessOf(times)},
         {"efficiency", known ? Json(static_cast<double>(bytes) * 8 / rate / seconds) : Json()}});
    first = end;
  }
  return list;
}

}  // namespace suede::lab
