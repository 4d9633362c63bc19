// SPDX-License-Identifier: Apache-2.0
// The register map as files for programs, emulators and register tools, written by the build.
#ifndef SUEDE_REGISTERS_REGISTER_TEXT_H_
#define SUEDE_REGISTERS_REGISTER_TEXT_H_

#include <string>

namespace suede {

std::string RegistersAsHeader();  // suede/registers.h
std::string RegistersAsSvd();     // CMSIS-SVD 1.3: one peripheral, a cluster for each block
std::string RegistersAsRdl();     // SystemRDL 2.0: one addrmap, a regfile for each block

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_TEXT_H_
