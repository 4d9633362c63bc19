// SPDX-License-Identifier: Apache-2.0
#include "dpdk/capture.h"

#include <fcntl.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_pcapng.h>
#include <rte_ring.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/versions.h"

namespace suede {
namespace {

constexpr uint32_t kBatch = 64;
// Max frames in the mempool cache of each lcore.
constexpr uint32_t kPoolCache = 32;

std::string NameOf(const char* kind, uint16_t port) {
  return absl::StrCat("suede_capture_", kind, port);
}

}  // namespace

struct Capture::State {
  explicit State(DpdkPort& captured) : port(captured) {}
  ~State() {
    if (file != nullptr) rte_pcapng_close(file);  // closes the descriptor too
    if (file == nullptr && descriptor >= 0) close(descriptor);
    rte_ring_free(ring);
    rte_mempool_free(pool);
  }

  // Runs on the lcores, within a burst.
  void Copy(const internal::CapturePoint& at, rte_mbuf** mbufs, uint16_t count) {
    uint64_t lost = 0;
    for (uint16_t i = 0; i < count; ++i) {
      rte_mbuf* copy = internal::CopyForCapture(at, mbufs[i], pool, snap_bytes);
      if (copy == nullptr) {
        ++lost;
      } else if (rte_ring_enqueue(ring, copy) != 0) {
        rte_pktmbuf_free(copy);
        ++lost;
      }
    }
    if (lost != 0) dropped.fetch_add(lost, std::memory_order_relaxed);
  }

  DpdkPort& port;
  int descriptor = -1;
  uint32_t snap_bytes = 0;
  rte_pcapng_t* file = nullptr;
  rte_mempool* pool = nullptr;
  rte_ring* ring = nullptr;
  // Callbacks, one for each queue.
  std::vector<const rte_eth_rxtx_callback*> on_receive;
  std::vector<const rte_eth_rxtx_callback*> on_transmit;
  uint64_t written = 0;
  std::atomic<uint64_t> dropped{0};
};

namespace {

uint16_t OnReceive(uint16_t port, uint16_t queue, rte_mbuf** mbufs, uint16_t count, uint16_t,
                   void* state) {
  static_cast<Capture::State*>(state)->Copy({port, queue, RTE_PCAPNG_DIRECTION_IN}, mbufs, count);
  return count;
}

uint16_t OnTransmit(uint16_t port, uint16_t queue, rte_mbuf** mbufs, uint16_t count, void* state) {
  static_cast<Capture::State*>(state)->Copy({port, queue, RTE_PCAPNG_DIRECTION_OUT}, mbufs, count);
  return count;
}

}  // namespace

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<Capture>> Capture::Start(DpdkPort& port, int file_descriptor,
                                                        const CaptureOptions& options) {
  auto state = std::make_unique<State>(port);
  state->descriptor = file_descriptor;
  struct stat file_kind {};
  // Rejects pipes and the like: a slow reader would block the control thread.
  if (fstat(file_descriptor, &file_kind) != 0 || !S_ISREG(file_kind.st_mode)) {
    return absl::InvalidArgumentError("cannot capture: not a regular file; pass a regular file");
  }
  if ((fcntl(file_descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) {
    return absl::InvalidArgumentError(
        "the capture's file is open for reading only; open it for writing");
  }
  const uint16_t id = port.id();
  const std::string ring_name = NameOf("ring", id);
  const std::string pool_name = NameOf("pool", id);
  if (rte_ring_lookup(ring_name.c_str()) != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("port ", port.name(), " is being captured already; stop that capture first"));
  }
  state->snap_bytes = options.snap_bytes;
  const uint32_t slots = std::bit_ceil(std::max(options.frames, 2 * kBatch));
  const uint32_t room = rte_pcapng_mbuf_size(options.snap_bytes);
  const int socket = static_cast<int>(SOCKET_ID_ANY);
  // Each lcore of the port enqueues copies, hence multi-producer with several queues.
  const unsigned producers = port.queues() == 1 ? RING_F_SP_ENQ : 0;
  state->ring = rte_ring_create(ring_name.c_str(), slots, socket, producers | RING_F_SC_DEQ);
  if (state->ring != nullptr) {
    state->pool = rte_pktmbuf_pool_create(
        pool_name.c_str(), slots - 1, kPoolCache, 0,
        static_cast<uint16_t>(std::min<uint32_t>(room, UINT16_MAX)), socket);
  }
  if (state->pool == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for a capture of ", slots, " frames of ", room, " bytes (",
        rte_strerror(rte_errno), "); capture fewer bytes of a frame, or raise eal.memory_mb"));
  }
  state->file = rte_pcapng_fdopen(file_descriptor, nullptr, nullptr,
                                  absl::StrCat("suede, ", DpdkVersion()).c_str(), nullptr);
  if (state->file == nullptr || !internal::AddCapturedPort(state->file, id)) {
    return absl::UnavailableError(
        absl::StrCat("cannot write the header of the capture's file: ", std::strerror(errno)));
  }
  auto capture = std::unique_ptr<Capture>(new Capture(std::move(state)));
  State& s = *capture->state_;
  for (uint16_t queue = 0; queue < port.queues(); ++queue) {
    s.on_receive.push_back(rte_eth_add_first_rx_callback(id, queue, OnReceive, &s));
    s.on_transmit.push_back(rte_eth_add_tx_callback(id, queue, OnTransmit, &s));
    if (s.on_receive.back() == nullptr || s.on_transmit.back() == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("port ", port.name(), " takes no callbacks: ", rte_strerror(rte_errno)));
    }
  }
  return capture;
}

Capture::~Capture() {
  // Stops bursts while the callbacks are removed, so that none is running.
  state_->port.WithoutBursts([this] {
    const uint16_t id = state_->port.id();
    for (uint16_t queue = 0; queue < state_->on_receive.size(); ++queue) {
      rte_eth_remove_rx_callback(id, queue, state_->on_receive[queue]);
      rte_eth_remove_tx_callback(id, queue, state_->on_transmit[queue]);
    }
  });
  Drain().IgnoreError();
  void* left = nullptr;
  while (rte_ring_sc_dequeue(state_->ring, &left) == 0)
    rte_pktmbuf_free(static_cast<rte_mbuf*>(left));
}

absl::Status Capture::Drain() {
  void* waiting[kBatch];
  while (const uint32_t count = rte_ring_sc_dequeue_burst(state_->ring, waiting, kBatch, nullptr)) {
    rte_mbuf* mbufs[kBatch];
    std::memcpy(mbufs, waiting, count * sizeof(mbufs[0]));
    const ssize_t bytes =
        rte_pcapng_write_packets(state_->file, mbufs, static_cast<uint16_t>(count));
    const int error = errno;
    rte_pktmbuf_free_bulk(mbufs, count);
    if (bytes < 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot write the capture's file: ", std::strerror(error)));
    }
    state_->written += count;
  }
  return absl::OkStatus();
}

CaptureStats Capture::stats() const {
  return {.written = state_->written, .dropped = state_->dropped.load(std::memory_order_relaxed)};
}

const DpdkPort& Capture::port() const { return state_->port; }

}  // namespace suede
