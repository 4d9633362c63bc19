// SPDX-License-Identifier: Apache-2.0
// Packet sockets of net_af_packet: fanout groups with numbers of their own.
#ifndef SUEDE_DPDK_PACKET_SOCKETS_H_
#define SUEDE_DPDK_PACKET_SOCKETS_H_

#include <cstdint>

namespace suede::internal {

// As setsockopt(fd, SOL_PACKET, PACKET_FANOUT, wanted), but for the group's number: one that is free
// in the network namespace, and the same for all calls with the same `wanted` (net_af_packet's is
// distinct for each port of a process).
int JoinFanout(int fd, uint32_t wanted);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_PACKET_SOCKETS_H_
