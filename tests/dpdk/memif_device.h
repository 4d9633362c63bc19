// SPDX-License-Identifier: Apache-2.0
// Both ends of a memif in one process.
#ifndef SUEDE_TESTS_DPDK_MEMIF_DEVICE_H_
#define SUEDE_TESTS_DPDK_MEMIF_DEVICE_H_

#include <unistd.h>

#include <string>

namespace suede {

inline std::string MemifSocket() {
  return "/tmp/suede_port_test_" + std::to_string(getpid()) + ".sock";
}

// The device of "server" or "client".
inline std::string MemifDevice(const std::string& role) {
  return (role == "server" ? "net_memif0" : "net_memif1") + (",role=" + role) +
         ",id=0,rsize=9,bsize=2112,socket-abstract=no,socket=" + MemifSocket();
}

}  // namespace suede

#endif  // SUEDE_TESTS_DPDK_MEMIF_DEVICE_H_
