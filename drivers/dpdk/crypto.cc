// SPDX-License-Identifier: Apache-2.0
#include "dpdk/crypto.h"

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_mempool.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dpdk/vdev_drivers.h"
#include "dpdk/versions.h"
#include "seal/hashed_crypto.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

constexpr uint32_t kMaxKeys = 1 << 20;
constexpr uint32_t kMaxJobs = 64;  // max jobs per call of the device

// A key and its session of the device. A session is bound to one direction and one length of
// additional data, so a key creates its session at the first frame, and again for frames of another
// kind. In practice each key of an association sees frames of only one kind.
struct DeviceKey {
  SealCipher cipher;
  std::array<uint8_t, 32> bytes;
  void* session = nullptr;
  bool seals = false;      // direction of the session
  uint16_t aad_bytes = 0;  // of the session
};

// Locks the pages of a chunk of the session pool and excludes them from core files. For huge pages
// the kernel neither splits nor swaps them, locked or not.
void ProtectChunk(rte_mempool*, void* result, rte_mempool_memhdr* chunk, unsigned) {
  const rte_memseg_list* list = rte_mem_virt2memseg_list(chunk->addr);
  const auto page = list == nullptr ? uintptr_t{4096} : static_cast<uintptr_t>(list->page_sz);
  const auto first = reinterpret_cast<uintptr_t>(chunk->addr) & ~(page - 1);
  const auto last =
      (reinterpret_cast<uintptr_t>(chunk->addr) + chunk->len + page - 1) & ~(page - 1);
  auto* const pages = reinterpret_cast<void*>(first);  // NOLINT(performance-no-int-to-ptr)
  if (madvise(pages, last - first, MADV_DONTDUMP) != 0 || mlock2(pages, last - first, 0) != 0) {
    *static_cast<int*>(result) = errno;
  }
}

class DeviceCrypto final : public HashedCrypto {
 public:
  DeviceCrypto(std::string_view name, uint8_t device, rte_mempool* sessions, uint32_t keys,
               std::unique_ptr<Crypto> hashes)
      : HashedCrypto(std::move(hashes)),
        name_(name),
        device_(device),
        sessions_(sessions),
        keys_left_(keys) {
    for (size_t i = 0; i < kMaxJobs; ++i) {
      texts_[i].tot_len = 0;
      lists_[i] = {.vec = &texts_[i], .num = 1};
    }
  }
  ~DeviceCrypto() override { rte_mempool_free(sessions_); }

