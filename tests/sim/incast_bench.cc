// SPDX-License-Identifier: Apache-2.0
// Measures incasts of real pipelines on a simulated switch, in virtual time:
//
//   incast_bench [--markdown] [--update FILE] [--json FILE] [--seed SEED] [--no_credit]
//                [SCHEME|all] [N]...
//
// Without a scheme all that the endpoint can do, without N 4, 16, 64 and 256 senders. A line for
// each row as it is ready; with --markdown settings and table instead, and the lines on the
// standard error. --update writes them into a page, between its two marks. --no_credit: endpoints
// do not count receive credit.
// Exit codes: 0 done, 1 failure, 2 usage, 3 a run was not as it must be (not: slow).
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fast_crc.h"
#include "incast_report.h"

namespace suede {
namespace {

constexpr uint32_t kMostSenders = 1000;  // with the other hosts no more than a switch has ports

struct Arguments {
  bool markdown = false;
  const char* update = nullptr;
  const char* json = nullptr;
  std::vector<const Scheme*> schemes;
  std::vector<uint32_t> senders;
  IncastOptions options;
};

std::optional<uint32_t> NumberOf(const char* text) {
  uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Empty, or the error.
std::string AddScheme(const char* name, Arguments& arguments) {
  const Scheme* const scheme = FindScheme(name);
  if (scheme == nullptr) return std::string("there is no scheme ") + name;
  arguments.schemes.push_back(scheme);
  return "";
}

std::string ReadOne(int argc, char** argv, int& i, Arguments& arguments) {
  const std::string_view argument = argv[i];
  const auto number = NumberOf(argv[i]);
  if (argument == "--markdown") {
    arguments.markdown = true;
  } else if (argument == "--no_credit") {
    arguments.options.counts_credit = false;
  } else if (argument == "--update" && i + 1 < argc) {
    arguments.update = argv[++i];
  } else if (argument == "--json" && i + 1 < argc) {
    arguments.json = argv[++i];
  } else if (argument == "--seed" && i + 1 < argc && NumberOf(argv[i + 1])) {
    arguments.options.seed = *NumberOf(argv[++i]);
  } else if (argument.starts_with("-")) {
    return "unknown flag, or one without its value: " + std::string(argument);
  } else if (number) {
    if (*number == 0 || *number > kMostSenders) return "senders: 1 to 1000";
    arguments.senders.push_back(*number);
  } else if (argument != "all") {
    return AddScheme(argv[i], arguments);
  }
  return "";
}

// Nothing, with an explanation, where they are wrong.
std::optional<Arguments> Read(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string error = ReadOne(argc, argv, i, arguments);
    if (error.empty()) continue;
    std::fprintf(stderr,
                 "incast_bench: %s\nusage: incast_bench [--markdown] [--update FILE] [--json FILE] "
                 "[--seed SEED] [--no_credit] [SCHEME|all] [N]...\nschemes:",
                 error.c_str());
    for (const Scheme& scheme : Schemes()) std::fprintf(stderr, " %s", scheme.name);
    std::fprintf(stderr, "\n");
    return std::nullopt;
  }
  if (arguments.senders.empty()) arguments.senders = {4, 16, 64, 256};
  if (!arguments.schemes.empty()) return arguments;
  for (const Scheme& scheme : Schemes()) {
    arguments.schemes.push_back(&scheme);
  }
  return arguments;
}

bool Write(const char* path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "incast_bench: cannot write %s\n", path);
  return static_cast<bool>(file);
}

// Writes the figures into the page, in place of those that it has.
bool Update(const char* path, const std::string& figures) {
  constexpr std::string_view kBegin = "<!-- figures: begin -->\n";
  constexpr std::string_view kEnd = "<!-- figures: end -->\n";
  std::ifstream file(path, std::ios::binary);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  if (!file || begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "incast_bench: %s has no marks for figures\n", path);
    return false;
  }
  const size_t first = begin + kBegin.size();
  return Write(path, page.replace(first, end - first, figures));
}

int Run(const Arguments& arguments) {
  InstallFastCrc();
  std::vector<IncastRow> rows;
  bool as_it_must_be = true;
  FILE* const lines = arguments.markdown ? stderr : stdout;
  for (const Scheme* scheme : arguments.schemes) {
    for (const uint32_t senders : arguments.senders) {
      IncastOptions options = arguments.options;
      options.senders = senders;
      rows.push_back(MeasureRow(*scheme, options));
      std::fputs(LineOf(rows.back()).c_str(), lines);
      std::fflush(lines);
      const IncastRow& row = rows.back();
      for (const IncastFigures* part : {&row.burst, &row.endless, &row.unloaded}) {
        as_it_must_be &= part->failure.empty();
      }
    }
  }
  const std::string page = MarkdownOf(rows, arguments.options);
  if (arguments.markdown) std::fputs(page.c_str(), stdout);
  if (arguments.update != nullptr && !Update(arguments.update, page)) return 1;
  if (arguments.json != nullptr && !Write(arguments.json, JsonOf(rows, arguments.options))) {
    return 1;
  }
  return as_it_must_be ? 0 : 3;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  const auto arguments = suede::Read(argc, argv);
  return arguments ? suede::Run(*arguments) : 2;
}
