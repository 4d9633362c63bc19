// SPDX-License-Identifier: Apache-2.0
// Two ends that seal to each other, by OpenSSL, over a path that holds, repeats, changes and
// invents PDUs, while ends start over, rotate, get other secrets and go to another partition. An
// accepted PDU was sealed by the other end for this end in its association and partition, and
// arrives unchanged and once; a PDU that is not authentic changes nothing; and the ends' epochs
// keep step.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/big_endian.h"
#include "input.h"
#include "openssl/openssl_crypto.h"
#include "seal/sealed_peer.h"

namespace suede {
namespace {

constexpr uint32_t kPlainBytes = kRhBytes + 20 + kRcrcBytes;
constexpr size_t kMaxHeld = 64;  // PDUs on the path
constexpr size_t kMaxBurst = 8;
constexpr size_t kMaxPduBytes = 128;

void Require(bool condition) {
  if (!condition) std::abort();
}

Crypto& Openssl() {
  static Crypto* const crypto = NewOpensslCrypto().release();
  Require(crypto != nullptr);
  return *crypto;
}

struct Held {
  std::vector<uint8_t> pdu;
  std::vector<uint8_t> plain;
  SealPath path;
  int to = 0;
  bool hello = false;
  Identities of{};  // the sender's view, when it was sealed
  uint16_t partition = 0;
  bool accepted = false;  // as it was
};

struct End {
  explicit End(int number)
      : xpuid(static_cast<uint16_t>(number)),
        own{.crypto = &Openssl(), .params = {.mode = SealMode::kPreferred}},
        peer(own, static_cast<uint16_t>(1 - number), &cell) {
    own.partition = own.secrets.partition = 7;
    own.xpuid = xpuid;
    own.params.rotate_pdus = 16;
    own.turn = &turn;
  }
  void EndTurn() {
    own.retired.clear();
    turn.Begin();
  }
  const uint16_t xpuid;
  SealTurn turn;
  SealOwn own;
  SealCell cell;
  SealedPeer peer;
  Identities identities{};
};

class Play {
 public:
  explicit Play(Input* input) : input_(*input) {
    for (int number : {0, 1}) {
      SetSecrets(number, 3);
      Start(number);
    }
  }

  void Step() {
    const int number = input_.Byte() & 1;
    Do(number);
    RequireStep();
  }

 private:
  void Do(int number) {
    switch (input_.Byte() % 11) {
      case 0:
        return Hold(number, true);
      case 1:
      case 2:
        return Hold(number, false);
      case 3:
      case 4:
      case 5:
        return Receive(number);
      case 6:
        ends_[number].own.rotations_asked++;
        return;
      case 7:
        return Pass();
      case 8:
        return input_.Byte() < 64 ? Start(number) : Agree();
      case 9:
        return GoTo(number, 7 + input_.Byte() % 2);
      default:
        return input_.Byte() < 64 ? SetSecrets(number, input_.Byte()) : Agree();
    }
  }
  // The end has the secrets of the partition later.
  void GoTo(int number, int partition) {
    ends_[number].own.partition = static_cast<uint16_t>(partition);
    Sync(number);
  }
  // Whatever comes of the path, no end is further ahead than the keys of the other end reach.
  void RequireStep() const {
    const std::array<SealCell::State, 2> ends = {ends_[0].cell.Get(), ends_[1].cell.Get()};
    for (const int number : {0, 1}) {
      const Identities& there = ends_[1 - number].identities;
      const Identities& here = ends_[number].identities;
      if (here.own != there.peer || here.peer != there.own) return;
      const uint32_t sent = ends[number].tx_epoch;
      const uint32_t received = ends[1 - number].rx_epoch;
      Require(received == sent || received + 1 == sent);
      Require(sent <= ends[1 - number].tx_epoch + 1);
    }
  }
  // The end has a new identity, and no association.
  void Start(int number) {
    ends_[number].identities = {.own = ++identities_, .peer = 0};
    Sync(number);
  }
  // Both ends know each other, as after a handshake.
  void Agree() {
    for (int number : {0, 1}) ends_[number].identities.peer = ends_[1 - number].identities.own;
    for (int number : {0, 1}) Sync(number);
  }
  void Sync(int number) {
    ends_[number].peer.Sync(ends_[number].identities);
    ends_[number].EndTurn();
  }
  void Pass() {
    time_ += Duration(input_.Byte() * int64_t{1'000'000});
    for (End& end : ends_) end.own.now = time_;
  }
  // A set of four secrets, a bit for each.
  void SetSecrets(int number, uint8_t set) {
    SealOwn& own = ends_[number].own;
    own.secrets.count = 0;
    own.secrets.partition = own.partition;
    for (uint8_t id = 0; id < SealSecrets::kMax; ++id) {
      if ((set >> id & 1) == 0) continue;
      std::array<uint8_t, kSealSecretBytes> secret{};
      secret[0] = id;
      secret[1] = static_cast<uint8_t>(own.partition);
      own.secrets.all[own.secrets.count++] = {.id = id, .prk = ExtractSecret(Openssl(), secret)};
    }
    ends_[number].peer.OnSecrets();
    ends_[number].EndTurn();
  }

