// SPDX-License-Identifier: Apache-2.0
// Opens the sealed PDUs of a capture with the secrets of a file (docs/sealing.md, "Decrypting a
// capture"). HELLOs, addresses and epochs that it learns serve the frames that follow.
#ifndef SUEDE_SUEDECTL_FRAME_OPEN_H_
#define SUEDE_SUEDECTL_FRAME_OPEN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
  Bytes pdu;           // the plain one; empty: it was not opened,
  Counter reason{};    // which a port would count here,
  std::string detail;  // for this reason
  uint32_t epoch = 0;  // form S: the whole number
};

class FrameOpener {
 public:
  // Times in `secrets` play no part.
  static absl::StatusOr<std::unique_ptr<FrameOpener>> Create(const FileSecrets& secrets);

  // A frame from `source` names the XPU that sent it.
  void Note(const NetAddress& source, uint16_t xpuid);
  // `pdu`: a sealed one, from the RH in canonical form to the tag, with the shim that it has.
  OpenedPdu Open(const SealPath& path, const SealShim& shim, std::span<const uint8_t> pdu);

 private:
  // One direction of an association, in any partition and with any secret.
  struct Session {
    uint16_t receiver = 0;
    SealCipher cipher = SealCipher::kAes128Gcm;
    SealEnds ends;
    uint32_t epoch = 0;     // the latest one that opened a frame
    uint32_t failures = 0;  // searches of later epochs in a row that found none
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
  SealPath path_;                                   // of the frame
  absl::flat_hash_map<NetAddress, uint16_t> xpus_;  // by address, as frames have shown
  // Sessions by sending XPU; the session that opened the last frame is in front.
  absl::flat_hash_map<uint16_t, std::deque<Session>> sessions_;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_OPEN_H_
