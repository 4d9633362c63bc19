// SPDX-License-Identifier: Apache-2.0
// The kernel's flags of an address in this process's memory.
#ifndef SUEDE_TESTS_SEAL_MEMORY_FLAGS_H_
#define SUEDE_TESTS_SEAL_MEMORY_FLAGS_H_

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace suede {

// The flags of its mapping, "rd wr lo dd" among blanks: "lo" is locked, "dd" left out of core
// files.
inline std::string MemoryFlags(const void* place) {
  const auto at = reinterpret_cast<uintptr_t>(place);
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool here = false;
  while (std::getline(maps, line)) {
    unsigned long first = 0;
    unsigned long last = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2) here = at >= first && at < last;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_MEMORY_FLAGS_H_
