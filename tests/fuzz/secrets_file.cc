// SPDX-License-Identifier: Apache-2.0
// Arbitrary text as a file of secrets: what is accepted keeps to the page's bounds, and what is
// refused is refused with a place and without a piece of the text.
#include "seal/secrets_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace suede {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckAccepted(const FileSecrets& secrets) {
  Require(secrets.size() <= kMaxFileSecrets);
  std::set<std::pair<int, int>> ids;
  for (const FileSecret& secret : secrets) {
    Require(secret.partition <= 1023 && secret.id <= kMaxSecretId && secret.secret);
    Require(secret.from_s < secret.until_s);
    Require(ids.emplace(secret.partition, secret.id).second);
    const auto valid = SecretsValidAt(secrets, secret.partition, secret.from_s);
    Require(std::find(valid.begin(), valid.end(), &secret) != valid.end());
    Require(NextSecretChange(secrets, secret.from_s) <= secret.until_s);
  }
}

// Pieces of eight characters without a blank; shorter ones may be anywhere.
void CheckRefused(std::string_view error, std::string_view text) {
  constexpr size_t kPiece = 8;
  Require(error.starts_with("FILE:"));
  const size_t place = error.find(' ');
  Require(place != std::string_view::npos);
  error.remove_prefix(place);
  const std::string_view own =
      "partition: must be a number of 0 to 1023 id: 127 secret: 64 hexadecimal digits openssl rand "
      "-hex 32 makes one times the same octet is no secret from: until: a time of UTC, as "
      "2026-01-31T00:00:00Z, or - not after so never valid; exchange them too few many columns; a "
      "line is: partition, id, secret, from, (UTC, -); # begins comment more than bytes; remove "
      "secrets whose over 4096 1048576 that of line same partition; give another new";
  for (size_t at = 0; at + kPiece <= text.size(); ++at) {
    const std::string_view piece = text.substr(at, kPiece);
    if (piece.find_first_of(" \t\r\n") != std::string_view::npos) continue;
    Require(error.find(piece) == std::string_view::npos ||
            own.find(piece) != std::string_view::npos);
  }
}

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t before = suede::LockedMemory::OfProcess().used_bytes();
  {
    const auto secrets = suede::ParseSecrets("FILE", text);
    if (secrets.ok()) {
      suede::CheckAccepted(*secrets);
    } else {
      const std::string error(secrets.status().message());
      suede::CheckRefused(error, text);
    }
  }
  suede::Require(suede::LockedMemory::OfProcess().used_bytes() == before);
  return 0;
}
