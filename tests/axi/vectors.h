// SPDX-License-Identifier: Apache-2.0
// The transactions of docs/axi-vectors.json, and their text there.
#ifndef SUEDE_TESTS_AXI_VECTORS_H_
#define SUEDE_TESTS_AXI_VECTORS_H_

#include <string>
#include <vector>

#include "coded.h"

namespace suede::axi {

struct Vector {
  std::string name;
  Outcome outcome = Outcome::kComplete;
  Transaction transaction;  // unless complete: direction, form, and the address of an answer's read
  std::vector<Coded> commands;
};

std::vector<Vector> MakeVectors();

std::string ToHex(const Bytes& octets);
std::string ToJson(const std::vector<Vector>& vectors);
std::vector<Vector> FromJson(const std::string& text);

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_VECTORS_H_
