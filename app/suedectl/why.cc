// SPDX-License-Identifier: Apache-2.0
#include "suedectl/why.h"

#include <algorithm>

#include "base/text.h"
#include "suedectl/json_members.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kPercent = 100;

void KeepLargest(const std::optional<double>& value, std::optional<double>* largest) {
  if (value && *value > largest->value_or(-1)) *largest = value;
}

uint32_t PercentOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<uint32_t>((part * kPercent + whole / 2) / whole);
}

Json Optional(const auto& value) { return value ? Json(*value) : Json(); }

std::string NameOf(const WhyFlowKey& key, const XpuNames& names) {
  const auto& [xpu, instance, peer, vc] = key;
  return StrCat("XPU ", xpu, ".", instance, " to XPU ", NamedXpu(peer, names), ", VC ", vc);
}

class Report {
 public:
  explicit Report(const WhyInput& input) : input_(input), own_(input.own) {}

  Json Make() {
    Json waits = Json::array();
    for (const auto& [key, flow] : own_.flows()) {
      waits.push_back(FlowRow(key, flow));
      ConcludeFlow(key, flow);
    }
    Json readers = ReaderRows(own_, {}, "reads here");
    Json far_readers = Json::array();
    if (input_.far != nullptr) far_readers = ReaderRows(*input_.far, input_.peer, "reads there");
    Json queues = QueueRows();
    if (conclusions_.empty()) ConcludeNothing();
    return Json{{"seconds", input_.seconds},
                {"samples", own_.count()},
                {"conclusions", std::move(conclusions_)},
                {"waits", std::move(waits)},
                {"readers", std::move(readers)},
                {"far_readers", std::move(far_readers)},
                {"queues", std::move(queues)}};
  }

 private:
  Json FlowRow(const WhyFlowKey& key, const WhyFlow& flow) const {
    const auto& [xpu, instance, peer, vc] = key;
    Json causes = Json::array();
    uint32_t waited = 0;
    for (const auto& [cause, samples] : ByShare(flow)) {
      causes.push_back(Json{{"cause", cause}, {"percent", PercentOf(samples, own_.count())}});
      waited += samples;
    }
    if (waited < own_.count()) {
      causes.push_back(
          Json{{"cause", "none"}, {"percent", PercentOf(own_.count() - waited, own_.count())}});
    }
    return Json{{"xpu", xpu},
                {"instance", instance},
                {"peer", peer},
                {"vc", vc},
                {"causes", std::move(causes)},
                {"plane", Optional(flow.plane)},
                {"since_us", Optional(flow.since_us)},
                {"queued_bytes", flow.queued_bytes / own_.count()},
                {"queued_us", Optional(flow.queued_us)},
                {"inflight_pdus", flow.inflight_pdus / own_.count()},
                {"inflight_us", Optional(flow.inflight_us)},
                {"credit_lines", Optional(flow.credit_lines)},
                {"tx_pdus", flow.last_tx - flow.first_tx.value_or(flow.last_tx)}};
  }

  static std::vector<std::pair<std::string, uint32_t>> ByShare(const WhyFlow& flow) {
    std::vector<std::pair<std::string, uint32_t>> causes(flow.samples.begin(), flow.samples.end());
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return causes;
  }

  void ConcludeFlow(const WhyFlowKey& key, const WhyFlow& flow) {
    const auto [name, samples] = ByShare(flow).front();
    const auto known = std::ranges::find(WhyCauses(), name, &WhyCause::name);
    const bool is_known = known != WhyCauses().end();
    std::string finding =
        StrCat(name, " in ", PercentOf(samples, own_.count()),
               " % of the samples: ", is_known ? known->meaning : "unknown to this suedectl");
    if (flow.plane) StrAppend(&finding, " (plane ", *flow.plane, ")");
    conclusions_.push_back(WhyConclusion(NameOf(key, input_.names), std::move(finding),
                                         is_known ? known->remedy : "a newer suedectl"));
  }

  // Returns the rings in which something waits, of `peer` or of all, and concludes about full ones.
  Json ReaderRows(const WhySamples& of, const std::optional<uint32_t>& peer,
                  std::string_view place) {
    Json rows = Json::array();
    for (const auto& [key, reader] : of.readers()) {
      const auto& [xpu, instance, vc] = key;
      if (peer.value_or(xpu) != xpu) continue;
      const uint64_t filled = reader.filled_lines / of.count();
      const uint64_t kept = reader.unclaimed_pdus / of.count();
      if (filled == 0 && kept == 0) continue;
      const uint32_t percent = PercentOf(filled, reader.ring_lines);
      rows.push_back(Json{{"xpu", xpu},
                          {"instance", instance},
                          {"vc", vc},
                          {"client", Optional(reader.client)},
                          {"ring_lines", reader.ring_lines},
                          {"filled_lines", filled},
                          {"filled_percent", percent},
                          {"unclaimed_pdus", kept}});
      ConcludeReader(StrCat("VC ", vc, " of XPU ", xpu, ".", instance), reader, percent, place);
    }
    return rows;
  }

  void ConcludeReader(std::string_view what, const WhyReader& reader, uint32_t percent,
                      std::string_view place) {
    constexpr uint32_t kFull = 50;
    if (!reader.client) {
      conclusions_.push_back(
          WhyConclusion(what, "commands have arrived, and no client has claimed the VC",
                        "start the client that reads it"));
    } else if (percent >= kFull) {
      conclusions_.push_back(
          WhyConclusion(what,
                        StrCat("client ", *reader.client, " ", place,
                               " more slowly than commands arrive: its "
                               "ring is ",
                               percent, " % full"),
                        "the reading program: its CPU, its work for each command; a larger ring"));
    }
  }

