// SPDX-License-Identifier: Apache-2.0
// Any text as the input of suedectl frame encode, and any bytes as a frame that its object is made
// of again. A text makes a frame or is refused with a message; and of a frame that a port would
// take, decode says enough to make the same frame.
//
// The first byte chooses: 0 to 5 a frame of that encapsulation, others a text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "suedectl/frame_input.h"
#include "suedectl/frame_json.h"

namespace suede::ctl {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

FrameRules RulesOf(const FrameDescription& d) {
  return {.encap = d.encap,
          .udp_port = d.values.NumberOr<uint16_t>(Field::kDport, kDefaultUdpPort),
          .mac_prefix = d.values.NumberOr<uint32_t>(Field::kMacPrefix, kDefaultMacPrefix),
          .ether_type = d.values.NumberOr<uint16_t>(Field::kEtherType, 0)};
}

// Bytes of exactly their size: the address sanitizer sees the first one beyond them.
void CheckFrame(const FrameRules& rules, std::span<const uint8_t> frame) {
  Bytes exact(frame.begin(), frame.end());
  exact.shrink_to_fit();
  const FrameDescription description = DescribeFrame(rules, exact);
  const std::string text = FrameToJson(description);
  const auto read = FrameFromJson(text);
  Require(read.ok() == description.error.empty());
  if (!read.ok()) return;
  const auto made = MakeFrame(*read);
  if (made.ok() && *made == exact) return;
  std::fprintf(stderr, "%s\n%s\n%s\n", made.status().ToString().c_str(), text.c_str(),
               ToHex(exact).c_str());
  std::abort();
}

void CheckText(std::string_view text) {
  const auto read = FrameFromJson(text);
  if (!read.ok()) return Require(!read.status().message().empty());
  const auto made = MakeFrame(*read);
  if (!made.ok()) return Require(!made.status().message().empty());
  Require(made->size() <= kMaxFrameBytes);
  CheckFrame(RulesOf(*read), *made);
}

void CheckInput(const uint8_t* data, size_t size) {
  if (size == 0) return;
  FILE* file = fmemopen(const_cast<uint8_t*>(data), size, "r");
  Require(file != nullptr);
  ObjectReader objects(file);
  std::string text;
  while (true) {
    const Piece piece = objects.Next(text);
    if (piece != Piece::kRead && piece != Piece::kTooLong) break;
    Require(text.size() <= kMaxPieceBytes);
    if (piece == Piece::kRead) CheckText(text);
  }
  std::fclose(file);
}

}  // namespace
}  // namespace suede::ctl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace suede::ctl;
  if (size == 0) return 0;
  if (data[0] < suede::kEncapNames.size()) {
    const suede::FrameRules rules{.encap = static_cast<suede::Encap>(data[0])};
    if (size - 1 <= kMaxFrameBytes) CheckFrame(rules, {data + 1, size - 1});
    return 0;
  }
  CheckInput(data + 1, size - 1);
  return 0;
}
