// SPDX-License-Identifier: Apache-2.0
// The cost of a PDU whose data stays in the client's lines (external buffers), beside one into
// whose frame the data is copied: from writing the headers to the device's transmit burst and the
// release after the acknowledgement. Both compute the R-CRC. Control bytes are copied in either
// case, as the client could change them after they were checked. docs/performance.md has the
// figures.
#include <benchmark/benchmark.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "dpdk/crc.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;
constexpr uint32_t kBursts = 8;  // in flight
constexpr uint32_t kHeaders = 50;
constexpr uint32_t kControl = 8;
constexpr uint32_t kCrc = 4;
constexpr uint32_t kRecords = 4096;  // of the client's ring

void KeepLines(void* /*address*/, void* /*opaque*/) {}

struct Traffic {
  uint32_t data;      // bytes of a command
  uint32_t commands;  // of a PDU
};

class Study {
 public:
  Study(uint16_t from, uint16_t to, const Traffic& traffic)
      : from_(from),
        to_(to),
        traffic_(traffic),
        frames_(rte_mempool_lookup("frames")),
        pieces_(rte_mempool_lookup("pieces")),
        stride_((kControl + traffic.data + 8 + 63) / 64 * 64),
        ring_(static_cast<uint8_t*>(std::aligned_alloc(64, kRecords * stride_))) {
    std::memset(ring_, 0x5a, kRecords * stride_);
    rte_mbuf_ext_refcnt_set(&lines_, 1);
    lines_.free_cb = KeepLines;
  }
  ~Study() {
    for (auto& burst : bursts_)
      rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(burst.size()));
    std::free(ring_);
  }

  template <typename Make>
  void Turn(Make make) {
    std::vector<rte_mbuf*>& burst = bursts_[next_++ % kBursts];
    for (rte_mbuf* acknowledged : burst) rte_pktmbuf_free(acknowledged);
    burst.resize(kBurst);
    for (rte_mbuf*& pdu : burst) {
      pdu = make(*this);
      rte_pktmbuf_refcnt_update(pdu, 1);  // for a retransmission
    }
    uint32_t sent = 0;
    while (sent < kBurst) {
      sent += rte_eth_tx_burst(from_, 0, burst.data() + sent, static_cast<uint16_t>(kBurst - sent));
      Drain();
    }
  }

  rte_mbuf* Copied() {
    rte_mbuf* frame = Alloc(frames_);
    uint8_t* at = rte_pktmbuf_mtod(frame, uint8_t*);
    uint8_t* const begin = at;
    std::memset(at, 1, kHeaders);
    at += kHeaders;
    for (uint32_t i = 0; i < traffic_.commands; ++i) {
      std::memcpy(at, NextRecord() + 8, kControl + traffic_.data);
      at += kControl + traffic_.data;
    }
    const uint32_t crc = DpdkCrc32(begin + kHeaders, static_cast<size_t>(at - begin) - kHeaders);
    std::memcpy(at, &crc, kCrc);
    frame->data_len = static_cast<uint16_t>(at + kCrc - begin);
    frame->pkt_len = frame->data_len;
    return frame;
  }

  // Headers, control bytes and R-CRC are in the frame's buffer, data in the client's lines, and
  // each piece has an mbuf.
  rte_mbuf* Attached() {
    rte_mbuf* frame = Alloc(frames_);
    uint8_t* at = rte_pktmbuf_mtod(frame, uint8_t*);
    std::memset(at, 1, kHeaders);
    at += kHeaders;
    frame->data_len = kHeaders + kControl;
    frame->pkt_len = frame->data_len;
    rte_mbuf* last = frame;
    uint32_t crc = 0;
    for (uint32_t i = 0; i < traffic_.commands; ++i) {
      uint8_t* const record = NextRecord();
      std::memcpy(at, record + 8, kControl);
      if (i != 0) last = Attach(frame, last, at, kControl);
      at += kControl;
      last = Attach(frame, last, record + 8 + kControl, traffic_.data);
      crc ^= DpdkCrc32(record + 8, kControl + traffic_.data);  // the bytes are read as for a sum
    }
    std::memcpy(at, &crc, kCrc);
    Attach(frame, last, at, kCrc);
    return frame;
  }

 private:
  static rte_mbuf* Alloc(rte_mempool* pool) {
    rte_mbuf* mbuf = rte_pktmbuf_alloc(pool);
    if (mbuf == nullptr) std::abort();
    return mbuf;
  }
  uint8_t* NextRecord() { return ring_ + stride_ * (record_++ % kRecords); }
  rte_mbuf* Attach(rte_mbuf* frame, rte_mbuf* last, uint8_t* bytes, uint32_t count) {
    rte_mbuf* piece = Alloc(pieces_);
    rte_mbuf_ext_refcnt_update(&lines_, 1);
    rte_pktmbuf_attach_extbuf(piece, bytes, reinterpret_cast<uintptr_t>(bytes),
                              static_cast<uint16_t>(count), &lines_);
    piece->data_off = 0;
    piece->data_len = static_cast<uint16_t>(count);
    last->next = piece;
    ++frame->nb_segs;
    frame->pkt_len += count;
    return piece;
  }
  void Drain() {
    if (to_ == from_) return;
    rte_mbuf* got[kBurst];
    const uint16_t count = rte_eth_rx_burst(to_, 0, got, kBurst);
    rte_pktmbuf_free_bulk(got, count);
  }

  const uint16_t from_, to_;
  const Traffic traffic_;
  rte_mempool* const frames_;
  rte_mempool* const pieces_;
  const size_t stride_;
  uint8_t* const ring_;
  rte_mbuf_ext_shared_info lines_{};
  std::vector<rte_mbuf*> bursts_[kBursts];
  uint32_t next_ = 0;
  uint32_t record_ = 0;
};

