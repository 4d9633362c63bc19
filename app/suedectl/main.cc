// suedectl: commands on frames. docs/frames.md.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "suedectl/frame_arguments.h"
#include "suedectl/frame_commands.h"

namespace suede::ctl {
namespace {

void PrintHelp() {
  std::puts("suedectl: looks at SUE frames\n\nusage: suedectl COMMAND [--help | ARGUMENTS]\n");
  for (const LocalCommand& command : kFrameCommands) {
    std::printf("  %-14.*s %.*s\n", static_cast<int>(command.name.size()), command.name.data(),
                static_cast<int>(command.sentence.size()), command.sentence.data());
  }
}

// The words of a name, which stand between single spaces.
std::vector<std::string_view> WordsOf(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find(' ', start), name.size());
    words.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

int Run(const std::vector<std::string_view>& arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    PrintHelp();
    return kExitDone;
  }
  for (const LocalCommand& command : kFrameCommands) {
    const std::vector<std::string_view> words = WordsOf(command.name);
    if (arguments.size() < words.size()) continue;
    if (!std::equal(words.begin(), words.end(), arguments.begin())) continue;
    return command.run(std::span(arguments).subspan(words.size()), stdin, stdout, stderr);
  }
  std::fputs("suedectl: no such command; suedectl --help lists them\n", stderr);
  return kExitUsage;
}

}  // namespace
}  // namespace suede::ctl

int main(int argc, char** argv) {
  return suede::ctl::Run(std::vector<std::string_view>(argv + std::min(argc, 1), argv + argc));
}
