// SPDX-License-Identifier: Apache-2.0
#include "dpdk/capture.h"

#include <fcntl.h>
#include <rte_errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/token_bucket.h"
#include "dpdk/capture_ring.h"
#include "dpdk/eal.h"
#include "dpdk/pcapng.h"

namespace suede {
namespace {

using internal::CapturedFrame;
using internal::PcapngBlocks;

// Types of blocks.
constexpr uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr uint32_t kInterface = 1;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint16_t kEthernet = 1;
// Options of these blocks.
constexpr uint16_t kComment = 1;
constexpr uint16_t kUserApplication = 4;
constexpr uint16_t kInterfaceName = 2;
constexpr uint16_t kTimeResolution = 9;
constexpr uint16_t kFlags = 2;

void AddHeaders(std::string_view port, PcapngBlocks& blocks) {
  constexpr uint32_t kByteOrder = 0x1a2b3c4d;
  constexpr uint16_t kVersion[] = {1, 0};
  constexpr int64_t kUnknownLength = -1;
  const std::string program = absl::StrCat("suede, ", DpdkVersion());
  blocks.Begin(kSectionHeader);
  blocks.Put(kByteOrder);
  blocks.Put(kVersion);
  blocks.Put(kUnknownLength);
  blocks.PutOption(kUserApplication, program.data(), program.size());
  blocks.End();
  constexpr uint8_t kNanoseconds = 9;
  blocks.Begin(kInterface);
  blocks.Put(kEthernet);
  blocks.Put(uint16_t{0});
  blocks.Put(uint32_t{0});  // no limit of the bytes kept
  blocks.PutOption(kInterfaceName, port.data(), port.size());
  blocks.PutOption(kTimeResolution, &kNanoseconds, sizeof kNanoseconds);
  blocks.End();
}

void AddPacket(const CapturedFrame& frame, const uint8_t* data, PcapngBlocks& blocks) {
  const auto flags = static_cast<uint32_t>(frame.direction);
  blocks.Begin(kEnhancedPacket);
  blocks.Put(uint32_t{0});  // the interface
  blocks.Put(static_cast<uint32_t>(frame.time_ns >> 32));
  blocks.Put(static_cast<uint32_t>(frame.time_ns));
  blocks.Put(frame.kept_bytes);
  blocks.Put(frame.length);
  blocks.PutPadded(data, frame.kept_bytes);
  blocks.PutOption(kFlags, &flags, sizeof flags);
  if (!frame.drop.empty()) blocks.PutOption(kComment, frame.drop.data(), frame.drop.size());
  blocks.End();
}

}  // namespace

struct Capture::State {
  explicit State(TappedPort& captured) : port(captured) {}
  ~State() {
    if (file >= 0) close(file);
  }

  TappedPort& port;
  int file = -1;
  std::unique_ptr<internal::CaptureRing> ring;
  internal::PcapngBlocks blocks;
  std::optional<TokenBucket> rate;  // of frames that are written; nullopt: no limit
  uint64_t written = 0;
  bool is_finished = false;

  // Returns how many of the next `wanted` frames may be written now.
  uint32_t Permitted(uint32_t wanted) {
    if (!rate) return wanted;
    const Time now{std::chrono::steady_clock::now().time_since_epoch()};
    uint32_t permitted = 0;
    while (permitted < wanted && rate->Take(now)) ++permitted;
    return permitted;
  }
};

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<Capture>> Capture::Start(TappedPort& port, int file_descriptor,
                                                        const CaptureOptions& options) {
  auto state = std::make_unique<State>(port);
  state->file = file_descriptor;
  struct stat file_kind {};
  // Rejects pipes and the like: a slow reader would block the control thread.
  if (fstat(file_descriptor, &file_kind) != 0 || !S_ISREG(file_kind.st_mode)) {
    return absl::InvalidArgumentError("cannot capture: not a regular file; pass a regular file");
  }
  if ((fcntl(file_descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) {
    return absl::InvalidArgumentError(
        "the capture's file is open for reading only; open it for writing");
  }
  if (port.is_tapped()) {
    return absl::FailedPreconditionError(
        absl::StrCat("port ", port.name(), " is being captured already; stop that capture first"));
  }
  state->ring =
      internal::CaptureRing::Create(options.frames, options.snap_bytes, port.lcores() == 1);
  if (state->ring == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a capture of ", options.frames, " frames of ",
                     options.snap_bytes, " bytes (", rte_strerror(rte_errno),
                     "); capture fewer bytes of a frame, or raise eal.memory_mb"));
  }
  if (options.frames_per_s != 0) {
    state->rate.emplace(TokenBucket::QuarterAtOnce(options.frames_per_s));
  }
  AddHeaders(port.name(), state->blocks);
  if (!state->blocks.WriteTo(file_descriptor)) {
    return absl::UnavailableError(
        absl::StrCat("cannot write the header of the capture's file: ", std::strerror(errno)));
  }
  port.SetTap(state->ring.get());
  return std::unique_ptr<Capture>(new Capture(std::move(state)));
}

Capture::~Capture() { Finish().IgnoreError(); }

absl::Status Capture::Finish() {
  if (std::exchange(state_->is_finished, true)) return absl::OkStatus();
  state_->port.SetTap(nullptr);
  return Write(/*is_last=*/true);
}

absl::Status Capture::Drain() { return Write(/*is_last=*/false); }

// Writes no more frames than can wait: lcores may add frames as fast as they are written.
absl::Status Capture::Write(bool is_last) {
  State& s = *state_;
  for (uint32_t left = s.ring->capacity(); left != 0;) {
    const uint32_t wanted = std::min({left, s.ring->waiting(), internal::CaptureRing::kBatch});
    const uint32_t count = is_last ? wanted : s.Permitted(wanted);
    if (count == 0) break;
    s.ring->Drain(count, [&s](const CapturedFrame& frame, auto bytes) {
      AddPacket(frame, bytes.data(), s.blocks);
    });
    if (!s.blocks.WriteTo(s.file)) {
      return absl::UnavailableError(
          absl::StrCat("cannot write the capture's file: ", std::strerror(errno)));
    }
    s.written += count;
    left -= count;
  }
  return absl::OkStatus();
}

CaptureStats Capture::stats() const {
  return {.written = state_->written, .dropped = state_->ring->dropped()};
}

const TappedPort& Capture::port() const { return state_->port; }

}  // namespace suede
