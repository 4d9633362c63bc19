// SPDX-License-Identifier: Apache-2.0
#include "checked_crypto.h"

#include <cstdio>
#include <cstdlib>

namespace suede {

void* CheckedCrypto::NewKey(SealCipher cipher, std::span<const uint8_t> key) {
  void* const made = PassingCrypto::NewKey(cipher, key);
  if (made == nullptr) return nullptr;
  return new Key{made, &used_.by_key[std::string(key.begin(), key.end())]};
}

void CheckedCrypto::EndKey(void* key) {
  if (key == nullptr) return;
  const auto* const ours = static_cast<Key*>(key);
  PassingCrypto::EndKey(ours->key);
  delete ours;
}

// Does so with the library's own keys in the jobs.
template <class Do>
void CheckedCrypto::With(std::span<SealJob> jobs, Do act) {
  std::vector<void*> keys;
  for (SealJob& job : jobs) {
    keys.push_back(job.key);
    job.key = static_cast<Key*>(job.key)->key;
  }
  act();
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].key = keys[i];
}

void CheckedCrypto::Seal(std::span<SealJob> jobs) {
  for (const SealJob& job : jobs) {
    if (static_cast<Key*>(job.key)->used->insert(job.nonce).second) continue;
    std::fprintf(stderr, "a key seals with a nonce for the second time\n");
    std::abort();
  }
  used_.sealed += jobs.size();
  With(jobs, [&] { PassingCrypto::Seal(jobs); });
}

void CheckedCrypto::Open(std::span<SealJob> jobs) {
  With(jobs, [&] { PassingCrypto::Open(jobs); });
  for (const SealJob& job : jobs) ++(job.good ? used_.opened : used_.refused);
}

}  // namespace suede
