// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame of a capture that suedectl frame decode opens with secrets: none of them is
// authentic, and each sealed one is refused with a reason. The first byte chooses the
// encapsulation, the second the version.
#include "suedectl/frame_open.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "suedectl/frame_json.h"
#include "wire/encap.h"

namespace suede::ctl {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

FrameOpener& Opener() {
  static FrameOpener* const opener = [] {
    std::string keys;
    for (int id = 0; id < 4; ++id) {
      keys += "0 " + std::to_string(id) + " " + std::string(62, '1') + "2" + std::to_string(id) +
              " - -\n";
    }
    const auto secrets = ParseSecrets("keys", keys);
    Require(secrets.ok());
    auto made = FrameOpener::Create(*secrets);
    Require(made.ok());
    return made->release();
  }();
  return *opener;
}

void CheckFrame(Encap encap, Bytes frame) {
  frame.shrink_to_fit();  // the address sanitizer sees the first byte beyond
  const FrameDescription description = DescribeFrame({.encap = encap}, frame, &Opener());
  if (description.sealed.has_value()) {
    Require(description.error.starts_with("seal_") && !description.detail.empty());
    Require(!description.commands.has_value() && !description.control_pdu.has_value());
  }
  Require(!FrameToJson(description).empty());
}

// A PDU of the bytes, sealed as its RH says, in a frame of the encapsulation.
void CheckPdu(Encap encap, uint8_t version, const uint8_t* data, size_t size) {
  Bytes buffer(HeaderTemplate::kRoomBytes + std::max<size_t>(size, kMinPduBytes));
  uint8_t* const pdu = buffer.data() + HeaderTemplate::kRoomBytes;
  std::copy_n(data, size, pdu);
  SetVersion(pdu, 1 + (version & 1));
  const HeaderTemplate header = MakeTemplate(encap, {});
  const auto pdu_bytes = static_cast<uint32_t>(buffer.size() - HeaderTemplate::kRoomBytes);
  const uint8_t* const frame = WriteHeader(header, pdu, pdu_bytes, false);
  CheckFrame(encap, Bytes(frame, frame + header.length + pdu_bytes));
}

}  // namespace
}  // namespace suede::ctl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 512;
  if (size < 2 || size > kMaxBytes) return 0;
  const suede::Encap encap =
      *suede::ParseEncap(suede::kEncapNames[data[0] % suede::kEncapNames.size()]);
  if (data[1] % 4 == 3) {
    suede::ctl::CheckFrame(encap, suede::ctl::Bytes(data + 2, data + size));
  } else {
    suede::ctl::CheckPdu(encap, data[1], data + 2, size - 2);
  }
  return 0;
}
