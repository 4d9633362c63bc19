// SPDX-License-Identifier: Apache-2.0
// The process's open ports, so that StopEal() can close them. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_PORT_REGISTRY_H_
#define SUEDE_DPDK_PORT_REGISTRY_H_

namespace suede {

class DpdkPort;

namespace internal {

void RegisterPort(DpdkPort* port);
void UnregisterPort(DpdkPort* port);
void CloseAllPorts();

}  // namespace internal
}  // namespace suede

#endif  // SUEDE_DPDK_PORT_REGISTRY_H_