void Measure(benchmark::State& state, uint16_t from, uint16_t to, Traffic traffic, bool copies) {
  Study study(from, to, traffic);
  const uint64_t start = __builtin_ia32_rdtsc();
  for (auto _ : state) {
    if (copies) {
      study.Turn([](Study& of) { return of.Copied(); });
    } else {
      study.Turn([](Study& of) { return of.Attached(); });
    }
  }
  const auto pdus = static_cast<double>(state.iterations() * kBurst);
  state.counters["cycles"] = static_cast<double>(__builtin_ia32_rdtsc() - start) / pdus;
  state.SetItemsProcessed(state.iterations() * kBurst);
}

bool StartDevice(uint16_t port, rte_mempool* pool) {
  const rte_eth_conf conf{};
  return rte_eth_dev_configure(port, 1, 1, &conf) == 0 &&
         rte_eth_rx_queue_setup(port, 0, 512, 0, nullptr, pool) == 0 &&
         rte_eth_tx_queue_setup(port, 0, 512, 0, nullptr) == 0 && rte_eth_dev_start(port) == 0;
}

bool IsUp(uint16_t port) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

int Run() {
  const std::string id = std::to_string(getpid());
  const std::string socket = "/tmp/suede_zero_copy_" + id + ".sock";
  const std::string shape = ",id=0,rsize=9,bsize=4608,socket-abstract=no,socket=" + socket;
  EalOptions eal;
  eal.file_prefix = "suede_zero_copy_" + id;
  eal.no_huge = true;
  eal.memory_mb = 256;
  eal.vdevs = {"net_null0", "net_memif0,role=server" + shape, "net_memif1,role=client" + shape};
  eal.log = [](EalLogLevel, std::string_view) {};
  if (!StartEal(eal).ok()) return 1;
  rte_mempool* const frames = rte_pktmbuf_pool_create("frames", 8192, 256, 0, 4608 + 128, 0);
  rte_mempool* const pieces = rte_pktmbuf_pool_create("pieces", 32767, 512, 0, 0, 0);
  bool up = frames != nullptr && pieces != nullptr;
  for (uint16_t port = 0; up && port < 3; ++port) up = StartDevice(port, frames);
  for (int i = 0; up && i < 3000 && !(IsUp(1) && IsUp(2)); ++i) usleep(1000);
  if (up && IsUp(1) && IsUp(2)) {
    for (const auto& [device, from, to] : {std::tuple("null", 0, 0), std::tuple("memif", 2, 1)}) {
      for (const Traffic traffic :
           {Traffic{32, 1}, {64, 1}, {128, 1}, {256, 1}, {256, 15}, {4096, 1}}) {
        for (const bool copies : {true, false}) {
          const std::string name = std::string(device) + "/" + std::to_string(traffic.commands) +
                                   "x" + std::to_string(traffic.data) +
                                   (copies ? "/copied" : "/attached");
          benchmark::RegisterBenchmark(name.c_str(), Measure, static_cast<uint16_t>(from),
                                       static_cast<uint16_t>(to), traffic, copies);
        }
      }
    }
    benchmark::RunSpecifiedBenchmarks();
  } else {
    std::fprintf(stderr, "no devices\n");
  }
  unlink(socket.c_str());
  return StopEal() && up ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return suede::Run();
}
