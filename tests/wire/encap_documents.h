// SPDX-License-Identifier: Apache-2.0
// Texts about the network headers from their rows of traits and the declarations of their
// fields: tables of docs/encapsulations.md and of tools/wireshark/suede.lua.
#ifndef SUEDE_TESTS_WIRE_ENCAP_DOCUMENTS_H_
#define SUEDE_TESTS_WIRE_ENCAP_DOCUMENTS_H_

#include <string>

namespace suede {

std::string EncapsAsMarkdown();
std::string FieldsAsMarkdown();
std::string HeadersAsLua();

}  // namespace suede

#endif  // SUEDE_TESTS_WIRE_ENCAP_DOCUMENTS_H_
