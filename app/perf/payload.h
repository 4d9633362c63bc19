// SPDX-License-Identifier: Apache-2.0
// Self-describing content: a command's data, and its control behind byte 7, are a function of
// {source, destination, VC, flow, sequence number}, so a receiver can verify every byte.
#ifndef SUEDE_APP_PERF_PAYLOAD_H_
#define SUEDE_APP_PERF_PAYLOAD_H_

#include <cstdint>

namespace suede::perf {

struct ContentKey {
  uint16_t source = 0;
  uint16_t destination = 0;
  uint8_t vc = 0;
  uint8_t flow = 0;
  uint32_t sequence = 0;
};

// Writes bytes 8 to control_bytes - 1 of the control, and `data_bytes` bytes of data.
void FillContent(const ContentKey& key, uint8_t* control, uint32_t control_bytes, uint8_t* data,
                 uint32_t data_bytes);

bool ContentIsRight(const ContentKey& key, const uint8_t* control, uint32_t control_bytes,
                    const uint8_t* data, uint32_t data_bytes);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PAYLOAD_H_
