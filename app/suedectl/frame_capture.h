// SPDX-License-Identifier: Apache-2.0
// Capture files, read and written by libpcap: pcap and pcapng in, pcap with nanoseconds out.
#ifndef SUEDE_SUEDECTL_FRAME_CAPTURE_H_
#define SUEDE_SUEDECTL_FRAME_CAPTURE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pcap;
struct pcap_dumper;

namespace suede::ctl {

struct CapturedFrame {
  std::span<const uint8_t> bytes;   // valid until the next one is read
  uint32_t wire_bytes = 0;          // more than there are bytes where the capture cut the frame
  std::optional<uint64_t> time_ns;  // since 1970, where that can be said
};

// Neither takes over its file.
class CaptureReader {
 public:
  static absl::StatusOr<CaptureReader> Open(FILE* file);
  // No frame: the capture has ended.
  absl::StatusOr<std::optional<CapturedFrame>> Next();

 private:
  struct Close {
    void operator()(pcap* capture) const;
  };
  explicit CaptureReader(pcap* capture) : capture_(capture) {}
  std::unique_ptr<pcap, Close> capture_;
};

class CaptureWriter {
 public:
  static absl::StatusOr<CaptureWriter> Create(FILE* file);
  void Write(std::span<const uint8_t> bytes, uint64_t time_ns);
  // Brings everything to the file, whose error flag shows a write that failed.
  void Flush();

 private:
  struct Close {
    void operator()(pcap* capture) const;
    void operator()(pcap_dumper* dumper) const;
  };
  CaptureWriter(pcap* capture, pcap_dumper* dumper) : capture_(capture), dumper_(dumper) {}
  std::unique_ptr<pcap, Close> capture_;
  std::unique_ptr<pcap_dumper, Close> dumper_;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_CAPTURE_H_
