// SPDX-License-Identifier: Apache-2.0
// Two ends that seal to each other, frame by frame.
#include "seal/sealed_peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "openssl/openssl_crypto.h"

namespace suede {
namespace {

constexpr SealPath kThere{.source = {0, 1}, .destination = {0, 2}, .session = 7};

using Bytes = std::vector<uint8_t>;

// One end: XPU 1 or 2.
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
  // The newest first.
  void SetSecrets(const std::vector<uint8_t>& ids) {
    own_.secrets = {};
    for (const uint8_t id : ids) {
      SealChain secret;
      secret.fill(id);
      own_.secrets.all[own_.secrets.count++] = {.id = id,
                                                .prk = ExtractSecret(*own_.crypto, secret)};
    }
    peer_->OnSecrets();
    turn_.Begin();
  }
  SealOwn& own() { return own_; }
  SealedPeer& peer() { return *peer_; }
  SealCell::State state() const { return cell.Get(); }
  void Sync(uint64_t identity, uint64_t peer) { peer_->Sync({.own = identity, .peer = peer}); }

  // A sealed PDU with some text in it; empty: there is no key.
  Bytes Seal(uint32_t stream = 0, uint8_t version = 1) {
    return Make(kSessionShimBytes, version,
                [&](uint8_t* pdu, SealJob& job) { return peer_->Seal(pdu, kThere, stream, job); });
  }
  Bytes SealHello() {
    if (!peer_->SealsHello(false)) return {};
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

TEST_F(SealedPeers, ASealedPduIsTakenOnce) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  const Bytes pdu = a.Seal();
  EXPECT_EQ(b.Open(pdu), SealError::kNone);
  EXPECT_EQ(b.Open(pdu), SealError::kReplay);
  EXPECT_TRUE(b.state().sealed);
}

TEST_F(SealedPeers, OfAnotherStreamTheSameCountIsNew) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  for (const uint32_t stream : {0u, 1u, 63u}) {
    EXPECT_EQ(b.Open(a.Seal(stream)), SealError::kNone) << stream;
  }
}

TEST_F(SealedPeers, NoBitCanBeChanged) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  for (const bool hello : {false, true}) {
    const Bytes pdu = hello ? a.SealHello() : a.Seal();
    for (size_t bit = 0; bit < 8 * pdu.size(); ++bit) {
      Bytes changed = pdu;
      changed[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      b.own().now += std::chrono::milliseconds(1);
      EXPECT_NE(b.Open(changed), SealError::kNone) << bit;
    }
    EXPECT_EQ(b.Open(pdu), SealError::kNone);
  }
}

TEST_F(SealedPeers, APduBelongsToItsPath) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  const Bytes pdu = a.Seal();
  SealPath other = kThere;
  other.session = 8;
  EXPECT_EQ(b.Open(pdu, other), SealError::kTag);
  other = kThere;
  other.source.low = 3;
  EXPECT_EQ(b.Open(pdu, other), SealError::kTag);
  other = kThere;
  other.destination.low = 3;
  EXPECT_EQ(b.Open(pdu, other), SealError::kTag);
  EXPECT_EQ(b.Open(pdu), SealError::kNone);
}

TEST_F(SealedPeers, ItDoesNotComeBackToItsSender) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  EXPECT_EQ(a.Open(a.Seal()), SealError::kTag);
}

TEST_F(SealedPeers, WhatIsTooShortIsMalformed) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  const Bytes pdu = a.Seal();
  for (size_t bytes = kRhBytes; bytes < pdu.size(); ++bytes) {
    const SealError error = b.Open(Bytes(pdu.begin(), pdu.begin() + static_cast<long>(bytes)));
    EXPECT_EQ(error, bytes < kLeastSealedBytes ? SealError::kMalformed : SealError::kTag) << bytes;
  }
}

