// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_capture.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <utility>

#include "suedectl/frame_comments.h"
#include "suedectl/frame_description.h"
#include "suedectl/frame_text.h"

namespace suede::ctl {
namespace {

constexpr uint64_t kNsPerSecond = 1000000000;
constexpr uint64_t kMaxSeconds = 0x7fffffff;  // libpcap reads seconds as signed 32 bits

ssize_t WriteCookie(void* cookie, const char* from, size_t bytes) {
  return static_cast<ssize_t>(std::fwrite(from, 1, bytes, static_cast<FILE*>(cookie)));
}

std::optional<uint64_t> TimeOf(const timeval& time) {
  // With PCAP_TSTAMP_PRECISION_NANO, tv_usec counts nanoseconds.
  if (time.tv_sec < 0 || static_cast<uint64_t>(time.tv_sec) > kMaxSeconds) return std::nullopt;
  if (time.tv_usec < 0 || static_cast<uint64_t>(time.tv_usec) >= kNsPerSecond) return std::nullopt;
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_usec);
}

}  // namespace

// The file that libpcap reads, and the comments that it has passed over.
struct CaptureReader::Source {
  FILE* file = nullptr;
  PacketComments comments;

  static ssize_t Read(void* cookie, char* to, size_t bytes) {
    auto* const source = static_cast<Source*>(cookie);
    const size_t got = std::fread(to, 1, bytes, source->file);
    source->comments.Take({to, got});
    return got == 0 && std::ferror(source->file) != 0 ? -1 : static_cast<ssize_t>(got);
  }
};

CaptureReader::CaptureReader(std::unique_ptr<Source> source, pcap* capture)
    : source_(std::move(source)), capture_(capture) {}
CaptureReader::CaptureReader(CaptureReader&& other) noexcept = default;
CaptureReader::~CaptureReader() = default;

void CaptureReader::Close::operator()(pcap* capture) const { pcap_close(capture); }
void CaptureWriter::Close::operator()(pcap* capture) const { pcap_close(capture); }
void CaptureWriter::Close::operator()(pcap_dumper* dumper) const { pcap_dump_close(dumper); }

absl::StatusOr<CaptureReader> CaptureReader::Open(FILE* file) {
  auto source = std::make_unique<Source>(Source{.file = file, .comments = {}});
  // (libpcap closes the stream that it gets; that leaves `file` open.)
  FILE* lent =
      fopencookie(source.get(), "r",
                  {.read = Source::Read, .write = nullptr, .seek = nullptr, .close = nullptr});
  if (lent == nullptr) return absl::ErrnoToStatus(errno, "cannot read a capture");
  char message[PCAP_ERRBUF_SIZE] = "";
  pcap* capture =
      pcap_fopen_offline_with_tstamp_precision(lent, PCAP_TSTAMP_PRECISION_NANO, message);
  if (capture == nullptr) {
    std::fclose(lent);
    return Wrong("not a capture: ", message);
  }
  CaptureReader reader(std::move(source), capture);
  const int link = pcap_datalink(capture);
  if (link != DLT_EN10MB) {
    const char* name = pcap_datalink_val_to_name(link);
    return Wrong("a capture of link type ", name != nullptr ? name : StrCat(link),
                 "; Ethernet (EN10MB) is read");
  }
  return reader;
}

absl::StatusOr<std::optional<CapturedFrame>> CaptureReader::Next() {
  pcap_pkthdr* head = nullptr;
  const uint8_t* bytes = nullptr;
  switch (pcap_next_ex(capture_.get(), &head, &bytes)) {
    case 1:
      break;
    case PCAP_ERROR_BREAK:
      return std::nullopt;
    default:
      return Wrong(pcap_geterr(capture_.get()));
  }
  return CapturedFrame{.bytes = {bytes, head->caplen},
                       .wire_bytes = head->len,
                       .time_ns = TimeOf(head->ts),
                       .comment = source_->comments.Next()};
}

absl::StatusOr<CaptureWriter> CaptureWriter::Create(FILE* file) {
  FILE* lent = fopencookie(
      file, "w", {.read = nullptr, .write = WriteCookie, .seek = nullptr, .close = nullptr});
  if (lent == nullptr) return absl::ErrnoToStatus(errno, "cannot write a capture");
  pcap* capture =
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kMaxFrameBytes, PCAP_TSTAMP_PRECISION_NANO);
  if (capture == nullptr) {
    std::fclose(lent);
    return absl::ResourceExhaustedError("cannot write a capture: no memory");
  }
  pcap_dumper* dumper = pcap_dump_fopen(capture, lent);
  if (dumper == nullptr) {
    const absl::Status status = absl::UnknownError(pcap_geterr(capture));
    pcap_close(capture);
    return status;
  }
  return CaptureWriter(capture, dumper);
}

void CaptureWriter::Write(std::span<const uint8_t> bytes, uint64_t time_ns) {
  pcap_pkthdr head = {};
  head.ts.tv_sec = static_cast<time_t>(time_ns / kNsPerSecond);
  head.ts.tv_usec = static_cast<suseconds_t>(time_ns % kNsPerSecond);
  head.caplen = head.len = static_cast<uint32_t>(bytes.size());
  pcap_dump(reinterpret_cast<uint8_t*>(dumper_.get()), &head, bytes.data());
}

void CaptureWriter::Flush() { pcap_dump_flush(dumper_.get()); }

}  // namespace suede::ctl
