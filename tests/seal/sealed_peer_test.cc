// SPDX-License-Identifier: Apache-2.0
// Two ends that seal to each other: what each of them takes, and which secret it seals with.
#include "counted_crypto.h"
#include "sealed_ends.h"

namespace suede {
namespace {

// A library that makes so many keys, and no more.
class FewKeysCrypto final : public PassingCrypto {
 public:
  using PassingCrypto::PassingCrypto;
  uint32_t left = UINT32_MAX;
  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    if (left == 0) return nullptr;
    --left;
    return PassingCrypto::NewKey(cipher, key);
  }
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
    EXPECT_EQ(error, bytes < kMinSealedBytes ? SealError::kMalformed : SealError::kTag) << bytes;
  }
}

TEST_F(SealedPeers, AnotherPartitionOrAssociationOpensNothing) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  b.GoTo(10);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kTag);
  b.GoTo(9);
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
  EXPECT_FALSE(a.peer().WantsQuery());
  a.SetSecrets({});
  EXPECT_TRUE(a.SealHello().empty());
  a.Sync(100, 200);
  EXPECT_FALSE(a.peer().WantsQuery());
}

TEST_F(SealedPeers, ANewerSecretIsUsedWhenThePeerHasShownIt) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  a.SetSecrets({2, 1});
  EXPECT_TRUE(a.peer().WantsQuery());
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
  EXPECT_FALSE(a.peer().WantsQuery());
  a.SetSecrets({2});
  b.SetSecrets({2});
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// And then back to the former secret, whose epochs go on where they were left.
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

TEST_F(SealedPeers, ThatASecretIsGoneIsShownAtOnce) {
  End a(*crypto_, 1);
  a.Sync(100, 200);
  ASSERT_TRUE(a.state().sealed);
  a.own().secrets.count = 0;
  a.peer().OnSecrets();
  EXPECT_FALSE(a.state().sealed);
}

TEST_F(SealedPeers, WhereTheLibraryHasNoMoreKeysNothingLeaves) {
  FewKeysCrypto crypto(*crypto_);
  End a(crypto, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  crypto.left = 0;
  EXPECT_TRUE(a.Seal().empty());  // in the next epoch
  EXPECT_TRUE(a.SealHello().empty());
  crypto.left = UINT32_MAX;
  a.SetSecrets({1});
  EXPECT_EQ(b.Open(a.SealHello()), SealError::kNone);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, WhereTheLibraryHasNoMoreKeysNothingIsOpened) {
  FewKeysCrypto crypto(*crypto_);
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(crypto, 2);
  Associate(a, b);
  crypto.left = 0;
  EXPECT_EQ(b.Open(a.SealHello()), SealError::kKey);
  const Bytes first = a.Seal();
  EXPECT_EQ(b.Open(first), SealError::kKey);
  // One key, but not that of the next epoch.
  crypto.left = 1;
  ASSERT_EQ(b.Open(first), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  const Bytes next = a.Seal();
  ASSERT_EQ(a.state().tx_epoch, 1u);
  crypto.left = UINT32_MAX;
  EXPECT_EQ(b.Open(next), SealError::kBudget);
  ASSERT_FALSE(b.Seal().empty());  // in whose turn it is made
  EXPECT_EQ(b.Open(next), SealError::kNone);
}

// Whatever the epochs do.
TEST_F(SealedPeers, ANewerSecretThatThePeerHasNotShownIsNotUsed) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  a.SetSecrets({2, 1});
  for (int i = 0; i < 10; ++i) {
    ++(i % 2 == 0 ? a : b).own().rotations_asked;
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone) << i;
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone) << i;
  }
  EXPECT_EQ(a.state().secret_id, 1);
  EXPECT_GT(a.state().tx_epoch, 3u);
}

TEST_F(SealedPeers, SecretsThatAreAgreedAreNewerThanOthers) {
  End a(*crypto_, 1), b(*crypto_, 2);
  for (End* end : {&a, &b}) {
    end->SetSecrets({2, 1});
    end->SetAgreed({128});
  }
  Associate(a, b);
  EXPECT_EQ(a.state().secret_id, 128);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
  for (const int id : {128, 2, 1, 128}) EXPECT_EQ(a.SealHello()[kRhBytes + 1], id);
  for (End* end : {&a, &b}) end->SetAgreed({});
  EXPECT_EQ(a.state().secret_id, 2);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, AnAnswerIsSealedWithTheSecretOfItsQuestion) {
  End a(*crypto_, 1), b(*crypto_, 2);
  a.SetSecrets({2, 1});
  Associate(a, b);
  ASSERT_EQ(a.Open(b.SealHello()), SealError::kNone);
  for (int i = 0; i < 4; ++i) {
    a.SealHello();  // a question, for which the secrets take turns
    EXPECT_EQ(b.Open(a.SealHello(true)), SealError::kNone) << i;
  }
}

TEST_F(SealedPeers, KeysAreDerivedOnce) {
  CountedCrypto crypto(*crypto_);
  End a(crypto, 1), b(*crypto_, 2);
  Associate(a, b);
  EXPECT_EQ(crypto.TakeKeys(), 1u);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  EXPECT_EQ(crypto.TakeKeys(), 2u) << "of this epoch and the next one";
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
    EXPECT_EQ(crypto.TakeKeys(), i == 0 ? 1u : 0u);
  }
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

TEST_F(SealedPeers, HellosOfOneUnknownIdentityTakeOneKey) {
  End a(*crypto_, 1), b(*crypto_, 2);
  b.Sync(200, 0);
  a.Sync(100, 0);
  for (uint32_t i = 0; i < 2 * SealOwn::kHelloBurst; ++i) {
    ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone) << i;
  }
}

