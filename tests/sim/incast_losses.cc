// SPDX-License-Identifier: Apache-2.0
#include "incast_losses.h"

#include <cinttypes>
#include <cstdio>

namespace suede {
namespace {

constexpr LossPattern kPatterns[] = {
    {"1:1, one way", 1, false}, {"1:1, both ways", 1, true}, {"4:1", 4, false}};

template <typename... Values>
std::string Format(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

double Gbps(const IncastFigures& figures) { return figures.goodput_bps / 1e9; }

}  // namespace

std::span<const LossPattern> LossPatterns() { return kPatterns; }

std::string LossRow::Failure() const {
  for (const IncastFigures* part : {&clean, &without, &with}) {
    if (!part->failure.empty()) return part->failure;
  }
  return "";
}

// All hosts look for frames in each turn, as cores that poll do.
LossRow MeasureLosses(const Scheme& scheme, const LossPattern& pattern,
                      const IncastOptions& options) {
  LossRow row{.scheme = &scheme, .pattern = &pattern};
  IncastOptions run = options;
  run.senders = pattern.senders;
  run.both_ways = pattern.both_ways;
  run.commands = IncastClient::kEndless;
  run.max_idle = run.sender_idle = run.turn;
  row.without = Measure(scheme, run);
  run.retries = true;
  row.with = Measure(scheme, run);
  run.retries = false;
  run.loss = 0;
  row.clean = Measure(scheme, run);
  return row;
}

std::string LineOf(const LossRow& row) {
  const IncastCounts& with = row.with.counts;
  std::string text =
      Format("%-5s %-15s %.2f Gb/s loss-free; lossy without LLR %.2f, ratio %.4f, %" PRIu64
             " PDUs sent again; with LLR %.2f, ratio %.4f, %" PRIu64 " PDUs sent again, %" PRIu64
             " frames lost, %" PRIu64 " replayed, %" PRIu64 " links failed\n",
             row.scheme->name, row.pattern->title, Gbps(row.clean), Gbps(row.without),
             row.RatioWithout(), row.without.counts.sent_twice, Gbps(row.with), row.RatioWith(),
             with.sent_twice, with.lost, with.replayed, with.failures);
  return row.Failure().empty() ? text : text + "- " + row.Failure() + ".\n";
}

std::string MarkdownOf(const std::vector<LossRow>& rows, const IncastOptions& options) {
  std::string text = Format(
      "- As above, but endless senders alone, and each host has a turn "
      "every "
      "%d ns. Each cable "
      "loses %g of all frames in each direction: data, acknowledgements, ACKs, NACKs and HELLOs. "
      "Seed %d, %d ms after a warm-up of %d ms.\n\n",
      static_cast<int>(options.turn.count()), options.loss, static_cast<int>(options.seed),
      static_cast<int>(options.window.count() / 1'000'000),
      static_cast<int>(options.warm_up.count() / 1'000'000));
  text +=
      "| scheme | senders | loss-free Gb/s | without LLR Gb/s | ratio | PDUs sent again | with LLR "
      "Gb/s | ratio | PDUs sent again | frames lost | frames replayed |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const LossRow& row : rows) {
    text +=
        Format("| %s | %s | %.2f | %.2f | %.4f | %" PRIu64 " | %.2f | %.4f | %" PRIu64 " | %" PRIu64
               " | %" PRIu64 " |\n",
               row.scheme->title, row.pattern->title, Gbps(row.clean), Gbps(row.without),
               row.RatioWithout(), row.without.counts.sent_twice, Gbps(row.with), row.RatioWith(),
               row.with.counts.sent_twice, row.with.counts.lost, row.with.counts.replayed);
  }
  for (const LossRow& row : rows) {
    if (!row.Failure().empty()) text += "\nFailed: " + row.Failure() + ".\n";
  }
  return text;
}

}  // namespace suede
