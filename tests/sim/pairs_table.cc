// SPDX-License-Identifier: Apache-2.0
#include "pairs_table.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace suede {
namespace {

constexpr const char* kEncapsulationLevels[] = {"udp4", "udp6",  "afh1", "afh1s",
                                                "afh2", "afh2c", "esun"};
constexpr const char* kPlaneLevels[] = {"1", "2", "2 of one address pair", "4"};
constexpr const char* kSessionLevels[] = {"1", "4"};
constexpr const char* kSealingLevels[] = {"off", "preferred", "required"};
constexpr const char* kCongestionLevels[] = {"fixed", "rccc", "nscc"};
constexpr const char* kLinkLevels[] = {"none", "llr", "cbfc", "pfc"};
constexpr const char* kLcoreLevels[] = {"1", "2", "2 that hand over", "1 with queue pairs"};
constexpr const char* kScopeLevels[] = {"port", "vc"};
constexpr const char* kOrderingLevels[] = {"strict", "unordered"};
constexpr const char* kNetworkLevels[] = {"clean", "lossy", "trims"};

struct FactorRow {
  const char* name;
  std::span<const char* const> levels;
};
constexpr std::array<FactorRow, kFactors> kFactorTable = {{
    {"encapsulation", kEncapsulationLevels},
    {"planes", kPlaneLevels},
    {"sessions", kSessionLevels},
    {"sealing", kSealingLevels},
    {"congestion", kCongestionLevels},
    {"link", kLinkLevels},
    {"lcores", kLcoreLevels},
    {"psn_scope", kScopeLevels},
    {"ordering", kOrderingLevels},
    {"network", kNetworkLevels},
}};

constexpr RefusedPair kRefused[] = {
    {Factor::kLink, level::kLlr, Factor::kLcores, level::kSteered, "2 queue pairs"},
    {Factor::kLink, level::kLlr, Factor::kLcores, level::kHandingOver, "2 queue pairs"},
    {Factor::kLink, level::kLlr, Factor::kLcores, level::kQueuePairs, "2 queue pairs"},
    {Factor::kLink, level::kCbfc, Factor::kLcores, level::kSteered, "2 queue pairs"},
    {Factor::kLink, level::kCbfc, Factor::kLcores, level::kHandingOver, "2 queue pairs"},
    {Factor::kLink, level::kCbfc, Factor::kLcores, level::kQueuePairs, "2 queue pairs"},
    {Factor::kEncapsulation, 2, Factor::kSessions, 1, "have no number of a session"},
    {Factor::kEncapsulation, 5, Factor::kSessions, 1, "have no number of a session"},
    {Factor::kEncapsulation, 2, Factor::kNetwork, level::kTrims, "trimmed_dscp"},
    {Factor::kEncapsulation, 4, Factor::kNetwork, level::kTrims, "trimmed_dscp"},
    {Factor::kEncapsulation, 5, Factor::kNetwork, level::kTrims, "trimmed_dscp"},
    {Factor::kEncapsulation, 6, Factor::kNetwork, level::kTrims, "trimmed_dscp"},
};

// Pairs that would show nothing: with these links no frame is dropped, and so none is trimmed.
constexpr RefusedPair kWithoutEffect[] = {
    {Factor::kLink, level::kCbfc, Factor::kNetwork, level::kTrims, ""},
    {Factor::kLink, level::kPfc, Factor::kNetwork, level::kTrims, ""},
};

// A pair of levels, of which the lower factor is first.
using Pair = std::tuple<uint32_t, uint8_t, uint32_t, uint8_t>;

Pair PairBetween(uint32_t one, uint8_t one_level, uint32_t other, uint8_t other_level) {
  if (one > other) return {other, other_level, one, one_level};
  return {one, one_level, other, other_level};
}

std::set<Pair> AllPairs() {
  std::set<Pair> pairs;
  for (uint32_t one = 0; one < kFactors; ++one) {
    for (uint32_t other = one + 1; other < kFactors; ++other) {
      for (uint8_t a = 0; a < kFactorTable[one].levels.size(); ++a) {
        for (uint8_t b = 0; b < kFactorTable[other].levels.size(); ++b) {
          if (IsLeftOut(Factor{static_cast<uint8_t>(one)}, a, Factor{static_cast<uint8_t>(other)},
                        b)) {
            continue;
          }
          pairs.insert({one, a, other, b});
        }
      }
    }
  }
  return pairs;
}

void Erase(const PairsRow& row, std::set<Pair>& pairs) {
  for (uint32_t one = 0; one < kFactors; ++one) {
    for (uint32_t other = one + 1; other < kFactors; ++other) {
      pairs.erase({one, row.levels[one], other, row.levels[other]});
    }
  }
}

// A row that begins with the first missing pair. Each further factor takes the level that adds the
// most missing pairs; every factor has one that goes with all.
PairsRow NextRow(const std::set<Pair>& missing, size_t number) {
  PairsRow row;
  std::array<bool, kFactors> chosen{};
  const auto choose = [&](uint32_t factor, uint8_t level) {
    row.levels[factor] = level;
    chosen[factor] = true;
  };
  const auto [one, one_level, other, other_level] = *missing.begin();
  choose(one, one_level);
  choose(other, other_level);
  for (uint32_t factor = 0; factor < kFactors; ++factor) {
    if (chosen[factor]) continue;
    const auto levels = static_cast<uint32_t>(kFactorTable[factor].levels.size());
    int best = -1;
    uint8_t best_level = 0;
    for (uint32_t i = 0; i < levels; ++i) {
      // Takes another one of equal ones each time.
      const auto level = static_cast<uint8_t>((i + number) % levels);
      int adds = 0;
      for (uint32_t fixed = 0; fixed < kFactors && adds >= 0; ++fixed) {
        if (!chosen[fixed]) continue;
        if (IsLeftOut(Factor{static_cast<uint8_t>(factor)}, level,
                      Factor{static_cast<uint8_t>(fixed)}, row.levels[fixed])) {
          adds = -1;
        } else {
          adds += missing.contains(PairBetween(factor, level, fixed, row.levels[fixed])) ? 1 : 0;
        }
      }
      if (adds > best) {
        best = adds;
        best_level = level;
      }
    }
    choose(factor, best_level);
  }
  return row;
}

}  // namespace

