// SPDX-License-Identifier: Apache-2.0
// Prints suede/registers.h, for the build.
#include <cstdio>

#include "registers/register_documents.h"

int main() {
  std::fputs(suede::RegistersAsHeader().c_str(), stdout);
  return 0;
}
