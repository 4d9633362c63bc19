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
    for (uint32_t i = 0; i < instances && has_all; ++i) {
      take(sizeof(SecretsUpdate));
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
    libraries_[l] = std::move(chosen->crypto);
    if (kdf_ != nullptr) continue;
    absl::StatusOr<std::unique_ptr<Crypto>> kdf = OpenOpensslCrypto();
    if (!kdf.ok()) return kdf.status();
    kdf_ = *std::move(kdf);
  }
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    if (config.instances[i].sealing == InstanceConfig::Sealing::kOff) continue;
    own_.push_back({.instance = i,
                    .lcore = config.instances[i].lcore,
                    .update = std::unique_ptr<SecretsUpdate>(new SecretsUpdate),
                    .posted = {}});
    own_.back().update->done = true;
  }
  return absl::OkStatus();
}

std::vector<Crypto*> SealKeys::libraries() const {
  std::vector<Crypto*> libraries;
  for (const auto& library : libraries_) libraries.push_back(library.get());
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
  change_s_ = 0;
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

std::optional<uint32_t> SealKeys::Tick(const EndpointPipelines& pipelines, const Config& config,
                                       int64_t now_s) {
  if (kdf_ == nullptr || config_.secrets.empty()) return std::nullopt;
  if (now_s >= change_s_) {
    for (Own& own : own_) own.posted.reset();
    change_s_ = NextSecretChange(secrets_, now_s);
  }
  std::optional<uint32_t> count;
  SealSecrets secrets;
  std::optional<uint32_t> extracted;  // partition of `secrets`
  for (Own& own : own_) {
    const uint32_t partition = PartitionOf(config, config.instances[own.instance]);
    if (own.posted == partition) continue;
    if (extracted != partition) {
      secrets.Clear();
      secrets = Extracted(partition, now_s);
      extracted = partition;
    }
    if (Post(pipelines, secrets, &own)) count = std::max(count.value_or(0), secrets.count);
  }
  secrets.Clear();
  return count;
}

// Posts the secrets to an instance. Returns false if that has to be retried: a former change is
// under way, or the mailbox is full.
bool SealKeys::Post(const EndpointPipelines& pipelines, const SealSecrets& secrets,
                    Own* own) const {
  if (!own->update->done) return false;
  own->update->secrets = secrets;
  own->update->done = false;
  if (!pipelines.pipeline(own->lcore)
           .mailbox()
           .requests.Push(request::SetSecrets{.update = own->update.get(),
                                              .only = pipelines.number_of(own->instance)})) {
    own->update->secrets.Clear();
    own->update->done = true;
    return false;
  }
  own->posted = secrets.partition;
  return true;
}

bool SealKeys::Rotate(const EndpointPipelines& pipelines) const {
  bool all = true;
  for (uint32_t l = 0; l < libraries_.size(); ++l) {
    if (libraries_[l] == nullptr) continue;
    all &= pipelines.pipeline(l).mailbox().requests.Push(request::RotateKeys{});
  }
  return all;
}

}  // namespace suede
