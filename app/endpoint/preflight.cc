// SPDX-License-Identifier: Apache-2.0
#include "endpoint/preflight.h"

#include "base/text.h"
#include "client/segment.h"
#include "dpdk/eal.h"
#include "dpdk/vdev_drivers.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "openssl/tls.h"
#include "preflight/linux_machine.h"
#include "seal/agreement.h"
#include "seal/secrets_file.h"

namespace suede {

namespace {

// Reads the files of sealing, as the endpoint does at its start.
std::vector<std::string> SealingFaults(const SealingConfig& sealing) {
  std::vector<std::string> faults;
  if (!sealing.secrets.empty()) {
    const absl::Status read = ReadSecrets(sealing.secrets).status();
    if (!read.ok()) faults.push_back(StrCat("sealing.secrets: ", read.message()));
  }
  if (sealing.tls.enabled()) {
    const absl::Status read =
        TlsContext::Open(
            {.certificate = sealing.tls.certificate, .key = sealing.tls.key, .ca = sealing.tls.ca},
            kAgreementAlpn)
            .status();
    if (!read.ok()) faults.emplace_back(read.message());
  }
  return faults;
}

}  // namespace

std::vector<Finding> PreflightOf(const Config& config) {
  const LinuxMachine machine({.prefix_holder = EalPrefixHolder, .vdev_drivers = VdevDrivers}, "",
                             SealingFaults);
  const MemoryNeeds needs{.pool_bytes = Endpoint::PoolBytesOf(config),
                          .segment_bytes = SegmentOffsets(SegmentShapeOf(config.clients)).bytes};
  return RunPreflight({.config = config, .needs = needs, .machine = machine});
}

}  // namespace suede
