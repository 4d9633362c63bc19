// SPDX-License-Identifier: Apache-2.0
// A TAP device: the kernel's network interface whose frames this process reads and writes.
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

// One thread. The device is in the network namespace of the thread that opens it, and goes with
// this.
class Tap {
 public:
  // Without a carrier, and up.
  static absl::StatusOr<std::unique_ptr<Tap>> Open(const TapOptions& options);
  ~Tap();
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  // Readable when the kernel sends something.
  int fd() const { return fd_; }
  uint32_t interface() const { return interface_; }  // its index
  const std::string& name() const { return name_; }

  // Whether the kernel takes the link for connected.
  void SetCarrier(bool up);
  // The next frame that the kernel sends: its bytes, of which no more than there is room for are
  // written; 0 where there is none.
  uint32_t Read(std::span<uint8_t> room);
  // Gives the kernel a received frame. False where it takes none: the interface is down.
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