TEST_F(SealedPeers, HellosOfEachIdentityHaveNumbersOfTheirOwn) {
  End b(*crypto_, 2);
  b.Sync(200, 0);
  for (uint64_t identity = 100; identity < 103; ++identity) {
    End a(*crypto_, 1);
    a.Sync(identity, 0);
    const Bytes first = a.SealHello();
    EXPECT_EQ(b.Open(first), SealError::kNone) << identity;
    EXPECT_EQ(b.Open(a.SealHello()), SealError::kNone) << identity;
    EXPECT_EQ(b.Open(first), SealError::kReplay) << identity;
  }
}

TEST_F(SealedPeers, ABurstHasTheKeyOfOneUnknownIdentity) {
  End one(*crypto_, 1), other(*crypto_, 1), b(*crypto_, 2);
  one.Sync(100, 0);
  other.Sync(101, 0);
  b.Sync(200, 0);
  Bytes pdu = one.SealHello();
  const Bytes another = other.SealHello();
  SealJob job;
  SealedPeer::Opening opening;
  ASSERT_EQ(b.peer().Prepare(pdu.data(), static_cast<uint32_t>(pdu.size()), kThere, job, opening),
            SealError::kNone);
  EXPECT_EQ(b.Open(another), SealError::kBudget);
  b.own().crypto->Open({&job, 1});
  EXPECT_EQ(b.peer().Finish(job, opening), SealError::kNone);
  EXPECT_EQ(b.Open(another), SealError::kNone);
}

TEST_F(SealedPeers, ASecretThatTheHelloHasShownIsUsedFirst) {
  End a(*crypto_, 1), b(*crypto_, 2);
  b.SetSecrets({2, 1});
  b.Sync(200, 0);
  a.Sync(100, 0);
  ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
  b.Sync(200, 100);
  EXPECT_EQ(b.state().secret_id, 1) << "the newer one is not known to be there";
  a.Sync(100, 200);
  EXPECT_EQ(a.Open(b.Seal()), SealError::kNone);
}

TEST_F(SealedPeers, AnEpochThatThePeerHasBegunIsShownAtOnce) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  Bytes pdu = a.Seal();
  EXPECT_EQ(a.state().tx_epoch, 1u);
  EXPECT_EQ(b.state().rx_epoch, 0u);
  SealJob job;
  SealedPeer::Opening opening;
  ASSERT_EQ(b.peer().Prepare(pdu.data(), static_cast<uint32_t>(pdu.size()), kThere, job, opening),
            SealError::kNone);
  b.own().crypto->Open({&job, 1});
  ASSERT_EQ(b.peer().Finish(job, opening), SealError::kNone);
  EXPECT_EQ(b.state().rx_epoch, 1u) << "whatever keys it owes";
}

TEST(SealSecretsTest, AreThoseThatAreCounted) {
  SealSecrets secrets;
  secrets.all[0].id = 5;
  secrets.all[1].id = 7;  // of a list that was longer
  secrets.count = 1;
  EXPECT_EQ(secrets.Find(5), secrets.all.data());
  EXPECT_EQ(secrets.Find(7), nullptr);
  EXPECT_EQ(secrets.PositionOf(5), 0u);
  EXPECT_EQ(secrets.PositionOf(7), secrets.count);
}

TEST(SealSecretsTest, AreOverwritten) {
  SealSecrets secrets;
  secrets.count = 2;
  secrets.all[0].prk.fill(7);
  secrets.all[1].prk.fill(8);
  secrets.Clear();
  EXPECT_EQ(secrets.count, 0u);
  for (const SealSecret& secret : secrets.all) EXPECT_EQ(secret.prk, SealPrk{});
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

// A replayed HELLO makes no sealed association plain, when the own end starts over.
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

TEST_F(SealedPeers, AnAssociationStaysSealedWhereTheOwnEndStartsOver) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  for (const bool hello : {false, true}) {
    End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
    Associate(a, b);
    EXPECT_FALSE(b.state().sealed);
    ASSERT_EQ(b.Open(hello ? a.SealHello() : a.Seal()), SealError::kNone);
    EXPECT_TRUE(b.state().sealed);
    End former(*crypto_, 1, preferred);
    former.Sync(99, 200);
    ASSERT_EQ(b.Open(former.SealHello()), SealError::kNone);
    b.Sync(201, 100);
    EXPECT_TRUE(b.peer().IsSealed());
    EXPECT_TRUE(b.state().sealed);
  }
}

TEST_F(SealedPeers, PreferredEndsThatAgreedInPlainFormAskEachOther) {
  const SealParams preferred{.mode = SealMode::kPreferred};
  End a(*crypto_, 1, preferred), b(*crypto_, 2, preferred);
  Associate(a, b);
  EXPECT_TRUE(a.own().wants_query);
  End required(*crypto_, 1);
  required.Sync(100, 200);
  EXPECT_FALSE(required.own().wants_query);
  int asked = 0;
  while (a.peer().WantsQuery()) ++asked;
  EXPECT_EQ(asked, 10);
  const Bytes hello = a.SealHello();
  ASSERT_FALSE(hello.empty());
  ASSERT_EQ(b.Open(hello), SealError::kNone);
  EXPECT_TRUE(b.peer().IsSealed());
  EXPECT_FALSE(b.peer().WantsQuery());
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  EXPECT_TRUE(a.peer().IsSealed());
}

}  // namespace
}  // namespace suede
