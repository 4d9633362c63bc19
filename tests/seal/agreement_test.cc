// SPDX-License-Identifier: Apache-2.0
// How two endpoints agree on the secret of a pair: messages, ids, waits, and a model of both ends
// whose connections break at any message and which start over at any time.
#include "seal/agreement.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace suede {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kPartition = 7;
constexpr Time kStart = TimeFromNs(1'000'000'000);
constexpr CertifiedXpus kAll{.partition = kPartition, .first = 0, .last = 9};
constexpr auto kRoom = [](const AgreementPair&) { return true; };

Secret SecretOf(uint8_t fill) {
  Secret secret;
  EXPECT_TRUE(secret.Make());
  for (uint8_t& byte : secret.bytes()) byte = fill;
  return secret;
}

std::vector<int> IdsOf(const AgreementPair& pair) {
  SealSecrets secrets;
  pair.secrets().CopyTo(secrets);
  std::vector<int> ids;
  for (uint32_t i = 0; i < secrets.count; ++i) ids.push_back(secrets.all[i].id);
  return ids;
}

TEST(AgreementTest, MessagesAreThoseOfThePage) {
  const AgreementRequest request{.last = 130, .partition = 0x102, .client = 3, .server = 0x3ff};
  EXPECT_EQ(Encode(request), (AgreementMessage{1, 130, 1, 2, 0, 3, 3, 0xff}));
  EXPECT_EQ(DecodeAgreementRequest(Encode(request)), request);
  const AgreementAnswer answer{.secret_id = 200};
  EXPECT_EQ(Encode(answer), (AgreementMessage{1, 0, 200}));
  EXPECT_EQ(DecodeAgreementAnswer(Encode(answer)), answer);
  const AgreementAnswer busy{.status = AgreementStatus::kBusy};
  EXPECT_EQ(DecodeAgreementAnswer(Encode(busy)), busy);
}

TEST(AgreementTest, AnswersThatDoNotFitAreNone) {
  for (const AgreementMessage& message :
       {AgreementMessage{2, 0, 200}, AgreementMessage{1, 0, 127}, AgreementMessage{1, 0, 0},
        AgreementMessage{1, 4, 200}, AgreementMessage{1, 0, 200, 1},
        AgreementMessage{1, 0, 200, 0, 0, 0, 0, 1}, AgreementMessage{0, 0, 200}}) {
    EXPECT_FALSE(DecodeAgreementAnswer(message).has_value());
  }
}

TEST(AgreementTest, UrisOfCertificates) {
  EXPECT_EQ(ParseCertifiedXpus("suede:7:3"), (CertifiedXpus{7, 3, 3}));
  EXPECT_EQ(ParseCertifiedXpus("suede:0:0-1023"), (CertifiedXpus{0, 0, 1023}));
  EXPECT_EQ(ParseCertifiedXpus("suede:1023:1023"), (CertifiedXpus{1023, 1023, 1023}));
  for (const std::string uri :
       {"", "suede:", "suede:7", "suede:7:", "suede::3", "suede:7:3-", "suede:7:-3", "suede:7:5-3",
        "suede:7:1024", "suede:1024:3", "suede:7:03", "suede:7:+3", "suede:7: 3", "Suede:7:3",
        "suede:7:3-5-6", "suede:7:3:4", "https://suede:7:3", "suede:7:99999999999999999999"}) {
    EXPECT_FALSE(ParseCertifiedXpus(uri).has_value()) << uri;
  }
  EXPECT_FALSE(ParseCertifiedXpus(std::string_view("suede:7:3\0", 10)).has_value());
  const CertifiedXpus some[] = {{7, 1, 3}, {8, 5, 5}};
  EXPECT_TRUE(IsCertified(some, 7, 3));
  EXPECT_TRUE(IsCertified(some, 8, 5));
  EXPECT_FALSE(IsCertified(some, 7, 5));
  EXPECT_FALSE(IsCertified(some, 8, 3));
  EXPECT_FALSE(IsCertified({}, 7, 1));
}

TEST(AgreementTest, MessagesComeInPieces) {
  AgreementBuffer buffer;
  const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(buffer.Take(std::span(bytes).first(3)), 3u);
  EXPECT_FALSE(buffer.whole());
  EXPECT_EQ(buffer.missing(), 5u);
  EXPECT_EQ(buffer.Take(std::span(bytes).subspan(3)), 5u);
  ASSERT_TRUE(buffer.whole());
  EXPECT_EQ(buffer.Pop(), (AgreementMessage{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(buffer.empty());
}

TEST(AgreementTest, IdsGoRound) {
  AgreedSecrets none;
  EXPECT_EQ(NextAgreedId(none, 0), 128);
  EXPECT_EQ(NextAgreedId(none, 128), 129);
  EXPECT_EQ(NextAgreedId(none, 200), 201);
  EXPECT_EQ(NextAgreedId(none, 255), 128);
  AgreedSecrets some;
  some.Add(255, SecretOf(1), 0);
  some.Add(128, SecretOf(2), 255);
  EXPECT_EQ(NextAgreedId(some, 129), 130);
  EXPECT_EQ(NextAgreedId(some, 200), 129);
  some.Add(255, SecretOf(3), 128);  // 255 and 128
  EXPECT_EQ(NextAgreedId(some, 129), 130);
  EXPECT_EQ(some.last(), 255);
}

TEST(AgreementTest, TwoSecretsAreKept) {
  AgreementPair pair(1, 2, true);
  pair.Start(kStart);
  pair.OnAgreed(kStart, 1h, 128, SecretOf(1), 0);
  EXPECT_EQ(IdsOf(pair), (std::vector<int>{128}));
  pair.OnAgreed(kStart, 1h, 129, SecretOf(2), 128);
  EXPECT_EQ(IdsOf(pair), (std::vector<int>{129, 128}));
  // The other end has not got 129.
  pair.OnAgreed(kStart, 1h, 130, SecretOf(3), 128);
  EXPECT_EQ(IdsOf(pair), (std::vector<int>{130, 128}));
  SealSecrets secrets;
  secrets.count = 1;  // of a former copy
  pair.secrets().CopyTo(secrets);
  EXPECT_EQ(secrets.count, 2u);
  EXPECT_EQ(secrets.all[0].prk[5], 3);
  EXPECT_EQ(secrets.all[1].prk[5], 1);
  // It has started over.
  pair.OnAgreed(kStart, 1h, 131, SecretOf(4), 0);
  EXPECT_EQ(IdsOf(pair), (std::vector<int>{131}));
}

TEST(AgreementTest, WaitsDoubleToAMinute) {
  AgreementPair pair(1, 2, true);
  pair.Start(kStart);
  EXPECT_EQ(pair.due(), kStart);
  Time now = kStart;
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    pair.OnBegun();
    EXPECT_EQ(pair.due(), kNever);
    pair.OnFailed(now);
    EXPECT_EQ(pair.due(), now + wait);
    now = pair.due();
  }
  pair.OnAgreed(now, 1h, 128, SecretOf(1), 0);
  EXPECT_EQ(pair.due(), now + 1h);
  pair.OnBegun();
  pair.OnFailed(now);
  EXPECT_EQ(pair.due(), now + 1s);
}

TEST(AgreementTest, APairThatStartsIsAsNew) {
  AgreementPair pair(1, 2, true);
  pair.Start(kStart);
  pair.OnFailed(kStart);
  pair.OnFailed(kStart);
  pair.OnAgreed(kStart, 1h, 128, SecretOf(1), 0);
  pair.OnBegun();
  pair.OnFailed(kStart);
  ASSERT_FALSE(pair.MayAgree(kStart));
  pair.Start(kStart);
  EXPECT_TRUE(pair.MayAgree(kStart));
  EXPECT_TRUE(IdsOf(pair).empty());
  EXPECT_EQ(pair.due(), kStart);
  pair.OnFailed(kStart);
  EXPECT_EQ(pair.due(), kStart + 1s);
}

TEST(AgreementTest, TheFirstPairThatIsDueCounts) {
  AgreementPairs pairs;
  EXPECT_EQ(pairs.due(), kNever);
  pairs.Add(2, 1, true);
  pairs.Add(2, 3, false);
  pairs.Start(kStart);
  EXPECT_EQ(pairs.due(), kStart + 1s);
  pairs.Add(2, 9, true);
  pairs.Find(2, 9)->Start(kStart);
  EXPECT_EQ(pairs.due(), kStart);
  pairs.Find(2, 9)->OnBegun();
  EXPECT_EQ(pairs.due(), kStart + 1s);
}

TEST(AgreementTest, AClientThatIsAskedConnectsAtOnceUnlessItTries) {
  AgreementPair pair(1, 2, true);
  pair.Start(kStart);
  pair.OnAgreed(kStart, 1h, 128, SecretOf(1), 0);
  pair.OnAsking(kStart + 1min);
  EXPECT_EQ(pair.due(), kStart + 1min);
  pair.OnAsking(kStart + 2min);
  EXPECT_EQ(pair.due(), kStart + 1min);
  pair.OnBegun();
  pair.OnAsking(kStart + 3min);
  EXPECT_EQ(pair.due(), kNever);
}

TEST(AgreementTest, TheOtherEndAsksUntilItHasASecret) {
  AgreementPair pair(2, 1, true);
  pair.Start(kStart);
  EXPECT_EQ(pair.due(), kStart + 1s);
  EXPECT_EQ(pair.Request(kPartition).last, AgreementRequest::kAsk);
  pair.OnBegun();
  pair.OnAsked(kStart + 1s);
  EXPECT_EQ(pair.due(), kStart + 2s);
  pair.OnAgreed(kStart + 1s, 1h, 128, SecretOf(1), 0);
  EXPECT_EQ(pair.due(), kNever);
  AgreementPair unreachable(2, 1, false);
  unreachable.Start(kStart);
  EXPECT_EQ(unreachable.due(), kNever);
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    pairs_.Add(5, 1, true);
    pairs_.Add(5, 9, true);
    pairs_.Start(kStart);
  }
  AgreementReply Answer(const AgreementRequest& request, Time now = kStart + 1min) {
    return AnswerAgreement(Encode(request), certified_, kPartition, pairs_, now, kRoom);
  }
  static AgreementRequest From(uint16_t client) {
    return {.partition = kPartition, .client = client, .server = 5};
  }
  AgreementPairs pairs_;
  std::vector<CertifiedXpus> certified_{kAll};
};

TEST_F(ServerTest, Statuses) {
  using enum AgreementStatus;
  EXPECT_EQ(Answer(From(1)).status, kAgreed);
  EXPECT_EQ(Answer(From(1)).secret_id, 128);
  AgreementRequest request = From(1);
  request.version = 2;
  EXPECT_EQ(Answer(request).status, kVersion);
  request = From(1);
  request.partition = 8;
  EXPECT_EQ(Answer(request).status, kUnknown);
  EXPECT_EQ(Answer(From(2)).status, kUnknown);
  EXPECT_EQ(Answer(From(5)).status, kUnknown);
  EXPECT_EQ(Answer(From(9)).status, kUnknown);  // the larger one does not agree as a client
  request = From(9);
  request.last = AgreementRequest::kAsk;
  EXPECT_EQ(Answer(request).status, kAsked);
  EXPECT_EQ(pairs_.Find(5, 9)->due(), kStart);
  request = From(1);
  request.last = AgreementRequest::kAsk;
  EXPECT_EQ(Answer(request).status, kUnknown);
  for (int last = 2; last < 128; ++last) {
    request.last = static_cast<uint8_t>(last);
    EXPECT_TRUE(Answer(request).closes);
  }
  certified_ = {{kPartition, 2, 9}, {8, 1, 1}};
  EXPECT_EQ(Answer(From(1)).status, kNotNamed);
  certified_.clear();
  EXPECT_EQ(Answer(From(1)).status, kNotNamed);
}

TEST_F(ServerTest, AClientThatComesTooOftenIsToldSo) {
  pairs_.Find(5, 1)->OnAgreed(kStart, 1h, 128, SecretOf(1), 0);
  EXPECT_EQ(Answer(From(1), kStart + 499ms).status, AgreementStatus::kBusy);
  EXPECT_EQ(Answer(From(1), kStart + 500ms).status, AgreementStatus::kAgreed);
  const AgreementReply no_room = AnswerAgreement(Encode(From(1)), certified_, kPartition, pairs_,
                                                 kStart + 1s, [](const auto&) { return false; });
  EXPECT_EQ(no_room.status, AgreementStatus::kBusy);
}

// There may be no pair whose secrets they could take.
TEST_F(ServerTest, TheLcoresAreAskedOnlyBeforeAnAgreement) {
  const auto status = [this](const AgreementRequest& request) {
    const AgreementReply reply =
        AnswerAgreement(Encode(request), certified_, kPartition, pairs_, kStart + 1min,
                        [](const AgreementPair&) { return false; });
    EXPECT_FALSE(reply.closes);
    return reply.status;
  };
  EXPECT_EQ(status(From(2)), AgreementStatus::kUnknown);
  AgreementRequest request = From(9);
  request.last = AgreementRequest::kAsk;
  EXPECT_EQ(status(request), AgreementStatus::kAsked);
  request.last = 2;
  EXPECT_TRUE(AnswerAgreement(Encode(request), certified_, kPartition, pairs_, kStart + 1min,
                              [](const AgreementPair&) { return false; })
                  .closes);
}

TEST(AgreementClientTest, AnswersThatItDidNotAskFor) {
  using Kind = AgreementOutcome::Kind;
  AgreementPair client(1, 2, true);
  client.OnAgreed(kStart, 1h, 128, SecretOf(1), 0);
  client.OnAgreed(kStart, 1h, 129, SecretOf(2), 128);
  const AgreementRequest request = client.Request(kPartition);
  const auto read = [&](const AgreementAnswer& answer) {
    return ReadAgreementAnswer(Encode(answer), request, client).kind;
  };
  EXPECT_EQ(read({.secret_id = 130}), Kind::kAgreed);
  EXPECT_EQ(read({.secret_id = 129}), Kind::kMalformed);  // that it has
  EXPECT_EQ(read({.secret_id = 128}), Kind::kMalformed);
  EXPECT_EQ(read({.status = AgreementStatus::kAsked}), Kind::kMalformed);
  EXPECT_EQ(read({.status = AgreementStatus::kNotNamed}), Kind::kRefused);
  EXPECT_EQ(read({.status = static_cast<AgreementStatus>(77)}), Kind::kRefused);
  EXPECT_FALSE(ReasonOf(static_cast<AgreementStatus>(77)).empty());
  AgreementPair asking(2, 1, true);
  EXPECT_EQ(ReadAgreementAnswer(Encode(AgreementAnswer{.secret_id = 130}),
                                asking.Request(kPartition), asking)
                .kind,
            Kind::kMalformed);
}

// Both ends of the pair {1, 2}, of which 1 is the client.
class Model {
 public:
  explicit Model(uint32_t seed) : random_(seed) {
    ends_[0].Add(1, 2, true);
    ends_[1].Add(2, 1, true);
    for (AgreementPairs& end : ends_) end.Start(now_);
  }

  void Step() {
    now_ += std::chrono::milliseconds(Below(3000));
    if (Below(40) == 0) StartOver(Below(2));
    for (const uint32_t end : {0, 1}) {
      if (Pair(end).due() <= now_) Connect(end);
    }
    Check();
  }
  // Without faults both ends have the same newest secret soon.
  void Settle() {
    breaks_ = false;
    for (int i = 0; i < 200; ++i) {
      now_ += 1s;
      for (const uint32_t end : {0, 1}) {
        if (Pair(end).due() <= now_) Connect(end);
      }
    }
    const SealSecrets client = Secrets(0);
    const SealSecrets server = Secrets(1);
    ASSERT_NE(client.count, 0u);
    ASSERT_NE(server.count, 0u);
    ASSERT_EQ(client.all[0].id, server.all[0].id);
    ASSERT_EQ(client.all[0].prk, server.all[0].prk);
  }
  int agreements() const { return agreements_; }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Breaks() { return breaks_ && Below(3) == 0; }
  AgreementPair& Pair(uint32_t end) {
    return end == 0 ? *ends_[0].Find(1, 2) : *ends_[1].Find(2, 1);
  }
  SealSecrets Secrets(uint32_t end) {
    SealSecrets secrets;
    Pair(end).secrets().CopyTo(secrets);
    return secrets;
  }
  void StartOver(uint32_t end) {
    ends_[end].Start(now_);
    if (end == 1) shared_ = 0;
  }

  // The connection may break before the request, or before the answer has come.
  void Connect(uint32_t end) {
    AgreementPair& pair = Pair(end);
    pair.OnBegun();
    if (Breaks()) return pair.OnFailed(now_);
    const AgreementRequest request = pair.Request(kPartition);
    const AgreementReply reply = AnswerAgreement(Encode(request), std::span(&kAll, 1), kPartition,
                                                 ends_[1 - end], now_, kRoom);
    ASSERT_FALSE(reply.closes);
    const auto fill = static_cast<uint8_t>(++agreements_);
    if (reply.status == AgreementStatus::kAgreed) {
      reply.pair->OnAgreed(now_, 20s, reply.secret_id, SecretOf(fill), reply.stays);
    }
    if (Breaks()) return pair.OnFailed(now_);
    const AgreementOutcome outcome = ReadAgreementAnswer(reply.message, request, pair);
    switch (outcome.kind) {
      case AgreementOutcome::Kind::kMalformed:
      case AgreementOutcome::Kind::kRefused:
        return pair.OnFailed(now_);
      case AgreementOutcome::Kind::kAsked:
        return pair.OnAsked(now_);
      case AgreementOutcome::Kind::kAgreed:
        pair.OnAgreed(now_, 20s, outcome.secret_id, SecretOf(fill), request.last);
        shared_ = outcome.secret_id;
    }
  }

  // The newest secret that the client has is one that the server has, too, unless the server has
  // started over. An id is one and the same secret at both ends.
  void Check() {
    const SealSecrets client = Secrets(0);
    const SealSecrets server = Secrets(1);
    if (shared_ != 0 && client.count != 0) {
      ASSERT_EQ(client.all[0].id, shared_);
      ASSERT_NE(server.Find(shared_), nullptr);
    }
    if (shared_ == 0) return;
    const SealSecret* const same = client.count != 0 ? server.Find(client.all[0].id) : nullptr;
    if (same != nullptr) {
      ASSERT_EQ(same->prk, client.all[0].prk);
    }
  }

  std::mt19937 random_;
  AgreementPairs ends_[2];
  Time now_ = kStart;
  bool breaks_ = true;
  int agreements_ = 0;
  uint8_t shared_ = 0;  // the last id that both ends have, since the server started
};

TEST(AgreementModelTest, NoLostAnswerTakesASecretAwayThatIsUsed) {
  int agreements = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Model model(seed);
    for (int i = 0; i < 100 && !testing::Test::HasFatalFailure(); ++i) model.Step();
    if (!testing::Test::HasFatalFailure()) model.Settle();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
    agreements += model.agreements();
  }
  EXPECT_GT(agreements, 3000);
}

}  // namespace
}  // namespace suede
