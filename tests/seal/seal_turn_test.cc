// SPDX-License-Identifier: Apache-2.0
// However many peers there are, and whoever wants keys of an end: a turn makes few.
#include "seal/seal_turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "counted_crypto.h"
#include "openssl/openssl_crypto.h"
#include "seal/sealed_peer.h"

namespace suede {
namespace {

using Bytes = std::vector<uint8_t>;

// XPU 0, which is `here`, and 1,023 others, each an end of its own `there`.
class SealTurns : public testing::Test {
 protected:
  static constexpr uint16_t kPeers = 1023;
  static constexpr SealPath kPath{.source = {0, 1}, .destination = {0, 2}, .session = 7};
  static constexpr uint32_t kText = 20;

  struct End {
    SealTurn turn;
    SealOwn own;
    std::vector<std::unique_ptr<SealedPeer>> peers;
    void EndTurn() {
      own.retired.clear();
      own.rotations = own.advances = 0;
      turn.Begin();
    }
  };
  void SetUp() override {
    ASSERT_NE(library_, nullptr);
    for (uint16_t xpu = 0; xpu <= kPeers; ++xpu) {
      ends_.push_back(std::make_unique<End>());
      SetUpOwn(*ends_.back(), ends_.back()->turn, xpu);
    }
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      here().peers.emplace_back(new SealedPeer(here().own, xpu));
      There(xpu).own.crypto = library_.get();
      There(xpu).peers.emplace_back(new SealedPeer(There(xpu).own, 0));
      Here(xpu).Sync({.own = 5000, .peer = xpu});
      There(xpu).peers[0]->Sync({.own = xpu, .peer = 5000});
    }
    crypto_.TakeKeys();
  }
  void SetUpOwn(End& end, SealTurn& turn, uint16_t xpu) {
    end.own.crypto = &crypto_;
    end.own.turn = &turn;
    end.own.params = {.mode = SealMode::kRequired};
    end.own.xpuid = xpu;
    end.own.secrets.count = 2;
    end.own.secrets.all[1].id = 1;
  }
  End& here() { return *ends_[0]; }
  SealedPeer& Here(uint16_t xpu) { return *here().peers[xpu - 1U]; }
  End& There(uint16_t xpu) { return *ends_[xpu]; }

  Bytes SealedBy(Crypto& crypto, SealedPeer& from, uint32_t stream = 0) {
    Bytes pdu(kRhBytes + kSessionShimBytes + kText + kSealTagBytes, 0x5a);
    SetVersion(pdu.data(), 1);
    SealJob job;
    if (!from.Seal(pdu.data(), kPath, stream, job)) return {};
    job.text = pdu.data() + kRhBytes + kSessionShimBytes;
    job.text_bytes = kText;
    crypto.Seal({&job, 1});
    return pdu;
  }
  Bytes FromThere(uint16_t xpu) {
    Bytes pdu = SealedBy(*library_, *There(xpu).peers[0]);
    There(xpu).EndTurn();
    return pdu;
  }
  Bytes FromHere(uint16_t xpu) { return SealedBy(crypto_, Here(xpu)); }
  SealError Open(Crypto& crypto, SealedPeer& to, Bytes pdu) {
    SealJob job;
    SealedPeer::Opening opening;
    const SealError error =
        to.Prepare(pdu.data(), static_cast<uint32_t>(pdu.size()), kPath, job, opening);
    if (error != SealError::kNone) return error;
    crypto.Open({&job, 1});
    return to.Finish(job, opening);
  }
  SealError OpenHere(uint16_t xpu, Bytes pdu) { return Open(crypto_, Here(xpu), std::move(pdu)); }
  void OpenThere(uint16_t xpu, Bytes pdu) {
    ASSERT_EQ(Open(*library_, *There(xpu).peers[0], std::move(pdu)), SealError::kNone);
    There(xpu).EndTurn();
  }
  // A PDU of nobody: what an attacker writes who has no key.
  static Bytes Forged(const SealShim& shim) {
    Bytes pdu(kRhBytes + shim.bytes() + kText + kSealTagBytes, 0x5a);
    SetVersion(pdu.data(), shim.hello ? 2 : 1);
    EncodeShim(shim, pdu.data() + kRhBytes);
    return pdu;
  }
  // Each of the others has heard of this end and the other way round, and has its keys.
  void Meet() {
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      ASSERT_EQ(OpenHere(xpu, FromThere(xpu)), SealError::kNone);
      here().EndTurn();
      OpenThere(xpu, FromHere(xpu));
      ASSERT_EQ(OpenHere(xpu, FromThere(xpu)), SealError::kNone);
    }
    while (here().turn.Begin()) {
    }
    here().EndTurn();
    crypto_.TakeKeys();
  }

