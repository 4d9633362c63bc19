// SPDX-License-Identifier: Apache-2.0
// Measures incasts of real pipelines on a simulated switch, in virtual time:
//
//   incast_bench [--markdown] [--update FILE] [--json FILE] [--seed SEED] [--no_credit]
//                [SCHEME|all] [N]...
//   incast_bench --loss SHARE [--markdown] [--update FILE] [--seed SEED] [SCHEME|all]
//
// Without a scheme all that the endpoint can do, without N 4, 16, 64 and 256 senders. A line for
// each row as it is ready; with --markdown settings and table instead, and the lines on the
// standard error. --update writes them into a page, between its two marks. --no_credit: endpoints
// do not count receive credit. With --loss, up to 0.1, what cables that lose such a share of frames
// cost without link-level retry and with it; by default with PFC.
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
#include "incast_losses.h"
#include "incast_report.h"

namespace suede {
namespace {

constexpr double kMaxLoss = 0.1;
constexpr uint32_t kMaxSenders = 1000;  // with the other hosts no more than a switch has ports

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

std::optional<double> ShareOf(const char* text) {
  double share = 0;
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, share);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  if (!(share > 0 && share <= kMaxLoss)) return std::nullopt;
  return share;
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
  } else if (argument == "--loss" && i + 1 < argc && ShareOf(argv[i + 1])) {
    arguments.options.loss = *ShareOf(argv[++i]);
  } else if (argument.starts_with("-")) {
    return "unknown flag, or one without its value: " + std::string(argument);
  } else if (number) {
    if (*number == 0 || *number > kMaxSenders) return "senders: 1 to 1000";
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
                 "[--seed SEED] [--no_credit] [--loss SHARE] [SCHEME|all] [N]...\nschemes:",
                 error.c_str());
    for (const Scheme& scheme : Schemes()) std::fprintf(stderr, " %s", scheme.name);
    std::fprintf(stderr, "\n");
    return std::nullopt;
  }
  if (arguments.options.loss != 0) {
    if (arguments.schemes.empty()) arguments.schemes.push_back(FindScheme("pfc"));
    return arguments;
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

// Writes the figures of that name into the page, in place of those that it has.
bool Update(const char* path, const std::string& name, const std::string& figures) {
  const std::string begin_mark = "<!-- " + name + ": begin -->\n";
  const std::string end_mark = "<!-- " + name + ": end -->\n";
  std::ifstream file(path, std::ios::binary);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find(begin_mark);
  const size_t end = page.find(end_mark);
  if (!file || begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "incast_bench: %s has no marks for %s\n", path, name.c_str());
    return false;
  }
  const size_t first = begin + begin_mark.size();
  return Write(path, page.replace(first, end - first, figures));
}

int RunLosses(const Arguments& arguments) {
  std::vector<LossRow> rows;
  bool as_it_must_be = true;
  for (const Scheme* scheme : arguments.schemes) {
    for (const LossPattern& pattern : LossPatterns()) {
      rows.push_back(MeasureLosses(*scheme, pattern, arguments.options));
      std::fputs(LineOf(rows.back()).c_str(), arguments.markdown ? stderr : stdout);
      std::fflush(stdout);
      as_it_must_be &= rows.back().Failure().empty();
    }
  }
  const std::string page = MarkdownOf(rows, arguments.options);
  if (arguments.markdown) std::fputs(page.c_str(), stdout);
  if (arguments.update != nullptr && !Update(arguments.update, "losses", page)) return 1;
  return as_it_must_be ? 0 : 3;
}

int Run(const Arguments& arguments) {
  InstallFastCrc();
  if (arguments.options.loss != 0) return RunLosses(arguments);
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
  if (arguments.update != nullptr && !Update(arguments.update, "figures", page)) return 1;
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
