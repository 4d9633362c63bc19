// SPDX-License-Identifier: Apache-2.0
// Checks of a configuration, by subject: one source file each.
#ifndef SUEDE_CONFIG_CONFIG_CHECKS_H_
#define SUEDE_CONFIG_CONFIG_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "config/config_draft.h"
#include "link/link_params.h"

namespace suede {

// ---- Instances and peers: their identities and addresses.

// Checks that instances are unique, and that an address on a port belongs to one own instance and
// to one XPU.
absl::Status CheckAddresses(const ConfigDraft& draft);

// Warns of instances without peers, and of unused addresses.
void WarnOfPeers(ConfigDraft& draft);

// ---- Classes of traffic and the scope of PSNs: defaults and warnings (docs/pfc.md).

// Returns the default classes of VCs if a port has PFC or credit-based flow control: VC v is in
// class v; none shares the class of acknowledgements.
ClassesConfig ClassesOfControlledPorts();
// Sets psn_scope to vc, unless the file sets it, if there are devices of a mesh, or a port has PFC
// or credit-based flow control and all peers speak HELLO: other peers may number PSNs over all VCs.
void FillPsnScope(ConfigDraft& draft);
// Gives each VC its own class, unless the file sets it, if it has its own PSN sequence and a port
// has PFC or credit-based flow control.
void FillClasses(ConfigDraft& draft);
// Warns of class values that no port sends, of VCs that share a class on a port with PFC or
// credit-based flow control, and of VCs there in several classes that share a PSN sequence.
void WarnOfClasses(ConfigDraft& draft);

// ---- Arguments of virtual devices: some invalid ones make drivers end the process.

// Checks the arguments of a port's device, and the keys that belong to them.
absl::Status CheckDevice(const ConfigDraft& draft, size_t port);
// Checks that the device can hold frames of `frame_bytes`, if its arguments decide that. Call
// CheckDevice first.
absl::Status CheckFrameRoom(const ConfigDraft& draft, size_t port, uint32_t frame_bytes);

// ---- Links of ports (docs/link.md).

// Checks that the EtherType at `path` collides with no known one, nor with that of the port's PDUs,
// `of_pdus` (0: none).
absl::Status CheckLinkEtherType(const ConfigDraft& draft, const std::string& path,
                                uint16_t ether_type, uint16_t of_pdus);
// Checks the limits of cbfc.credits: one for each link VC, and each sufficient for a frame of `max`
// octets.
absl::Status CheckCredits(const ConfigDraft& draft, const CbfcConfig& config,
                          const CreditGrant& grant, uint32_t max);
// Checks all ports of an endpoint.
absl::Status CheckLinks(const ConfigDraft& draft);

// ---- Devices of a mesh (docs/mesh.md).

// Checks devices, cables, routing tables, and the ports and instances on them.
absl::Status CheckMesh(const ConfigDraft& draft);

// ---- Sealing (docs/sealing.md).

// Checks that sealing instances have secrets, from a file or by TLS, and that the keys of
// sealing.tls are either all set or all missing.
absl::Status CheckSealing(const ConfigDraft& draft);

// ---- Parameters of the data path: the order of times, and bounds that depend on each other.

absl::Status CheckTransport(const ConfigDraft& draft);
absl::Status CheckCongestion(ConfigDraft& draft);
absl::Status CheckPlanes(const ConfigDraft& draft);
absl::Status CheckSessions(const ConfigDraft& draft);
// Checks that the rate of each port is known where a setting depends on it (config_rates.h).
absl::Status CheckRates(const ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECKS_H_
