// SPDX-License-Identifier: Apache-2.0
#include "receive/seal_opener.h"

#include <variant>

#include "wire/rh.h"

namespace suede {

// Returns the facts about the sealed PDUs of frame i's series. They have no peer if their sender is
// not a peer of an instance here that seals.
SealOpener::SealedSeries SealOpener::SealedSeriesAt(const ReceivedBurst& burst, uint32_t i) const {
  SealedSeries sealed{.series = burst.series_index(i)};
  const ReceivedBurst::Series& series = burst.series(i);
  const RhWord rh = burst.rh(i);
  if (series.error() != FrameError::kNone || !IsSealedVersion(rh.ver())) return sealed;
  const PortContext::Location place = burst.place(i);
  if (place.instance >= PortContext::Location::kElsewhere) return sealed;
  sealed.is_here = true;
  Instance& instance = *lcore_.instances[place.instance];
  if (!instance.sealing.on() || rh.partition() != instance.params.partition) return sealed;
  const PeerIndex number = instance.peers.OfXpu(rh.xpuid());
  if (number == Instance::kNoPeer ||
      series.source != instance.rx.sources[instance.map.PathAt(number, place.plane)]) {
    return sealed;
  }
  sealed.peer = &instance.SealOf(number);
  sealed.path = SealPathBytes(
      {.source = series.source, .destination = series.destination, .session = series.session()});
  sealed.counters = &instance.stats.counters;
  const Peer& peer = instance.peers[number];
  if ((peer.paths().alike & 1u << place.plane) == 0) return sealed;
  // Accepts the streams of the plane with which this plane is paired.
  const PlaneSession& session = peer.session(place.plane);
  const uint32_t count = instance.map.vc_count() * peer.hello().sessions;
  sealed.first_stream = static_cast<uint8_t>(session.peer_plane() * count);
  sealed.stream_count = session.paired() ? static_cast<uint8_t>(count) : 0;
  return sealed;
}

// Fills in the job if the frame is for an instance here that seals, from one of its peers. A sealed
// PDU that is not opened has no R-CRC to check, and keeps its version. `sealed`: the facts about
// the series of the previous frame.
[[gnu::always_inline]] inline bool SealOpener::Prepare(ReceivedBurst& burst, uint32_t i,
                                                       SealedSeries& sealed, SealJob& job,
                                                       Opened& opened) {
  if (sealed.series != burst.series_index(i)) sealed = SealedSeriesAt(burst, i);
  if (!sealed.is_here) return false;
  const uint32_t bytes = burst.ExcludeRcrc(i);
  errors_[i] = SealError::kNone;
  if (sealed.peer == nullptr) return false;
  opened.peer = sealed.peer;
  opened.counters = sealed.counters;
  opened.frame = i;
  errors_[i] = opened.peer->Prepare(burst.pdu(i), bytes, sealed.path, job, opened.opening);
  if (!sealed.Takes(opened.opening.shim) && errors_[i] == SealError::kNone) [[unlikely]] {
    // Some control PDUs are accepted on any plane; their type can be read only after opening.
    if (burst.rh(i).ver() == SealedVersion(0)) errors_[i] = SealError::kPlane;
    strays_ |= uint64_t{1} << i;
  }
  return errors_[i] == SealError::kNone;
}

[[gnu::noinline]] void SealOpener::Open(ReceivedBurst& burst) {
  uint32_t count = 0;
  hello_forms_ = 0;
  strays_ = 0;
  SealedSeries sealed;
  for (uint32_t i = 0; i < burst.count(); ++i) {
    if (Prepare(burst, i, sealed, jobs_[count], opened_[count])) ++count;
  }
  if (count == 0) return;
  lcore_.crypto->Open({jobs_.data(), count});
  LastOpened last;
  for (uint32_t n = 0; n < count; ++n) {
    const Opened& one = opened_[n];
    const SealError error = one.peer->Finish(jobs_[n], one.opening);
    errors_[one.frame] = error;
    if (error != SealError::kNone) continue;
    one.counters->Add(Counter::kRxSealed);
    TakeOpened(burst, one.frame, one.opening.shim, jobs_[n].text_bytes - kRcrcBytes + kRhBytes,
               last);
  }
}

// Frame i is authentic: writes its plain RH in front of its commands, over the shim. `bytes`: of
// the plain PDU without its R-CRC.
void SealOpener::TakeOpened(ReceivedBurst& burst, uint32_t i, const SealShim& shim, uint32_t bytes,
                            LastOpened& last) {
  uint8_t* const sealed = burst.pdu(i);
  uint8_t* const plain = sealed + shim.bytes();
  CopyRh(sealed, plain, OpenedVersion(burst.rh(i).ver()));
  burst.SetOpened(i, plain, bytes);
  if (shim.hello) hello_forms_ |= uint64_t{1} << i;
  if (burst.series_index(i) != last.sealed) {
    last.sealed = burst.series_index(i);
    last.plain = burst.AddOpenedSeries(i);
  }
  burst.SetSeries(i, last.plain);
}

bool SealOpener::FitsForm(const ReceivedBurst& burst, uint32_t i, SealedPeer& peer,
                          const ControlMessage& message) const {
  const auto* hello = std::get_if<Hello>(&message);
  if (!burst.series(i).opened()) {
    if (hello != nullptr) peer.OnPlainHello();
    return true;
  }
  const bool is_hello_form = (hello_forms_ >> i & 1) != 0;
  if ((hello != nullptr) != is_hello_form) return false;
  // The RH has overwritten only the end of the shim, behind its identity.
  return hello == nullptr ||
         LoadBe64(burst.CommandsAt(i) - kHelloShimBytes + 2) == hello->identities.own;
}

}  // namespace suede