  // Seals a PDU and puts it on the path.
  void Hold(int number, bool hello) {
    End& end = ends_[number];
    Held held{
        .to = 1 - number, .hello = hello, .of = end.identities, .partition = end.own.partition};
    held.plain.assign(kPlainBytes, ++fill_);
    EncodeRh({.ver = static_cast<uint8_t>(hello ? 3 : 0),
              .xpuid = end.xpuid,
              .partition = held.partition},
             held.plain.data());
    held.path = PathOf(number);
    const uint32_t shim_bytes = hello ? kHelloShimBytes : kSessionShimBytes;
    held.pdu.resize(kPlainBytes + shim_bytes + kSealTagBytes);
    std::copy_n(held.plain.begin(), kRhBytes, held.pdu.begin());
    std::copy(held.plain.begin() + kRhBytes, held.plain.end(),
              held.pdu.begin() + kRhBytes + shim_bytes);
    SetVersion(held.pdu.data(), SealedVersion(hello ? 3 : 0));
    SealJob job;
    const bool sealed =
        hello ? end.peer.SealsHello(false) && end.peer.SealHello(held.pdu.data(), held.path, job)
              : end.peer.Seal(held.pdu.data(), held.path, input_.Byte() % kSealStreams, job);
    if (sealed) {
      job.text = held.pdu.data() + kRhBytes + shim_bytes;
      job.text_bytes = kPlainBytes - kRhBytes;
      Openssl().Seal({&job, 1});
      if (held_.size() == kMaxHeld) held_.erase(held_.begin());
      held_.push_back(std::move(held));
    }
    end.EndTurn();
  }
  static SealPath PathOf(int number) {
    return {.source = {.low = 10U + static_cast<unsigned>(number)},
            .destination = {.low = 11U - static_cast<unsigned>(number)}};
  }

  // A PDU that arrives: one of the path as it was or changed, or one that nobody has sealed.
  struct Arrival {
    std::vector<uint8_t> pdu;
    SealPath path;
    int origin = -1;  // place in held_, of one that is as it was
    SealedPeer::Opening opening;
    SealJob job;
    SealError error = SealError::kNone;
  };

  Arrival Take(int number) {
    Arrival arrival;
    arrival.path = PathOf(1 - number);
    const uint8_t choice = input_.Byte();
    if (held_.empty() || choice % 4 == 0) {
      arrival.pdu = input_.Bytes(input_.Byte() % kMaxPduBytes);
      if (arrival.pdu.size() < kMinPduBytes) arrival.pdu.resize(kMinPduBytes);
      SetVersion(arrival.pdu.data(), 1 + (choice >> 2 & 1));
      return arrival;
    }
    const size_t at = input_.Byte() % held_.size();
    const Held& held = held_[at];
    arrival.pdu = held.pdu;
    if (choice % 4 != 1) {
      arrival.path = held.path;
      if (held.to == number) arrival.origin = static_cast<int>(at);
      return arrival;
    }
    // Changed. A bit of the RH's version is none that the caller would bring here.
    switch (choice >> 2 & 3) {
      case 0:
        arrival.pdu.resize(std::max<size_t>(kMinPduBytes, input_.Byte() % held.pdu.size()));
        break;
      case 1:
        arrival.pdu.push_back(input_.Byte());
        break;
      case 2:
        arrival.path.session ^= 1;
        break;
      default:
        arrival.pdu[1 + input_.Byte() % (held.pdu.size() - 1)] ^=
            static_cast<uint8_t>(1 << (choice >> 4 & 7));
    }
    return arrival;
  }

  void Receive(int number) {
    End& end = ends_[number];
    std::vector<Arrival> arrivals;
    for (size_t count = 1 + input_.Byte() % kMaxBurst; count != 0; --count) {
      arrivals.push_back(Take(number));
    }
    std::vector<SealJob> jobs;
    for (Arrival& each : arrivals) {
      // Exactly as large as it is: the address sanitizer sees the first byte behind it.
      each.pdu.shrink_to_fit();
      each.error = end.peer.Prepare(each.pdu.data(), static_cast<uint32_t>(each.pdu.size()),
                                    each.path, each.job, each.opening);
      if (each.error == SealError::kNone) jobs.push_back(each.job);
    }
    Openssl().Open(jobs);
    auto job = jobs.begin();
    for (Arrival& each : arrivals) {
      if (each.error != SealError::kNone) continue;
      const SealCell::State before = end.cell.Get();
      const bool good = job->good;
      each.error = end.peer.Finish(*job++, each.opening);
      if (each.error == SealError::kNone) {
        OnAccepted(end, each);
      } else {
        Require(!good || each.error == SealError::kReplay);
        RequireSame(before, end.cell.Get());
      }
    }
    end.EndTurn();
  }

  void OnAccepted(const End& end, const Arrival& arrival) {
    Require(arrival.origin >= 0);  // nothing that was changed or invented
    Held& held = held_[static_cast<size_t>(arrival.origin)];
    Require(arrival.opening.shim.hello == held.hello);
    Require(held.partition == end.own.partition);
    const uint32_t head = kRhBytes + arrival.opening.shim.bytes();
    Require(
        std::equal(held.plain.begin() + kRhBytes, held.plain.end(), arrival.pdu.begin() + head));
    // A HELLO of a former boot is authentic, and may come again when others came between.
    if (held.hello) return;
    Require(held.of.own == end.identities.peer && held.of.peer == end.identities.own);
    Require(!held.accepted);
    held.accepted = true;
  }

  static void RequireSame(const SealCell::State& a, const SealCell::State& b) {
    Require(a.sealed == b.sealed && a.secret_id == b.secret_id && a.tx_epoch == b.tx_epoch &&
            a.rx_epoch == b.rx_epoch);
  }

  Input& input_;
  End ends_[2] = {End(0), End(1)};
  std::vector<Held> held_;
  uint64_t identities_ = 0;
  uint8_t fill_ = 0;
  Time time_{};
};

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  suede::Play play(&input);
  while (!input.empty()) play.Step();
  return 0;
}
