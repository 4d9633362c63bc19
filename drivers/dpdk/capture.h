// SPDX-License-Identifier: Apache-2.0
// Captures the frames that a port sends and receives, or drops, as a pcapng file: for processes to
// which dpdk-dumpcap cannot attach, as it needs hugepages shared between two processes.
//
// The lcore copies each frame of a burst into a ring; the control thread writes the copies to the
// file. If the ring or the pool is exhausted, the copy is dropped and counted; the frame itself is
// never affected.
#ifndef SUEDE_DPDK_CAPTURE_H_
#define SUEDE_DPDK_CAPTURE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "port/frame_tap.h"

namespace suede {

struct CaptureOptions {
  uint32_t snap_bytes = 9728;  // max bytes kept of each frame
  uint32_t frames = 2048;      // max frames that wait to be written
  uint32_t frames_per_s = 0;   // max frames written in a second; 0: no limit
};

struct CaptureStats {
  uint64_t written = 0;  // frames
  uint64_t dropped = 0;  // frames not captured: ring or pool exhausted
};

// Control thread.
class Capture {
 public:
  // Begins to capture `port`, which must outlive the capture, to `file_descriptor`, a regular file
  // open for writing. Takes ownership of the descriptor, also on an error.
  static absl::StatusOr<std::unique_ptr<Capture>> Start(TappedPort& port, int file_descriptor,
                                                        const CaptureOptions& options);
  // Ends the capture: writes the waiting frames and closes the file.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Writes waiting frames, as far as the rate permits; to be called about every 10 ms. Fails if the
  // file cannot be written.
  absl::Status Drain();
  // Ends the capture, as destruction does. Returns whether the waiting frames were written.
  absl::Status Finish();
  CaptureStats stats() const;
  const TappedPort& port() const;

  struct State;  // the part that the lcores use

 private:
  explicit Capture(std::unique_ptr<State> state);
  absl::Status Write(bool is_last);
  std::unique_ptr<State> state_;
};

}  // namespace suede

#endif  // SUEDE_DPDK_CAPTURE_H_
