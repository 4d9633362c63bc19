// SPDX-License-Identifier: Apache-2.0
// Configurations that load, and configurations with one wrong piece in a good one.
#ifndef SUEDE_TESTS_CONFIG_CONFIGS_H_
#define SUEDE_TESTS_CONFIG_CONFIGS_H_

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "config/config_fields.h"

namespace suede {

inline const MachineFacts kMachine{.cpu_count = 4};
inline const MachineFacts kMachineOf8Cpus{.cpu_count = 8};

inline std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline Config MustParse(const std::string& text, std::vector<std::string>* warnings = nullptr,
                        const std::vector<ConfigOverride>& overrides = {}) {
  const auto config = ParseConfig(text, "test.yaml", kMachineOf8Cpus, overrides, warnings);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : Config{};
}

inline void ExpectDumpLoadsToTheSame(const Config& config) {
  const std::string dump = DumpConfig(config);
  const auto again = ParseConfig(dump, "dump", kMachineOf8Cpus);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(*again, config) << dump;
}

struct Wrong {
  const char* piece;        // of the good one
  const char* replacement;  // by this
  const char* place;        // "LINE:COLUMN: key.path: " of the message
  const char* mend;         // a piece of the message
};

inline void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.replacement; }

inline std::string Replaced(std::string text, const std::string& piece,
                            const std::string& replacement) {
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return at == std::string::npos ? text : text.replace(at, piece.size(), replacement);
}

inline void ExpectRefused(const std::string& good, const Wrong& wrong,
                          const MachineFacts& machine) {
  const auto config =
      ParseConfig(Replaced(good, wrong.piece, wrong.replacement), "wrong.yaml", machine);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(config.status().message());
  EXPECT_EQ(message.find("wrong.yaml:" + std::string(wrong.place)), 0u) << message;
  EXPECT_NE(message.find(wrong.mend), std::string::npos) << message;
  EXPECT_NE(message.find("; "), std::string::npos) << message;
}

// For files of suede-switch and suede-fare: a piece of a good file, its replacement, and a part of
// the message.
struct RefusedPiece {
  const char* piece;
  const char* replacement;
  const char* message;
};

// Makes each file one that `parse` refuses, with a message that begins with `file`.
template <typename Parse, size_t kCount>
void ExpectEachRefused(const std::string& good, const RefusedPiece (&cases)[kCount],
                       const std::string& file, Parse&& parse) {
  for (const RefusedPiece& one : cases) {
    const auto config = parse(Replaced(good, one.piece, one.replacement));
    ASSERT_FALSE(config.ok()) << one.replacement;
    EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message(config.status().message());
    EXPECT_EQ(message.find(file + ":"), 0u) << message;
    EXPECT_NE(message.find(one.message), std::string::npos) << message;
  }
}

}  // namespace suede

#endif  // SUEDE_TESTS_CONFIG_CONFIGS_H_
