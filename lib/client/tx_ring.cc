// SPDX-License-Identifier: Apache-2.0
#include "client/tx_ring.h"

#include <algorithm>
#include <array>

#include "base/line_counts.h"

namespace suede {
namespace {

// Distance of the prefetch ahead of the present record.
constexpr uint32_t kPrefetchLines = 6;

// The bits of a record's first word that are 0 for every valid VC and XPU.
constexpr uint32_t kNoVc = 0xff & ~(kVcCount - 1);
constexpr uint32_t kNoXpu = 0xffff & ~(kMaxXpus - 1);
constexpr uint64_t kAddressMustBeZero = uint64_t{kNoVc} << 8 | uint64_t{kNoXpu} << 16;

// The meaning of D and L, the low five bits of a type byte, for a command (wire profile §3).
struct TypeRow {
  uint16_t control_bytes = 0;
  uint16_t data_mask = 0;      // of the data length that the second byte declares
  uint16_t kind = 0x100;       // of a record with such a command; 0x100: invalid
  uint16_t unused = 0;
};
constexpr auto kTypes = [] {
  std::array<TypeRow, 32> rows;
  for (uint16_t units = 1; units <= kMaxControlBytes / 2; ++units) {
    const auto control_bytes = static_cast<uint16_t>(2 * units);
    rows[units] = {control_bytes, 0, SUEDE_KIND_COMMAND, 0};
    rows[units | 0x10] = {control_bytes, 0x1ff, SUEDE_KIND_COMMAND_DATA, 0};
  }
  return rows;
}();

// Bits of the flags in a record's second word that need a check before the command is packed; and
// undefined bits.
constexpr uint64_t kUnusualFlags =
    uint64_t{0xff & ~(SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION)} << 32;
constexpr uint64_t kUnknownFlags = kUnusualFlags & ~(uint64_t{SUEDE_RECORD_ERROR} << 32);

// Classifies an unusual record: malformed, marked, or with unknown flags.
[[gnu::cold, gnu::noinline]] void Classify(bool malformed, TxRecord* record) {
  record->word1 &= ~kUnknownFlags;
  if (malformed || (record->word0 & kAddressMustBeZero) != 0) {
    record->word0 &= ~kAddressMustBeZero;
    record->verdict = RecordVerdict::kMalformed;
    record->lines = 1;
    record->bytes = 0;
  } else if ((record->flags() & SUEDE_RECORD_ERROR) != 0) {
    record->verdict = RecordVerdict::kErrorMark;
  }
}

// Fills `record` from the first two words of a line, each read once, and classifies it. `room`:
// lines up to the ring's end or the published head, whichever is first.
inline void ReadRecord(const uint8_t* line, uint64_t word0, uint64_t word1, uint32_t room,
                       TxRecord* record) {
  const TypeRow& row = kTypes[word1 >> 48 & 0x1f];
  const uint32_t bytes =
      row.control_bytes + ((static_cast<uint32_t>(word1 >> 56) + 1) & row.data_mask);
  const uint32_t lines = (SUEDE_RECORD_CONTROL + bytes + SUEDE_LINE_BYTES - 1) / SUEDE_LINE_BYTES;
  record->line = line;
  record->word0 = word0;
  record->word1 = word1;
  record->bytes = static_cast<uint16_t>(bytes);
  record->lines = static_cast<uint8_t>(lines);
  record->verdict = RecordVerdict::kCommand;
  // Bitwise: one branch, rarely taken, instead of six.
  const uint64_t unusual = (word0 & kAddressMustBeZero) | ((word0 & 0xff) ^ row.kind) |
                           (word1 & kUnusualFlags);
  if (unusual != 0 || lines > room) [[unlikely]] {
    Classify(lines > room || (word0 & 0xff) != row.kind, record);
  }
}

// Whether a record may begin a run: a command without a tag.
inline bool MayRun(const TxRecord& record) {
  return record.verdict == RecordVerdict::kCommand &&
         (record.flags() & SUEDE_RECORD_COMPLETION) == 0;
}

static_assert(kMaxRecordLines == SUEDE_MAX_RECORD_LINES);

// Counts the records from `first` on that are like it, with equal checked words: max `most` records
// in `lines` lines.
inline uint32_t CountAlike(const TxRecord& first, uint32_t most, uint32_t lines) {
  const uint32_t stride = first.lines * SUEDE_LINE_BYTES;
  const uint8_t* line = first.line + stride;
  const auto differs = [&first](const uint8_t* at) {
    return (LoadRecordWord(at) ^ first.word0) << 32 | (LoadRecordWord(at + 8) ^ first.word1) >> 32;
  };
  if (most == 1 || 2u * first.lines > lines || differs(line) != 0) return 1;
  most = std::min(most, RecordsIn(lines, first.lines));
  line += stride;
  uint32_t left = most - 2;
  for (; left >= 2; left -= 2, line += 2 * size_t{stride}) {
    if ((differs(line) | differs(line + stride)) != 0) break;
    __builtin_prefetch(line + kPrefetchLines * SUEDE_LINE_BYTES);
    __builtin_prefetch(line + stride + kPrefetchLines * SUEDE_LINE_BYTES);
  }
  for (; left != 0 && differs(line) == 0; --left) line += stride;
  return most - left;
}

}  // namespace

TxRingReader::TxRingReader(void* segment, const SegmentShape& shape, uint32_t queue)
    : line_count_(shape.tx_lines) {
  const uint64_t offset = SegmentOffsets(shape).tx_ring[queue];
  ring_ = AtOffset<suede_ring>(segment, offset);
  lines_ = AtOffset<uint8_t>(segment, offset + sizeof(suede_ring));
}

uint32_t TxRingReader::Available(uint32_t max) {
  uint32_t available = head_ - taken_;
  if (available >= max) return available;
  const uint32_t head = LoadAcquire(ring_->head.value);
  if (head - released_ > line_count_ || head - released_ < taken_ - released_) {
    broken_ = true;
    return 0;
  }
  head_ = head;
  return head_ - taken_;
}

uint32_t TxRingReader::Poll(TxRecord* runs, uint32_t max) {
  if (broken_) return 0;
  uint32_t available = Available(max);
  const uint32_t line_count = line_count_;
  const uint32_t mask = line_count - 1;
  const uint8_t* const lines = lines_;
  uint32_t taken = taken_;
  uint32_t count = 0;
  while (max != 0 && available != 0) {
    const uint32_t index = taken & mask;
    const uint8_t* line = lines + size_t{index} * SUEDE_LINE_BYTES;
    // Lines not published yet stay in the client's cache.
    if (available > kPrefetchLines) {
      __builtin_prefetch(lines + size_t{(taken + kPrefetchLines) & mask} * SUEDE_LINE_BYTES);
    }
    const uint64_t word0 = LoadRecordWord(line);
    const uint64_t word1 = LoadRecordWord(line + 8);
    const uint32_t to_end = line_count - index;
    if ((word0 & 0xff) == SUEDE_KIND_NONE) [[unlikely]] {
      if (index != 0 && to_end <= available) {
        taken += to_end;
        available -= to_end;
        continue;
      }
    }
    const uint32_t room = std::min(to_end, available);
    TxRecord* run = &runs[count++];
    ReadRecord(line, word0, word1, room, run);
    uint32_t records = 1;
    if (MayRun(*run)) records = CountAlike(*run, max, room);
    run->count = static_cast<uint16_t>(records);
    const uint32_t run_lines = records * run->lines;
    taken += run_lines;
    available -= run_lines;
    max -= records;
  }
  taken_ = taken;
  return count;
}

void TxRingReader::Restart() {
  head_ = taken_ = released_ = 0;
  broken_ = false;
  StoreRelease(ring_->head.value, 0);
  StoreRelease(ring_->tail.value, 0);
}

CreditWriter::CreditWriter(void* segment, const SegmentShape& shape, uint32_t queue)
    : credits_(AtOffset<suede_credits>(segment, SegmentOffsets(shape).credits[queue])),
      credit_lines_(shape.credit_lines),
      aggregate_lines_(shape.aggregate_lines),
      accounts_(size_t{SUEDE_XPUS} * SUEDE_VCS) {}

uint32_t CreditWriter::Take(uint16_t xpuid, uint8_t vc, uint32_t lines, uint32_t count) {
  Account& account = accounts_[size_t{xpuid} * SUEDE_VCS + vc];
  uint32_t all = lines * count;
  if (account.outstanding + all > credit_lines_ || aggregate_outstanding_ + all > aggregate_lines_)
      [[unlikely]] {
    count =
        std::min(credit_lines_ - account.outstanding, aggregate_lines_ - aggregate_outstanding_) /
        lines;
    all = lines * count;
  }
  account.outstanding += all;
  aggregate_outstanding_ += all;
  return count;
}

void CreditWriter::Return(uint16_t xpuid, uint8_t vc, uint32_t lines) {
  const size_t index = size_t{xpuid} * SUEDE_VCS + vc;
  Account& account = accounts_[index];
  if (lines > account.outstanding) lines = account.outstanding;
  if (lines == 0) return;
  account.outstanding -= lines;
  aggregate_outstanding_ -= lines;
  account.returned += lines;
  aggregate_returned_ += lines;
  StoreRelease(credits_->returned[index], account.returned);
  StoreRelease(credits_->aggregate_returned, aggregate_returned_);
}

void CreditWriter::Restart() {
  for (size_t i = 0; i < accounts_.size(); ++i) {
    Account& account = accounts_[i];
    account.returned = 0 - account.outstanding;
    StoreRelease(credits_->returned[i], account.returned);
  }
  aggregate_returned_ = 0 - aggregate_outstanding_;
  StoreRelease(credits_->aggregate_returned, aggregate_returned_);
}

CompletionWriter::CompletionWriter(void* segment, const SegmentShape& shape, uint32_t queue)
    : count_(shape.completion_count) {
  const uint64_t offset = SegmentOffsets(shape).completion_ring[queue];
  ring_ = AtOffset<suede_ring>(segment, offset);
  entries_ = AtOffset<suede_completion>(segment, offset + sizeof(suede_ring));
}

bool CompletionWriter::Push(uint64_t tag, uint16_t xpuid, uint8_t vc, uint8_t status) {
  if (head_ - tail_ == count_) {
    const uint32_t tail = LoadAcquire(ring_->tail.value);
    // The tail moves forward, and never past the published head.
    if (tail - tail_ > published_ - tail_ || tail == tail_) return false;
    tail_ = tail;
  }
  entries_[head_ & (count_ - 1)] =
      suede_completion{.tag = tag, .xpuid = xpuid, .vc = vc, .status = status, .reserved = 0};
  ++head_;
  return true;
}

}  // namespace suede
