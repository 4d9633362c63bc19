// SPDX-License-Identifier: Apache-2.0
// suedectl: inspects and controls a running endpoint or switch. docs/management.md is its manual.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "daemon/version.h"
#include "suedectl/run.h"

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_DFL);  // ends silently when a pager quits
  return suede::ctl::Run({argv + 1, argv + argc},
                         {.catalog = suede::EndpointCatalog(),
                          .local = suede::ctl::LocalCommands(),
                          .daemon = suede::ctl::DaemonCommands(),
                          .switch_catalog = &suede::SwitchCatalog()},
                         environ, std::string(suede::kVersion) + " (" + suede::kRevision + ")",
                         stdout, stderr);
}
