// SPDX-License-Identifier: Apache-2.0
// Prints the register map for the build: write-registers header|svd|rdl.
#include <cstdio>
#include <string_view>

#include "registers/register_text.h"

int main(int argc, char** argv) {
  const std::string_view format = argc == 2 ? argv[1] : "";
  if (format == "header") {
    std::fputs(suede::RegistersAsHeader().c_str(), stdout);
  } else if (format == "svd") {
    std::fputs(suede::RegistersAsSvd().c_str(), stdout);
  } else if (format == "rdl") {
    std::fputs(suede::RegistersAsRdl().c_str(), stdout);
  } else {
    std::fputs("usage: write-registers header|svd|rdl\n", stderr);
    return 2;
  }
  return 0;
}
