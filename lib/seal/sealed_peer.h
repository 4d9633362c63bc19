// SPDX-License-Identifier: Apache-2.0
// The state with which an instance seals PDUs to a peer and opens the peer's PDUs
// (docs/sealing.md): keys by secret and epoch, packet numbers, replay windows, and whether the
// association is sealed.
//
// Takes bytes, identities and the time; returns jobs for a burst of the cipher library (SealJob)
// and verdicts. Owned by one lcore.
#ifndef SUEDE_SEAL_SEALED_PEER_H_
#define SUEDE_SEAL_SEALED_PEER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/time.h"
#include "seal/keys.h"
#include "seal/replay_window.h"
#include "seal/seal_own.h"
#include "seal/seal_turn.h"
#include "seal/shim.h"
#include "wire/control_pdu.h"

namespace suede {

// Why a sealed PDU is not accepted.
enum class SealError : uint8_t {
  kNone,
  kMalformed,
  kKey,     // key of a secret, cipher, epoch or association that is not ours
  kBudget,  // its key is not made yet: others were made in this poll iteration
  kTag,     // not authentic
  kReplay,
  kPlane,  // of a stream of another plane
};

// The state of a peer's keys for other threads: written by the lcore, as one word.
class SealCell {
 public:
  struct State {
    bool sealed = false;  // PDUs to and from the peer are sealed, and there is a key
    uint8_t secret_id = 0;
    uint32_t tx_epoch = 0;  // modulo 2^24
    uint32_t rx_epoch = 0;
  };
  void Show(const State& state) {
    word_.store(uint64_t{state.sealed} << 56 | uint64_t{state.secret_id} << 48 |
                    uint64_t{state.tx_epoch & kEpochs} << 24 | (state.rx_epoch & kEpochs),
                std::memory_order_relaxed);
  }
  State Get() const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return {.sealed = (word >> 56 & 1) != 0,
            .secret_id = static_cast<uint8_t>(word >> 48),
            .tx_epoch = static_cast<uint32_t>(word >> 24) & kEpochs,
            .rx_epoch = static_cast<uint32_t>(word) & kEpochs};
  }

 private:
  static constexpr uint32_t kEpochs = (1u << 24) - 1;
  std::atomic<uint64_t> word_{0};
};

class SealedPeer : public InLockedMemory {
 public:
  // All arguments outlive this object. `cell` may be null.
  SealedPeer(SealOwn& own, uint16_t xpuid, SealCell* cell = nullptr)
      : own_(own), xpuid_(xpuid), cell_(cell), windows_(std::make_unique<Windows>()) {}

  // Takes the identities of the association; `peer` 0: there is none. Called before all functions
  // below; keys follow the identities and the own partition.
  void Sync(const Identities& identities) {
    if (identities != identities_ || partition_ != own_.partition) [[unlikely]]
      Rekey(identities);
  }
  // The instance's secrets have changed: ends keys of removed secrets.
  void OnSecrets();
  // Sets the secrets agreed with this peer, which are newer than the instance's.
  void SetAgreed(const SealSecrets& agreed) {
    agreed_ = agreed;
    OnSecrets();
  }

  // Whether the association is sealed: plain PDUs are neither sent nor accepted.
  bool IsSealed() const { return own_.params.mode == SealMode::kRequired || sealed_; }

  // Whether to query the peer by a HELLO in the present association: it has not shown that it
  // seals, or that it has the newest secret. Limits queries for the former to a few.
  bool WantsQuery();

  // Makes the peer's pending keys (SealTurn::Enqueue).
  void MakePending();

  // ---- Sending. `pdu`: the RH, with the version of a sealed PDU, and behind it room for the shim.

