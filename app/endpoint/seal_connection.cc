// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/text.h"

namespace suede {
namespace {

constexpr int kMaxMessages = 16;  // per connection and poll iteration

std::string Text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

short SealConnection::events() const {
  return out_bytes_ != 0 || tls_->wants_write() ? POLLOUT : POLLIN;
}

bool SealConnection::Advance(Time now) {
  has_more_ = false;
  if (now >= deadline_) {
    return Fail(now, SealFailure::kConnection,
                tls_->established() ? "no data from the other end for 10 s"
                                    : "the handshake takes longer than 10 s");
  }
  bool waits = false;
  if (!tls_->established() && !Shake(now, waits)) return false;
  for (int i = 0; i < kMaxMessages && !waits; ++i) {
    if (!WriteOut(now, waits)) return false;
    if (!waits && !ReadIn(now, waits)) return false;
  }
  has_more_ = !waits;
  return true;
}

bool SealConnection::Shake(Time now, bool& waits) {
  if (const absl::Status status = tls_->Handshake(); !status.ok()) return Fail(now, status);
  waits = !tls_->established();
  if (waits) return true;
  for (const std::string& uri : tls_->PeerUris()) {
    if (const auto xpus = ParseCertifiedXpus(uri)) certified_.push_back(*xpus);
  }
  return OnEstablished(now);
}

bool SealConnection::WriteOut(Time now, bool& waits) {
  while (out_bytes_ != 0) {
    const std::span<const uint8_t> rest = std::span(out_).last(out_bytes_);
    const absl::StatusOr<size_t> sent = tls_->Write(rest);
    if (!sent.ok()) return Fail(now, sent.status());
    waits = *sent == 0;
    if (waits) return true;
    out_bytes_ -= *sent;
  }
  return true;
}

// Reads a message and handles it.
bool SealConnection::ReadIn(Time now, bool& waits) {
  std::array<uint8_t, kAgreementBytes> bytes;
  const absl::StatusOr<size_t> count = tls_->Read(std::span(bytes).first(in_.missing()));
  if (!count.ok()) {
    if (absl::IsUnavailable(count.status()) && in_.empty() && MayEnd()) return false;
    return Fail(now, count.status());
  }
  waits = *count == 0;
  in_.Take(std::span(bytes).first(*count));
  if (!in_.whole()) return true;
  Renew(now);
  return OnMessage(in_.Pop(), now);
}

bool SealConnection::Fail(Time now, SealFailure kind, std::string_view reason) {
  Emit(pair(), kind, reason);
  OnFailed(now);
  return false;
}

// Fails with an error of TLS.
bool SealConnection::Fail(Time now, const absl::Status& status) {
  const bool ended = absl::IsUnavailable(status);
  return Fail(now, ended ? SealFailure::kConnection : SealFailure::kTls, Text(status));
}

void SealConnection::Emit(const AgreementPair* pair, SealFailure kind, std::string_view reason) {
  if (pair != nullptr) return state_.EmitFailed(*pair, address_, kind, reason);
  state_.EmitRefused(address_.text(), reason);
}

void SealAgreementState::EmitFailed(const AgreementPair& pair, const SocketAddress& address,
                                    SealFailure kind, std::string_view reason) {
  ++counts.failed[static_cast<size_t>(kind)];
  events->Raise(EventKind::kSealAgreementFailed, {{EventField::kXpu, pair.own()},
                                                  {EventField::kPeer, pair.peer()},
                                                  {EventField::kAddress, address.text()},
                                                  {EventField::kReason, reason}});
}

void SealAgreementState::EmitRefused(std::string_view address, std::string_view reason) {
  ++counts.refused;
  events->Raise(EventKind::kSealConnectionRefused,
                {{EventField::kAddress, address}, {EventField::kReason, reason}});
}

bool SealConnection::Agree(AgreementPair& pair, const AgreementMessage& request,
                           const AgreementMessage& answer, uint8_t id, uint8_t stays, Time now) {
  std::array<uint8_t, 2 * kAgreementBytes> context;
  std::copy(request.begin(), request.end(), context.begin());
  std::copy(answer.begin(), answer.end(), context.begin() + kAgreementBytes);
  Secret secret;
  if (!secret.Make()) {
    Emit(&pair, SealFailure::kMemory, LockedMemory::OfProcess().Shortage());
    return false;
  }
  if (const absl::Status made = tls_->Export(kAgreementLabel, context, secret.bytes());
      !made.ok()) {
    Emit(&pair, SealFailure::kTls, Text(made));
    return false;
  }
  SealPrk prk = ExtractSecret(*state_.kdf, secret.bytes());
  std::memcpy(secret.bytes().data(), prk.data(), prk.size());
  Cleanse(prk);
  pair.OnAgreed(now, state_.refresh, id, std::move(secret), stays);
  state_.deliveries.Add(pair);
  ++state_.counts.agreed;
  state_.counts.last_agreed_s = static_cast<uint64_t>(std::time(nullptr));
  state_.events->Raise(EventKind::kSealAgreed, {{EventField::kXpu, pair.own()},
                                                {EventField::kPeer, pair.peer()},
                                                {EventField::kAddress, address_.text()},
                                                {EventField::kSecretId, id}});
  return true;
}

bool SealServerConnection::OnEstablished(Time now) {
  if (!certified().empty()) return true;
  GiveUp(now, SealFailure::kXpu,
         "its certificate names no XPU; it needs a URI suede:PARTITION:XPU");
  return false;
}

bool SealServerConnection::OnMessage(const AgreementMessage& message, Time now) {
  const AgreementReply reply =
      AnswerAgreement(message, certified(), state_.partition, state_.pairs, now,
                      [this](const AgreementPair& pair) { return state_.deliveries.IsDone(pair); });
  if (reply.closes) {
    Emit(nullptr, SealFailure::kProtocol, "a request that is malformed");
    return false;
  }
  switch (reply.status) {
    case AgreementStatus::kAgreed:
      if (!Agree(*reply.pair, message, reply.message, reply.secret_id, reply.stays, now)) {
        return false;
      }
      break;
    case AgreementStatus::kVersion:
      Emit(nullptr, SealFailure::kProtocol, "a request of another version");
      break;
    case AgreementStatus::kUnknown: {
      const AgreementRequest request = DecodeAgreementRequest(message);
      Emit(nullptr, SealFailure::kProtocol,
           StrCat("a request for XPUs ", request.client, " and ", request.server, " of partition ",
                  request.partition, ", a pair that is not configured here"));
      break;
    }
    case AgreementStatus::kNotNamed:
      Emit(nullptr, SealFailure::kXpu,
           StrCat("its certificate does not name XPU ", reply.pair->peer(), ", which it asks for"));
      break;
    default:
      break;  // busy or asked: the peer retries, or is called
  }
  Send(reply.message);
  return true;
}

SealClientConnection::SealClientConnection(SealAgreementState& state,
                                           std::unique_ptr<TlsConnection> tls,
                                           const SocketAddress& address,
                                           std::vector<AgreementPair*> pairs, Time now)
    : SealConnection(state, std::move(tls), address, now), pairs_(std::move(pairs)) {
  for (AgreementPair* const each : pairs_) each->OnBegun();
}

void SealClientConnection::OnFailed(Time now) {
  for (; at_ < pairs_.size(); ++at_) pairs_[at_]->OnFailed(now);
}

bool SealClientConnection::Ask(Time now) {
  for (; at_ < pairs_.size(); ++at_) {
    AgreementPair& next = *pairs_[at_];
    if (IsCertified(certified(), state_.partition, next.peer())) {
      request_ = next.Request(static_cast<uint16_t>(state_.partition));
      Send(Encode(request_));
      return true;
    }
    Emit(&next, SealFailure::kXpu,
         StrCat("its certificate does not name XPU ", next.peer(), " of partition ",
                state_.partition));
    next.OnFailed(now);
  }
  return false;
}

bool SealClientConnection::OnMessage(const AgreementMessage& message, Time now) {
  AgreementPair& asked = *pairs_[at_];
  const AgreementOutcome outcome = ReadAgreementAnswer(message, request_, asked);
  switch (outcome.kind) {
    case AgreementOutcome::Kind::kMalformed:
      GiveUp(now, SealFailure::kProtocol, "an answer that is malformed");
      return false;
    case AgreementOutcome::Kind::kRefused:
      Emit(&asked, SealFailure::kRefused, ReasonOf(outcome.status));
      asked.OnFailed(now);
      break;
    case AgreementOutcome::Kind::kAsked:
      asked.OnAsked(now);
      break;
    case AgreementOutcome::Kind::kAgreed:
      if (!Agree(asked, Encode(request_), message, outcome.secret_id, request_.last, now)) {
        OnFailed(now);
        return false;
      }
      break;
  }
  ++at_;
  return Ask(now);
}

}  // namespace suede
