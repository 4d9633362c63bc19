// SPDX-License-Identifier: Apache-2.0
// Documents generated from the register map.
#ifndef SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_
#define SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_

#include <string>

namespace suede {

// Returns the tables of docs/registers.md.
std::string RegistersAsMarkdown();
// Returns the whole of suede/registers.h, which the build writes.
std::string RegistersAsHeader();

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_
