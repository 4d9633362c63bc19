// SPDX-License-Identifier: Apache-2.0
// Epochs of two ends that seal to each other (docs/sealing.md, "Keys").
#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "counted_crypto.h"
#include "sealed_ends.h"

namespace suede {
namespace {

TEST_F(SealedPeers, AnEpochEndsWithItsPdus) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 3}), b(*crypto_, 2);
  Associate(a, b);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone) << i;
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  EXPECT_EQ(a.state().tx_epoch, 33u);
  EXPECT_EQ(b.state().rx_epoch, 33u);
  EXPECT_EQ(b.state().tx_epoch, 33u);
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

TEST_F(SealedPeers, TheTimeOfTheFirstEpochBeginsWithItsFirstPdu) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate = std::chrono::seconds(10)});
  End b(*crypto_, 2);
  Associate(a, b);
  for (const int wait : {20, 0, 9, 0}) {
    a.own().now += std::chrono::seconds(wait);
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    EXPECT_EQ(a.state().tx_epoch, 0u) << wait;
  }
  a.own().now += std::chrono::seconds(1);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  EXPECT_EQ(a.state().tx_epoch, 1u);
}

TEST_F(SealedPeers, ACommandBeforeAnAssociationBeginsNoEpochInIt) {
  End a(*crypto_, 1), b(*crypto_, 2);
  ++a.own().rotations_asked;
  Associate(a, b);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  EXPECT_EQ(a.state().tx_epoch, 0u);
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

// The PDUs of both arrive by turns: each secret keeps its keys.
TEST_F(SealedPeers, LateOnesOfTheSecretBeforeAreTaken) {
  End a(*crypto_, 1), b(*crypto_, 2);
  b.SetSecrets({2, 1});
  Associate(a, b);
  std::vector<Bytes> late;
  for (int i = 0; i < 20; ++i) late.push_back(a.Seal());
  a.SetSecrets({2});
  for (const Bytes& pdu : late) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(b.Open(pdu), SealError::kNone);
  }
}

// The state of the others stays: late PDUs are taken, HELLOs are taken once, and no key is
// derived anew.
TEST_F(SealedPeers, ANewSecretTakesNothingFromTheOthers) {
  for (const bool associated_before : {false, true}) {
    CountedCrypto crypto(*crypto_);
    End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 2}), b(crypto, 2);
    a.Sync(100, 200);
    b.Sync(200, associated_before ? 100 : 0);
    const Bytes hello = a.SealHello();
    ASSERT_EQ(b.Open(hello), SealError::kNone);
    b.Sync(200, 100);
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    const Bytes late = a.Seal();
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(b.state().rx_epoch, 1u);
    ASSERT_FALSE(b.SealHello().empty());
    crypto.TakeKeys();
    b.SetSecrets({2, 1});
    EXPECT_EQ(b.Open(hello), SealError::kReplay);
    EXPECT_EQ(b.Open(late), SealError::kNone);
    const Bytes own_hello = b.SealHello();
    ASSERT_EQ(own_hello[kRhBytes + 1], 1);
    EXPECT_EQ(a.Open(own_hello), SealError::kNone);
    EXPECT_EQ(a.Open(b.Seal()), SealError::kNone);
    EXPECT_EQ(crypto.TakeKeys(), 0u);
  }
}

// A secret is taken from one end, or both, and put back: the epochs are those of the association.
TEST_F(SealedPeers, ASecretThatComesBackGoesOnWhereTheEndsAre) {
  for (const bool both : {false, true}) {
    End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
    Associate(a, b);
    for (uint32_t epochs = 1; epochs <= 5; ++epochs) {
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
        ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
      }
      ASSERT_GE(b.state().rx_epoch, epochs);
      const Bytes old = a.Seal();
      ASSERT_EQ(b.Open(old), SealError::kNone);
      a.SetSecrets({});
      if (both) b.SetSecrets({});
      ASSERT_TRUE(a.Seal().empty());
      a.SetSecrets({1});
      b.SetSecrets({1});
      EXPECT_EQ(b.Open(old), SealError::kReplay);
    }
  }
}

