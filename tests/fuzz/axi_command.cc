// SPDX-License-Identifier: Apache-2.0
// Arbitrary commands to the receiver of an AXI4 transaction: raw ones, and those of a transaction
// with some octets, lengths and parts changed. A transaction that arrives whole keeps the rules of
// AXI4 and has no other form: it is encoded again as it was received.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "axi/body.h"
#include "coded.h"
#include "input.h"

namespace suede::axi {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

Address DrawAddress(Input& input) {
  Address address = {.address = uint64_t{input.Word()} << 32 | input.Word(), .len = input.Byte()};
  const uint8_t shape = input.Byte();
  address.size = shape & 7;
  address.burst = (shape >> 3 & 3) % 3;
  address.prot = shape >> 5;
  const uint8_t traits = input.Byte();
  if ((traits & 1) != 0) address.address &= ~uint64_t{0xfff};
  if ((traits & 2) != 0) address.len &= 15;
  address.id = (traits & 4) != 0 ? input.Word() : input.Byte();
  address.lock = traits >> 3 & 1;
  if ((traits & 16) != 0) address.user[0] = input.Word();
  if ((traits & 32) != 0) address.user[1] = input.Word();
  if ((traits & 64) != 0) address.qos = input.Byte() & 15;
  if ((traits & 128) != 0) address.cache = input.Byte() & 15;
  return address;
}

// A transaction on the widest bus, whose beats differ only in part.
Transaction Draw(Input& input) {
  const uint8_t traits = input.Byte();
  Transaction transaction = {.direction = (traits & 1) != 0 ? Direction::kWrite : Direction::kRead,
                             .is_answer = (traits & 2) != 0,
                             .bus_bytes = kMaxBusBytes,
                             .number = 7,
                             .address = DrawAddress(input)};
  const bool is_write = transaction.direction == Direction::kWrite;
  if (transaction.is_answer && (traits & 4) != 0) {
    transaction.status = Status::kReset;
    transaction.response = SUEDE_AXI_SLVERR;
  } else if (transaction.is_answer && is_write) {
    transaction.user[0] = input.Word();
    transaction.response = input.Byte() & 3;
  } else if (transaction.is_answer != is_write) {
    transaction.beat_user_bytes = (traits >> 3 & 7) % 5;
    const uint8_t change = input.Byte();
    for (uint32_t i = 0; i < BeatsOf(transaction.address); ++i) {
      const auto octet = static_cast<uint8_t>(i + change);
      WriteBeat written = {.strobes = {UINT64_MAX, UINT64_MAX}};
      ReadBeat read = {};
      std::ranges::fill(written.data, octet);
      std::ranges::fill(read.data, octet);
      if ((traits & 64) != 0) written.strobes[0] = written.strobes[1] = input.Word() * 0x10001ull;
      if ((traits & 128) != 0) read.response = octet & 3;
      if (transaction.beat_user_bytes != 0) written.user = read.user = octet;
      if (transaction.is_answer) {
        transaction.read_beats.push_back(read);
      } else {
        transaction.write_beats.push_back(written);
      }
    }
  }
  return transaction;
}

void Change(Input& input, std::vector<Coded>& commands) {
  Coded& command = commands[input.Byte() % commands.size()];
  const uint8_t how = input.Byte() % 9;
  const uint8_t at = input.Byte();
  const uint8_t value = input.Byte();
  switch (how) {
    case 0:
    case 1:
      command.control[at % command.control.size()] ^= value;
      return;
    case 2:
    case 3:
      if (!command.data.empty()) command.data[at % command.data.size()] ^= value;
      return;
    case 4:
      command.data = Bytes(at + 1u, value);
      return;
    case 5:
      command.data =
          Bytes(command.data.begin(),
                command.data.begin() + static_cast<int64_t>(at % (command.data.size() + 1)));
      return;
    case 6:
      command.data.insert(command.data.begin(), at % 8, value & 1);
      command.data.resize(std::min<size_t>(command.data.size(), kPartBytes));
      return;
    case 7:
      std::swap(command, commands[at % commands.size()]);
      return;
    default:
      if (commands.size() > 1) commands.erase(commands.begin() + at % commands.size());
  }
}

// Memory exactly as large as it is: the address sanitizer sees the first octet behind it.
Coded Raw(Input& input) {
  constexpr uint32_t kLengths[] = {18, 18, 18, 8, 10, 8};
  const uint8_t kind = input.Byte() % 6;
  const uint32_t control_bytes = input.Byte() % 8 == 0 ? 2 + input.Byte() % 9 * 2 : kLengths[kind];
  Coded command = {.control = Bytes(control_bytes)};
  for (uint8_t& octet : command.control) octet = input.Byte();
  command.control[0] = static_cast<uint8_t>(input.Byte() % 8 == 0 ? command.control[0] : 0xc0);
  if (control_bytes > 2) {
    command.control[2] = static_cast<uint8_t>((command.control[2] & 15) | (kind + 10) << 4);
  }
  command.data = Bytes(input.Byte() % 4 == 0 ? 0 : input.Byte() + 1u);
  for (uint8_t& octet : command.data) octet = input.Byte();
  return command;
}

// The lengths in the first two octets are the endpoint's.
void SetLengths(Coded& command) {
  const size_t data_bytes = command.data.size();
  command.control[0] = static_cast<uint8_t>((command.control[0] & 0xe0) | (data_bytes != 0) << 4 |
                                            command.control.size() / 2);
  command.control[1] = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0);
}

void Receive(std::vector<Coded> commands, const Transaction& expected) {
  Transaction parsed;
  for (Coded& command : commands) SetLengths(command);
  if (Parse(commands, expected, &parsed) != Outcome::kComplete) return;
  Require(FindViolation(parsed.address, kMaxBusBytes) == nullptr);
  std::ranges::sort(commands, {}, [](const Coded& command) {
    return command.control.size() == kMoreControlBytes ? command.control[7] : 0;
  });
  Require(Encode(parsed) == commands);
}

void Step(Input& input) {
  const Transaction drawn = Draw(input);
  if (FindViolation(drawn.address, kMaxBusBytes) != nullptr) return;
  if (input.Byte() % 4 == 0) {
    std::vector<Coded> commands;
    for (uint32_t count = 1 + input.Byte() % 3; count != 0; --count) commands.push_back(Raw(input));
    return Receive(commands, drawn);
  }
  std::vector<Coded> commands = Encode(drawn);
  Transaction parsed;
  Require(Parse(commands, drawn, &parsed) == Outcome::kComplete);
  Require(AreSame(parsed, drawn));
  for (uint32_t count = input.Byte() % 4; count != 0; --count) Change(input, commands);
  Receive(commands, drawn);
}

}  // namespace
}  // namespace suede::axi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  while (!input.empty()) suede::axi::Step(input);
  return 0;
}
