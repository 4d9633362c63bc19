// SPDX-License-Identifier: Apache-2.0
#include "switch/impair_values.h"

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "switch/address_text.h"

namespace suede {
namespace {

// Rounds, so that a share stored in units of 2^-32 is shown as it was set.
double NumberOf(uint32_t chance) {
  if (chance == UINT32_MAX) return 1;
  return std::round(static_cast<double>(chance) / 4294967296.0 * 1e9) / 1e9;
}
double NumberOf(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

void Set(const std::optional<double>& share, uint32_t& chance) {
  if (share) chance = fabric::ChanceOf(*share);
}
void Set(const std::optional<double>& us, Duration& duration) {
  if (us) duration = Duration(std::llround(*us * 1000));
}

void Set(const std::optional<std::optional<uint32_t>>& field, std::optional<uint8_t>& to) {
  if (field) to = *field ? std::optional(static_cast<uint8_t>(**field)) : std::nullopt;
}

void Show(double& shown, const auto& param) { shown = NumberOf(param); }
void Show(std::optional<uint32_t>& shown, const std::optional<uint8_t>& field) { shown = field; }

// Calls `visit` with each value that all or one class may have, and its parameter.
void VisitOfClass(auto& numbers, auto& params, const auto& visit) {
  visit(numbers.delay_us, params.delay);
  visit(numbers.loss, params.loss);
  visit(numbers.reorder, params.reorder);
  visit(numbers.dscp, params.rewrite.dscp);
  visit(numbers.ecn, params.rewrite.ecn);
  visit(numbers.pcp, params.rewrite.pcp);
  visit(numbers.hop_limit, params.rewrite.hop_limit);
}
// Calls `visit` with each share, time or field of a view or a change, and its parameter.
void VisitAll(auto& numbers, auto& params, const auto& visit) {
  VisitOfClass(numbers, params, visit);
  visit(numbers.jitter_us, params.jitter);
  visit(numbers.burst_begins, params.to_bad);
  visit(numbers.burst_ends, params.to_good);
  visit(numbers.burst_loss, params.loss_in_bad);
  visit(numbers.reorder_delay_us, params.reorder_delay);
  visit(numbers.duplicate, params.duplicate);
  visit(numbers.bad_fcs, params.bad_fcs);
  visit(numbers.flip, params.flip);
}

constexpr auto kShow = [](auto& shown, const auto& param) { Show(shown, param); };
constexpr auto kSet = [](const auto& number, auto& param) { Set(number, param); };

}  // namespace

ImpairView ToView(const fabric::ImpairmentParams& params, bool by_mac) {
  ImpairView view{
      .impaired = !params.is_clean(),
      .rate_gbps = static_cast<double>(params.rate_bps) / 1e9,
      .longest_bytes = params.max_bytes == UINT32_MAX ? 0 : static_cast<double>(params.max_bytes),
      .down = params.down,
      .strip_tag = params.strip_tag};
  VisitAll(view, params, kShow);
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    const auto& own = params.of_class[c];
    if (own == std::remove_cvref_t<decltype(own)>{}) continue;
    VisitOfClass(view.of_class.emplace_back(ImpairOfClassView{.traffic_class = c}), own, kShow);
  }
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    if ((params.hole_classes >> c & 1) != 0) view.hole_classes.push_back(c);
  }
  for (const uint64_t hole : params.hole_destinations) {
    view.hole_destinations.push_back(by_mac ? MacText(hole) : absl::StrCat(hole));
  }
  return view;
}

absl::Status Apply(const ImpairChange& change, fabric::ImpairmentParams* params) {
  if (change.traffic_class) {
    VisitOfClass(change, params->of_class[*change.traffic_class], kSet);
    return absl::OkStatus();
  }
  std::vector<uint64_t> holes;
  if (change.hole_destinations) {
    for (const std::string& text : *change.hole_destinations) {
      const std::optional<uint64_t> hole = MacOrNumber(text);
      if (!hole) {
        return absl::InvalidArgumentError(
            absl::StrCat("hole_destinations: '", text, "' is neither a MAC address nor a number"));
      }
      holes.push_back(*hole);
    }
    params->hole_destinations = std::move(holes);
  }
  if (change.rate_gbps) {
    params->rate_bps = static_cast<uint64_t>(std::llround(*change.rate_gbps * 1e9));
  }
  VisitAll(change, *params, kSet);
  if (change.longest_bytes) {
    const auto bytes = static_cast<uint32_t>(std::llround(*change.longest_bytes));
    params->max_bytes = bytes == 0 ? UINT32_MAX : bytes;
  }
  if (change.down) params->down = *change.down;
  if (change.strip_tag) params->strip_tag = *change.strip_tag;
  if (change.hole_classes) {
    params->hole_classes = 0;
    for (const uint32_t c : *change.hole_classes) {
      params->hole_classes |= static_cast<fabric::ClassMask>(1u << c);
    }
  }
  return absl::OkStatus();
}

}  // namespace suede
