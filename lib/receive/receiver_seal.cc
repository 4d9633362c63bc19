// SPDX-License-Identifier: Apache-2.0
// Receiver: sealed PDUs (docs/sealing.md). Opens all of a burst together, in place, between parsing
// and the check of the R-CRC; afterwards they are like plain PDUs.
#include <cstring>
#include <variant>

#include "receive/receiver.h"
#include "wire/rh.h"

namespace suede {
// Returns the facts about the sealed PDUs of frame i's series. They have no peer if their sender is
// not a peer of an instance here that seals.
Receiver::SealedSeries Receiver::SealedSeriesAt(PortContext& port, uint32_t i) {
  SealedSeries sealed{.series = series_of_[i]};
  const Series& series = series_[sealed.series];
  const RhWord rh = rhs_[i];
  if (series.error() != FrameError::kNone || !IsSealedVersion(rh.ver())) return sealed;
  const PortContext::Location place = port.LocationOf(series.destination);
  if (place.instance >= PortContext::Location::kElsewhere) return sealed;
  sealed.is_here = true;
  Instance& instance = *lcore_.instances[place.instance];
  if (!instance.seals() || rh.partition() != instance.params.partition) return sealed;
  const PeerIndex number(instance.peer_of_xpu[rh.xpuid()]);
  if (number == Instance::kNoPeer ||
      series.source != instance.sources[instance.map.PathAt(number, place.plane)]) {
    return sealed;
  }
  sealed.peer = &instance.SealOf(number);
  sealed.path = SealPathBytes(
      {.source = series.source, .destination = series.destination, .session = series.session()});
  sealed.counters = &instance.counters;
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
[[gnu::always_inline]] inline bool Receiver::PrepareToOpen(PortContext& port, uint32_t i,
                                                           SealedSeries& sealed, SealJob& job,
                                                           Opened& opened) {
  if (sealed.series != series_of_[i]) sealed = SealedSeriesAt(port, i);
  if (!sealed.is_here) return false;
  const uint32_t bytes = spans_[i].bytes + kRcrcBytes;
  spans_[i].bytes = 0;
  seal_errors_[i] = SealError::kNone;
  if (sealed.peer == nullptr) return false;
  opened.peer = sealed.peer;
  opened.counters = sealed.counters;
  opened.frame = i;
  // The frame is ours: its bytes may be changed.
  auto* const pdu = const_cast<uint8_t*>(spans_[i].data);
  seal_errors_[i] = opened.peer->Prepare(pdu, bytes, sealed.path, job, opened.opening);
  if (!sealed.Takes(opened.opening.shim) && seal_errors_[i] == SealError::kNone) [[unlikely]] {
    // Some control PDUs are accepted on any plane; their type can be read only after opening.
    if (rhs_[i].ver() == SealedVersion(0)) seal_errors_[i] = SealError::kPlane;
    strays_ |= uint64_t{1} << i;
  }
  return seal_errors_[i] == SealError::kNone;
}

[[gnu::noinline]] void Receiver::OpenSealed(PortContext& port) {
  uint32_t count = 0;
  hello_forms_ = 0;
  strays_ = 0;
  SealedSeries sealed;
  for (uint32_t i = 0; i < count_; ++i) {
    if (PrepareToOpen(port, i, sealed, openings_.jobs[count], openings_.of[count])) ++count;
  }
  if (count == 0) return;
  lcore_.crypto->Open({openings_.jobs.data(), count});
  uint32_t from = kNone;
  uint32_t to = kNone;
  for (uint32_t n = 0; n < count; ++n) {
    const Opened& one = openings_.of[n];
    const SealError error = one.peer->Finish(openings_.jobs[n], one.opening);
    seal_errors_[one.frame] = error;
    if (error != SealError::kNone) continue;
    one.counters->Add(Counter::kRxSealed);
    spans_[one.frame].bytes = openings_.jobs[n].text_bytes - kRcrcBytes + kRhBytes;
    TakeOpened(one.frame, one.opening.shim, from, to);
  }
}

// Frame i is authentic: writes its plain RH in front of its commands, over the shim. `from`, `to`:
// the series of the frame that was opened before, and the series that it became.
void Receiver::TakeOpened(uint32_t i, const SealShim& shim, uint32_t& from, uint32_t& to) {
  auto* const sealed = const_cast<uint8_t*>(spans_[i].data);
  uint8_t* const plain = sealed + shim.bytes();
  CopyRh(sealed, plain, OpenedVersion(rhs_[i].ver()));
  spans_[i].data = plain;
  rhs_[i] = RhWord(plain);
  if (shim.hello) hello_forms_ |= uint64_t{1} << i;
  if (series_of_[i] != from) {
    from = series_of_[i];
    const Series& series = series_[from];
    constexpr uint64_t kVersions = uint64_t{3} << kVersionBit;
    const uint64_t flow =
        (series.flow & ~kVersions) | (rhs_[i].Flow() & kVersions) | uint64_t{1} << kOpenedBit;
    to = AddSeries(series.source, series.destination, flow);
  }
  series_of_[i] = static_cast<uint8_t>(to);
}

// Returns whether a control PDU of a peer has the right sealed form: HELLOs have a form of their
// own, which names their sender.
bool Receiver::FitsForm(Instance& instance, uint32_t i, PeerIndex peer,
                        const ControlMessage& message) const {
  const auto* hello = std::get_if<Hello>(&message);
  if (!series_[series_of_[i]].opened()) {
    if (hello != nullptr) instance.sealed_peers[peer]->OnPlainHello();
    return true;
  }
  const bool is_hello_form = (hello_forms_ >> i & 1) != 0;
  if ((hello != nullptr) != is_hello_form) return false;
  // The RH has overwritten only the end of the shim, behind its identity.
  return hello == nullptr ||
         LoadBe64(spans_[i].data - kHelloShimBytes + kRhBytes + 2) == hello->identities.own;
}

}  // namespace suede
