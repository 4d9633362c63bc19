// SPDX-License-Identifier: Apache-2.0
// Packet sockets of net_af_packet: assigns a unique number to each fanout group.
#ifndef SUEDE_DPDK_PACKET_SOCKETS_H_
#define SUEDE_DPDK_PACKET_SOCKETS_H_

#include <cstdint>

namespace suede::internal {

// Works like setsockopt(fd, SOL_PACKET, PACKET_FANOUT, wanted) except for the group's number, which
// is free in the network namespace, and the same for all calls with the same `wanted`
// (net_af_packet's is distinct for each port of a process).
int JoinFanout(int fd, uint32_t wanted);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_PACKET_SOCKETS_H_
