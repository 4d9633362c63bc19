#include "suedectl/local_commands.h"

#include <cstdio>
#include <cstring>

#include "suedectl/command_line.h"
#include "suedectl/help.h"

namespace suede::ctl {
namespace {

int PrintCompletion(int argc, char** argv) {
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::puts("suedectl completion: prints a completion script for bash.\n\n"
              "  source <(suedectl completion)");
    return kExitDone;
  }
  if (argc > 1) {
    std::fprintf(stderr, "suedectl: completion takes no arguments, and not '%s'\n", argv[1]);
    return kExitUsage;
  }
  std::fputs(Completion({.catalog = EndpointCatalog(), .local = LocalCommands()}).c_str(), stdout);
  return kExitDone;
}

constexpr LocalCommand kCommands[] = {
    {"completion", "Prints a completion script for bash.", PrintCompletion},
};

}  // namespace

std::span<const LocalCommand> LocalCommands() { return kCommands; }

}  // namespace suede::ctl
