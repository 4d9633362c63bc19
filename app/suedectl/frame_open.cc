// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_open.h"

#include <algorithm>
#include <utility>

#include "base/sue.h"
#include "base/text.h"
#include "openssl/openssl_crypto.h"
#include "wire/control_pdu.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kEpochsAhead = 4096;  // epochs to search, as the capture may have gaps
constexpr uint32_t kFewEpochsAhead = 8;  // the same after kMaxFailedSearches failed searches
constexpr uint32_t kMaxFailedSearches = 8;
constexpr size_t kMaxSessions = 4096;  // per XPU
constexpr size_t kMaxAddresses = 1 << 16;

}  // namespace

absl::StatusOr<std::unique_ptr<FrameOpener>> FrameOpener::Create(const FileSecrets& secrets) {
  absl::StatusOr<std::unique_ptr<Crypto>> crypto = OpenOpensslCrypto();
  if (!crypto.ok()) return crypto.status();
  std::unique_ptr<FrameOpener> opener(new FrameOpener(*std::move(crypto)));
  for (const FileSecret& secret : secrets) {
    opener->secrets_.push_back({.partition = secret.partition,
                                .id = secret.id,
                                .prk = ExtractSecret(*opener->crypto_, secret.secret.bytes())});
  }
  return opener;
}

void FrameOpener::Note(const NetAddress& source, uint16_t xpuid) {
  if (xpus_.size() < kMaxAddresses || xpus_.contains(source)) xpus_[source] = xpuid;
}

const FrameOpener::FileKey* FrameOpener::Find(uint16_t partition, uint8_t secret_id) const {
  for (const FileKey& secret : secrets_) {
    if (secret.partition == partition && secret.id == secret_id) return &secret;
  }
  return nullptr;
}

bool FrameOpener::OpenWith(const SealKey& key, const SealShim& shim, std::span<const uint8_t> pdu,
                           OpenedPdu& out) const {
  if (!key) return false;
  const uint32_t clear_bytes = kRhBytes + shim.bytes();
  Bytes text(pdu.begin() + clear_bytes, pdu.end());
  SealJob job;
  key.Fill(shim.number, job);
  FillSealAad(pdu.data(), shim.bytes(), path_, job);
  job.text = text.data();
  job.text_bytes = static_cast<uint32_t>(text.size() - kSealTagBytes);
  crypto_->Open({&job, 1});
  if (!job.good) return false;
  out.pdu.assign(pdu.begin(), pdu.begin() + kRhBytes);
  SetVersion(out.pdu.data(), OpenedVersion(pdu[0] >> 6));
  out.pdu.insert(out.pdu.end(), job.text, job.text + job.text_bytes);
  return true;
}

OpenedPdu FrameOpener::Open(const SealPath& path, const SealShim& shim,
                            std::span<const uint8_t> pdu) {
  OpenedPdu out;
  path_ = path;
  const RhWord rh(pdu.data());
  const FileKey* const secret = Find(rh.partition(), shim.secret_id);
  if (secret == nullptr) {
    out.reason = Counter::kRxSealKey;
    out.detail =
        StrCat("the keys have no secret ", shim.secret_id, " of partition ", rh.partition());
  } else if (!shim.hello) {
    OpenSession(*secret, shim, pdu, out);
  } else if (shim.cipher != static_cast<uint8_t>(SealCipher::kAes128Gcm) &&
             shim.cipher != static_cast<uint8_t>(SealCipher::kAes256Gcm)) {
    out.reason = Counter::kRxSealKey;
    out.detail = StrCat("there is no cipher ", shim.cipher);
  } else if (!OpenHello(path.destination, *secret, shim, pdu, out)) {
    out.reason = Counter::kRxSealTag;
    out.detail = StrCat("secret ", shim.secret_id, " opens it for no receiver");
  }
  return out;
}

// Opens a HELLO. Its key depends on the receiver's XPU, which the frame does not contain: derives
// it from the destination address, or tries all XPUs.
bool FrameOpener::OpenHello(const NetAddress& destination, const FileKey& secret,
                            const SealShim& shim, std::span<const uint8_t> pdu, OpenedPdu& out) {
  const auto known = xpus_.find(destination);
  const auto likely =
      static_cast<uint16_t>(known != xpus_.end() ? known->second : destination.low % kMaxXpus);
  if (OpenHelloTo(likely, secret, shim, pdu, out)) return true;
  for (uint16_t xpuid = 0; xpuid < kMaxXpus; ++xpuid) {
    if (xpuid != likely && OpenHelloTo(xpuid, secret, shim, pdu, out)) {
      Note(destination, xpuid);
      return true;
    }
  }
  return false;
}

