// SPDX-License-Identifier: Apache-2.0
// The file of secrets (docs/sealing.md, "Secrets in a file"). Errors name file, line, column and
// the mend, and quote no text of the file: text in a wrong place may be a secret.
#ifndef SUEDE_SEAL_SECRETS_FILE_H_
#define SUEDE_SEAL_SECRETS_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "seal/secret.h"

namespace suede {

inline constexpr uint8_t kMaxSecretId = 127;  // of a file's secrets
inline constexpr size_t kMaxFileSecrets = 4096;
inline constexpr size_t kMaxSecretsFileBytes = 1 << 20;

struct FileSecret {
  static constexpr int64_t kAlways = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  uint16_t partition = 0;  // 0 to 1023
  uint8_t id = 0;          // 0 to kMaxSecretId; unique in a partition
  Secret secret;
  // Valid from `from_s` on, before `until_s`: seconds of UTC since 1970.
  int64_t from_s = kAlways;
  int64_t until_s = kForever;
  uint32_t line = 0;  // of the file, from 1

  bool IsValidAt(int64_t now_s) const { return from_s <= now_s && now_s < until_s; }
};
using FileSecrets = std::vector<FileSecret>;

// Parses the secrets of a file's text, in its order. `file` is its name, for errors. The caller
// overwrites the text.
absl::StatusOr<FileSecrets> ParseSecrets(std::string_view file, std::string_view text);

// The valid secrets of the partition, the newest first, as pointers into `secrets`.
std::vector<const FileSecret*> SecretsValidAt(std::span<const FileSecret> secrets,
                                              uint16_t partition, int64_t now_s);
// The first time after `now_s` at which the valid secrets change; FileSecret::kForever: none.
int64_t NextSecretChange(std::span<const FileSecret> secrets, int64_t now_s);

// Checks whether a file with this owner and mode (st_uid, st_mode) is safe from other users, if
// this process belongs to `own_uid`. The error has the command that mends it.
absl::Status CheckSecretsFile(std::string_view file, uid_t owner, mode_t mode, uid_t own_uid);

// The files that ReadSecrets accepts: files that CheckSecretsFile permits, or any, for a user at a
// terminal.
enum class SecretsFileRule : uint8_t { kPrivate, kAnybodys };

// Opens, checks and parses the file, and overwrites the text that was read. Control thread.
absl::StatusOr<FileSecrets> ReadSecrets(const std::string& file,
                                        SecretsFileRule rule = SecretsFileRule::kPrivate);

}  // namespace suede

#endif  // SUEDE_SEAL_SECRETS_FILE_H_
