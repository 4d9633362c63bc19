// SPDX-License-Identifier: Apache-2.0
// Any text either is refused with a message, or loads to a value that its dump loads to again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const suede::MachineFacts machine{.cpu_count = 64};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = suede::ParseConfig(text, "fuzz", machine);
  if (!config.ok()) {
    if (config.status().message().empty()) abort();
    return 0;
  }
  const std::string dump = suede::DumpConfig(*config);
  const auto again = suede::ParseConfig(dump, "dump", machine);
  if (!again.ok() || *again != *config) {
    fprintf(stderr, "%s\n%s\n", again.status().ToString().c_str(), dump.c_str());
    abort();
  }
  return 0;
}
