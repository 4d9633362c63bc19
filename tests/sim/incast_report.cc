// SPDX-License-Identifier: Apache-2.0
#include "incast_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "incast_reference.h"

namespace suede {
namespace {

using Json = nlohmann::ordered_json;

double Micros(uint64_t ns) { return static_cast<double>(ns) / 1e3; }
double Kilobytes(uint32_t bytes) { return bytes / 1e3; }
double Bdps(uint32_t bytes) { return static_cast<double>(bytes) / kIncastBdpBytes; }

std::string ReferenceText(const IncastRow& row, double IncastReference::*member) {
  const IncastReference* const reference = ReferenceOf(row.scheme->reference, row.senders);
  return reference == nullptr ? "" : absl::StrFormat(" (%.4g)", reference->*member);
}

std::string SentTwiceText(const IncastRow& row) {
  const IncastReference* const reference = ReferenceOf(row.scheme->reference, row.senders);
  const std::string ours = absl::StrCat(row.burst.counts.sent_twice);
  return reference == nullptr ? ours : absl::StrFormat("%s (%u)", ours, reference->sent_twice);
}

// Returns what happened to frames in the switch, without what did not happen.
std::string FramesText(const IncastCounts& counts) {
  std::string text;
  const auto add = [&](uint64_t frames, const char* what) {
    if (frames > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", frames, " ", what);
  };
  add(counts.dropped, "dropped");
  add(counts.trimmed, "trimmed");
  add(counts.marked, "marked");
  add(counts.pfc, "PFC");
  return text;
}

std::string QueueText(const QueueDepth& queue) {
  return absl::StrFormat("%.1f / %.1f / %.1f | %.2f", Kilobytes(queue.max), Kilobytes(queue.p50),
                         Kilobytes(queue.p99), Bdps(queue.later_p99));
}

std::string RowText(const IncastRow& row) {
  const IncastFigures& burst = row.burst;
  const IncastFigures& endless = row.endless;
  return absl::StrFormat(
      "| %s | %u | %.4f%s | %.5f%s | %s | %u | %.1f | %s | %s | "
      "%.2f | %.5f | %.1f / %.1f / %.1f |\n",
      row.scheme->title, row.senders, burst.efficiency,
      ReferenceText(row, &IncastReference::efficiency), burst.jain,
      ReferenceText(row, &IncastReference::jain), SentTwiceText(row), burst.counts.timeouts,
      Micros(burst.max_ns), QueueText(burst.queue), FramesText(burst.counts),
      endless.goodput_bps / 1e9, endless.jain, Kilobytes(endless.queue.max),
      Kilobytes(endless.queue.p50), Kilobytes(endless.queue.later_p99));
}

struct NamedFigures {
  const char* name;
  const IncastFigures* figures;
};
std::vector<NamedFigures> PartsOf(const IncastRow& row) {
  return {{"1 MiB", &row.burst}, {"endless", &row.endless}, {"unloaded", &row.unloaded}};
}

std::string FailuresOf(const IncastRow& row) {
  std::string text;
  for (const auto& [name, figures] : PartsOf(row)) {
    if (figures->failure.empty()) continue;
    absl::StrAppend(&text, "- ", row.scheme->title, ", ", row.senders, ":1, ", name, ": ",
                    figures->failure, ".\n");
  }
  return text;
}

std::string SettingsText(const IncastOptions& options) {
  const TransportParams transport;
  return absl::StrFormat(
      "- One switch that stores and forwards, links of 100 Gb/s, unloaded round trip of a request "
      "2 us, BDP 25 kB. Buffer: 4 MiB shared in cells of 64 octets; a queue may take as much as is "
      "free (alpha 1), nothing is reserved. PFC has the headroom of each input in addition, "
      "trimming a queue of one BDP for each port instead.\n"
      "- N hosts send to one at the same time, within 1 us: 1 MiB each, as %u commands of %u "
      "octets "
      "of data and %u of control, packed up to 4096 octets (udp4). Seed %u.\n"
      "- Endless: the senders never run out; goodput, Jain and depths of %.0f ms after a warm-up "
      "of "
      "%.0f ms, requests from the start.\n"
      "- Classes: data of the incast 0, requests 1, served by equal weights; acknowledgements 6 "
      "and "
      "trimmed frames 7, strict. ECN marks from 0.2 to 0.8 BDP, as the reference does.\n"
      "- Endpoints: the defaults, %s; the fixed window is %u PDUs and %u octets. The receiver's "
      "ring has 64 MiB.\n"
      "- A host has a turn at most every %d ns of virtual time; without work the receiver "
      "looks again after up to %d ns, another host after %d ns, and each at once when a frame "
      "comes. A turn does all that there is to do.\n",
      options.commands, IncastClient::kDataBytes, IncastClient::kControlBytes, options.seed,
      static_cast<double>(options.window.count()) / 1e6,
      static_cast<double>(options.warm_up.count()) / 1e6,
      options.counts_credit ? "with receive credit" : "but without receive credit",
      transport.window_pdus, transport.window_bytes, options.turn.count(), options.max_idle.count(),
      options.sender_idle.count());
}

constexpr const char* kHead =
    "| scheme | N | efficiency | Jain | sent twice | timeouts | completion us | queue max / p50 / "
    "p99 kB | p99 after 2 us, BDP | frames | endless: goodput Gb/s | Jain | queue max / p50 / p99 "
    "kB |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

Json JsonOf(const RoundTrips& times) {
  return {{"count", times.count},
          {"p50_seconds", static_cast<double>(times.p50_ns) / 1e9},
          {"p99_seconds", static_cast<double>(times.p99_ns) / 1e9},
          {"max_seconds", static_cast<double>(times.max_ns) / 1e9}};
}

Json JsonOf(const IncastFigures& figures) {
  const IncastCounts& counts = figures.counts;
  return {{"failure", figures.failure.empty() ? Json(nullptr) : Json(figures.failure)},
          {"efficiency", figures.efficiency},
          {"goodput_bps", figures.goodput_bps},
          {"jain", figures.jain},
          {"seconds", figures.seconds},
          {"completion_p50_seconds", static_cast<double>(figures.p50_ns) / 1e9},
          {"completion_p99_seconds", static_cast<double>(figures.p99_ns) / 1e9},
          {"completion_max_seconds", static_cast<double>(figures.max_ns) / 1e9},
          {"queue_max_bytes", figures.queue.max},
          {"queue_p50_bytes", figures.queue.p50},
          {"queue_p99_bytes", figures.queue.p99},
          {"queue_later_p99_bytes", figures.queue.later_p99},
          {"frames_dropped", counts.dropped},
          {"frames_trimmed", counts.trimmed},
          {"frames_marked", counts.marked},
          {"pfc_frames", counts.pfc},
          {"pdus", counts.pdus},
          {"pdus_sent_twice", counts.sent_twice},
          {"timeouts", counts.timeouts},
          {"credit_waits", counts.credit_waits},
          {"request_near", JsonOf(figures.near)},
          {"request_far", JsonOf(figures.far)},
          {"turns", figures.turns}};
}

Json JsonOf(const IncastReference* reference) {
  if (reference == nullptr) return nullptr;
  return {{"efficiency", reference->efficiency},
          {"jain", reference->jain},
          {"pdus_sent_twice", reference->sent_twice}};
}

}  // namespace

std::string LineOf(const IncastRow& row) {
  const IncastFigures& burst = row.burst;
  std::string text = absl::StrFormat(
      "%-9s %3u:1  efficiency %.4f  Jain %.5f  max %.1f us  queue p99 %.2f BDP  %u dropped  "
      "%u trimmed  %u sent twice  %u timeouts; endless %.2f Gb/s  Jain %.5f  queue p99 %.2f BDP  "
      "(a) p99 %.2f us of %.2f  (b) p99 %.2f us of %.2f  [%.1f s]\n",
      row.scheme->name, row.senders, burst.efficiency, burst.jain, Micros(burst.max_ns),
      Bdps(burst.queue.later_p99), burst.counts.dropped, burst.counts.trimmed,
      burst.counts.sent_twice, burst.counts.timeouts, row.endless.goodput_bps / 1e9,
      row.endless.jain, Bdps(row.endless.queue.later_p99), Micros(row.endless.near.p99_ns),
      Micros(row.unloaded.near.p99_ns), Micros(row.endless.far.p99_ns),
      Micros(row.unloaded.far.p99_ns), row.wall_seconds);
  return text + FailuresOf(row);
}

std::string MarkdownOf(const std::vector<IncastRow>& rows, const IncastOptions& options) {
  std::string text = SettingsText(options);
  absl::StrAppend(&text, "\nIn parentheses: figures of uet-htsim (base round trip 3.35 us).\n\n",
                  kHead);
  std::string failures;
  for (const IncastRow& row : rows) {
    absl::StrAppend(&text, RowText(row));
    absl::StrAppend(&failures, FailuresOf(row));
  }
  return failures.empty() ? text : text + "\nFailures:\n\n" + failures;
}

std::string JsonOf(const std::vector<IncastRow>& rows, const IncastOptions& options) {
  Json results = Json::array();
  for (const IncastRow& row : rows) {
    results.push_back({{"scheme", row.scheme->name},
                       {"senders", row.senders},
                       {"burst", JsonOf(row.burst)},
                       {"endless", JsonOf(row.endless)},
                       {"unloaded", JsonOf(row.unloaded)},
                       {"reference", JsonOf(ReferenceOf(row.scheme->reference, row.senders))},
                       {"wall_seconds", row.wall_seconds}});
  }
  const Json config = {{"seed", options.seed},
                       {"link_bps", kIncastRateBps},
                       {"base_round_trip_seconds", static_cast<double>(kIncastRtt.count()) / 1e9},
                       {"bdp_bytes", kIncastBdpBytes},
                       {"buffer_bytes", kIncastBufferBytes},
                       {"commands", options.commands},
                       {"counts_credit", options.counts_credit},
                       {"turn_seconds", static_cast<double>(options.turn.count()) / 1e9},
                       {"warm_up_seconds", static_cast<double>(options.warm_up.count()) / 1e9},
                       {"window_seconds", static_cast<double>(options.window.count()) / 1e9}};
  return Json{{"schema_version", 1},
              {"tool", "incast_bench"},
              {"config", config},
              {"results", results}}
             .dump(1) +
         "\n";
}

}  // namespace suede
