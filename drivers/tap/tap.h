// SPDX-License-Identifier: Apache-2.0
// A TAP device: a kernel network interface whose frames this process reads and writes.
#ifndef SUEDE_TAP_TAP_H_
#define SUEDE_TAP_TAP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace suede {

struct TapOptions {
  std::string name;  // of the interface, 1 to 15 characters
  std::array<uint8_t, 6> mac{};
  uint32_t mtu_bytes = 1500;
};

// For use by one thread. The device is in that thread's network namespace, and is removed by the
// destructor.
class Tap {
 public:
  // Creates the interface, up and without carrier.
  static absl::StatusOr<std::unique_ptr<Tap>> Open(const TapOptions& options);
  ~Tap();
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  // Readable when the kernel sends a frame.
  int fd() const { return fd_; }
  uint32_t interface() const { return interface_; }  // interface index
  const std::string& name() const { return name_; }

  // Sets the link state that the kernel sees.
  void SetCarrier(bool up);
  // Reads the next frame that the kernel sends, truncated to `room`. Returns its bytes; 0 if there
  // is none.
  uint32_t Read(std::span<uint8_t> room);
  // Passes a received frame to the kernel. Returns false if the kernel rejects it: the interface is
  // down.
  bool Write(std::span<const uint8_t> frame);

 private:
  Tap(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  absl::Status Configure(const TapOptions& options);

  const int fd_;
  const std::string name_;
  uint32_t interface_ = 0;
  bool carrier_ = false;
};

}  // namespace suede

#endif  // SUEDE_TAP_TAP_H_
