// SPDX-License-Identifier: Apache-2.0
// The features that work together: factors with their levels, the pairs of levels that a
// configuration refuses, and rows that have every other pair of levels at least once.
#ifndef SUEDE_TESTS_SIM_PAIRS_TABLE_H_
#define SUEDE_TESTS_SIM_PAIRS_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace suede {

enum class Factor : uint8_t {
  kEncapsulation,
  kPlanes,
  kSessions,
  kSealing,
  kCongestion,
  kLink,
  kLcores,
  kScope,
  kOrdering,
  kNetwork,
};
inline constexpr uint32_t kFactors = 10;

// Levels that the code of a row asks for by name; others are looked up in LevelsOf.
namespace level {
enum Planes : uint8_t { kOnePlane, kTwoPlanes, kOneAddressPair, kFourPlanes };
enum Sealing : uint8_t { kUnsealed, kPreferred, kRequired };
enum Congestion : uint8_t { kFixed, kRccc, kNscc };
enum Link : uint8_t { kNone, kLlr, kCbfc, kPfc };
enum Lcores : uint8_t { kOneLcore, kSteered, kHandingOver, kQueuePairs };
enum Network : uint8_t { kClean, kLossy, kTrims };
}  // namespace level

// Returns the name of a level in messages. Where it is a value of a configuration's key, it is
// that.
std::span<const char* const> LevelsOf(Factor factor);
const char* NameOf(Factor factor);

struct PairsRow {
  std::array<uint8_t, kFactors> levels{};
  uint8_t operator[](Factor factor) const { return levels[static_cast<size_t>(factor)]; }
  const char* Text(Factor factor) const { return LevelsOf(factor)[(*this)[factor]]; }
  // "encapsulation udp4, planes 2, ..."
  std::string Description() const;
};

// A pair of levels that a configuration refuses, and what its message contains.
struct RefusedPair {
  Factor one;
  uint8_t one_level;
  Factor other;
  uint8_t other_level;
  const char* message;
};
std::span<const RefusedPair> RefusedPairs();
// Whether no row has the pair: it is refused, or shows nothing.
bool IsLeftOut(Factor one, uint8_t one_level, Factor other, uint8_t other_level);
// A row with the refused pair and the first level of every other factor.
PairsRow RowWith(const RefusedPair& refused);

// The same rows each time.
std::vector<PairsRow> CoveringRows();
// Pairs of levels that are neither left out nor in a row: empty, or a list for a message.
std::string MissingPairs(const std::vector<PairsRow>& rows);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PAIRS_TABLE_H_
