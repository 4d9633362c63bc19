// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_keys.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/config_values.h"
#include "endpoint/new_crypto.h"
#include "openssl/openssl_crypto.h"
#include "seal/sealed_peer.h"

namespace suede {
namespace {

// Keys per peer: four epochs and HELLOs for two secrets, and as many for sending.
constexpr uint32_t kKeysOfPeer = 20;
constexpr uint32_t kMaxKeys = 1 << 20;

// Returns the number of sealing instances on the lcore.
uint32_t SealingOn(const Config& config, uint32_t lcore) {
  return static_cast<uint32_t>(std::count_if(
      config.instances.begin(), config.instances.end(), [lcore](const InstanceConfig& instance) {
        return instance.lcore == lcore && instance.sealing != InstanceConfig::Sealing::kOff;
      }));
}

// Checks that locked memory suffices for the peers, by allocating and freeing it.
absl::Status ReserveMemory(const Config& config) {
  std::vector<void*> blocks;
  bool has_all = true;
  const auto take = [&](size_t bytes) {
    blocks.push_back(LockedMemory::OfProcess().Allocate(bytes));
    has_all &= blocks.back() != nullptr;
  };
  for (uint32_t l = 0; l < config.lcores.size() && has_all; ++l) {
    const uint32_t instances = SealingOn(config, l);
    if (instances != 0) take(sizeof(SecretsUpdate));
    for (uint32_t i = 0; i < instances && has_all; ++i) {
      take(sizeof(SealOwn));
      for (size_t peer = 0; peer < config.peers.size() && has_all; ++peer) take(sizeof(SealedPeer));
    }
  }
  for (void* block : blocks) LockedMemory::OfProcess().Free(block);
  if (has_all) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      StrCat("no memory for the keys of peers: ", LockedMemory::OfProcess().Shortage()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SealKeys>> SealKeys::Open(const Config& config) {
  std::unique_ptr<SealKeys> keys(new SealKeys(config));
  if (absl::Status status = keys->OpenLibraries(config); !status.ok()) return status;
  if (keys->kdf_ == nullptr) return keys;
  if (absl::Status status = keys->Reload().status(); !status.ok()) return status;
  return keys;
}

absl::Status SealKeys::OpenLibraries(const Config& config) {
  libraries_.resize(config.lcores.size());
  if (absl::Status status = ReserveMemory(config); !status.ok()) return status;
  for (uint32_t l = 0; l < config.lcores.size(); ++l) {
    const uint32_t instances = SealingOn(config, l);
    if (instances == 0) continue;
    const uint64_t wanted = uint64_t{instances} * config.peers.size() * kKeysOfPeer + kKeysOfPeer;
    absl::StatusOr<ChosenCrypto> chosen =
        NewCrypto(NamesOf(config_.device)[static_cast<size_t>(config_.device)],
                  static_cast<uint32_t>(std::min<uint64_t>(wanted, kMaxKeys)));
    if (!chosen.ok()) return chosen.status();
    if (!chosen->passed_over.empty()) warnings_.push_back(chosen->passed_over);
    libraries_[l] = {.crypto = std::move(chosen->crypto),
                     .update = std::unique_ptr<SecretsUpdate>(new SecretsUpdate)};
    libraries_[l].update->done = true;
    if (kdf_ != nullptr) continue;
    absl::StatusOr<std::unique_ptr<Crypto>> kdf = OpenOpensslCrypto();
    if (!kdf.ok()) return kdf.status();
    kdf_ = *std::move(kdf);
  }
  return absl::OkStatus();
}

std::vector<Crypto*> SealKeys::libraries() const {
  std::vector<Crypto*> libraries;
  for (const Library& library : libraries_) libraries.push_back(library.crypto.get());
  return libraries;
}

absl::StatusOr<uint32_t> SealKeys::Reload() {
  if (kdf_ == nullptr) {
    return absl::FailedPreconditionError(
        "no instance seals; set instances[].sealing in the configuration");
  }
  if (config_.secrets.empty()) return 0;  // agreed by TLS instead
  absl::StatusOr<FileSecrets> read = ReadSecrets(config_.secrets);
  if (!read.ok()) return read.status();
  secrets_ = *std::move(read);
  is_new_ = true;
  return static_cast<uint32_t>(secrets_.size());
}

// Extracts the newest valid secrets.
SealSecrets SealKeys::Extracted(uint32_t partition, int64_t now_s) {
  SealSecrets extracted;
  extracted.partition = static_cast<uint16_t>(partition);
  for (const FileSecret* secret :
       SecretsValidAt(secrets_, static_cast<uint16_t>(partition), now_s)) {
    if (extracted.count == SealSecrets::kMax) break;
    extracted.all[extracted.count++] = {.id = secret->id,
                                        .prk = ExtractSecret(*kdf_, secret->secret.bytes())};
  }
  return extracted;
}

std::optional<uint32_t> SealKeys::Tick(const EndpointPipelines& pipelines, uint32_t partition,
                                       int64_t now_s) {
  if (kdf_ == nullptr || config_.secrets.empty()) return std::nullopt;
  if (!is_new_ && partition == partition_ && now_s < change_s_) return std::nullopt;
  for (uint32_t l = 0; l < libraries_.size(); ++l) {
    // Retried later if a former change is pending.
    if (libraries_[l].crypto != nullptr && !libraries_[l].update->done) return std::nullopt;
  }
  SealSecrets secrets = Extracted(partition, now_s);
  const uint32_t count = secrets.count;
  bool all = true;
  for (uint32_t l = 0; l < libraries_.size(); ++l) {
    if (libraries_[l].crypto == nullptr) continue;
    SecretsUpdate* const update = libraries_[l].update.get();
    update->secrets = secrets;
    update->done = false;
    if (pipelines.pipeline(l).mailbox().requests.Push(request::SetSecrets{.update = update})) {
      continue;
    }
    update->done = true;
    all = false;
  }
  secrets.Clear();
  if (!all) return std::nullopt;
  is_new_ = false;
  partition_ = partition;
  change_s_ = NextSecretChange(secrets_, now_s);
  return count;
}

bool SealKeys::Rotate(const EndpointPipelines& pipelines) const {
  bool all = true;
  for (uint32_t l = 0; l < libraries_.size(); ++l) {
    if (libraries_[l].crypto == nullptr) continue;
    all &= pipelines.pipeline(l).mailbox().requests.Push(request::RotateKeys{});
  }
  return all;
}

}  // namespace suede
