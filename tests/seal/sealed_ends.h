// SPDX-License-Identifier: Apache-2.0
// Two ends that seal to each other, frame by frame.
#ifndef SUEDE_TESTS_SEAL_SEALED_ENDS_H_
#define SUEDE_TESTS_SEAL_SEALED_ENDS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/big_endian.h"
#include "openssl/openssl_crypto.h"
#include "seal/sealed_peer.h"

namespace suede {

inline constexpr SealPath kThere{.source = {0, 1}, .destination = {0, 2}, .session = 7};

using Bytes = std::vector<uint8_t>;

// One end, as XPU 1 or 2.
class End {
 public:
  End(Crypto& crypto, uint16_t xpuid, SealParams params = {.mode = SealMode::kRequired}) {
    own_.crypto = &crypto;
    own_.turn = &turn_;
    own_.params = params;
    own_.partition = 9;
    own_.xpuid = xpuid;
    peer_ = std::make_unique<SealedPeer>(own_, static_cast<uint16_t>(3 - xpuid), &cell);
    SetSecrets({1});
  }
  // Secrets of the partition; the newest first.
  void SetSecrets(const std::vector<uint8_t>& ids) {
    own_.secrets = SecretsOf(ids);
    peer_->OnSecrets();
    turn_.Begin();
  }
  // Secrets that are agreed with the peer.
  void SetAgreed(const std::vector<uint8_t>& ids) {
    peer_->SetAgreed(SecretsOf(ids));
    turn_.Begin();
  }
  // Goes to another partition, and has its secrets later.
  void GoTo(uint16_t partition, const std::vector<uint8_t>& ids = {1}) {
    own_.partition = partition;
    peer_->Sync(identities_);
    EXPECT_TRUE(Seal().empty());
    SetSecrets(ids);
  }
  SealOwn& own() { return own_; }
  SealedPeer& peer() { return *peer_; }
  SealCell::State state() const { return cell.Get(); }
  void Sync(uint64_t identity, uint64_t peer) {
    identities_ = {.own = identity, .peer = peer};
    peer_->Sync(identities_);
  }

  // A sealed PDU with some text in it; empty: there is no key.
  Bytes Seal(uint32_t stream = 0, uint8_t version = 1) {
    return Make(kSessionShimBytes, version,
                [&](uint8_t* pdu, SealJob& job) { return peer_->Seal(pdu, kThere, stream, job); });
  }
  Bytes SealHello(bool is_answer = false) {
    if (!peer_->SealsHello(is_answer)) return {};
    return Make(kHelloShimBytes, 2,
                [&](uint8_t* pdu, SealJob& job) { return peer_->SealHello(pdu, kThere, job); });
  }
  SealError Open(Bytes pdu, const SealPath& path = kThere) {
    SealJob job;
    SealedPeer::Opening opening;
    const SealError error =
        peer_->Prepare(pdu.data(), static_cast<uint32_t>(pdu.size()), path, job, opening);
    if (error != SealError::kNone) return error;
    own_.crypto->Open({&job, 1});
    const SealError finished = peer_->Finish(job, opening);
    EndTurn();
    return finished;
  }

 private:
  SealSecrets SecretsOf(const std::vector<uint8_t>& ids) {
    SealSecrets secrets;
    secrets.partition = own_.partition;
    for (const uint8_t id : ids) {
      std::array<uint8_t, kSealSecretBytes> secret;
      secret.fill(id);
      StoreBe16(secret.data(), own_.partition);
      secrets.all[secrets.count++] = {.id = id, .prk = ExtractSecret(*own_.crypto, secret)};
    }
    return secrets;
  }
  // Each PDU has a turn of its own.
  void EndTurn() {
    own_.retired.clear();
    own_.rotations = 0;
    turn_.Begin();
  }
  template <class Fill>
  Bytes Make(uint32_t shim_bytes, uint8_t version, Fill fill) {
    Bytes pdu(kRhBytes + shim_bytes + kText + kSealTagBytes, 0x5a);
    SetVersion(pdu.data(), version);
    SealJob job;
    if (!fill(pdu.data(), job)) return {};
    job.text = pdu.data() + kRhBytes + shim_bytes;
    job.text_bytes = kText;
    own_.crypto->Seal({&job, 1});
    EndTurn();
    return pdu;
  }
  static constexpr uint32_t kText = 20;

  SealTurn turn_;
  SealOwn own_;
  Identities identities_;
  SealCell cell;
  std::unique_ptr<SealedPeer> peer_;
};

class SealedPeers : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(crypto_, nullptr); }
  void Associate(End& a, End& b) {
    a.Sync(100, 200);
    b.Sync(200, 100);
  }
  const std::unique_ptr<Crypto> crypto_ = NewOpensslCrypto();
};

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_SEALED_ENDS_H_