  // Whether to seal a HELLO: a request according to its turn, an answer like its request.
  bool SealsHello(bool is_answer);
  // Fills in the shim, and the job except its text. Returns false if there is no key; the PDU must
  // not leave. `stream`: below kSealStreams.
  bool SealHello(uint8_t* pdu, const SealPathBytes& path, SealJob& job);
  bool Seal(uint8_t* pdu, const SealPathBytes& path, uint32_t stream, SealJob& job);

  // ---- Receiving.

  struct Opening {
    SealShim shim;
    uint32_t epoch = 0;  // form S: of the key
  };
  // Fills in the job for a sealed PDU of `bytes`, including R-CRC and tag, or returns the reason
  // why not. Each job is done, and Finish called, before the end of the burst.
  SealError Prepare(uint8_t* pdu, uint32_t bytes, const SealPathBytes& path, SealJob& job,
                    Opening& opening);
  SealError Finish(const SealJob& job, const Opening& opening);
  // A plain HELLO of the peer was accepted.
  void OnPlainHello() { answer_ = kPlainAnswer; }

 private:
  static constexpr int kPlainAnswer = -1;
  static constexpr SealSecrets kNoSecrets{};
  static constexpr uint32_t kMaxSecrets = 2 * SealSecrets::kMax;
  static constexpr uint8_t kAsks = 10;
  static constexpr uint64_t kMaxInEpoch = uint64_t{1} << 36;
  using Windows = std::array<ReplayWindow, kSealStreams>;

  struct Tx {
    SealPrk prk{};
    SealKey key;  // of the epoch
    uint8_t secret_id = 0;
    uint32_t epoch = 0;
    uint64_t frames = 0;     // of the epoch
    bool confirmed = false;  // the peer has received the epoch, and has begun its own of this
                             // number
    Time since{};
  };
  // Epochs around rx_epoch_ for which there are keys to open PDUs.
  enum RxPlace : uint8_t { kFormer, kCurrent, kNext, kRxPlaces };
  // Keys of one secret.
  struct Rx {
    SealPrk prk{};
    std::array<SealKey, kRxPlaces> keys;
    uint8_t secret_id = 0;
    bool taken = false;   // belongs to a secret
    bool in_use = false;  // the peer seals with it: the next key is pending if missing
  };
  struct HelloRx {
    SealPrk prk{};
    SealKey key;
    uint8_t secret_id = 0;
    uint64_t identity = 0;
    bool authentic = false;  // a HELLO was authentic
    ReplayWindow window;
    bool Is(const SealShim& shim) const {
      return key && identity == shim.identity && secret_id == shim.secret_id;
    }
  };

