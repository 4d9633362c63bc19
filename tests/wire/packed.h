// SPDX-License-Identifier: Apache-2.0
// Commands as a test writes them, and their bytes in a PDU.
#ifndef SUEDE_TESTS_WIRE_PACKED_H_
#define SUEDE_TESTS_WIRE_PACKED_H_

#include <cstdint>
#include <random>
#include <vector>

namespace suede {

using Bytes = std::vector<uint8_t>;

struct TestCommand {
  Bytes control;  // with type and length bytes as sent
  Bytes data;
  friend bool operator==(const TestCommand&, const TestCommand&) = default;
};

inline void AppendPacked(const TestCommand& command, Bytes& out) {
  out.insert(out.end(), command.control.begin(), command.control.end());
  out.insert(out.end(), command.data.begin(), command.data.end());
  if (command.data.size() % 2 != 0) out.push_back(0);
}

inline Bytes RandomBytes(std::mt19937& random, size_t count) {
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

inline TestCommand RandomCommand(std::mt19937& random) {
  const auto units = static_cast<uint8_t>(1 + random() % 9);
  TestCommand command{RandomBytes(random, units * 2), {}};
  command.control[0] = static_cast<uint8_t>((command.control[0] & 0xe0) | units);
  if (random() % 4 != 0) {
    command.data = RandomBytes(random, 1 + random() % 256);
    command.control[0] |= 0x10;
    command.control[1] = static_cast<uint8_t>(command.data.size() - 1);
  }
  return command;
}

}  // namespace suede

#endif  // SUEDE_TESTS_WIRE_PACKED_H_
