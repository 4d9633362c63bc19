// SPDX-License-Identifier: Apache-2.0
// The secrets and ciphers of instances that seal (docs/sealing.md): a library for each lcore, the
// file of secrets, and which of them are valid now. Control thread, but for the libraries.
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
  // Reads the secrets and opens the libraries, where an instance of the configuration seals. EAL
  // runs, and pipelines that seal end before this.
  static absl::StatusOr<std::unique_ptr<SealKeys>> Open(const Config& config);
  // Warnings of Open for the operator.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The library of each lcore; null where no instance of the lcore seals.
  std::vector<Crypto*> libraries() const;

  // Reads the file again; returns its number of secrets. An unusable file changes nothing.
  absl::StatusOr<uint32_t> Reload();
  // Hands the secrets of the partition that are valid at `now_s` (UTC, since 1970) to the lcores,
  // where the lcores have other ones. Returns the number of secrets where they have changed. Called
  // again and again.
  std::optional<uint32_t> Tick(const EndpointPipelines& pipelines, uint32_t partition,
                               int64_t now_s);
  // Every peer begins another epoch. False: an lcore has no room for the request now.
  bool Rotate(const EndpointPipelines& pipelines) const;

 private:
  struct Library {
    std::unique_ptr<Crypto> crypto;
    std::unique_ptr<SecretsUpdate> update;
  };

  explicit SealKeys(const Config& config) : config_(config.sealing) {}
  absl::Status OpenLibraries(const Config& config);
  SealSecrets Extracted(uint32_t partition, int64_t now_s);

  const SealingConfig config_;
  std::vector<Library> libraries_;  // as Config::lcores
  std::unique_ptr<Crypto> kdf_;     // the control thread's
  std::vector<std::string> warnings_;
  FileSecrets secrets_;
  bool is_new_ = false;     // they are read, and no lcore has them
  uint32_t partition_ = 0;  // that the lcores have them of,
  int64_t change_s_ = 0;    // until this time
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_KEYS_H_
