// SPDX-License-Identifier: Apache-2.0
// A copy of the frames that a port sends and receives, as a pcapng file: for devices where
// dpdk-dumpcap, which needs hugepages that two processes share, does not come in.
//
// The lcore copies each frame of a burst into a ring; the control thread writes them down. A ring
// or pool that is full costs the copy, and is counted, never the frame.
#ifndef SUEDE_DPDK_CAPTURE_H_
#define SUEDE_DPDK_CAPTURE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace suede {

class DpdkPort;

struct CaptureOptions {
  uint32_t snap_bytes = 9728;  // of a frame that are kept
  uint32_t frames = 2048;      // that wait to be written, at most
};

struct CaptureStats {
  uint64_t written = 0;  // frames
  uint64_t dropped = 0;  // frames that found no room
};

// Control thread.
class Capture {
 public:
  // Begins to capture `port`, which must outlive the capture, to `file_descriptor`, a regular file
  // open for writing. Takes the descriptor over, in case of an error too.
  static absl::StatusOr<std::unique_ptr<Capture>> Start(DpdkPort& port, int file_descriptor,
                                                        const CaptureOptions& options);
  // Ends it: frames that wait are written still, and the file closed.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Writes frames that wait; every 10 ms or so. An error: the file cannot be written.
  absl::Status Drain();
  CaptureStats stats() const;
  const DpdkPort& port() const;

  struct State;  // the part that the lcore sees

 private:
  explicit Capture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace suede

#endif  // SUEDE_DPDK_CAPTURE_H_
