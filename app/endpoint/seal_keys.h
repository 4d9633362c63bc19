// SPDX-License-Identifier: Apache-2.0
// The secrets and crypto libraries of sealing instances (docs/sealing.md): a library for each
// lcore, the secrets file, and the currently valid secrets. Control thread, except the libraries.
#ifndef SUEDE_APP_ENDPOINT_SEAL_KEYS_H_
#define SUEDE_APP_ENDPOINT_SEAL_KEYS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "endpoint/endpoint_pipelines.h"
#include "lcore/secrets_update.h"
#include "seal/secrets_file.h"

namespace suede {

class SealKeys {
 public:
  // Reads the secrets and opens the libraries, if an instance of the configuration seals. Requires
  // a running EAL; sealing pipelines must be destroyed before this.
  static absl::StatusOr<std::unique_ptr<SealKeys>> Open(const Config& config);
  // Warnings of Open for the operator.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Returns the library of each lcore; null if no instance of the lcore seals.
  std::vector<Crypto*> libraries() const;

  // Reads the file again; returns its number of secrets. On an error nothing changes.
  absl::StatusOr<uint32_t> Reload();
  // Posts the secrets of the instances' partitions that are valid at `now_s` (UTC, since 1970) to
  // the lcores, if they have changed. Then returns their number, else nullopt. To be called
  // periodically. `config`: as of Open, but for its partition.
  std::optional<uint32_t> Tick(const EndpointPipelines& pipelines, const Config& config,
                               int64_t now_s);
  // Begins another epoch for every peer. Returns false if an lcore's mailbox is full.
  bool Rotate(const EndpointPipelines& pipelines) const;

 private:
  // A sealing instance.
  struct Own {
    uint32_t instance = 0;  // index into Config::instances
    uint32_t lcore = 0;     // index into Config::lcores
    std::unique_ptr<SecretsUpdate> update;
    std::optional<uint32_t> posted;  // partition of its secrets; nullopt: to be posted
  };

  explicit SealKeys(const Config& config) : config_(config.sealing) {}
  absl::Status OpenLibraries(const Config& config);
  SealSecrets Extracted(uint32_t partition, int64_t now_s);
  bool Post(const EndpointPipelines& pipelines, const SealSecrets& secrets, Own* own) const;

  const SealingConfig config_;
  std::vector<std::unique_ptr<Crypto>> libraries_;  // in the order of Config::lcores
  std::vector<Own> own_;
  std::unique_ptr<Crypto> kdf_;     // of the control thread
  std::vector<std::string> warnings_;
  FileSecrets secrets_;
  int64_t change_s_ = 0;  // when the valid secrets change next; 0: they were read again
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_KEYS_H_