  const std::unique_ptr<Crypto> library_ = NewOpensslCrypto();
  CountedCrypto crypto_{*library_};  // of `here`
  std::vector<std::unique_ptr<End>> ends_;
};

// By command, or as they have all begun at once; the others seal with those that they have.
TEST_F(SealTurns, ATurnBeginsFewEpochs) {
  Meet();
  const auto turn = [&] {
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) OpenThere(xpu, FromHere(xpu));
    const uint64_t begun = here().own.rotations;
    EXPECT_EQ(crypto_.TakeKeys(), begun);
    here().EndTurn();
    return begun;
  };
  ASSERT_EQ(turn(), 0u);
  ++here().own.rotations_asked;
  uint64_t all = 0;
  for (uint32_t turns = 0; all < kPeers; ++turns) {
    ASSERT_LT(turns, kPeers / SealTurn::kRotations + 1);
    const uint64_t begun = turn();
    EXPECT_EQ(begun, std::min<uint64_t>(SealTurn::kRotations, kPeers - all));
    all += begun;
  }
  EXPECT_EQ(turn(), 0u);
}

// All others begin an epoch at once: what they send is taken. The keys behind it, and those of this
// end's own epochs, follow.
TEST_F(SealTurns, EpochsThatAllPeersBeginAtOnceLoseNothing) {
  Meet();
  for (int round = 0; round < 3; ++round) {
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      ++There(xpu).own.rotations_asked;
      ASSERT_EQ(OpenHere(xpu, FromThere(xpu)), SealError::kNone);
    }
    EXPECT_EQ(here().own.advances, kPeers);
    EXPECT_EQ(crypto_.TakeKeys(), 0u);
    for (uint32_t left = kPeers; left != 0;) {
      here().EndTurn();
      const uint32_t made = crypto_.TakeKeys();
      ASSERT_EQ(made, 2 * std::min(SealTurn::kOwing, left));
      left -= made / 2;
    }
    EXPECT_FALSE(here().turn.Begin());
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) OpenThere(xpu, FromHere(xpu));
  }
}

// This end has begun epochs, and their peers send on without having heard of that.
TEST_F(SealTurns, PeersThatNeedNoKeyTakeNoPlaceOfThoseThatDo) {
  Meet();
  ++here().own.rotations_asked;
  for (uint16_t xpu = 1; xpu <= SealTurn::kOwing; ++xpu) {
    ASSERT_FALSE(FromHere(xpu).empty());  // and is lost
    ASSERT_EQ(OpenHere(xpu, FromThere(xpu)), SealError::kNone);
  }
  constexpr uint16_t kOther = SealTurn::kOwing + 1;
  ++There(kOther).own.rotations_asked;
  ASSERT_EQ(OpenHere(kOther, FromThere(kOther)), SealError::kNone);
  ASSERT_EQ(crypto_.TakeKeys(), SealTurn::kRotations);
  here().EndTurn();
  EXPECT_EQ(crypto_.TakeKeys(), 2u) << "a key of each direction";
}

// A peer goes from epoch to epoch without waiting for us: it makes a key in a turn, of each
// direction, and takes nothing from the others.
TEST_F(SealTurns, APeerThatDoesNotWaitForUsMakesFewKeysInATurn) {
  Meet();
  // It has our secret, so it can tell itself what we would.
  End twin;
  SetUpOwn(twin, twin.turn, 0);
  twin.own.crypto = library_.get();
  SealedPeer answers(twin.own, 1);
  answers.Sync({.own = 5000, .peer = 1});
  ASSERT_EQ(Open(*library_, answers, FromThere(1)), SealError::kNone);
  twin.EndTurn();
  There(1).own.params.rotate_pdus = 1;
  uint32_t refused = 0;
  for (int turns = 0; turns < 100; ++turns) {
    for (int pdus = 0; pdus < 64; ++pdus) {
      const Bytes pdu = FromThere(1);
      ASSERT_EQ(Open(*library_, answers, pdu), SealError::kNone);
      OpenThere(1, SealedBy(*library_, answers, 1));
      twin.EndTurn();
      if (OpenHere(1, pdu) != SealError::kNone) ++refused;
    }
    ++There(2).own.rotations_asked;
    EXPECT_EQ(OpenHere(2, FromThere(2)), SealError::kNone);
    EXPECT_LE(crypto_.TakeKeys(), 1u);
    here().EndTurn();
    EXPECT_LE(crypto_.TakeKeys(), 4u);  // of both peers
    OpenThere(2, FromHere(2));
  }
  EXPECT_GT(refused, 0u);
}

