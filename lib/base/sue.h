// SPDX-License-Identifier: Apache-2.0
// Constants of SUE that every room needs (SUE framework §2, §3.2.1; wire profile §2, §3).
#ifndef SUEDE_BASE_SUE_H_
#define SUEDE_BASE_SUE_H_

#include <cstdint>

namespace suede {

inline constexpr uint32_t kMaxXpus = 1024;             // xpuid is 10 bits
inline constexpr uint32_t kVcCount = 4;                // vc is 2 bits
inline constexpr uint32_t kMaxPartition = 1023;        // partition is 10 bits
inline constexpr uint32_t kMaxInstances = 64;          // instance numbers are 6 bits
inline constexpr uint32_t kMaxControlBytes = 18;       // 144 bits of control
inline constexpr uint32_t kMaxDataBytes = 256;
inline constexpr uint32_t kMaxCommandBytes = kMaxControlBytes + kMaxDataBytes;
inline constexpr uint32_t kMaxPackBytes = 4096;        // commands of one PDU
inline constexpr uint32_t kDefaultPackBytes = 2048;
inline constexpr uint32_t kWireOctets = 24;  // per frame on the wire: preamble, FCS and gap

}  // namespace suede

#endif  // SUEDE_BASE_SUE_H_
