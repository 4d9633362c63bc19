// SPDX-License-Identifier: Apache-2.0
// Documents generated from the map of the registers.
#ifndef SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_
#define SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_

#include <string>

namespace suede {

// The tables of docs/registers.md.
std::string RegistersAsMarkdown();
// All of include/suede/registers.h.
std::string RegistersAsHeader();

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_DOCUMENTS_H_