  std::string_view name() const override { return name_; }

  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    if (key.size() != KeyBytesOf(cipher) || keys_left_ == 0) return nullptr;
    void* const memory = LockedMemory::OfProcess().Allocate(sizeof(DeviceKey));
    if (memory == nullptr) return nullptr;
    auto* const made = new (memory) DeviceKey{.cipher = cipher};
    std::copy(key.begin(), key.end(), made->bytes.begin());
    --keys_left_;
    if (Works(made)) return made;
    EndKey(made);
    return nullptr;
  }

  void EndKey(void* key) override {
    if (key == nullptr) return;
    auto* const ended = static_cast<DeviceKey*>(key);
    EndSession(*ended);
    LockedMemory::OfProcess().Free(ended);
    ++keys_left_;
  }

  void Seal(std::span<SealJob> jobs) override {
    // Copies plaintexts first, as DPDK's drivers seal in place.
    for (const SealJob& job : jobs) {
      if (job.plain != nullptr) std::memcpy(job.text, job.plain, job.text_bytes);
    }
    InRuns(jobs, true);
    for (SealJob& job : jobs) {
      if (job.good) [[likely]]
        continue;
      // A valid key cannot fail here. If it did, zeros would be sent instead of plaintext.
      assert(false);
      std::memset(job.text, 0, job.text_bytes + kSealTagBytes);
    }
  }

  void Open(std::span<SealJob> jobs) override { InRuns(jobs, false); }

 private:
  // Checks with a trial frame that the device accepts the key. The trial also makes the driver
  // allocate its per-thread data now.
  bool Works(DeviceKey* key) {
    uint8_t text[16 + kSealTagBytes] = {};
    SealJob job{
        .key = key, .nonce = {}, .aad_bytes = 52, .aad = {}, .text = text, .text_bytes = 16};
    InRuns({&job, 1}, true);
    return job.good;
  }

  void EndSession(DeviceKey& key) {
    if (key.session == nullptr) return;
    rte_cryptodev_sym_session_free(device_, key.session);
    // Erases the rest of the key that the driver left in the session, which is back in this lcore's
    // pool.
    explicit_bzero(key.session, sessions_->elt_size);
    key.session = nullptr;
  }

  // Returns false if the pool has no session left, which its size rules out.
  bool Prepare(DeviceKey& key, bool seals, uint16_t aad_bytes) {
    if (key.session != nullptr && key.seals == seals && key.aad_bytes == aad_bytes) [[likely]]
      return true;
    EndSession(key);
    rte_crypto_sym_xform form{};
    form.type = RTE_CRYPTO_SYM_XFORM_AEAD;
    form.aead.op = seals ? RTE_CRYPTO_AEAD_OP_ENCRYPT : RTE_CRYPTO_AEAD_OP_DECRYPT;
    form.aead.algo = RTE_CRYPTO_AEAD_AES_GCM;
    form.aead.key.data = key.bytes.data();
    form.aead.key.length = static_cast<uint16_t>(KeyBytesOf(key.cipher));
    form.aead.iv.length = kSealIvBytes;
    form.aead.digest_length = kSealTagBytes;
    form.aead.aad_length = aad_bytes;
    key.session = rte_cryptodev_sym_session_create(device_, &form, sessions_);
    key.seals = seals;
    key.aad_bytes = aad_bytes;
    return key.session != nullptr;
  }

  // Calls the device once for each run of jobs with one key and one length of additional data.
  void InRuns(std::span<SealJob> jobs, bool seals) {
    for (size_t first = 0; first < jobs.size();) {
      const SealJob& head = jobs[first];
      size_t last = first + 1;
      while (last < jobs.size() && last - first < kMaxJobs && jobs[last].key == head.key &&
             jobs[last].aad_bytes == head.aad_bytes) {
        ++last;
      }
      Run(*static_cast<DeviceKey*>(head.key), jobs.subspan(first, last - first), seals);
      first = last;
    }
  }

  void Run(DeviceKey& key, std::span<SealJob> jobs, bool seals) {
    if (!Prepare(key, seals, jobs.front().aad_bytes)) [[unlikely]] {
      for (SealJob& job : jobs) job.good = false;
      return;
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      SealJob& job = jobs[i];
      texts_[i].base = job.text;
      texts_[i].len = job.text_bytes;
      nonces_[i].va = job.nonce.data();
      tags_[i].va = job.text + job.text_bytes;
      additions_[i].va = job.aad.data();
    }
    rte_crypto_sym_vec batch{};
    batch.num = static_cast<uint32_t>(jobs.size());
    batch.src_sgl = lists_.data();
    batch.iv = nonces_.data();
    batch.digest = tags_.data();
    batch.aad = additions_.data();
    batch.status = results_.data();
    // Presets an error for jobs that the device does not process.
    std::fill_n(results_.begin(), jobs.size(), -1);
    rte_cryptodev_sym_cpu_crypto_process(device_, key.session, {}, &batch);
    for (size_t i = 0; i < jobs.size(); ++i) jobs[i].good = results_[i] == 0;
  }

  const std::string_view name_;
  const uint8_t device_;
  rte_mempool* const sessions_;
  uint32_t keys_left_;
  // The job vectors of one call of the device.
  std::array<rte_crypto_vec, kMaxJobs> texts_{};
  std::array<rte_crypto_sgl, kMaxJobs> lists_{};
  std::array<rte_crypto_va_iova_ptr, kMaxJobs> nonces_{};
  std::array<rte_crypto_va_iova_ptr, kMaxJobs> tags_{};
  std::array<rte_crypto_va_iova_ptr, kMaxJobs> additions_{};
  std::array<int32_t, kMaxJobs> results_{};
};

