// SPDX-License-Identifier: Apache-2.0
#include "seal/agreement.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/big_endian.h"
#include "base/numbers.h"
#include "base/sue.h"

namespace suede {
namespace {

// Parses a decimal number up to `max`, without signs and leading zeros.
std::optional<uint16_t> ReadDecimal(std::string_view text, uint16_t max) {
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return ParseNumber<uint16_t>(text, max);
}

}  // namespace

AgreementMessage Encode(const AgreementRequest& request) {
  AgreementMessage message{request.version, request.last};
  StoreBe16(&message[2], request.partition);
  StoreBe16(&message[4], request.client);
  StoreBe16(&message[6], request.server);
  return message;
}

AgreementRequest DecodeAgreementRequest(const AgreementMessage& message) {
  return {.version = message[0],
          .last = message[1],
          .partition = LoadBe16(&message[2]),
          .client = LoadBe16(&message[4]),
          .server = LoadBe16(&message[6])};
}

std::string_view ReasonOf(AgreementStatus status) {
  constexpr std::string_view kReasons[] = {
      "agreed",
      "the peer speaks another version of the protocol",
      "the peer knows no such pair of XPUs, or has another partition",
      "our certificate does not name our XPU",
      "the peer is busy",
      "the peer will connect",
  };
  const auto number = static_cast<size_t>(status);
  return number < std::size(kReasons) ? kReasons[number]
                                      : "the peer answers with an unknown status";
}

AgreementMessage Encode(const AgreementAnswer& answer) {
  return {answer.version, static_cast<uint8_t>(answer.status), answer.secret_id};
}

std::optional<AgreementAnswer> DecodeAgreementAnswer(const AgreementMessage& message) {
  const AgreementAnswer answer{.version = message[0],
                               .status = static_cast<AgreementStatus>(message[1]),
                               .secret_id = message[2]};
  const bool agreed = answer.status == AgreementStatus::kAgreed;
  const bool fits = agreed ? answer.secret_id >= kFirstAgreedId : answer.secret_id == 0;
  const bool rest_is_0 =
      std::all_of(message.begin() + 3, message.end(), [](uint8_t octet) { return octet == 0; });
  if (answer.version != kAgreementVersion || !fits || !rest_is_0) return std::nullopt;
  return answer;
}

size_t AgreementBuffer::Take(std::span<const uint8_t> bytes) {
  const size_t taken = std::min(bytes.size(), kAgreementBytes - count_);
  std::copy_n(bytes.begin(), taken, bytes_.begin() + static_cast<std::ptrdiff_t>(count_));
  count_ += taken;
  return taken;
}

AgreementMessage AgreementBuffer::Pop() {
  count_ = 0;
  return bytes_;
}

std::optional<CertifiedXpus> ParseCertifiedXpus(std::string_view uri) {
  constexpr std::string_view kScheme = "suede:";
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const size_t colon = uri.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto partition = ReadDecimal(uri.substr(0, colon), kMaxPartition);
  const std::string_view xpus = uri.substr(colon + 1);
  const size_t dash = xpus.find('-');
  const auto first = ReadDecimal(xpus.substr(0, dash), kMaxXpus - 1);
  const auto last =
      dash == std::string_view::npos ? first : ReadDecimal(xpus.substr(dash + 1), kMaxXpus - 1);
  if (!partition || !first || !last || *first > *last) return std::nullopt;
  return CertifiedXpus{.partition = *partition, .first = *first, .last = *last};
}

bool IsCertified(std::span<const CertifiedXpus> certified, uint32_t partition, uint32_t xpu) {
  return std::any_of(certified.begin(), certified.end(), [&](const CertifiedXpus& xpus) {
    return xpus.partition == partition && xpus.first <= xpu && xpu <= xpus.last;
  });
}

bool AgreedSecrets::Has(uint8_t id) const {
  return std::any_of(kept_.begin(), kept_.end(),
                     [id](const Kept& kept) { return kept.prk && kept.id == id; });
}

void AgreedSecrets::Add(uint8_t id, Secret prk, uint8_t stays) {
  if (kept_[0].prk && kept_[0].id == stays) {
    kept_[1] = std::exchange(kept_[0], Kept());
  } else if (!kept_[1].prk || kept_[1].id != stays) {
    kept_[1] = Kept();
  }
  kept_[0] = {.id = id, .prk = std::move(prk)};
}

void AgreedSecrets::CopyTo(SealSecrets& secrets) const {
  secrets.count = 0;
  for (const Kept& kept : kept_) {
    if (!kept.prk) continue;
    SealSecret& to = secrets.all[secrets.count++];
    to.id = kept.id;
    std::memcpy(to.prk.data(), kept.prk.bytes().data(), Secret::kBytes);
  }
}

void AgreedSecrets::Clear() { kept_ = {}; }

uint8_t NextAgreedId(const AgreedSecrets& own, uint8_t last) {
  const uint8_t behind = own.last() != AgreementRequest::kNone ? own.last() : last;
  uint8_t id = behind;
  do {
    ++id;
    if (id <= kFirstAgreedId) id = kFirstAgreedId;
  } while (id == last || own.Has(id));
  return id;
}

void AgreementPair::Start(Time now) {
  secrets_.Clear();
  wait_ = kFirstWait;
  free_at_ = now;
  due_ = !reachable_ ? kNever : is_client() ? now : now + kFirstWait;
}

void AgreementPair::OnAgreed(Time now, Duration refresh, uint8_t id, Secret prk, uint8_t stays) {
  secrets_.Add(id, std::move(prk), stays);
  wait_ = kFirstWait;
  free_at_ = now + kMinGap;
  due_ = is_client() && reachable_ ? now + refresh : kNever;
}

void AgreementPair::OnFailed(Time now) {
  if (!reachable_ || (!is_client() && secrets_.last() != AgreementRequest::kNone)) {
    due_ = kNever;
    return;
  }
  due_ = now + wait_;
  wait_ = std::min(wait_ * 2, kMaxWait);
}

void AgreementPair::OnAsking(Time now) {
  if (due_ != kNever) due_ = std::min(due_, now);  // kNever while this end tries
}

AgreementRequest AgreementPair::Request(uint16_t partition) const {
  return {.last = is_client() ? secrets_.last() : AgreementRequest::kAsk,
          .partition = partition,
          .client = own_,
          .server = peer_};
}

void AgreementPairs::Add(uint16_t own, uint16_t peer, bool reachable) {
  pairs_.try_emplace({own, peer}, own, peer, reachable);
}

AgreementPair* AgreementPairs::Find(uint16_t own, uint16_t peer) {
  const auto found = pairs_.find({own, peer});
  return found != pairs_.end() ? &found->second : nullptr;
}

void AgreementPairs::Start(Time now) {
  for (auto& [key, pair] : pairs_) pair.Start(now);
}

Time AgreementPairs::due() const {
  Time due = kNever;
  for (const auto& [key, pair] : pairs_) due = std::min(due, pair.due());
  return due;
}

AgreementReply RefuseAgreement(AgreementPair* pair, AgreementStatus status) {
  return {.message = Encode(AgreementAnswer{.status = status}), .status = status, .pair = pair};
}

AgreementReply CheckAgreement(const AgreementMessage& message,
                              std::span<const CertifiedXpus> certified, uint32_t partition,
                              AgreementPairs& pairs, Time now) {
  const AgreementRequest request = DecodeAgreementRequest(message);
  if (request.version != kAgreementVersion) {
    return RefuseAgreement(nullptr, AgreementStatus::kVersion);
  }
  if (!request.IsWellFormed()) return {.closes = true};
  AgreementPair* const pair = pairs.Find(request.server, request.client);
  const bool asks = request.last == AgreementRequest::kAsk;
  // A client that agrees has the smaller XPU id; a client that asks has the larger.
  if (pair == nullptr || request.partition != partition || asks != pair->is_client() ||
      pair->own() == pair->peer()) {
    return RefuseAgreement(nullptr, AgreementStatus::kUnknown);
  }
  if (!IsCertified(certified, partition, request.client)) {
    return RefuseAgreement(pair, AgreementStatus::kNotNamed);
  }
  if (!pair->MayAgree(now)) return RefuseAgreement(pair, AgreementStatus::kBusy);
  if (asks) {
    pair->OnAsking(now);
    return RefuseAgreement(pair, AgreementStatus::kAsked);
  }
  const uint8_t id = NextAgreedId(pair->secrets(), request.last);
  return {.message = Encode(AgreementAnswer{.secret_id = id}),
          .pair = pair,
          .secret_id = id,
          .stays = request.last};
}

AgreementOutcome ReadAgreementAnswer(const AgreementMessage& message,
                                     const AgreementRequest& request, const AgreementPair& pair) {
  using Kind = AgreementOutcome::Kind;
  const std::optional<AgreementAnswer> answer = DecodeAgreementAnswer(message);
  if (!answer) return {.kind = Kind::kMalformed};
  const bool asks = request.last == AgreementRequest::kAsk;
  if (answer->status == AgreementStatus::kAgreed) {
    if (asks || pair.secrets().Has(answer->secret_id)) return {.kind = Kind::kMalformed};
    return {.kind = Kind::kAgreed, .secret_id = answer->secret_id};
  }
  if (answer->status == AgreementStatus::kAsked) {
    return {.kind = asks ? Kind::kAsked : Kind::kMalformed, .status = answer->status};
  }
  return {.kind = Kind::kRefused, .status = answer->status};
}

}  // namespace suede