  SealContext ContextOfTx() const {
    return {.cipher = own_.params.cipher,
            .partition = own_.partition,
            .sender = own_.xpuid,
            .receiver = xpuid_};
  }
  SealContext ContextOfRx() const {
    return {.cipher = own_.params.cipher,
            .partition = own_.partition,
            .sender = xpuid_,
            .receiver = own_.xpuid};
  }
  // Returns no secrets if they are of another partition than the instance's present one: their
  // update is still pending.
  const SealSecrets& OfPartition(const SealSecrets& secrets) const {
    return secrets.partition == own_.partition ? secrets : kNoSecrets;
  }
  const SealSecrets& Agreed() const { return OfPartition(agreed_); }
  const SealSecrets& Shared() const { return OfPartition(own_.secrets); }
  // Secrets of both kinds, the newest first.
  uint32_t SecretCount() const { return Agreed().count + Shared().count; }
  const SealSecret& SecretAt(uint32_t place) const {
    const uint32_t agreed = Agreed().count;
    return place < agreed ? Agreed().all[place] : Shared().all[place - agreed];
  }
  const SealSecret* Find(uint8_t id) const {
    const SealSecret* const agreed = Agreed().Find(id);
    return agreed != nullptr ? agreed : Shared().Find(id);
  }
  uint32_t PositionOf(uint8_t id) const {
    const uint32_t place = Agreed().PositionOf(id);
    return place < Agreed().count ? place : place + Shared().PositionOf(id);
  }
  // Whether the secret was removed, or another secret has the id now.
  bool IsGone(uint8_t id, const SealPrk& prk) const {
    const SealSecret* const secret = Find(id);
    return secret == nullptr || secret->prk != prk;
  }
  void Rekey(const Identities& identities);
  // Ends the use of a key for sending.
  void Retire(SealKey& key) {
    if (key) own_.retired.push_back(std::exchange(key, SealKey()));
  }
  void EndTxKey() {
    Retire(tx_.key);
    Cleanse(tx_.prk);
  }
  void EndHelloKey() {
    Retire(hello_key_);
    Cleanse(hello_prk_);
  }
  bool UseSecret(uint8_t id);
  void UseNewest();
  void MakeTxKey();
  bool MustRotate() const;
  // Whether the peer has begun an epoch that this end has not, and has received this end's.
  bool Follows() const { return tx_.confirmed && rx_epoch_ > tx_.epoch; }
  void Rotate();
  // The keys of a secret that the peer may seal with; null: there is no such secret.
  Rx* RxOf(uint8_t secret_id) {
    Rx& last = rx_[rx_place_];
    if (last.taken && last.secret_id == secret_id) [[likely]]
      return &last;
    return OtherRxOf(secret_id);
  }
  Rx* OtherRxOf(uint8_t secret_id);
  void MakeRxKey(Rx& rx, uint32_t place);
  SealError MakeNamedKey(Rx& rx, uint32_t place);
  void Advance();
  void OnEpochEcho(const Opening& opening);
  void Enqueue() { own_.turn->Enqueue(*this); }
  SealError PrepareHello(const SealShim& shim, SealJob& job);
  SealError PrepareSession(const SealShim& shim, SealJob& job, uint32_t& epoch);
  SealError FinishHello(const SealShim& shim);
  SealError FinishSession(const Opening& opening);
  void OnSecretShown(uint8_t id) {
    if (identities_.peer == 0 || (tx_.key && tx_.secret_id == id)) [[likely]]
      return;
    OnOtherSecretShown(id);
  }
  void OnOtherSecretShown(uint8_t id);
  void Show() const;
  void SetSealed() {
    if (std::exchange(sealed_, true)) return;
    Show();
  }

  SealOwn& own_;
  const uint16_t xpuid_;
  SealCell* const cell_;
  Identities identities_{};
  uint16_t partition_ = 0;  // partition of the keys
  bool sealed_ = false;
  uint64_t sealed_identity_ = 0;  // of the peer, in the last sealed association

  SealSecrets agreed_;
  Tx tx_;
  std::array<uint64_t, kSealStreams> sent_{};  // frames of each stream, over all keys
  SealPrk hello_prk_{};
  SealKey hello_key_;
  uint8_t hello_secret_ = 0;
  uint64_t hello_identity_ = 0;
  uint64_t hellos_sent_ = 0;   // over all keys
  uint32_t turn_ = 0;          // of requests
  int answer_ = kPlainAnswer;  // the secret of the last received HELLO
  uint8_t queries_left_ = 0;   // remaining queries whether the peer seals
  uint8_t next_secret_ = 0;    // of the HELLO of the last SealsHello
  uint32_t rotations_done_ = 0;

  std::array<Rx, kMaxSecrets> rx_;
  uint32_t rx_place_ = 0;        // of the last RxOf
  uint32_t rx_epoch_ = 0;        // the highest received
  HelloRx known_;                // of the association's identity
  HelloRx candidate_;            // of another identity
  bool candidate_busy_ = false;  // a job of the burst has its key
  std::unique_ptr<Windows> windows_;

  friend class SealTurn;
  SealedPeer* next_owing_ = nullptr;
  bool owes_ = false;  // whether it is on the lcore's list
};

}  // namespace suede

#endif  // SUEDE_SEAL_SEALED_PEER_H_
