// SPDX-License-Identifier: Apache-2.0
// The agreement of two endpoints on the secret of a pair of XPUs (docs/sealing.md, "Secrets by
// TLS"): messages, the pairs and their secrets, when to agree on which, and the dialogs of both
// ends. Takes bytes, facts and the time, returns bytes and verdicts: no sockets, no clock, no
// cipher. One thread.
#ifndef SUEDE_SEAL_AGREEMENT_H_
#define SUEDE_SEAL_AGREEMENT_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "seal/keys.h"
#include "seal/secret.h"

namespace suede {

inline constexpr size_t kAgreementBytes = 8;
inline constexpr uint8_t kAgreementVersion = 1;
inline constexpr uint8_t kFirstAgreedId = 128;  // to 255
inline constexpr std::string_view kAgreementAlpn = "suede-seal/1";
inline constexpr std::string_view kAgreementLabel = "EXPORTER-suede-seal-v1";
using AgreementMessage = std::array<uint8_t, kAgreementBytes>;

struct AgreementRequest {
  static constexpr uint8_t kNone = 0;  // the client has no secret of the pair
  static constexpr uint8_t kAsk = 1;   // the server is to connect and agree
  uint8_t version = kAgreementVersion;
  uint8_t last = kNone;  // or the id of the client's newest secret
  uint16_t partition = 0;
  uint16_t client = 0;  // XPU ids
  uint16_t server = 0;

  // Whether the format permits the value of `last`.
  bool IsWellFormed() const { return last <= kAsk || last >= kFirstAgreedId; }
  friend bool operator==(const AgreementRequest&, const AgreementRequest&) = default;
};
AgreementMessage Encode(const AgreementRequest& request);
AgreementRequest DecodeAgreementRequest(const AgreementMessage& message);

enum class AgreementStatus : uint8_t {
  kAgreed,
  kVersion,   // another version
  kUnknown,   // no such pair, or another partition
  kNotNamed,  // the client's certificate does not name its XPU
  kBusy,      // too soon after the last agreement
  kAsked,     // the server will connect
};
// A text such as "the peer knows no such pair of XPUs, or has another partition". Takes any value
// of the octet.
std::string_view ReasonOf(AgreementStatus status);

struct AgreementAnswer {
  uint8_t version = kAgreementVersion;
  AgreementStatus status = AgreementStatus::kAgreed;
  uint8_t secret_id = 0;  // with kAgreed
  friend bool operator==(const AgreementAnswer&, const AgreementAnswer&) = default;
};
AgreementMessage Encode(const AgreementAnswer& answer);
// Returns nullopt for an answer of another version, or with a secret id that does not fit its
// status.
std::optional<AgreementAnswer> DecodeAgreementAnswer(const AgreementMessage& message);

// Collects the bytes of a message.
class AgreementBuffer {
 public:
  // Takes bytes until a message is complete. Returns how many it took.
  size_t Take(std::span<const uint8_t> bytes);
  bool empty() const { return count_ == 0; }
  bool whole() const { return count_ == kAgreementBytes; }
  size_t missing() const { return kAgreementBytes - count_; }
  // Returns the message, which must be complete, and begins the next.
  AgreementMessage Pop();

 private:
  AgreementMessage bytes_{};
  size_t count_ = 0;
};

// XPUs that a certificate names.
struct CertifiedXpus {
  uint16_t partition = 0;
  uint16_t first = 0;
  uint16_t last = 0;
  friend bool operator==(const CertifiedXpus&, const CertifiedXpus&) = default;
};
// Parses a URI: "suede:7:3", "suede:7:0-15". Returns nullopt for another URI, or for invalid XPUs.
std::optional<CertifiedXpus> ParseCertifiedXpus(std::string_view uri);
bool IsCertified(std::span<const CertifiedXpus> certified, uint32_t partition, uint32_t xpu);

// The last two secrets of a pair, after HKDF-Extract, in locked memory.
class AgreedSecrets {
 public:
  // The id of the newest secret; AgreementRequest::kNone: there is none.
  uint8_t last() const { return kept_[0].prk ? kept_[0].id : AgreementRequest::kNone; }
  bool Has(uint8_t id) const;
  // Adds a new secret. Keeps a former secret with the id `stays`; ends the others.
  void Add(uint8_t id, Secret prk, uint8_t stays);
  // Copies the secrets, the newest first.
  void CopyTo(SealSecrets& secrets) const;
  void Clear();

