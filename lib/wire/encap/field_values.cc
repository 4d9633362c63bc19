// SPDX-License-Identifier: Apache-2.0
#include "wire/encap/field_values.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "wire/encap/fields.h"

namespace suede {
namespace {

// Whether the field belongs to the frame rather than to one of its headers.
constexpr bool IsOfFrame(FieldKey key) {
  return key == FieldKey::kTimeNs || key == FieldKey::kPadding || key == FieldKey::kInstance ||
         key == FieldKey::kDstXpuid;
}

std::string NamesOf(const EncapSet& set) { return JoinEncaps(set, " ", " "); }

// "COMMON, OTHER in NAMES": the number of each header that has one, the most frequent first.
std::string WithExceptions(const std::map<size_t, uint64_t>& numbers, std::string_view unit,
                           std::string_view in, bool name_first) {
  std::map<uint64_t, EncapSet> users;
  std::map<uint64_t, int> count;
  for (const auto& [encap, number] : numbers) {
    users[number].Add(static_cast<Encap>(encap));
    ++count[number];
  }
  const auto common = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (common == count.end()) return {};
  std::string text = StrCat(common->first, unit);
  for (const auto& [number, set] : users) {
    if (number == common->first) continue;
    StrAppend(&text, ", ");
    if (name_first) {
      StrAppend(&text, NamesOf(set), " ", number);
    } else {
      StrAppend(&text, number, in, NamesOf(set));
    }
  }
  return text;
}

std::string ValueOf(std::string_view name, FieldKey key) {
  std::map<size_t, uint64_t> numbers;
  for (size_t i = 0; i < kEncapCount; ++i) {
    const auto encap = static_cast<Encap>(i);
    if (name == "ether_types" && TraitsOf(encap).addresses == AddressKind::kForwarding) {
      numbers[i] = TraitsOf(encap).ether_type;
    }
    if (name == "hop_limits" && FieldBits(encap, key) != 0) {
      numbers[i] = HopLimitIn(encap, kDefaultHopLimit);
    }
    if (name == "bits" && FieldBits(encap, key) != 0) numbers[i] = FieldBits(encap, key);
  }
  if (name == "ether_types") {
    std::erase_if(numbers, [](const auto& one) { return one.second == 0; });
    return StrCat(WithExceptions(numbers, "", "", /*name_first=*/true), "; none for ",
                  NamesOf(kWithoutEtherType));
  }
  if (name == "hop_limits") return WithExceptions(numbers, "", "", /*name_first=*/true);
  if (name == "bits") return WithExceptions(numbers, " bits", " in ", /*name_first=*/false);
  return NamesOf(EncapsWith([](const EncapTraits& traits) { return traits.holds_rh; }));
}

std::string Expand(std::string_view text, FieldKey key) {
  const size_t from = text.find('{');
  const size_t to = text.find('}');
  if (from == text.npos || to == text.npos) return std::string(text);
  return StrCat(text.substr(0, from), ValueOf(text.substr(from + 1, to - from - 1), key),
                text.substr(to + 1));
}

FieldRow MakeRow(FieldKey key, std::string_view name, FieldKind kind, uint64_t min, uint64_t max,
                 Shown shown, std::string_view fallback, std::string_view sentence) {
  FieldRow row{.field = key,
               .name = name,
               .kind = kind,
               .encaps = {},
               .min = min,
               .max = max,
               .shown = shown,
               .fallback = Expand(fallback, key),
               .sentence = Expand(sentence, key)};
  for (size_t i = 0; i < kEncapCount; ++i) {
    const auto encap = static_cast<Encap>(i);
    if (!IsOfFrame(key) && FieldBits(encap, key) == 0) continue;
    row.encaps.Add(encap);
    if (row.kind == FieldKind::kNumber) row.max = std::max(row.max, MaxOf(row, encap));
  }
  return row;
}

}  // namespace

std::span<const FieldRow, kFieldCount> FieldRows() {
  static const std::array<FieldRow, kFieldCount> rows = {
#define SUEDE_FIELD_ROW(id, name, kind, min, max, shown, fallback, sentence) \
  MakeRow(FieldKey::k##id, name, FieldKind::k##kind, min, max, Shown::k##shown, fallback, sentence),
      SUEDE_FIELD_KEYS(SUEDE_FIELD_ROW)
#undef SUEDE_FIELD_ROW
  };
  return rows;
}

uint64_t MaxOf(const FieldRow& row, Encap encap) {
  const uint32_t bits = FieldBits(encap, row.field);
  if (bits == 0 || row.kind != FieldKind::kNumber) return row.max;
  return (uint64_t{1} << bits) - 1;
}

}  // namespace suede