  Json QueueRows() {
    Json rows = Json::array();
    for (const auto& [key, queue] : own_.queues()) {
      const auto& [client, number] = key;
      const uint64_t waiting = queue.waiting_lines / own_.count();
      const uint64_t used = queue.credit_used / own_.count();
      rows.push_back(Json{{"client", client},
                          {"queue", number},
                          {"xpu", queue.xpu},
                          {"instance", queue.instance},
                          {"state", queue.state},
                          {"waiting_lines", waiting},
                          {"ring_lines", queue.ring_lines},
                          {"credit_used", used},
                          {"credit_lines", queue.credit_lines}});
      ConcludeQueue(StrCat("queue ", number, " of client ", client), queue, waiting);
    }
    return rows;
  }

  void ConcludeQueue(std::string_view what, const WhyQueue& queue, uint64_t waiting) {
    if (queue.state == "broken") {
      conclusions_.push_back(WhyConclusion(what,
                                           "is not served any more: the client wrote "
                                           "invalid indices",
                                           "restart the client"));
    } else if (waiting * 2 >= queue.ring_lines && queue.ring_lines != 0) {
      conclusions_.push_back(WhyConclusion(
          what,
          StrCat("the lcore has not taken ", waiting, " of ", queue.ring_lines,
                 " lines: PDUs in front of them wait, or the lcore has no time"),
          "the causes of the flows above; suedectl top shows whether the lcore is busy"));
    }
  }

  void ConcludeNothing() {
    const std::string what = input_.peer
                                 ? StrCat("commands to XPU ", NamedXpu(*input_.peer, input_.names))
                                 : std::string("all commands");
    if (own_.queues().empty()) {
      conclusions_.push_back(
          WhyConclusion(what, "no client is attached", "start the client; suedectl clients list"));
    } else {
      conclusions_.push_back(
          WhyConclusion(what,
                        "nothing waits and nothing is in flight: the clients hand "
                        "over no commands",
                        "the sending program: what does it wait for"));
    }
  }

  const WhyInput& input_;
  const WhySamples& own_;
  Json conclusions_ = Json::array();
};

}  // namespace

Json WhyConclusion(std::string_view of, std::string finding, std::string_view remedy) {
  return Json{{"of", of}, {"finding", std::move(finding)}, {"remedy", remedy}};
}

bool WhySamples::Add(const Json& waits, const Json& queues) {
  if (MemberOf(waits, "waits") == nullptr || MemberOf(queues, "queues") == nullptr) return false;
  ++count_;
  for (const Json& row : ListOf(waits, "waits")) AddFlow(row);
  for (const Json& row : ListOf(waits, "readers")) AddReader(row);
  for (const Json& row : ListOf(queues, "queues")) AddQueue(row);
  return true;
}

void WhySamples::AddFlow(const Json& row) {
  const std::string cause = StringOf(row, "cause");
  if (cause.empty()) return;
  WhyFlow& flow = flows_[{SmallOr0(row, "xpu"), SmallOr0(row, "instance"), SmallOr0(row, "peer"),
                          SmallOr0(row, "vc")}];
  ++flow.samples[cause];
  const std::optional<uint64_t> plane = NumberOf(row, "plane");
  flow.plane = plane ? std::optional(static_cast<uint32_t>(*plane)) : std::nullopt;
  KeepLargest(RealOf(row, "since_us"), &flow.since_us);
  KeepLargest(RealOf(row, "queued_us"), &flow.queued_us);
  KeepLargest(RealOf(row, "inflight_us"), &flow.inflight_us);
  flow.queued_bytes += NumberOr0(row, "queued_bytes");
  flow.inflight_pdus += NumberOr0(row, "inflight_pdus");
  const std::optional<uint64_t> credit = NumberOf(row, "credit_lines");
  flow.credit_lines = credit ? std::optional(static_cast<uint32_t>(*credit)) : std::nullopt;
  flow.last_tx = SmallOr0(row, "tx_pdus");
  if (!flow.first_tx) flow.first_tx = flow.last_tx;
}

void WhySamples::AddReader(const Json& row) {
  WhyReader& reader =
      readers_[{SmallOr0(row, "xpu"), SmallOr0(row, "instance"), SmallOr0(row, "vc")}];
  reader.client = NumberOf(row, "client");
  reader.ring_lines = NumberOr0(row, "ring_lines");
  reader.filled_lines += NumberOr0(row, "filled_lines");
  reader.unclaimed_pdus += NumberOr0(row, "unclaimed_pdus");
}

void WhySamples::AddQueue(const Json& row) {
  if (IsTrue(row, "of_lcore")) return;
  WhyQueue& queue = queues_[{NumberOr0(row, "client"), NumberOr0(row, "queue")}];
  queue.xpu = SmallOr0(row, "xpu");
  queue.instance = SmallOr0(row, "instance");
  queue.state = StringOf(row, "state");
  queue.ring_lines = NumberOr0(row, "ring_lines");
  queue.credit_lines = NumberOr0(row, "credit_lines");
  queue.waiting_lines += NumberOr0(row, "waiting_lines");
  queue.credit_used += NumberOr0(row, "credit_used");
}

Json WhyJson(const WhyInput& input) { return Report(input).Make(); }

}  // namespace suede::ctl
