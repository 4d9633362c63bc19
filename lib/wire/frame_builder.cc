// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_builder.h"

namespace suede {

std::span<uint8_t> BuildFrame(const HeaderTemplate& header, const ReliabilityHeader& rh,
                              std::span<const uint8_t> commands, std::span<uint8_t> buffer,
                              bool offload) {
  if (commands.size() > kMaxPackBytes) return {};
  const auto command_bytes = static_cast<uint32_t>(commands.size());
  if (buffer.size() < FrameBufferBytes(command_bytes)) return {};
  uint8_t* pdu = buffer.data() + HeaderTemplate::kRoomBytes;
  if (command_bytes != 0) std::memcpy(pdu + kRhBytes, commands.data(), command_bytes);
  const uint32_t pdu_bytes = FinishPdu(pdu, command_bytes, header.length, rh);
  return {WriteHeader(header, pdu, pdu_bytes, offload), header.length + pdu_bytes};
}

}  // namespace suede