std::span<const char* const> LevelsOf(Factor factor) {
  return kFactorTable[static_cast<size_t>(factor)].levels;
}

const char* NameOf(Factor factor) { return kFactorTable[static_cast<size_t>(factor)].name; }

std::string PairsRow::Description() const {
  std::string text;
  for (uint8_t f = 0; f < kFactors; ++f) {
    if (f != 0) text += ", ";
    text += std::string(NameOf(Factor{f})) + " " + Text(Factor{f});
  }
  return text;
}

std::span<const RefusedPair> RefusedPairs() { return kRefused; }

bool IsLeftOut(Factor one, uint8_t one_level, Factor other, uint8_t other_level) {
  const auto is_it = [&](const RefusedPair& r) {
    return (r.one == one && r.one_level == one_level && r.other == other &&
            r.other_level == other_level) ||
           (r.one == other && r.one_level == other_level && r.other == one &&
            r.other_level == one_level);
  };
  return std::any_of(std::begin(kRefused), std::end(kRefused), is_it) ||
         std::any_of(std::begin(kWithoutEffect), std::end(kWithoutEffect), is_it);
}

PairsRow RowWith(const RefusedPair& refused) {
  PairsRow row;
  row.levels[static_cast<size_t>(refused.one)] = refused.one_level;
  row.levels[static_cast<size_t>(refused.other)] = refused.other_level;
  return row;
}

std::vector<PairsRow> CoveringRows() {
  std::vector<PairsRow> rows;
  for (std::set<Pair> missing = AllPairs(); !missing.empty();) {
    rows.push_back(NextRow(missing, rows.size()));
    Erase(rows.back(), missing);
  }
  return rows;
}

std::string MissingPairs(const std::vector<PairsRow>& rows) {
  std::set<Pair> missing = AllPairs();
  for (const PairsRow& row : rows) Erase(row, missing);
  std::string text;
  for (const auto& [one, a, other, b] : missing) {
    text += std::string(text.empty() ? "" : "; ") + kFactorTable[one].name + " " +
            kFactorTable[one].levels[a] + " with " + kFactorTable[other].name + " " +
            kFactorTable[other].levels[b];
  }
  return text;
}

}  // namespace suede
