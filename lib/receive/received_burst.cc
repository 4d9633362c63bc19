// SPDX-License-Identifier: Apache-2.0
#include "receive/received_burst.h"

#include <algorithm>
#include <bit>
#include <new>

namespace suede {
namespace {

constexpr uint32_t kLineBytes = 64;  // of the cache
// Bytes checked together: so many short PDUs that none waits for the products of another, and so
// few long PDUs that the L1 cache still holds their bytes when they are delivered.
constexpr uint32_t kRcrcsBytes = 4096;

}  // namespace

void ReceivedBurst::Clear() {
  next_ = 0;
  count_ = 0;
  rcrcs_end_ = 0;
  series_count_ = 0;
  marks_ = 0;
  versions_ = 0;
}

uint64_t ReceivedBurst::Parse(PortContext& port, Frame* const* frames, uint32_t count) {
  Clear();
  frames_ = frames;
  count_ = count;
  for (uint32_t i = 0; i < count; ++i) {
    __builtin_prefetch(frames[i]->data);
    __builtin_prefetch(frames[i]->data + kLineBytes);
  }
  const FrameRules& rules = port.params.rules;
  udp4::Headers headers;
  uint32_t headers_series = 0;  // of the frame that has them,
  uint64_t headers_flow = 0;    // and the part of its flow that they contain
  uint32_t last = kNoSeries;
  uint64_t bytes = 0;
  ParsedFrame parsed;
  for (uint32_t i = 0; i < count_; ++i) {
    Frame* const frame = frames_[i];
    bytes += frame->length;
    const bool trusted = frame->rx_checksum == ChecksumState::kGood;
    if (headers.AreOf(frame->data, frame->length, trusted)) [[likely]] {
      const uint8_t* pdu = frame->data + headers.pdu_at();
      const RhWord rh(pdu);
      const Series& same = series_[headers_series];
      const uint64_t flow = rh.Flow() | headers_flow;
      if (flow != same.flow) [[unlikely]]
        headers_series = AddSeries(same.source, same.destination, flow);
      last = headers_series;
      Note(i, last, rh, pdu, headers.pdu_bytes());
      continue;
    }
    if (ParseInPlace(rules, frame->data, frame->length, trusted, parsed)) [[likely]] {
      last = NoteParsed(i, last, parsed);
      headers.Keep(frame->data, frame->length, trusted, parsed);
      headers_series = last;
      headers_flow = MarkOf(parsed) | parsed.session;
    } else {
      last = ParseOther(port, i, last, trusted);
    }
  }
  has_marks_ = (marks_ & kMarked) == kMarked;
  Locate(port);
  if (port.link.handover().is_shared()) [[unlikely]]
    PassOver();
  return bytes;
}

// Looks up the destinations: in a row, so that no lookup waits for another.
[[gnu::noinline]] void ReceivedBurst::Locate(PortContext& port) {
  for (uint32_t index = 0; index < series_count_; ++index) {
    const Series& series = series_[index];
    if (series.error() == FrameError::kNone) [[likely]]
      places_[index] = port.LocationOf(series.destination);
  }
}

// Notes a frame that was parsed. Returns its series; `last` is that of the frame before it.
[[gnu::always_inline]] inline uint32_t ReceivedBurst::NoteParsed(uint32_t i, uint32_t last,
                                                                 const ParsedFrame& parsed) {
  const RhWord rh(parsed.pdu);
  const uint64_t flow = rh.Flow() | MarkOf(parsed) | parsed.session;
  if (last == kNoSeries || !series_[last].Has(parsed, flow)) {
    last = AddSeries(parsed.source, parsed.destination, flow);
  }
  Note(i, last, rh, parsed.pdu, parsed.pdu_bytes);
  return last;
}

// Parses a frame that ParseInPlace has left. Returns its series.
[[gnu::noinline]] uint32_t ReceivedBurst::ParseOther(PortContext& port, uint32_t i, uint32_t last,
                                                     bool trusted) {
  Frame* const frame = frames_[i];
  const ParsedFrame parsed = ParseFrame(port.params.rules, frame->data, frame->length, trusted);
  if (parsed.error != FrameError::kNone) {
    const uint32_t series = AddSeries({}, {}, static_cast<uint64_t>(parsed.error) << kErrorBit);
    spans_[i] = {.data = frame->data};
    series_of_[i] = static_cast<uint8_t>(series);
    return series;
  }
  // For RestoreFrame, if the frame is another lcore's.
  if (port.link.handover().is_shared()) new (frame->notes) ParsedFrame(parsed);
  return NoteParsed(i, last, parsed);
}

// Skips the R-CRCs of other lcores' frames on a shared port: the receiving lcore checks them.
[[gnu::noinline]] void ReceivedBurst::PassOver() {
  uint32_t last = kNoSeries;
  bool passes = false;
  for (uint32_t i = 0; i < count_; ++i) {
    if (series_of_[i] != last) {
      last = series_of_[i];
      const Series& series = series_[last];
      passes = series.error() == FrameError::kNone &&
               places_[last].instance >= PortContext::Location::kElsewhere;
    }
    if (passes) spans_[i].bytes = 0;
  }
}

uint32_t ReceivedBurst::AddOpenedSeries(uint32_t i) {
  constexpr uint64_t kVersions = uint64_t{3} << kVersionBit;
  const Series& sealed = series(i);
  const uint64_t flow =
      (sealed.flow & ~kVersions) | (rhs_[i].Flow() & kVersions) | uint64_t{1} << kOpenedBit;
  const PortContext::Location at = place(i);
  const uint32_t opened = AddSeries(sealed.source, sealed.destination, flow);
  places_[opened] = at;
  return opened;
}

// Computes the R-CRCs of the next PDUs: as many as make up kRcrcsBytes if all are as long as the
// first.
[[gnu::noinline]] void ReceivedBurst::ComputeRcrcs() {
  const uint32_t first = rcrcs_end_;
  const uint32_t some = std::max(kRcrcsBytes >> std::bit_width(spans_[first].bytes), 1u);
  rcrcs_end_ = std::min(first + some, count_);
  Rcrcs(spans_.data() + first, rcrcs_end_ - first);
}

}  // namespace suede
