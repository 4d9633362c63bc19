// SPDX-License-Identifier: Apache-2.0
// Both ends of an agreement on secrets, fed with what a stranger or a false peer may send: requests
// and answers in any pieces, certificates with any URIs, any order and time. A secret is agreed
// only for a pair that there is, with a certificate that names the client; ids never collide with
// those that are kept; locked memory is given back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input.h"
#include "seal/agreement.h"

namespace suede {
namespace {

constexpr uint32_t kPartition = 7;
constexpr uint16_t kOwn = 5;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::vector<uint8_t> IdsOf(const AgreementPair& pair) {
  SealSecrets secrets;
  pair.secrets().CopyTo(secrets);
  std::vector<uint8_t> ids;
  for (uint32_t i = 0; i < secrets.count; ++i) ids.push_back(secrets.all[i].id);
  return ids;
}

class Play {
 public:
  explicit Play(Input* input) : input_(*input) {
    constexpr uint16_t kPeers[] = {1, 2, 8, 9};
    for (const uint16_t peer : kPeers) pairs_.Add(kOwn, peer, true);
    pairs_.Start(now_);
  }

  void Step() {
    now_ += std::chrono::milliseconds(input_.Byte() * 8);
    switch (input_.Byte() % 4) {
      case 0:
        return Certify();
      case 1:
        return Answer();
      default:
        return Serve();
    }
  }

 private:
  void Certify() {
    const std::vector<uint8_t> uri = input_.Bytes(input_.Byte() % 24);
    std::string text(uri.begin(), uri.end());
    if (input_.Byte() % 2 == 0) text = "suede:" + text;
    const auto xpus = ParseCertifiedXpus(text);
    certified_.clear();
    if (!xpus) return;
    Require(xpus->partition <= 1023 && xpus->first <= xpus->last && xpus->last <= 1023);
    certified_.push_back(*xpus);
  }

  AgreementMessage Message() {
    AgreementMessage message{};
    AgreementBuffer buffer;
    if (input_.Byte() % 4 != 0) {  // one that is near to a good one
      AgreementRequest request{.last = input_.Byte(),
                               .partition = kPartition,
                               .client = static_cast<uint16_t>(input_.Byte() % 12),
                               .server = kOwn};
      if (request.last < 64) request.last &= 1;
      message = Encode(request);
      Require(DecodeAgreementRequest(message) == request);
      return message;
    }
    while (!buffer.whole() && !input_.empty()) {
      const std::vector<uint8_t> piece = input_.Bytes(1 + input_.Byte() % 12);
      Require(buffer.Take(piece) <= piece.size());
    }
    return buffer.whole() ? buffer.Pop() : message;
  }

  void Serve() {
    const AgreementMessage message = Message();
    const bool has_room = input_.Byte() % 8 != 0;
    const AgreementReply reply =
        AnswerAgreement(message, certified_, kPartition, pairs_, now_,
                        [has_room](const AgreementPair&) { return has_room; });
    if (reply.closes) return;
    const auto answer = DecodeAgreementAnswer(reply.message);
    Require(answer && answer->status == reply.status);
    if (reply.status != AgreementStatus::kAgreed) return;
    const AgreementRequest request = DecodeAgreementRequest(message);
    Require(has_room && reply.pair != nullptr && reply.pair->peer() == request.client);
    Require(request.client < request.server && request.partition == kPartition);
    Require(IsCertified(certified_, kPartition, request.client));
    Agree(*reply.pair, reply.secret_id, reply.stays, request.last);
  }

  // An answer to the request of this end.
  void Answer() {
    auto pair = pairs_.all().begin();
    std::advance(pair, input_.Byte() % 4);
    const AgreementRequest request = pair->second.Request(kPartition);
    AgreementMessage message{};
    if (input_.Byte() % 2 == 0) {
      message = Message();
    } else {
      message = {1, static_cast<uint8_t>(input_.Byte() % 7), input_.Byte()};
    }
    const AgreementOutcome outcome = ReadAgreementAnswer(message, request, pair->second);
    if (outcome.kind != AgreementOutcome::Kind::kAgreed) return pair->second.OnFailed(now_);
    Require(pair->second.is_client());
    Agree(pair->second, outcome.secret_id, request.last, request.last);
  }

  void Agree(AgreementPair& pair, uint8_t id, uint8_t stays, uint8_t last) {
    const std::vector<uint8_t> before = IdsOf(pair);
    Require(id >= kFirstAgreedId && id != last);
    Require(std::find(before.begin(), before.end(), id) == before.end());
    Secret secret;
    Require(secret.Make());
    pair.OnAgreed(now_, std::chrono::hours(1), id, std::move(secret), stays);
    const std::vector<uint8_t> after = IdsOf(pair);
    Require(!after.empty() && after.size() <= 2 && after[0] == id);
    if (after.size() == 2) Require(after[1] == last);
  }

  Input& input_;
  AgreementPairs pairs_;
  std::vector<CertifiedXpus> certified_;
  Time now_ = TimeFromNs(1);
};

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t before = suede::LockedMemory::OfProcess().used_bytes();
  {
    suede::Input input(data, size);
    suede::Play play(&input);
    while (!input.empty()) play.Step();
  }
  suede::Require(suede::LockedMemory::OfProcess().used_bytes() == before);
  return 0;
}
