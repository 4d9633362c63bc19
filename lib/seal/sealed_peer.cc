// SPDX-License-Identifier: Apache-2.0
#include "seal/sealed_peer.h"

#include <utility>

namespace suede {

void SealedPeer::Rekey(const Identities& identities) {
  const bool new_peer = identities.peer != identities_.peer;
  EndTxKey();
  for (Rx& rx : rx_) rx = Rx();
  if (identities != identities_) {
    tx_ = Tx();
    rotations_done_ = own_.rotations_asked;
    rx_epoch_ = 0;
    for (ReplayWindow& window : *windows_) window.Clear();
  }
  identities_ = identities;
  if (partition_ != own_.partition) {
    partition_ = own_.partition;
    EndHelloKey();
    known_ = HelloRx();
    candidate_ = HelloRx();
  }
  if (candidate_.authentic && candidate_.identity == identities.peer) {
    sealed_identity_ = identities.peer;
  }
  sealed_ = identities.peer != 0 && identities.peer == sealed_identity_;
  if (identities.peer == 0) return Show();
  queries_left_ = IsSealed() ? 0 : kAsks;
  own_.wants_query |= queries_left_ != 0;
  if (new_peer && candidate_.identity == identities.peer) std::swap(known_, candidate_);
  if (known_.identity != identities.peer) known_ = HelloRx();
  if (!known_.key || !UseSecret(known_.secret_id)) UseNewest();
  Show();
}

void SealedPeer::OnSecrets() {
  for (Rx& rx : rx_) {
    if (rx.taken && IsGone(rx.secret_id, rx.prk)) rx = Rx();
  }
  for (HelloRx* hello : {&known_, &candidate_}) {
    if (hello->key && IsGone(hello->secret_id, hello->prk)) *hello = HelloRx();
  }
  if (hello_key_ && IsGone(hello_secret_, hello_prk_)) EndHelloKey();
  if (tx_.key && IsGone(tx_.secret_id, tx_.prk)) EndTxKey();
  if (!tx_.key && identities_.peer != 0) Enqueue();
  Show();
}

void SealedPeer::MakePending() {
  if (!tx_.key && identities_.peer != 0) UseNewest();
  for (Rx& rx : rx_) {
    if (rx.in_use && !rx.keys[kNext]) MakeRxKey(rx, kNext);
  }
  if (tx_.key && Follows()) Rotate();
  Show();
}

void SealedPeer::MakeRxKey(Rx& rx, uint32_t place) {
  rx.keys[place] = SealKey::OfEpoch(*own_.crypto, rx.prk, ContextOfRx(),
                                    {.sender = identities_.peer, .receiver = identities_.own},
                                    rx_epoch_ + place - kCurrent);
}

void SealedPeer::MakeTxKey() {
  Retire(tx_.key);
  tx_.key = SealKey::OfEpoch(*own_.crypto, tx_.prk, ContextOfTx(),
                             {.sender = identities_.own, .receiver = identities_.peer}, tx_.epoch);
}

void SealedPeer::UseNewest() {
  if (SecretCount() != 0) UseSecret(SecretAt(0).id);
}

// Seals with this secret from now on, in the present association. Returns false if there is no such
// secret, or no key.
bool SealedPeer::UseSecret(uint8_t id) {
  const SealSecret* const secret = Find(id);
  if (secret == nullptr) return false;
  tx_.secret_id = id;
  tx_.prk = secret->prk;
  MakeTxKey();
  return static_cast<bool>(tx_.key);
}

// The peer has shown that it has the secret: uses it if it is newer than the present secret, or if
// the peer has not shown that it has the present secret.
void SealedPeer::OnOtherSecretShown(uint8_t id) {
  const bool is_newer = PositionOf(id) < PositionOf(tx_.secret_id);
  if (tx_.key && sealed_ && !is_newer) return;
  UseSecret(id);
  Show();
}

bool SealedPeer::WantsQuery() {
  if (identities_.peer == 0 || SecretCount() == 0) return false;
  if (IsSealed()) return tx_.key && PositionOf(tx_.secret_id) != 0;
  if (queries_left_ == 0) return false;
  --queries_left_;
  return true;
}

bool SealedPeer::SealsHello(bool is_answer) {
  const uint32_t count = SecretCount();
  if (is_answer) {
    if (answer_ == kPlainAnswer) return IsSealed();
    next_secret_ = static_cast<uint8_t>(answer_);
    return true;
  }
  const bool may_be_plain = !IsSealed();
  if (count == 0) return !may_be_plain;
  const uint32_t turn = turn_++;
  // A plain association begins with plain HELLOs; in an existing association HELLOs are sealed.
  if (may_be_plain && identities_.peer == 0 && turn % 2 == 1) return false;
  next_secret_ = SecretAt((may_be_plain ? turn / 2 : turn) % count).id;
  return true;
}

bool SealedPeer::SealHello(uint8_t* pdu, const SealPathBytes& path, SealJob& job) {
  if (!hello_key_ || hello_identity_ != identities_.own || hello_secret_ != next_secret_) {
    const SealSecret* const secret = Find(next_secret_);
    if (secret == nullptr) return false;
    // A peer that has both secrets may make us switch between them, by its HELLOs.
    const bool is_switch = hello_key_ && hello_identity_ == identities_.own;
    if (is_switch && !own_.turn->TakeHelloSwitch()) return false;
    Retire(hello_key_);
    hello_prk_ = secret->prk;
    hello_key_ = SealKey::OfHello(*own_.crypto, hello_prk_, ContextOfTx(), identities_.own);
    hello_identity_ = identities_.own;
    hello_secret_ = next_secret_;
    if (!hello_key_) return false;
  }
  const SealShim shim{.hello = true,
                      .secret_id = hello_secret_,
                      .number = PacketNumber(0, hellos_sent_++),
                      .cipher = static_cast<uint8_t>(own_.params.cipher),
                      .identity = identities_.own};
  EncodeShim(shim, pdu + kRhBytes);
  hello_key_.Fill(shim.number, job);
  FillSealAad(pdu, kHelloShimBytes, path, job);
  return true;
}

bool SealedPeer::MustRotate() const {
  const SealParams& params = own_.params;
  return tx_.confirmed &&
         (tx_.frames >= params.rotate_pdus || rotations_done_ != own_.rotations_asked ||
          (params.rotate != Duration::zero() && own_.now - tx_.since >= params.rotate));
}

void SealedPeer::Rotate() {
  ++tx_.epoch;
  MakeTxKey();
  ++own_.rotations;
  tx_.frames = 0;
  tx_.confirmed = false;
  tx_.since = own_.now;
  rotations_done_ = own_.rotations_asked;
  Show();
}

bool SealedPeer::Seal(uint8_t* pdu, const SealPathBytes& path, uint32_t stream, SealJob& job) {
  Tx& tx = tx_;
  if (!tx.key) [[unlikely]]
    return false;
  if (tx.frames == 0 && tx.epoch == 0) tx.since = own_.now;
  if (MustRotate() && own_.turn->TakeRotation()) [[unlikely]]
    Rotate();
  if (!tx.key || tx.frames >= kMaxInEpoch) [[unlikely]]
    return false;
  ++tx.frames;
  const SealShim shim{.secret_id = tx.secret_id,
                      .number = PacketNumber(stream, sent_[stream]++),
                      .epoch = static_cast<uint8_t>(tx.epoch & 3),
                      .echo = static_cast<uint8_t>(rx_epoch_ & 3)};
  tx.key.Fill(shim.number, job);
  EncodeShim(shim, pdu + kRhBytes);
  FillSealAad(pdu, kSessionShimBytes, path, job);
  return true;
}

SealedPeer::Rx* SealedPeer::OtherRxOf(uint8_t secret_id) {
  Rx* free = nullptr;
  Rx* found = nullptr;
  for (Rx& rx : rx_) {
    if (!rx.taken) {
      free = &rx;
    } else if (rx.secret_id == secret_id) {
      found = &rx;
    }
  }
  if (found == nullptr) {
    const SealSecret* const secret = Find(secret_id);
    if (identities_.peer == 0 || secret == nullptr || free == nullptr) return nullptr;
    found = free;
    found->prk = secret->prk;
    found->secret_id = secret_id;
    found->taken = true;
  }
  rx_place_ = static_cast<uint32_t>(found - rx_.data());
  return found;
}

// Makes a key that a PDU names. Whether the PDU is authentic is not known yet.
SealError SealedPeer::MakeNamedKey(Rx& rx, uint32_t place) {
  if (place == kFormer) return SealError::kKey;
  if (place == kNext && rx.in_use) {
    Enqueue();
    return SealError::kBudget;
  }
  if (!own_.turn->TakeFirstKey()) return SealError::kBudget;
  MakeRxKey(rx, place);
  return rx.keys[place] ? SealError::kNone : SealError::kKey;
}

// Enters the peer's next epoch. The peer cannot begin another before it learns of this, so there is
// time to make that key.
void SealedPeer::Advance() {
  ++rx_epoch_;
  ++own_.advances;
  for (Rx& rx : rx_) {
    rx.keys[kFormer].End();
    rx.keys[kFormer] = std::move(rx.keys[kCurrent]);
    rx.keys[kCurrent] = std::move(rx.keys[kNext]);
    rx.in_use = false;
  }
  Show();
}

SealError SealedPeer::PrepareHello(const SealShim& shim, SealJob& job) {
  if (shim.cipher != static_cast<uint8_t>(own_.params.cipher)) return SealError::kKey;
  const HelloRx* hello = &known_;
  if (!known_.Is(shim)) {
    hello = &candidate_;
    if (!candidate_.Is(shim)) {
      const SealSecret* const secret = Find(shim.secret_id);
      if (secret == nullptr) return SealError::kKey;
      // (The instance's budget is checked before the lcore's: a flood at one instance does not
      // affect others.)
      if (candidate_busy_ || !own_.turn->HasHello() || !own_.hello_budget.Take(own_.now) ||
          !own_.turn->TakeHello(own_.now)) {
        return SealError::kBudget;
      }
      candidate_ = HelloRx();
      candidate_.prk = secret->prk;
      candidate_.key = SealKey::OfHello(*own_.crypto, secret->prk, ContextOfRx(), shim.identity);
      candidate_.secret_id = shim.secret_id;
      candidate_.identity = shim.identity;
      if (!candidate_.key) return SealError::kKey;
    }
  }
  if (!hello->window.IsNew(shim.number.count())) return SealError::kReplay;
  candidate_busy_ |= hello == &candidate_;
  hello->key.Fill(shim.number, job);
  return SealError::kNone;
}

SealError SealedPeer::PrepareSession(const SealShim& shim, SealJob& job, uint32_t& epoch) {
  Rx* const rx = RxOf(shim.secret_id);
  if (rx == nullptr) [[unlikely]]
    return SealError::kKey;
  if (!(*windows_)[shim.number.stream()].IsNew(shim.number.count())) return SealError::kReplay;
  const uint32_t place = (shim.epoch - rx_epoch_ + kCurrent) & 3;
  if (place == kRxPlaces) return SealError::kKey;
  const SealKey& key = rx->keys[place];
  if (!key) [[unlikely]] {
    if (const SealError error = MakeNamedKey(*rx, place); error != SealError::kNone) return error;
  }
  epoch = rx_epoch_ + place - kCurrent;
  key.Fill(shim.number, job);
  return SealError::kNone;
}

SealError SealedPeer::Prepare(uint8_t* pdu, uint32_t bytes, const SealPathBytes& path, SealJob& job,
                              Opening& opening) {
  if (bytes < kMinSealedBytes || !DecodeShim(pdu + kRhBytes, bytes - kRhBytes, opening.shim)) {
    return SealError::kMalformed;
  }
  const SealShim& shim = opening.shim;
  const bool is_control = pdu[0] >> 6 == 2;
  if (shim.hello && !is_control) return SealError::kMalformed;
  const SealError error =
      shim.hello ? PrepareHello(shim, job) : PrepareSession(shim, job, opening.epoch);
  if (error != SealError::kNone) return error;
  FillSealAad(pdu, shim.bytes(), path, job);
  const uint32_t head = kRhBytes + shim.bytes();
  job.text = pdu + head;
  job.text_bytes = bytes - head - static_cast<uint32_t>(kSealTagBytes);
  return SealError::kNone;
}

SealError SealedPeer::FinishHello(const SealShim& shim) {
  HelloRx& hello = known_.Is(shim) ? known_ : candidate_;
  if (!hello.window.Accept(shim.number.count())) return SealError::kReplay;
  answer_ = shim.secret_id;
  hello.authentic = true;
  // A HELLO of another identity may be old: it counts once the handshake has found it fresh.
  if (shim.identity == identities_.peer) {
    sealed_identity_ = shim.identity;
    OnSecretShown(shim.secret_id);
    SetSealed();
  }
  return SealError::kNone;
}

SealError SealedPeer::FinishSession(const Opening& opening) {
  const SealShim& shim = opening.shim;
  if (!(*windows_)[shim.number.stream()].Accept(shim.number.count())) return SealError::kReplay;
  Rx& rx = *RxOf(shim.secret_id);
  if (opening.epoch > rx_epoch_) [[unlikely]]
    Advance();
  if (!rx.in_use) [[unlikely]] {
    rx.in_use = true;
    Enqueue();
  }
  if (!tx_.confirmed || rx_epoch_ != tx_.epoch) [[unlikely]]
    OnEpochEcho(opening);
  OnSecretShown(shim.secret_id);
  sealed_identity_ = identities_.peer;
  SetSealed();
  return SealError::kNone;
}

// Processes an authentic PDU's echo of this end's epoch. When the peer sent the PDU, the epochs of
// both directions were at most one apart, and so is the echo from the epoch of the PDU, which is
// certain: no other key opens it.
void SealedPeer::OnEpochEcho(const Opening& opening) {
  const uint32_t min = opening.epoch - 1;
  const uint32_t echo = min + ((opening.shim.echo - min) & 3);
  const auto reaches = [&](uint32_t epoch) { return static_cast<int32_t>(epoch - tx_.epoch) >= 0; };
  if (reaches(opening.epoch) && reaches(echo)) tx_.confirmed = true;
  if (Follows()) Enqueue();
}

SealError SealedPeer::Finish(const SealJob& job, const Opening& opening) {
  if (opening.shim.hello) candidate_busy_ = false;
  if (!job.good) return SealError::kTag;
  return opening.shim.hello ? FinishHello(opening.shim) : FinishSession(opening);
}

void SealedPeer::Show() const {
  if (cell_ == nullptr) return;
  cell_->Show({.sealed = IsSealed() && tx_.key,
               .secret_id = tx_.secret_id,
               .tx_epoch = tx_.epoch,
               .rx_epoch = rx_epoch_});
}

}  // namespace suede