TEST_F(SealedPeers, AnotherPartitionOrAssociationOpensNothing) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  b.own().partition = 10;
  b.Sync(200, 100);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kTag);
  b.own().partition = 9;
  b.Sync(201, 100);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kTag);
  b.Sync(201, 0);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kKey);
  b.Sync(200, 100);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, WithoutAnAssociationNothingLeaves) {
  End a(*crypto_, 1);
  a.Sync(100, 0);
  EXPECT_TRUE(a.Seal().empty());
  EXPECT_FALSE(a.SealHello().empty());
  a.SetSecrets({});
  EXPECT_TRUE(a.SealHello().empty());
}

TEST_F(SealedPeers, AnEpochEndsWithItsPdus) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 3}), b(*crypto_, 2);
  Associate(a, b);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone) << i;
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  EXPECT_EQ(a.state().tx_epoch, 33u);
  EXPECT_EQ(b.state().rx_epoch, 33u);
  EXPECT_EQ(b.state().tx_epoch, 0u);
}

TEST_F(SealedPeers, AnEpochEndsWithItsTimeAndByCommand) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate = std::chrono::seconds(10)});
  End b(*crypto_, 2);
  Associate(a, b);
  const auto exchange = [&] {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  };
  exchange();
  a.own().now += std::chrono::seconds(9);
  exchange();
  EXPECT_EQ(a.state().tx_epoch, 0u);
  a.own().now += std::chrono::seconds(1);
  exchange();
  EXPECT_EQ(a.state().tx_epoch, 1u);
  ++a.own().rotations_asked;
  exchange();
  exchange();
  EXPECT_EQ(a.state().tx_epoch, 2u);
}

// However long the peer is not heard, the sender is one epoch ahead at most.
TEST_F(SealedPeers, AnEpochWaitsForTheLastOnesEcho) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(a.Seal().empty());
  EXPECT_EQ(a.state().tx_epoch, 1u);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, LateOnesOfTheEpochBeforeAreTaken) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 2}), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  const Bytes late = a.Seal();
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(b.state().rx_epoch, 1u);
  EXPECT_EQ(b.Open(late), SealError::kNone);
  EXPECT_EQ(b.Open(late), SealError::kReplay);
  EXPECT_EQ(b.state().rx_epoch, 1u);
}

TEST_F(SealedPeers, ANewerSecretIsUsedWhenThePeerHasShownIt) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  a.SetSecrets({2, 1});
  EXPECT_TRUE(a.peer().WantsAsking());
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);  // of the former secret
  EXPECT_EQ(b.Open(a.SealHello()), SealError::kKey);
  b.SetSecrets({2, 1});
  const Bytes asked = [&] {
    for (;;) {
      Bytes hello = a.SealHello();
      if (hello[kRhBytes + 1] == 2) return hello;
    }
  }();
  ASSERT_EQ(b.Open(asked), SealError::kNone);
  EXPECT_EQ(b.state().secret_id, 2);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  EXPECT_EQ(a.state().secret_id, 2);
  EXPECT_FALSE(a.peer().WantsAsking());
  a.SetSecrets({2});
  b.SetSecrets({2});
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// And back to the former one, whose epochs go on where they were left.
TEST_F(SealedPeers, ASecretThatIsTakenAwayLeavesTheOther) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  a.SetSecrets({2, 1});
  b.SetSecrets({2, 1});
  for (int i = 0; i < 2; ++i) {
    const Bytes hello = b.SealHello();
    if (hello[kRhBytes + 1] == 2) {
      ASSERT_EQ(a.Open(hello), SealError::kNone);
    }
  }
  ASSERT_EQ(a.state().secret_id, 2);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  a.SetSecrets({1});
  b.SetSecrets({1});
  ASSERT_EQ(a.state().secret_id, 1);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
  EXPECT_EQ(a.Open(b.Seal()), SealError::kNone);
}

// A secret is taken from one end and put back, which forgets its epochs, whichever they were.
TEST_F(SealedPeers, AnEndThatHasForgottenEpochsKnowsIt) {
  for (uint32_t epochs = 1; epochs <= 5; ++epochs) {
    End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
    Associate(a, b);
    while (b.state().rx_epoch < epochs) {
      ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
      ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    }
    a.SetSecrets({});
    EXPECT_FALSE(a.peer().TakeLost());
    a.own().asks = false;
    a.SetSecrets({1});
    EXPECT_TRUE(a.own().asks);
    EXPECT_TRUE(a.peer().TakeLost());
    EXPECT_FALSE(a.peer().TakeLost());
    EXPECT_FALSE(b.peer().TakeLost());
    // Another association heals it.
    a.Sync(101, 201);
    b.Sync(201, 101);
    EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
    EXPECT_EQ(a.Open(b.Seal()), SealError::kNone);
    EXPECT_FALSE(a.peer().TakeLost());
  }
}

