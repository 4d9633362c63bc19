// SPDX-License-Identifier: Apache-2.0
// Frames as the tests of suedectl's frame commands build them, and the commands' outcomes.
#ifndef SUEDE_TESTS_SUEDECTL_FRAME_BENCH_H_
#define SUEDE_TESTS_SUEDECTL_FRAME_BENCH_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "frames.h"
#include "suedectl/frame_commands.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_hex.h"
#include "suedectl/frame_json.h"
#include "wire/control_pdu.h"

namespace suede::ctl {

using Json = nlohmann::json;

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<Json> ReadVectors() {
  return Json::parse(ReadFile(SUEDE_WIRE_VECTORS)).get<std::vector<Json>>();
}

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

using FilePtr = std::unique_ptr<FILE, int (*)(FILE*)>;

inline FilePtr FileWith(std::string_view content) {
  FilePtr file(std::tmpfile(), std::fclose);
  std::fwrite(content.data(), 1, content.size(), file.get());
  std::rewind(file.get());
  return file;
}

inline std::string ContentOf(FILE* file) {
  std::rewind(file);
  std::string content;
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) content += static_cast<char>(c);
  return content;
}

template <class Run>
Outcome RunCommand(Run run, const std::vector<std::string_view>& arguments,
                   std::string_view input = "") {
  const FilePtr in = FileWith(input);
  const FilePtr out = FileWith("");
  const FilePtr err = FileWith("");
  const int code = run(arguments, in.get(), out.get(), err.get());
  return {code, ContentOf(out.get()), ContentOf(err.get())};
}

inline Outcome Decode(const std::vector<std::string_view>& arguments, std::string_view input = "") {
  return RunCommand(RunFrameDecode, arguments, input);
}
inline Outcome Encode(const std::vector<std::string_view>& arguments, std::string_view input = "") {
  return RunCommand(RunFrameEncode, arguments, input);
}

inline size_t CountLines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The rules for reading SpecOf's frames.
inline FrameRules RulesOf(Encap encap) { return suede::RulesOf(encap, SpecOf({encap})); }

// Describes a frame of exactly its bytes, so that a sanitizer sees every access beyond them.
inline FrameDescription Describe(const FrameRules& rules, const Bytes& frame) {
  Bytes exact(frame);
  exact.shrink_to_fit();
  return DescribeFrame(rules, exact);
}

// The frame that its JSON object makes.
inline Bytes MakeAgain(const FrameDescription& description) {
  const std::string text = FrameToJson(description);
  const auto read = FrameFromJson(text);
  if (!read.ok()) {
    ADD_FAILURE() << read.status() << "\n" << text;
    return {};
  }
  const auto made = MakeFrame(*read);
  if (!made.ok()) {
    ADD_FAILURE() << made.status() << "\n" << text;
    return {};
  }
  return *made;
}

inline Bytes PackCommands(const std::vector<TestCommand>& commands) {
  Bytes packed;
  for (const TestCommand& command : commands) AppendPacked(command, packed);
  return packed;
}

}  // namespace suede::ctl

#endif  // SUEDE_TESTS_SUEDECTL_FRAME_BENCH_H_