 private:
  struct Kept {
    uint8_t id = 0;
    Secret prk;
  };
  std::array<Kept, 2> kept_;
};

// The id of the next secret of a pair whose server has `own`, and whose client's newest secret is
// `last`. Neither end has a secret with this id.
uint8_t NextAgreedId(const AgreedSecrets& own, uint8_t last);

// A pair of an own XPU and a peer's XPU: its secrets, and when to agree on the next.
class AgreementPair {
 public:
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kMaxWait = std::chrono::seconds(60);
  static constexpr Duration kMinGap = std::chrono::milliseconds(500);

  // `reachable`: an address of the peer is known.
  AgreementPair(uint16_t own, uint16_t peer, bool reachable)
      : own_(own), peer_(peer), reachable_(reachable) {}

  uint16_t own() const { return own_; }
  uint16_t peer() const { return peer_; }
  // Whether this end connects and agrees; else it asks the peer to connect.
  bool is_client() const { return own_ < peer_; }
  const AgreedSecrets& secrets() const { return secrets_; }

  // Resets the pair.
  void Start(Time now);
  // When this end has to connect; kNever without a reason, and while it tries.
  Time due() const { return due_; }
  // This end connects.
  void OnBegun() { due_ = kNever; }
  // An agreement succeeded, or failed. `stays`: id of the former secret that the peer has, too.
  void OnAgreed(Time now, Duration refresh, uint8_t id, Secret prk, uint8_t stays);
  void OnFailed(Time now);
  // The peer was asked, and will connect. If it does not, it is asked again.
  void OnAsked(Time now) { OnFailed(now); }
  // The peer asks this end to connect.
  void OnAsking(Time now);
  // Whether enough time has passed since the last agreement.
  bool MayAgree(Time now) const { return now >= free_at_; }
  // The request of this end.
  AgreementRequest Request(uint16_t partition) const;

 private:
  uint16_t own_;
  uint16_t peer_;
  bool reachable_;
  AgreedSecrets secrets_;
  Time due_ = kNever;
  Time free_at_{};
  Duration wait_ = kFirstWait;
};

// All pairs of an endpoint.
class AgreementPairs {
 public:
  // `reachable`: as in AgreementPair. An existing pair is not changed.
  void Add(uint16_t own, uint16_t peer, bool reachable);
  AgreementPair* Find(uint16_t own, uint16_t peer);
  auto& all() { return pairs_; }
  bool empty() const { return pairs_.empty(); }
  void Start(Time now);
  // The earliest time at which a pair is due.
  Time due() const;

 private:
  std::map<std::pair<uint16_t, uint16_t>, AgreementPair> pairs_;
};

// The server's reply to a request.
struct AgreementReply {
  AgreementMessage message{};  // the answer
  AgreementStatus status = AgreementStatus::kAgreed;
  AgreementPair* pair = nullptr;  // null: this end has no such pair
  uint8_t secret_id = 0;          // with kAgreed; the caller derives the secret,
  uint8_t stays = 0;              // and calls AgreementPair::OnAgreed with this
  bool closes = false;            // the request is malformed, and gets no answer
};
// Answers a request. `certified`: by the client's certificate. `has_room`: whether the lcores can
// take the pair's secrets now.
template <typename HasRoom>
AgreementReply AnswerAgreement(const AgreementMessage& message,
                               std::span<const CertifiedXpus> certified, uint32_t partition,
                               AgreementPairs& pairs, Time now, const HasRoom& has_room);

// The meaning of an answer to the client's request for a pair.
struct AgreementOutcome {
  enum class Kind : uint8_t { kAgreed, kAsked, kRefused, kMalformed };
  Kind kind = Kind::kMalformed;
  AgreementStatus status = AgreementStatus::kAgreed;
  uint8_t secret_id = 0;  // with kAgreed
};
AgreementOutcome ReadAgreementAnswer(const AgreementMessage& message,
                                     const AgreementRequest& request, const AgreementPair& pair);

// ---- Below: implementation.

// The reply of AnswerAgreement before `has_room` is queried.
AgreementReply CheckAgreement(const AgreementMessage& message,
                              std::span<const CertifiedXpus> certified, uint32_t partition,
                              AgreementPairs& pairs, Time now);
AgreementReply RefuseAgreement(AgreementPair* pair, AgreementStatus status);

template <typename HasRoom>
AgreementReply AnswerAgreement(const AgreementMessage& message,
                               std::span<const CertifiedXpus> certified, uint32_t partition,
                               AgreementPairs& pairs, Time now, const HasRoom& has_room) {
  const AgreementReply reply = CheckAgreement(message, certified, partition, pairs, now);
  const bool agrees = !reply.closes && reply.status == AgreementStatus::kAgreed;
  if (!agrees || has_room(*reply.pair)) return reply;
  return RefuseAgreement(reply.pair, AgreementStatus::kBusy);
}

}  // namespace suede

#endif  // SUEDE_SEAL_AGREEMENT_H_