TEST_F(SealTurns, ForgedPdusMakeFewKeysOfSecrets) {
  uint32_t keys = 0;
  for (int turns = 0; turns < 200; ++turns) {
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      for (uint8_t id = 0; id < 3; ++id) {
        for (uint8_t epoch = 0; epoch < 4; ++epoch) {
          EXPECT_NE(OpenHere(xpu, Forged({.secret_id = id, .epoch = epoch})), SealError::kNone);
        }
      }
    }
    const uint32_t made = crypto_.TakeKeys();
    EXPECT_LE(made, SealTurn::kFirstKeys);
    here().EndTurn();
    const uint32_t owed = crypto_.TakeKeys();
    EXPECT_EQ(owed, 0u);
    keys += made + owed;
  }
  // Once for each secret of a peer and each epoch that it may be in.
  EXPECT_EQ(keys, kPeers * 2u * 2);
  // Genuine ones have lost nothing by it.
  EXPECT_EQ(OpenHere(1, FromThere(1)), SealError::kNone);
}

TEST_F(SealTurns, ForgedPdusMakeNoKeysOfASecretThatIsUsed) {
#ifdef SUEDE_SANITIZED
  constexpr uint32_t kTurns = 100;
#else
  constexpr uint32_t kTurns = kPeers;
#endif
  Meet();
  uint32_t keys = 0;
  for (uint32_t turns = 0; turns < kTurns; ++turns) {
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      for (uint8_t epoch = 1; epoch < 4; ++epoch) {
        EXPECT_NE(OpenHere(xpu, Forged({.number = PacketNumber(0, 1000), .epoch = epoch})),
                  SealError::kNone);
      }
    }
    here().EndTurn();
    keys += crypto_.TakeKeys();
  }
  EXPECT_EQ(keys, 0u);
  EXPECT_EQ(OpenHere(1, FromThere(1)), SealError::kNone);
}

// From all peers, at several instances of an lcore.
TEST_F(SealTurns, ForgedHellosMakeFewKeys) {
  constexpr uint32_t kInstances = 20;
  SealTurn turn;
  std::vector<std::unique_ptr<End>> instances;
  for (uint32_t i = 0; i < kInstances; ++i) {
    instances.push_back(std::make_unique<End>());
    SetUpOwn(*instances.back(), turn, 0);
    for (uint16_t xpu = 1; xpu <= 64; ++xpu) {
      instances.back()->peers.emplace_back(new SealedPeer(instances.back()->own, xpu));
    }
  }
  uint32_t keys = 0;
  uint64_t identity = 1;
  Time now{};
  for (int turns = 0; turns < 1000; ++turns) {
    now += std::chrono::milliseconds(1);
    for (const auto& instance : instances) {
      instance->own.now = now;
      for (const auto& peer : instance->peers) {
        const Bytes hello = Forged({.hello = true, .cipher = 1, .identity = ++identity});
        EXPECT_NE(Open(crypto_, *peer, hello), SealError::kNone);
      }
    }
    turn.Begin();
    const uint32_t made = crypto_.TakeKeys();
    if (turns == 0) {
      EXPECT_EQ(made, SealTurn::kHellos);
    }
    EXPECT_LE(made, SealTurn::kHellos);
    keys += made;
  }
  EXPECT_LE(keys, SealTurn::kHellosPerSecond + SealTurn::kHelloBurst);
  EXPECT_GE(keys, SealTurn::kHellosPerSecond / 2);
}

// A peer that has two secrets asks with one and the other by turns.
TEST_F(SealTurns, PeersThatAskWithEachSecretMakeFewKeysForAnswers) {
  for (uint32_t turns = 0; turns < 10; ++turns) {
    uint32_t answered = 0;
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      SealedPeer& peer = Here(xpu);
      ASSERT_TRUE(peer.SealsHello(false));  // the secrets take turns, as in answers to such a peer
      Bytes pdu(kRhBytes + kHelloShimBytes + kText + kSealTagBytes);
      SealJob job;
      answered += peer.SealHello(pdu.data(), kPath, job) ? 1 : 0;
    }
    const uint32_t made = crypto_.TakeKeys();
    if (turns == 0) continue;  // of each the first one
    EXPECT_LE(made, SealTurn::kHelloSwitches);
    EXPECT_GT(made, 0u);
    EXPECT_GE(answered, made);
    here().EndTurn();
  }
}

}  // namespace
}  // namespace suede