// The other one seals, and nobody has to know.
TEST_F(SealedPeers, EpochsOfASecretThatIsNotUsedMayBeForgotten) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  for (End* end : {&a, &b}) end->SetSecrets({2, 1});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
    ASSERT_EQ(a.Open(b.SealHello()), SealError::kNone);
  }
  ASSERT_EQ(a.state().secret_id, 2);
  a.SetSecrets({2});
  a.SetSecrets({2, 1});
  EXPECT_FALSE(a.peer().TakeLost());
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// PDUs of all epochs that an attacker may claim, while the peer says nothing: forged ones, and old
// ones that were accepted.
TEST_F(SealedPeers, NobodyElseMakesAnEndLost) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  std::vector<Bytes> old;
  for (int i = 0; i < 9; ++i) {
    old.push_back(a.Seal());
    ASSERT_EQ(b.Open(old.back()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  const uint32_t epoch = b.state().rx_epoch;
  for (int i = 0; i < 30; ++i) {
    b.own().now += std::chrono::milliseconds(100);
    for (const Bytes& pdu : old) ASSERT_EQ(b.Open(pdu), SealError::kReplay);
    Bytes forged = old.back();
    forged[kRhBytes] = static_cast<uint8_t>(i % 4 << 2);
    forged[kRhBytes + 9] = 200;
    ASSERT_EQ(b.Open(forged), SealError::kTag);
    ASSERT_FALSE(b.peer().TakeLost());
  }
  EXPECT_EQ(b.state().rx_epoch, epoch);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// A frame that was held back for four epochs confirms one that the peer has not received.
TEST_F(SealedPeers, TheEpochBehindTheNextOneIsTaken) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  Bytes held;
  while (a.state().tx_epoch < 6) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    // It echoes epoch 3, as one of 7 would.
    if (b.state().rx_epoch == 3 && held.empty()) held = b.Seal(1);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  const uint32_t at = b.state().rx_epoch;
  ASSERT_EQ(at, 6u);
  const Bytes lost = a.Seal();
  ASSERT_EQ(a.state().tx_epoch, at + 1);
  ASSERT_EQ(a.Open(held), SealError::kNone);
  const Bytes two_ahead = a.Seal();
  ASSERT_EQ(a.state().tx_epoch, at + 2);
  EXPECT_EQ(b.Open(two_ahead), SealError::kNone);
  EXPECT_EQ(b.state().rx_epoch, at + 2);
  // The one before is still taken, and the next one as well.
  EXPECT_EQ(b.Open(lost), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
  EXPECT_EQ(b.state().rx_epoch, at + 3);
}

TEST_F(SealedPeers, WithoutASecretTheAssociationIsClosed) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  const Bytes pdu = a.Seal();
  a.SetSecrets({});
  b.SetSecrets({});
  EXPECT_TRUE(a.Seal().empty());
  EXPECT_FALSE(a.state().sealed);
  EXPECT_EQ(b.Open(pdu), SealError::kKey);
}

TEST_F(SealedPeers, HellosOfUnknownIdentitiesHaveABudget) {
  End a(*crypto_, 1), b(*crypto_, 2);
  b.Sync(200, 0);
  uint32_t opened = 0;
  uint32_t refused = 0;
  for (uint64_t identity = 1; identity <= 3 * SealOwn::kHelloBurst; ++identity) {
    a.Sync(identity, 0);
    const SealError error = b.Open(a.SealHello());
    ASSERT_TRUE(error == SealError::kNone || error == SealError::kBudget);
    ++(error == SealError::kNone ? opened : refused);
  }
  EXPECT_EQ(opened, SealOwn::kHelloBurst);
  b.own().now += std::chrono::seconds(1);
  EXPECT_EQ(b.Open(a.SealHello()), SealError::kNone);
  EXPECT_EQ(refused, 2 * SealOwn::kHelloBurst);
}

TEST_F(SealedPeers, AForgedHelloKeepsNoGenuineOneOut) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  Bytes forged = a.SealHello();
  forged[kRhBytes + 3] ^= 1;  // another identity
  EXPECT_EQ(b.Open(forged), SealError::kTag);
  EXPECT_EQ(b.Open(a.SealHello()), SealError::kNone);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, PreferredIsSealedOnceThePeerHasShownItself) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
  a.Sync(100, 0);
  b.Sync(200, 0);
  EXPECT_FALSE(b.peer().IsSealed());
  Bytes hello;
  int plain = 0;
  for (int i = 0; i < 4; ++i) {
    const Bytes one = a.SealHello();
    if (!one.empty()) hello = one;
    plain += one.empty() ? 1 : 0;
  }
  EXPECT_EQ(plain, 2);
  ASSERT_FALSE(hello.empty());
  ASSERT_EQ(b.Open(hello), SealError::kNone);
  EXPECT_TRUE(b.peer().SealsHello(true));  // the answer
  b.peer().OnPlainHello();
  EXPECT_FALSE(b.peer().SealsHello(true));
  b.Sync(200, 100);
  EXPECT_TRUE(b.peer().IsSealed());
  // Another boot of the peer may be plain.
  b.Sync(200, 101);
  EXPECT_FALSE(b.peer().IsSealed());
}

