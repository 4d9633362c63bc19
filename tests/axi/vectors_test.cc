// SPDX-License-Identifier: Apache-2.0
// docs/axi-vectors.json: encoded and parsed. With SUEDE_UPDATE_DOCS=1 in the environment the file
// is written.
#include "vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "page_tables.h"

namespace suede::axi {
namespace {

constexpr const char* kFile = "docs/axi-vectors.json";

std::vector<Vector> ReadVectors() { return FromJson(ReadSource(kFile)); }

TEST(Vectors, AreInTheFile) {
  const std::string expected = ToJson(MakeVectors());
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(std::string(SUEDE_SOURCE_DIR) + "/" + kFile) << expected;
    return;
  }
  EXPECT_TRUE(ReadSource(kFile) == expected)
      << kFile << ": run this test with SUEDE_UPDATE_DOCS=1 in the environment";
}

TEST(Vectors, AreOfAllKinds) {
  std::map<Outcome, int> outcomes;
  std::map<int, int> kinds;
  std::map<int, int> bursts;
  std::set<Status> statuses;
  std::set<std::string> names;
  size_t longest = 0;
  for (const Vector& vector : ReadVectors()) {
    ++outcomes[vector.outcome];
    EXPECT_TRUE(names.insert(vector.name).second) << vector.name;
    if (vector.outcome != Outcome::kComplete) continue;
    for (const Coded& command : vector.commands) ++kinds[command.control[2] >> 4];
    if (!vector.transaction.is_answer) ++bursts[vector.transaction.address.burst];
    statuses.insert(vector.transaction.status);
    longest = std::max(longest, vector.commands.size());
  }
  EXPECT_GE(outcomes[Outcome::kComplete], 40);
  EXPECT_GE(outcomes[Outcome::kMalformed], 30);
  EXPECT_GE(outcomes[Outcome::kForeign], 3);
  EXPECT_EQ(kinds.size(), 6u);
  for (const auto& [kind, count] : kinds) EXPECT_GE(count, 10) << kind;
  EXPECT_EQ(bursts.size(), 3u);
  for (const auto& [burst, count] : bursts) EXPECT_GE(count, 3) << burst;
  EXPECT_EQ(statuses.size(), 4u);
  EXPECT_EQ(longest, kMaxParts);
}

// The last table of the page has one vector's octets between backquotes.
TEST(Vectors, OneIsTheExampleOfThePage) {
  const std::string page = ReadSource("docs/axi.md");
  size_t at = page.find("| octets | of | content |");
  const size_t end = page.find("\n\n", at);
  ASSERT_NE(end, std::string::npos);
  std::string digits;
  while ((at = page.find('`', at)) < end) {
    const size_t close = page.find('`', at + 1);
    digits += page.substr(at + 1, close - at - 1);
    at = close + 1;
  }
  for (const Vector& vector : MakeVectors()) {
    if (page.find('"' + vector.name + '"') == std::string::npos) continue;
    EXPECT_EQ(ToHex(vector.commands[0].control) + ToHex(vector.commands[0].data), digits);
    return;
  }
  FAIL() << "the page names no vector";
}

TEST(Vectors, AreEncoded) {
  for (const Vector& vector : ReadVectors()) {
    if (vector.outcome != Outcome::kComplete) continue;
    EXPECT_TRUE(Encode(vector.transaction) == vector.commands) << vector.name;
  }
}

// The lanes of a bus have something else where nothing is carried.
TEST(Vectors, AreEncodedFromBusyLanes) {
  for (const Vector& vector : ReadVectors()) {
    if (vector.outcome != Outcome::kComplete) continue;
    Transaction busy = vector.transaction;
    for (uint32_t i = 0; i < busy.write_beats.size(); ++i) {
      WriteBeat& beat = busy.write_beats[i];
      const auto first = static_cast<uint32_t>(BeatAddress(busy.address, i) % busy.bus_bytes);
      for (uint32_t lane = 0; lane < kMaxBusBytes; ++lane) {
        const uint64_t bit = uint64_t{1} << lane % 64;
        const bool is_active = lane >= first && lane < first + BeatBytes(busy.address, i);
        if ((beat.strobes[lane / 64] & bit) == 0) beat.data[lane] = 0xee;
        if (!is_active) beat.strobes[lane / 64] |= bit;
      }
    }
    EXPECT_TRUE(Encode(busy) == vector.commands) << vector.name;
  }
}

TEST(Vectors, AreParsed) {
  for (const Vector& vector : ReadVectors()) {
    Transaction parsed;
    EXPECT_EQ(Parse(vector.commands, vector.transaction, &parsed), vector.outcome) << vector.name;
    if (vector.outcome == Outcome::kComplete) {
      EXPECT_TRUE(AreSame(parsed, vector.transaction)) << vector.name;
    }
  }
}

TEST(Vectors, AreParsedInAnyOrder) {
  for (Vector& vector : ReadVectors()) {
    if (vector.outcome != Outcome::kComplete) continue;
    Transaction parsed;
    std::ranges::reverse(vector.commands);
    EXPECT_EQ(Parse(vector.commands, vector.transaction, &parsed), vector.outcome) << vector.name;
    EXPECT_TRUE(AreSame(parsed, vector.transaction)) << vector.name;
  }
}

}  // namespace
}  // namespace suede::axi
