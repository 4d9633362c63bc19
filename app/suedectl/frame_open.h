// SPDX-License-Identifier: Apache-2.0
// Decryption of a capture's sealed PDUs with the secrets of a file (docs/sealing.md, "Decrypting a
// capture"). Learns sessions, addresses and epochs from each frame for those that follow.
#ifndef SUEDE_SUEDECTL_FRAME_OPEN_H_
#define SUEDE_SUEDECTL_FRAME_OPEN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "seal/keys.h"
#include "seal/secrets_file.h"
#include "seal/shim.h"
#include "stats/counters.h"
#include "suedectl/frame_hex.h"
#include "wire/encap/header.h"
#include "wire/rh.h"

namespace suede::ctl {

// The result of opening a sealed PDU.
struct OpenedPdu {
  Bytes pdu;           // decrypted; empty: not opened
  Counter reason{};    // if not opened: the counter of a port
  std::string detail;  // if not opened: explanation
  uint32_t epoch = 0;  // form S: complete epoch
};

class FrameOpener {
 public:
  // Ignores the times in `secrets`.
  static absl::StatusOr<std::unique_ptr<FrameOpener>> Create(const FileSecrets& secrets);

  // Learns the XPU of a source address.
  void Note(const NetAddress& source, uint16_t xpuid);
  // Decrypts a sealed PDU. `pdu`: from the RH, in canonical form, to the tag; `shim`: decoded from
  // it.
  OpenedPdu Open(const SealPath& path, const SealShim& shim, std::span<const uint8_t> pdu);

 private:
  // One direction of an association, in any partition and with any secret.
  struct Session {
    uint16_t receiver = 0;
    SealCipher cipher = SealCipher::kAes128Gcm;
    SealEnds ends;
    uint32_t epoch = 0;     // latest epoch that opened a frame
    uint32_t failures = 0;  // consecutive failed searches of later epochs
  };
  struct FileKey {
    uint16_t partition = 0;
    uint8_t id = 0;
    SealPrk prk{};
  };

  explicit FrameOpener(std::unique_ptr<Crypto> crypto) : crypto_(std::move(crypto)) {}
  const FileKey* Find(uint16_t partition, uint8_t secret_id) const;
  bool OpenWith(const SealKey& key, const SealShim& shim, std::span<const uint8_t> pdu,
                OpenedPdu& out) const;
  bool OpenHello(const NetAddress& destination, const FileKey& secret, const SealShim& shim,
                 std::span<const uint8_t> pdu, OpenedPdu& out);
  bool OpenHelloTo(uint16_t receiver, const FileKey& secret, const SealShim& shim,
                   std::span<const uint8_t> pdu, OpenedPdu& out);
  void OnHello(const SealContext& context, const Bytes& pdu);
  void OpenSession(const FileKey& secret, const SealShim& shim, std::span<const uint8_t> pdu,
                   OpenedPdu& out);
  void AddSession(uint16_t sender, const Session& session);
  bool TryEpochs(Session& session, const FileKey& secret, const SealShim& shim,
                 std::span<const uint8_t> pdu, OpenedPdu& out) const;

  const std::unique_ptr<Crypto> crypto_;
  std::vector<FileKey> secrets_;
  SealPath path_;                                   // of the current frame
  absl::flat_hash_map<NetAddress, uint16_t> xpus_;  // by address, learned from frames
  // Sessions by sending XPU, the most recently used first.
  absl::flat_hash_map<uint16_t, std::deque<Session>> sessions_;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_OPEN_H_