// An old HELLO is authentic, but it says nothing of the association that is agreed now.
TEST_F(SealedPeers, AReplayedHelloOfAFormerBootMakesNoPlainAssociationSealed) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
  a.Sync(100, 0);
  b.Sync(200, 0);
  const Bytes old = a.SealHello();
  ASSERT_FALSE(old.empty());
  // The former boot was sealed.
  ASSERT_EQ(b.Open(old), SealError::kNone);
  b.Sync(200, 100);
  ASSERT_TRUE(b.peer().IsSealed());
  // Another one is plain, as is what it says: it has no secret.
  b.Sync(201, 0);
  b.Sync(201, 300);
  b.peer().OnPlainHello();
  ASSERT_FALSE(b.peer().IsSealed());
  // The old HELLO, between two of the handshake's steps and within the association.
  for (const uint64_t peer : {uint64_t{0}, uint64_t{300}}) {
    b.Sync(peer == 0 ? 202 : 203, peer);
    EXPECT_NE(b.Open(old), SealError::kTag);
    EXPECT_FALSE(b.peer().IsSealed());
    b.Sync(204 + peer, 300);
    EXPECT_FALSE(b.peer().IsSealed());
  }
}

// Nor does it make one plain that is sealed, when the own end starts over.
TEST_F(SealedPeers, AReplayedHelloOfAFormerBootMakesNoSealedAssociationPlain) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
  a.Sync(100, 0);
  b.Sync(200, 0);
  const Bytes old = a.SealHello();
  a.Sync(101, 200);
  ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
  b.Sync(200, 101);
  ASSERT_TRUE(b.peer().IsSealed());
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(b.Open(old), SealError::kNone);
  EXPECT_TRUE(b.peer().IsSealed());
  b.Sync(201, 101);
  EXPECT_TRUE(b.peer().IsSealed());
}

TEST_F(SealedPeers, PreferredEndsThatAgreedInPlainFormAskEachOther) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
  Associate(a, b);
  int asked = 0;
  while (a.peer().WantsAsking()) ++asked;
  EXPECT_EQ(asked, 10);
  const Bytes hello = a.SealHello();
  ASSERT_FALSE(hello.empty());
  ASSERT_EQ(b.Open(hello), SealError::kNone);
  EXPECT_TRUE(b.peer().IsSealed());
  EXPECT_FALSE(b.peer().WantsAsking());
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  EXPECT_TRUE(a.peer().IsSealed());
}

}  // namespace
}  // namespace suede