// PDUs of all epochs that an attacker may claim, while the peer says nothing: forged ones, and old
// ones that were accepted.
TEST_F(SealedPeers, NobodyElseMovesAnEnd) {
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
    ASSERT_EQ(b.Open(forged),
              (static_cast<uint32_t>(i) - epoch) % 4 == 2 ? SealError::kKey : SealError::kTag);
  }
  EXPECT_EQ(b.state().rx_epoch, epoch);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// A frame that echoed an epoch four epochs ago, and is heard now: the peer has not received this
// epoch.
TEST_F(SealedPeers, FramesThatWereHeldBackConfirmNothing) {
  End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
  Associate(a, b);
  std::vector<Bytes> held;
  while (a.state().tx_epoch < 8) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    held.push_back(b.Seal(1));
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  for (const Bytes& frame : held) {
    a.Open(frame);
    ASSERT_FALSE(a.Seal().empty());  // and is lost
  }
  EXPECT_LE(a.state().tx_epoch, b.state().rx_epoch + 1);
  const uint32_t epoch = a.state().tx_epoch;
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  }
  EXPECT_GT(a.state().tx_epoch, epoch + 3);
}

// The epochs of the two directions keep step, whichever end begins them.
TEST_F(SealedPeers, AnEndFollowsThePeer) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  for (uint32_t epoch = 1; epoch <= 20; ++epoch) {
    ++(epoch % 3 == 0 ? b : a).own().rotations_asked;
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
      ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    }
    for (const End* end : {&a, &b}) {
      ASSERT_EQ(end->state().tx_epoch, epoch);
      ASSERT_EQ(end->state().rx_epoch, epoch);
    }
  }
}

// The peer has followed, but that has not been heard yet.
TEST_F(SealedPeers, AnEpochWaitsForThePeersOwn) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  ++a.own().rotations_asked;
  const Bytes first = a.Seal();
  ++a.own().rotations_asked;
  const Bytes unheard = b.Seal();
  ASSERT_EQ(b.Open(first), SealError::kNone);
  EXPECT_EQ(b.state().tx_epoch, 1u);
  ASSERT_EQ(a.Open(unheard), SealError::kNone);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  EXPECT_EQ(a.state().tx_epoch, 1u);
  EXPECT_EQ(b.state().tx_epoch, 1u);
  ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
  ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
  EXPECT_EQ(b.state().rx_epoch, 2u);
}

// Frames of several streams that are lost, late by dozens of epochs, and come twice, while either
// end is told to begin epochs.
TEST_F(SealedPeers, EndsKeepStepWhateverIsLostOrLate) {
  uint32_t max = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand dice(seed);
    const auto below = [&](size_t bound) { return static_cast<uint32_t>(dice() % bound); };
    End a(*crypto_, 1), b(*crypto_, 2);
    Associate(a, b);
    const std::array<End*, 2> ends = {&a, &b};
    std::array<std::vector<Bytes>, 2> late;
    const uint32_t loss = below(80);
    for (int step = 0; step < 1500; ++step) {
      const uint32_t from = below(2);
      End& to = *ends[1 - from];
      if (below(6) == 0) ++ends[from]->own().rotations_asked;
      Bytes frame = ends[from]->Seal(below(3));
      ASSERT_FALSE(frame.empty());
      if (below(100) >= loss) {
        ASSERT_EQ(to.Open(std::move(frame)), SealError::kNone);
      } else if (below(4) == 0) {
        late[from].push_back(std::move(frame));
      }
      if (!late[from].empty() && below(8) == 0) to.Open(late[from][below(late[from].size())]);
      for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t sent = ends[i]->state().tx_epoch;
        const uint32_t received = ends[1 - i]->state().rx_epoch;
        ASSERT_TRUE(received == sent || received + 1 == sent);
        ASSERT_LE(sent, ends[1 - i]->state().tx_epoch + 1);
        max = std::max(max, sent);
      }
    }
  }
  EXPECT_GT(max, 100u);
}

// Their files have the secrets in another order, so each seals with its own.
TEST_F(SealedPeers, EndsWhoseSecretsAreInAnotherOrderRotateAllTheSame) {
  const SealParams params{.mode = SealMode::kRequired, .rotate_pdus = 4};
  End a(*crypto_, 1, params), b(*crypto_, 2, params);
  a.SetSecrets({2, 1});
  b.SetSecrets({1, 2});
  Associate(a, b);
  uint32_t begun = 0;
  uint32_t epoch = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
    ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
    if (i % 16 == 0) {
      ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
      ASSERT_EQ(a.Open(b.SealHello()), SealError::kNone);
    }
    begun += std::exchange(epoch, b.state().tx_epoch) != epoch ? 1 : 0;
  }
  EXPECT_GT(begun, 20u);
}