bool FrameOpener::OpenHelloTo(uint16_t receiver, const FileKey& secret, const SealShim& shim,
                              std::span<const uint8_t> pdu, OpenedPdu& out) {
  const RhWord rh(pdu.data());
  const SealContext context{.cipher = static_cast<SealCipher>(shim.cipher),
                            .partition = rh.partition(),
                            .sender = rh.xpuid(),
                            .receiver = receiver};
  const SealKey key = SealKey::OfHello(*crypto_, secret.prk, context, shim.identity);
  if (!OpenWith(key, shim, pdu, out)) return false;
  OnHello(context, out.pdu);
  return true;
}

// Adds the sessions of both directions, if the HELLO contains both identities.
void FrameOpener::OnHello(const SealContext& context, const Bytes& pdu) {
  ControlMessage message;
  const auto body_bytes = static_cast<uint32_t>(pdu.size()) - kRhBytes - kRcrcBytes;
  if (DecodeControl(pdu.data() + kRhBytes, body_bytes, message) != ControlError::kNone) return;
  const Identities& identities = IdentitiesOf(message);
  if (identities.peer == 0) return;
  AddSession(context.sender, {.receiver = context.receiver,
                              .cipher = context.cipher,
                              .ends = {.sender = identities.own, .receiver = identities.peer}});
  AddSession(context.receiver, {.receiver = context.sender,
                                .cipher = context.cipher,
                                .ends = {.sender = identities.peer, .receiver = identities.own}});
}

void FrameOpener::AddSession(uint16_t sender, const Session& session) {
  std::deque<Session>& sessions = sessions_[sender];
  for (const Session& known : sessions) {
    if (known.ends == session.ends && known.receiver == session.receiver &&
        known.cipher == session.cipher) {
      return;
    }
  }
  if (sessions.size() == kMaxSessions) sessions.pop_back();
  sessions.push_front(session);
}

void FrameOpener::OpenSession(const FileKey& secret, const SealShim& shim,
                              std::span<const uint8_t> pdu, OpenedPdu& out) {
  const RhWord rh(pdu.data());
  std::deque<Session>& sessions = sessions_[rh.xpuid()];
  const size_t tried = sessions.size();
  for (auto session = sessions.begin(); session != sessions.end(); ++session) {
    if (!TryEpochs(*session, secret, shim, pdu, out)) continue;
    std::rotate(sessions.begin(), session, session + 1);
    return;
  }
  out.reason = tried == 0 ? Counter::kRxSealKey : Counter::kRxSealTag;
  out.detail = tried == 0
                   ? StrCat("no HELLO that was opened has the identities of an association of XPU ",
                            rh.xpuid())
                   : StrCat("none of the ", tried, " associations of XPU ", rh.xpuid(),
                            " that are known opens it");
}

bool FrameOpener::TryEpochs(Session& session, const FileKey& secret, const SealShim& shim,
                            std::span<const uint8_t> pdu, OpenedPdu& out) const {
  const SealContext context{.cipher = session.cipher,
                            .partition = secret.partition,
                            .sender = RhWord(pdu.data()).xpuid(),
                            .receiver = session.receiver};
  const auto opens = [&](uint32_t epoch) {
    out.epoch = epoch;
    return OpenWith(SealKey::OfEpoch(*crypto_, secret.prk, context, session.ends, epoch), shim, pdu,
                    out);
  };
  const uint32_t back = (session.epoch - shim.epoch) & 3;
  if (back <= session.epoch && opens(session.epoch - back)) return true;
  const uint32_t ahead = session.failures < kMaxFailedSearches ? kEpochsAhead : kFewEpochsAhead;
  for (uint32_t step = 4 - back; step <= ahead; step += 4) {
    if (!opens(session.epoch + step)) continue;
    session.epoch = out.epoch;
    session.failures = 0;
    return true;
  }
  ++session.failures;
  return false;
}

}  // namespace suede::ctl