// Returns the error of a device that cannot be created, with its mend.
absl::Status NoDevice(const std::string& driver, int error) {
  const std::vector<std::string> drivers = VdevDrivers();
  if (std::find(drivers.begin(), drivers.end(), driver) == drivers.end()) {
    return absl::UnavailableError(
        absl::StrCat("DPDK has no driver ", driver, " here: apt-get install librte-crypto-ipsec-mb",
                     internal::kAbi, ", or set sealing.device to openssl"));
  }
  return absl::UnavailableError(
      absl::StrCat("the crypto device ", driver, " cannot be made (", rte_strerror(-error),
                   "): this CPU may lack AES-NI or PCLMULQDQ; set sealing.device to openssl"));
}

// Starts the device with one queue pair: its queues are unused, but drivers create sessions from
// data of a queue pair.
bool Start(uint8_t device) {
  rte_cryptodev_config config{};
  config.socket_id = rte_cryptodev_socket_id(device);
  config.nb_queue_pairs = 1;
  rte_cryptodev_qp_conf queue{};
  queue.nb_descriptors = 64;
  return rte_cryptodev_configure(device, &config) == 0 &&
         rte_cryptodev_queue_pair_setup(device, 0, &queue, config.socket_id) == 0 &&
         rte_cryptodev_start(device) == 0;
}

absl::StatusOr<uint8_t> MakeDevice(const std::string& driver, const std::string& name) {
  if (const int error = rte_eal_hotplug_add("vdev", name.c_str(), ""); error != 0) {
    return NoDevice(driver, error);
  }
  const int id = rte_cryptodev_get_dev_id(name.c_str());
  if (id < 0) return NoDevice(driver, -ENODEV);
  const auto device = static_cast<uint8_t>(id);
  rte_cryptodev_info info{};
  rte_cryptodev_info_get(device, &info);
  absl::Status status;
  if ((info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO) == 0) {
    status =
        absl::UnavailableError(absl::StrCat("the crypto device ", name,
                                            " does not compute on the calling lcore: set "
                                            "sealing.device to aesni_gcm, aesni_mb or openssl"));
  } else if (!Start(device)) {
    status = absl::UnavailableError(
        absl::StrCat("the crypto device ", name,
                     " does not start: raise eal.memory_mb, or set sealing.device to openssl"));
  }
  if (status.ok()) return device;
  rte_eal_hotplug_remove("vdev", name.c_str());
  return status;
}

absl::StatusOr<uint8_t> DeviceOf(const std::string& driver) {
  const std::string name = driver + "0";
  const int device = rte_cryptodev_get_dev_id(name.c_str());
  return device < 0 ? MakeDevice(driver, name) : static_cast<uint8_t>(device);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Crypto>> OpenCryptoDevice(const CryptoDeviceOptions& options,
                                                         std::unique_ptr<Crypto> hashes) {
  if (hashes == nullptr)
    return absl::InvalidArgumentError("a crypto device needs hashes beside it");
  if (options.keys == 0 || options.keys > kMaxKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("a crypto device with ", options.keys, " keys: must be 1 to ", kMaxKeys));
  }
  const absl::StatusOr<uint8_t> device = DeviceOf(options.driver);
  if (!device.ok()) return device.status();
  static int pools = 0;
  rte_mempool* const sessions = rte_cryptodev_sym_session_pool_create(
      absl::StrCat("seal_", pools++).c_str(), options.keys,
      rte_cryptodev_sym_get_private_session_size(*device), 0, 0, static_cast<int>(SOCKET_ID_ANY));
  if (sessions == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", options.keys, " keys of ",
                                                     options.driver, " (", rte_strerror(rte_errno),
                                                     "): raise eal.memory_mb"));
  }
  int error = 0;
  rte_mempool_mem_iter(sessions, ProtectChunk, &error);
  if (error != 0) {
    rte_mempool_free(sessions);
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot lock the memory for ", options.keys, " keys of ", options.driver, ": ",
        std::strerror(error), "; ulimit -l unlimited (in a unit: LimitMEMLOCK=infinity)"));
  }
  // "aesni_gcm", as in the configuration key; the driver's name outlives the device.
  std::string_view name = rte_cryptodev_name_get(*device);
  name.remove_suffix(1);
  if (constexpr std::string_view kKind = "crypto_"; name.starts_with(kKind)) {
    name.remove_prefix(kKind.size());
  }
  return std::make_unique<DeviceCrypto>(name, *device, sessions, options.keys, std::move(hashes));
}

}  // namespace suede