// ---- Partitions, within an association.

// The keys are those that the ends had in the partition before.
TEST_F(SealedPeers, NothingOfAFormerStayInAPartitionIsTakenTwice) {
  End a(*crypto_, 1), b(*crypto_, 2);
  const auto go_to = [&](uint16_t partition) {
    a.GoTo(partition);
    b.GoTo(partition);
  };
  Associate(a, b);
  const Bytes old = a.Seal();
  const Bytes late = a.Seal();
  ASSERT_EQ(b.Open(old), SealError::kNone);
  go_to(10);
  EXPECT_EQ(b.Open(old), SealError::kReplay);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
  go_to(9);
  EXPECT_EQ(b.Open(old), SealError::kReplay);
  EXPECT_EQ(b.Open(late), SealError::kNone);
  EXPECT_EQ(b.Open(late), SealError::kReplay);
  EXPECT_EQ(b.Open(a.Seal()), SealError::kNone);
}

// A secret of another partition may have the same id.
TEST_F(SealedPeers, WhatIsSentInAPartitionIsSealedWithItsSecret) {
  End a(*crypto_, 1), b(*crypto_, 2);
  Associate(a, b);
  a.GoTo(10);
  const Bytes pdu = a.Seal();
  const Bytes hello = a.SealHello();
  // An end that knows no secret of another partition, and has heard of nothing.
  End there(*crypto_, 2);
  there.own().partition = 10;
  there.SetSecrets({1});
  there.Sync(200, 100);
  EXPECT_EQ(there.Open(hello), SealError::kNone);
  EXPECT_EQ(there.Open(pdu), SealError::kNone);
  EXPECT_EQ(a.Open(there.Seal()), SealError::kNone);
}

// The same octets may be the secret of two partitions.
TEST_F(SealedPeers, KeysOfHellosAreThoseOfThePartition) {
  for (const bool associated_before : {false, true}) {
    End a(*crypto_, 1), b(*crypto_, 2);
    a.Sync(100, 200);
    b.Sync(200, 0);
    ASSERT_EQ(b.Open(a.SealHello()), SealError::kNone);
    if (associated_before) b.Sync(200, 100);
    for (End* end : {&a, &b}) end->own().partition = end->own().secrets.partition = 10;
    a.Sync(100, 200);
    EXPECT_EQ(b.Open(a.SealHello()), SealError::kTag);
    b.Sync(200, associated_before ? 100 : 0);
    EXPECT_EQ(b.Open(a.SealHello()), SealError::kNone);
  }
}

// One end, or both, go to others and come back: the epochs go on, in each of them.
TEST_F(SealedPeers, EpochsGoOnInAnotherPartition) {
  for (const bool both : {false, true}) {
    End a(*crypto_, 1, {.mode = SealMode::kRequired, .rotate_pdus = 1}), b(*crypto_, 2);
    Associate(a, b);
    Bytes late;
    for (const uint16_t partition : std::array<uint16_t, 6>{9, 10, 11, 10, 9, 9}) {
      if (partition != a.own().partition) {
        a.GoTo(partition);
        if (both) b.GoTo(partition);
      }
      if (!both && partition != 9) {
        ASSERT_EQ(b.Open(a.Seal()), SealError::kTag);
        continue;
      }
      for (int i = 0; i < 5; ++i) {
        const uint32_t epoch = a.state().tx_epoch;
        ASSERT_EQ(b.Open(a.Seal()), SealError::kNone);
        ASSERT_EQ(a.Open(b.Seal()), SealError::kNone);
        ASSERT_LE(epoch, a.state().tx_epoch);
      }
      // It says nothing where the partition comes back, other than that it is old.
      if (!late.empty()) {
        EXPECT_NE(b.Open(late), SealError::kNone);
      }
      late = a.Seal(1);
    }
    EXPECT_GE(a.state().tx_epoch, both ? 29u : 9u);
  }
}

}  // namespace
}  // namespace suede
