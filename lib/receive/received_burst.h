// SPDX-License-Identifier: Apache-2.0
// The frames of one burst, parsed: their RHs, the bytes that their R-CRCs cover, and series of
// frames that agree in all fields that are checked. Owned by the lcore.
#ifndef SUEDE_RECEIVE_RECEIVED_BURST_H_
#define SUEDE_RECEIVE_RECEIVED_BURST_H_

#include <array>
#include <cstdint>

#include "lcore/port_context.h"
#include "port/frame.h"
#include "seal/shim.h"
#include "wire/encap.h"
#include "wire/rcrc.h"
#include "wire/rh.h"

namespace suede {

class ReceivedBurst {
 public:
  static constexpr uint32_t kMaxFrames = 2 * kBurst;
  static constexpr uint32_t kNoSeries = ~0u;

  // Bits of a flow that the RH's flow does not use (the places of PSN and RPSN): the number of the
  // session, the ECN field, and the error of a frame that is not SUE's, which no other flow has.
  static constexpr int kVersionBit = 62;  // of the RH: not 0 if the frame is no data PDU
  static constexpr int kMarkBit = 32;
  static constexpr int kOpenedBit = 34;  // the PDU was sealed, and is authentic
  static constexpr int kErrorBit = 36;
  static constexpr uint64_t kMarked = uint64_t{3} << kMarkBit;
  static constexpr uint64_t kErrorMask = 0xf;
  static_assert(kFrameErrorNames.size() <= kErrorMask + 1);

  // Successive frames of a burst that agree in all checked fields, or a frame with an error.
  struct Series {
    NetAddress source;
    NetAddress destination;
    uint64_t flow = 0;  // of the RH, and the bits above
    bool Has(const ParsedFrame& parsed, uint64_t its_flow) const {
      return ((its_flow ^ flow) | Differs(parsed.source, source) |
              Differs(parsed.destination, destination)) == 0;
    }
    FrameError error() const { return static_cast<FrameError>(flow >> kErrorBit & kErrorMask); }
    bool opened() const { return (flow >> kOpenedBit & 1) != 0; }
    bool marked() const { return (flow & kMarked) == kMarked; }
    uint16_t session() const { return static_cast<uint16_t>(flow); }
    static uint64_t Differs(const NetAddress& a, const NetAddress& b) {
      return (a.high ^ b.high) | (a.low ^ b.low);
    }
  };

  // Removes all frames.
  void Clear();
  // Parses the frames of a port, at most kMaxFrames, in place of those before; the array must live
  // as long as the burst. Returns their bytes.
  uint64_t Parse(PortContext& port, Frame* const* frames, uint32_t count);

  uint32_t count() const { return count_; }
  bool has_next() const { return next_ != count_; }
  // Returns the index of the next frame, and computes its R-CRC.
  uint32_t Next() {
    if (next_ == rcrcs_end_) [[unlikely]]
      ComputeRcrcs();
    return next_++;
  }
  // Whether some frames are sealed.
  bool has_sealed() const { return versions_ >> (kVersionBit + 1) != 0; }
  // Whether the frames belong to many series.
  bool is_mixed() const { return 2 * series_count_ > count_ && count_ > 4; }
  // Whether some frames may be marked.
  bool has_marks() const { return has_marks_; }

  // Frame i of the burst.
  Frame* frame(uint32_t i) const { return frames_[i]; }
  RhWord rh(uint32_t i) const { return rhs_[i]; }
  uint32_t series_index(uint32_t i) const { return series_of_[i]; }
  const Series& series(uint32_t i) const { return series_[series_of_[i]]; }
  const Series& SeriesAt(uint32_t index) const { return series_[index]; }
  // The place of its destination; not set with an error.
  const PortContext::Location& place(uint32_t i) const { return places_[series_of_[i]]; }
  // Whether the R-CRC is right, or is not to be checked.
  bool RcrcIsGood(uint32_t i) const { return RcrcGood(spans_[i]); }
  const uint8_t* CommandsAt(uint32_t i) const { return spans_[i].data + kRhBytes; }
  // Bytes from CommandsAt up to the R-CRC.
  uint32_t CommandBytesAt(uint32_t i) const { return spans_[i].bytes - kRhBytes; }

  // For sealed PDUs (SealOpener).
  // The RH of the PDU and what follows it. The frame is ours: its bytes may be changed.
  uint8_t* pdu(uint32_t i) const { return const_cast<uint8_t*>(spans_[i].data); }
  // Excludes the PDU, which has no R-CRC, from the check. Returns its bytes.
  uint32_t ExcludeRcrc(uint32_t i) {
    const uint32_t bytes = spans_[i].bytes + kRcrcBytes;
    spans_[i].bytes = 0;
    return bytes;
  }
  // Replaces the sealed PDU by the plain PDU at `plain`: `bytes` bytes without the R-CRC.
  void SetOpened(uint32_t i, uint8_t* plain, uint32_t bytes) {
    spans_[i].data = plain;
    spans_[i].bytes = bytes;
    rhs_[i] = RhWord(plain);
  }
  // Adds the series that a sealed series becomes, with the version of the opened frame i.
  uint32_t AddOpenedSeries(uint32_t i);
  void SetSeries(uint32_t i, uint32_t index) { series_of_[i] = static_cast<uint8_t>(index); }

 private:
  // Series of the burst as received, and of PDUs that were opened.
  static constexpr uint32_t kMaxSeries = 2 * kMaxFrames;

  static uint64_t MarkOf(const ParsedFrame& parsed) { return uint64_t{parsed.ecn} << kMarkBit; }
  uint32_t AddSeries(const NetAddress& source, const NetAddress& destination, uint64_t flow) {
    Series& series = series_[series_count_];
    series.source = source;
    series.destination = destination;
    series.flow = flow;
    marks_ |= flow;
    versions_ |= flow ^ flow << 1;
    return series_count_++;
  }
  void Note(uint32_t i, uint32_t series, RhWord rh, const uint8_t* pdu, uint32_t pdu_bytes) {
    series_of_[i] = static_cast<uint8_t>(series);
    rhs_[i] = rh;
    spans_[i].data = pdu;
    spans_[i].bytes = pdu_bytes - kRcrcBytes;
  }
  uint32_t NoteParsed(uint32_t i, uint32_t last, const ParsedFrame& parsed);
  uint32_t ParseOther(PortContext& port, uint32_t i, uint32_t last, bool trusted);
  void Locate(PortContext& port);
  void PassOver();
  void ComputeRcrcs();

  uint64_t versions_ = 0;   // the highest bit: some frames are sealed
  uint64_t marks_ = 0;      // kMarked: ECN fields of the frames,
  bool has_marks_ = false;  // and whether some of them may be marked
  Frame* const* frames_ = nullptr;
  uint32_t next_ = 0;  // frames [next_, count_) are left
  uint32_t count_ = 0;
  uint32_t rcrcs_end_ = 0;  // the R-CRCs of the frames before this index are computed
  uint32_t series_count_ = 0;
  std::array<RcrcSpan, kMaxFrames> spans_;  // of 0 bytes if there is no R-CRC to check
  std::array<RhWord, kMaxFrames> rhs_;
  std::array<uint8_t, kMaxFrames> series_of_;
  std::array<Series, kMaxSeries> series_;
  std::array<PortContext::Location, kMaxSeries> places_;  // of the series' destinations
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVED_BURST_H_
