// SPDX-License-Identifier: Apache-2.0
#include "seal/sealed_peer.h"

#include <algorithm>
#include <utility>

namespace suede {

void SealedPeer::Rekey(const Identities& identities) {
  const bool new_peer = identities.peer != identities_.peer;
  identities_ = identities;
  if (partition_ != own_.partition) {
    partition_ = own_.partition;
    Retire(hello_key_);
    known_ = HelloRx();
    candidate_ = HelloRx();
  }
  for (Tx& tx : txs_) EndTx(tx);
  for (Rx& rx : rx_) rx = Rx();
  rx_epoch_ = 0;
  lost_ = false;
  forgotten_.reset();
  for (ReplayWindow& window : *windows_) window.Clear();
  if (candidate_.authentic && candidate_.identity == identities.peer) {
    sealed_identity_ = identities.peer;
  }
  sealed_ = identities.peer != 0 && identities.peer == sealed_identity_;
  if (identities.peer == 0) return Show();
  asks_left_ = IsSealed() ? 0 : kAsks;
  own_.asks |= asks_left_ != 0;
  if (new_peer && candidate_.identity == identities.peer) std::swap(known_, candidate_);
  if (known_.identity != identities.peer) known_ = HelloRx();
  if (!known_.key || !UseSecret(known_.secret_id)) UseNewest();
  Show();
}

void SealedPeer::OnSecrets() {
  const auto is_gone = [&](uint8_t id) { return Find(id) == nullptr; };
  for (Rx& rx : rx_) {
    if (!rx.current || !is_gone(rx.secret_id)) continue;
    Forget(rx.secret_id, rx.epoch);
    rx = Rx();
  }
  for (HelloRx* hello : {&known_, &candidate_}) {
    if (hello->key && is_gone(hello->secret_id)) *hello = HelloRx();
  }
  if (is_gone(hello_secret_)) Retire(hello_key_);
  for (Tx& tx : txs_) {
    if (!tx.key || !is_gone(tx.secret_id)) continue;
    Forget(tx.secret_id, tx.epoch);
    EndTx(tx);
  }
  if (!tx().key && identities_.peer != 0) Owe();
  Show();
}

void SealedPeer::MakeOwed() {
  if (!tx().key && identities_.peer != 0) UseNewest();
  for (Rx& rx : rx_) {
    if (rx.current && !rx.next) MakeNext(rx);
  }
  Show();
}

void SealedPeer::MakeNext(Rx& rx) {
  SealChain chain = rx.chain;
  NextChain(*own_.crypto, chain);
  rx.next = SealKey::OfEpoch(*own_.crypto, own_.params.cipher, chain);
  if (rx.next) rx.chain = chain;
  Cleanse(chain);
}

SealError SealedPeer::HaveNext(const Rx& rx) {
  if (rx.next) return SealError::kNone;
  Owe();
  return SealError::kBudget;
}

// Epoch 0 begins again where a secret comes back, so nothing is forgotten of that.
void SealedPeer::Forget(uint8_t id, uint32_t epoch) {
  if (epoch != 0) forgotten_.set(id);
}

void SealedPeer::UseNewest() {
  if (SecretCount() != 0) UseSecret(SecretAt(0).id);
}

// Sends with the keys of this secret in the association that there is: from epoch 0 on, or where it
// was left. False: there are none.
bool SealedPeer::UseSecret(uint8_t id) {
  const SealSecret* const secret = Find(id);
  if (secret == nullptr) return false;
  uint32_t place = kMostSecrets;
  for (uint32_t i = 0; i < txs_.size(); ++i) {
    if (txs_[i].key && txs_[i].secret_id == id) {
      tx_ = i;
      return true;
    }
    if (!txs_[i].key) place = i;
  }
  if (place == kMostSecrets) return false;
  Tx& tx = txs_[place];
  tx.secret_id = id;
  tx.chain =
      FirstChain(*own_.crypto, secret->prk, ContextOfTx(), identities_.own, identities_.peer);
  tx.key = SealKey::OfEpoch(*own_.crypto, own_.params.cipher, tx.chain);
  tx_ = place;
  rotations_done_ = own_.rotations_asked;
  lost_ |= forgotten_.test(id);
  own_.asks |= lost_;
  return static_cast<bool>(tx.key);
}

// The peer has shown that it has the secret: it is used where it is newer than the one that is, or
// the peer has not shown to have that.
void SealedPeer::OnOtherSecretShown(uint8_t id) {
  const bool is_newer = PlaceOf(id) < PlaceOf(tx().secret_id);
  if (tx().key && sealed_ && !is_newer) return;
  UseSecret(id);
  Show();
}

bool SealedPeer::WantsAsking() {
  if (identities_.peer == 0 || SecretCount() == 0) return false;
  if (IsSealed()) return tx().key && PlaceOf(tx().secret_id) != 0;
  if (asks_left_ == 0) return false;
  --asks_left_;
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
  // A plain association begins by plain HELLOs; in one that there is the peer is asked otherwise.
  if (may_be_plain && identities_.peer == 0 && turn % 2 == 1) return false;
  next_secret_ = SecretAt((may_be_plain ? turn / 2 : turn) % count).id;
  return true;
}

bool SealedPeer::SealHello(uint8_t* pdu, const SealPathBytes& path, SealJob& job) {
  if (!hello_key_ || hello_identity_ != identities_.own || hello_secret_ != next_secret_) {
    const SealSecret* const secret = Find(next_secret_);
    if (secret == nullptr) return false;
    // A peer that has both may make us go from one to the other, by what it asks.
    const bool is_switch = hello_key_ && hello_identity_ == identities_.own;
    if (is_switch && !own_.turn->TakeHelloSwitch()) return false;
    Retire(hello_key_);
    hello_key_ = SealKey::OfHello(*own_.crypto, secret->prk, ContextOfTx(), identities_.own);
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

bool SealedPeer::MustRotate(const Tx& tx) const {
  const SealParams& params = own_.params;
  return tx.confirmed &&
         (tx.frames >= params.rotate_pdus || rotations_done_ != own_.rotations_asked ||
          (params.rotate != Duration::zero() && own_.now - tx.since >= params.rotate));
}

void SealedPeer::Rotate() {
  NextChain(*own_.crypto, tx().chain);
  Retire(tx().key);
  tx().key = SealKey::OfEpoch(*own_.crypto, own_.params.cipher, tx().chain);
  ++tx().epoch;
  ++own_.rotations;
  tx().frames = 0;
  tx().confirmed = false;
  tx().since = own_.now;
  rotations_done_ = own_.rotations_asked;
  Show();
}

bool SealedPeer::Seal(uint8_t* pdu, const SealPathBytes& path, uint32_t stream, SealJob& job) {
  Tx& tx = txs_[tx_];
  if (!tx.key) [[unlikely]]
    return false;
  if (tx.frames == 0 && tx.epoch == 0) tx.since = own_.now;
  if (MustRotate(tx) && own_.turn->TakeRotation()) [[unlikely]]
    Rotate();
  if (!tx.key || tx.frames >= kMostInEpoch) [[unlikely]]
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
  if (identities_.peer == 0) return nullptr;
  for (Rx& rx : rx_) {
    if (!rx.current || rx.secret_id != secret_id) continue;
    rx_place_ = static_cast<uint32_t>(&rx - rx_.data());
    return &rx;
  }
  return nullptr;
}

// A PDU names a secret from which no key has been made in this association. Whether the PDU is
// authentic is not known yet.
SealError SealedPeer::MakeRx(uint8_t secret_id) {
  const SealSecret* const secret = Find(secret_id);
  const auto free = std::find_if(rx_.begin(), rx_.end(), [](const Rx& rx) { return !rx.current; });
  if (identities_.peer == 0 || secret == nullptr || free == rx_.end()) return SealError::kKey;
  if (!own_.turn->TakeFirstKey()) return SealError::kBudget;
  Crypto& crypto = *own_.crypto;
  free->secret_id = secret_id;
  free->epoch = 0;
  free->chain = FirstChain(crypto, secret->prk, ContextOfRx(), identities_.peer, identities_.own);
  free->current = SealKey::OfEpoch(crypto, own_.params.cipher, free->chain);
  if (!free->current) return SealError::kKey;
  Owe();
  return SealError::kNone;
}

// The peer cannot be in epoch + 2 before it has heard of this one, so there is time for its key.
void SealedPeer::Advance(Rx& rx) {
  rx.former.End();
  rx.former = std::move(rx.current);
  rx.current = std::move(rx.next);
  ++rx.epoch;
  ++own_.advances;
  if (!rx.beyond) return Owe();
  NextChain(*own_.crypto, rx.chain);
  rx.next = std::move(rx.beyond);
}

// The key of epoch + 2, once for an epoch, however many PDUs name it.
SealError SealedPeer::MakeBeyond(Rx& rx) {
  if (rx.beyond) return SealError::kNone;
  if (const SealError error = HaveNext(rx); error != SealError::kNone) return error;
  if (!own_.turn->TakeBeyond()) return SealError::kBudget;
  SealChain chain = rx.chain;
  NextChain(*own_.crypto, chain);
  rx.beyond = SealKey::OfEpoch(*own_.crypto, own_.params.cipher, chain);
  Cleanse(chain);
  return SealError::kNone;
}

SealError SealedPeer::PrepareHello(const SealShim& shim, SealJob& job) {
  if (shim.cipher != static_cast<uint8_t>(own_.params.cipher)) return SealError::kKey;
  const HelloRx* hello = &known_;
  if (!known_.Is(shim)) {
    hello = &candidate_;
    if (!candidate_.Is(shim)) {
      const SealSecret* const secret = Find(shim.secret_id);
      if (secret == nullptr) return SealError::kKey;
      // (The instance's is asked before the lcore's: a flood at one takes nothing from others.)
      if (candidate_busy_ || !own_.turn->HasHello() || !own_.hello_budget.Take(own_.now) ||
          !own_.turn->TakeHello(own_.now)) {
        return SealError::kBudget;
      }
      candidate_ = HelloRx();
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
  Rx* rx = RxOf(shim.secret_id);
  if (rx == nullptr) [[unlikely]] {
    const SealError error = MakeRx(shim.secret_id);
    if (error != SealError::kNone) return error;
    rx = RxOf(shim.secret_id);
  }
  if (!(*windows_)[shim.number.stream()].IsNew(shim.number.count())) return SealError::kReplay;
  const uint32_t ahead = (shim.epoch - rx->epoch) & 3;
  if (ahead == 0) [[likely]] {
    epoch = rx->epoch;
    rx->current.Fill(shim.number, job);
    return SealError::kNone;
  }
  if (ahead == 1 || ahead == 2) [[unlikely]] {
    const SealError error = ahead == 1 ? HaveNext(*rx) : MakeBeyond(*rx);
    if (error != SealError::kNone) return error;
  }
  const SealKey* const keys[] = {nullptr, &rx->next, &rx->beyond, &rx->former};
  const SealKey* const key = keys[ahead];
  if (!*key) return SealError::kKey;
  epoch = ahead == 3 ? rx->epoch - 1 : rx->epoch + ahead;
  key->Fill(shim.number, job);
  return SealError::kNone;
}

SealError SealedPeer::Prepare(uint8_t* pdu, uint32_t bytes, const SealPathBytes& path, SealJob& job,
                              Opening& opening) {
  if (bytes < kLeastSealedBytes || !DecodeShim(pdu + kRhBytes, bytes - kRhBytes, opening.shim)) {
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
  // One of another identity may be old: it counts where the handshake has found it to be fresh.
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
  Rx* const rx = RxOf(shim.secret_id);
  while (static_cast<int32_t>(opening.epoch - rx->epoch) > 0) Advance(*rx);
  if (rx_epoch_ != rx->epoch) {
    rx_epoch_ = rx->epoch;
    Show();
  }
  if (shim.echo == (tx().epoch & 3)) tx().confirmed = true;
  OnSecretShown(shim.secret_id);
  sealed_identity_ = identities_.peer;
  SetSealed();
  return SealError::kNone;
}

SealError SealedPeer::Finish(const SealJob& job, const Opening& opening) {
  if (opening.shim.hello) candidate_busy_ = false;
  if (!job.good) return SealError::kTag;
  return opening.shim.hello ? FinishHello(opening.shim) : FinishSession(opening);
}

void SealedPeer::Show() const {
  if (cell_ == nullptr) return;
  cell_->Show({.sealed = IsSealed() && tx().key,
               .secret_id = tx().secret_id,
               .tx_epoch = tx().epoch,
               .rx_epoch = rx_epoch_});
}

}  // namespace suede
