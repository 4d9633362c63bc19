// SPDX-License-Identifier: Apache-2.0
// Capture files, by libpcap: reads pcap and pcapng, writes pcap with nanoseconds.
#ifndef SUEDE_SUEDECTL_FRAME_CAPTURE_H_
#define SUEDE_SUEDECTL_FRAME_CAPTURE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pcap;
struct pcap_dumper;

namespace suede::ctl {

struct CapturedFrame {
  std::span<const uint8_t> bytes;   // valid until the next call of Next
  uint32_t wire_bytes = 0;          // length on the wire; larger where the capture is truncated
  std::optional<uint64_t> time_ns;  // since 1970; nullopt: out of range
  std::string comment;              // of a pcapng file; empty: none
};

// Readers and writers do not own their files.
class CaptureReader {
 public:
  ~CaptureReader();
  CaptureReader(CaptureReader&& other) noexcept;
  static absl::StatusOr<CaptureReader> Open(FILE* file);
  // Reads the next frame; nullopt at the end of the capture.
  absl::StatusOr<std::optional<CapturedFrame>> Next();

 private:
  struct Close {
    void operator()(pcap* capture) const;
  };
  struct Source;
  CaptureReader(std::unique_ptr<Source> source, pcap* capture);
  std::unique_ptr<Source> source_;  // outlives capture_
  std::unique_ptr<pcap, Close> capture_;
};

class CaptureWriter {
 public:
  static absl::StatusOr<CaptureWriter> Create(FILE* file);
  void Write(std::span<const uint8_t> bytes, uint64_t time_ns);
  // Flushes to the file. A failed write sets the file's error flag.
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
