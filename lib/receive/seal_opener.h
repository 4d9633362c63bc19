// SPDX-License-Identifier: Apache-2.0
// Opens the sealed PDUs of a burst (docs/sealing.md), all together, in place, between parsing and
// the check of the R-CRC; afterwards they are like plain PDUs. Owned by the lcore.
#ifndef SUEDE_RECEIVE_SEAL_OPENER_H_
#define SUEDE_RECEIVE_SEAL_OPENER_H_

#include <array>
#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "receive/received_burst.h"
#include "seal/sealed_peer.h"
#include "wire/control_pdu.h"

namespace suede {

class SealOpener {
 public:
  explicit SealOpener(Lcore& lcore) : lcore_(lcore) {}

  void Open(ReceivedBurst& burst);

  // Facts about frame i of the burst that was opened last.
  // Why a PDU of a sealed version was not opened.
  SealError error(uint32_t i) const { return errors_[i]; }
  // Whether the PDU was sealed, and is of a stream of another plane.
  bool IsStray(const ReceivedBurst& burst, uint32_t i) const {
    return (strays_ >> i & 1) != 0 && burst.series(i).opened();
  }
  // Returns whether a control PDU of the peer has the right sealed form: HELLOs have a form of
  // their own, which names their sender.
  bool FitsForm(const ReceivedBurst& burst, uint32_t i, SealedPeer& peer,
                const ControlMessage& message) const;

 private:
  static constexpr uint32_t kMaxFrames = ReceivedBurst::kMaxFrames;

  // Facts about the sealed PDUs of a series, whose frames agree in all of them.
  struct SealedSeries {
    uint32_t series = ReceivedBurst::kNoSeries;
    bool is_here = false;        // for an instance of this lcore
    SealedPeer* peer = nullptr;  // null: no peer that seals sent them
    CounterBlock* counters = nullptr;
    SealPathBytes path;
    // Streams that may arrive on the plane: `stream_count`, from `first_stream` on.
    uint8_t first_stream = 0;
    uint8_t stream_count = kSealStreams;
    bool Takes(const SealShim& shim) const {
      return static_cast<uint8_t>(shim.number.stream() - first_stream) < stream_count || shim.hello;
    }
  };
  // A sealed PDU that is being opened.
  struct Opened {
    SealedPeer* peer = nullptr;
    CounterBlock* counters = nullptr;
    uint32_t frame = 0;  // of the burst
    SealedPeer::Opening opening;
  };
  // The series of the PDU that was opened before, and the series that it became.
  struct LastOpened {
    uint32_t sealed = ReceivedBurst::kNoSeries;
    uint32_t plain = ReceivedBurst::kNoSeries;
  };

  SealedSeries SealedSeriesAt(const ReceivedBurst& burst, uint32_t i) const;
  bool Prepare(ReceivedBurst& burst, uint32_t i, SealedSeries& sealed, SealJob& job,
               Opened& opened);
  void TakeOpened(ReceivedBurst& burst, uint32_t i, const SealShim& shim, uint32_t bytes,
                  LastOpened& last);

  Lcore& lcore_;
  std::array<SealError, kMaxFrames> errors_{};
  uint64_t hello_forms_ = 0;  // a bit for each opened PDU in the form of a HELLO
  uint64_t strays_ = 0;       // a bit for each control PDU of a stream of another plane
  // Used by Open only: members, as local variables would have to be cleared for each burst.
  std::array<SealJob, kMaxFrames> jobs_;
  std::array<Opened, kMaxFrames> opened_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_SEAL_OPENER_H_
