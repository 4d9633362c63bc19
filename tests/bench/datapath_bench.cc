// SPDX-License-Identifier: Apache-2.0
// The data path alone, in one thread: ring -> pack -> frame -> (a copy) -> unpack -> ring, with
// the cost of each stage per command. datapath_bench DATA_BYTES PACK DESTINATIONS COMMANDS PLANES.
// PACK: commands per PDU by transmit-now hints, 0: as many as fit. PLANES: ports of each side, in
// unordered mode. Under callgrind the functions Produce,
// PollSender, PollReceiver and Consume hold the instructions of their stage.
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/client_queue.h"
#include "dpdk/eal.h"
#include "loop_port.h"
#include "pipeline/pipeline.h"

namespace suede {
namespace {

constexpr Ipv4Address kIpBase = 0xc6120000u;
constexpr uint32_t kControlBytes = 8;

struct Side {
  explicit Side(uint32_t planes) {
    for (uint32_t plane = 0; plane < planes; ++plane) {
      ports.push_back(std::make_unique<LoopPort>(&pool));
      pipeline.AddPort(ports.back().get(), {});
    }
  }
  LoopPool pool{16384};
  std::vector<std::unique_ptr<LoopPort>> ports;
  Pipeline pipeline;
  void* segment = nullptr;
  SegmentShape shape{.queue_count = 1, .tx_lines = 4096, .rx_lines = 16384,
                     .completion_count = 4096, .credit_lines = 2048, .aggregate_lines = 4096};

  void Attach() {
    const uint64_t bytes = SegmentOffsets(shape).bytes;
    segment = std::aligned_alloc(4096, bytes);
    std::memset(segment, 0, bytes);
    FormatSegment(segment, shape);
    const uint32_t instances[SUEDE_MAX_QUEUES] = {};
    pipeline.mailbox().requests.Push(request::Attach{
        .client = 1, .queue_instances = instances, .segment = segment, .shape = &shape});
    for (uint32_t i = 0; i < pipeline.instance_count(); ++i) {
      pipeline.mailbox().requests.Push(request::Claim{.vc_mask = 0xf, .client = 1, .instance = i});
      pipeline.Poll(TimeFromNs(0));
    }
    pipeline.Poll(TimeFromNs(0));
  }
};

struct Bench {
  Side sender, receiver;
  std::unique_ptr<ClientQueue> queue;
  std::vector<std::unique_ptr<ClientReceiver>> receivers;
  uint32_t destinations;
  uint32_t pack;
  uint32_t commands_of_pdu;
  ClientCommand command;
  uint8_t control[kMaxControlBytes] = {};
  uint8_t data[kMaxDataBytes] = {};
  uint32_t next = 0;
  uint64_t sent = 0;
  Time now = TimeFromNs(1'000'000);

  // An XPU's address on a plane.
  static NetAddress AddressOf(uint32_t xpu, uint32_t plane) {
    return {.low = kIpBase + (plane << 12) + xpu};
  }
  static InstanceParams ParamsOf(uint32_t xpu, uint32_t planes) {
    InstanceParams params{.xpuid = static_cast<uint16_t>(xpu)};
    params.paths.ordering = Ordering::kUnordered;
    params.inflight_pdus = 8192;
    for (uint32_t plane = 0; plane < planes; ++plane) {
      params.planes.push_back({.port = plane, .address = AddressOf(xpu, plane)});
    }
    return params;
  }
  static PeerParams PeerOf(uint32_t xpu, uint32_t planes) {
    PeerParams peer{.xpuid = static_cast<uint16_t>(xpu)};
    for (uint32_t plane = 0; plane < planes; ++plane) {
      peer.planes.push_back({.address = AddressOf(xpu, plane)});
    }
    return peer;
  }

  Bench(uint32_t data_bytes, uint32_t pack_count, uint32_t destination_count, uint32_t planes)
      : sender(planes),
        receiver(planes),
        destinations(destination_count),
        pack(pack_count),
        commands_of_pdu(kDefaultPackBytes / (kControlBytes + data_bytes)) {
    InstanceParams from = ParamsOf(0, planes);
    for (uint32_t d = 1; d <= destinations; ++d) from.peers.push_back(PeerOf(d, planes));
    sender.pipeline.AddInstance(from);
    for (uint32_t d = 1; d <= destinations; ++d) {
      InstanceParams to = ParamsOf(d, planes);
      to.peers.push_back(PeerOf(0, planes));
      receiver.pipeline.AddInstance(to);
    }
    for (uint32_t plane = 0; plane < planes; ++plane) {
      sender.ports[plane]->ConnectTo(receiver.ports[plane].get());
      receiver.ports[plane]->ConnectTo(sender.ports[plane].get());
    }
    sender.Attach();
    receiver.Attach();
    queue = std::make_unique<ClientQueue>(sender.segment, 0);
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      receivers.push_back(std::make_unique<ClientReceiver>(receiver.segment, vc));
    }
    control[0] = static_cast<uint8_t>(0x20 | (data_bytes != 0 ? 0x10 : 0) | kControlBytes / 2);
    control[1] = static_cast<uint8_t>(data_bytes - 1);
    command.control = control;
    command.data = data;
  }

  // Until each destination has got a command: handshakes and the first grants of credit are over.
  void WarmUp() {
    for (uint64_t received = 0; received < destinations;) {
      if (sent < destinations) {
        command.xpuid = static_cast<uint16_t>(1 + sent);
        if (queue->Send(command) == SendResult::kOk) ++sent;
        queue->Flush();
      }
      sender.pipeline.Poll(now);
      receiver.pipeline.Poll(now);
      received += Consume();
      now += Duration(5000);
    }
    sent = 0;
  }
  // As many commands as fit are sent in batches of up to a full PDU; a mark or a destination of its
  // own makes each command a call of its own.
  __attribute__((noinline)) void Produce(uint32_t count) {
    if (pack == 0 && destinations == 1) {
      SendBatches(count);
    } else {
      SendEach(count);
    }
    queue->Flush();
  }
  void SendBatches(uint32_t count) {
    command.xpuid = 1;
    while (count != 0) {
      uint32_t accepted;
      const SendResult result =
          queue->SendRun({.first = command}, std::min(count, commands_of_pdu), &accepted);
      sent += accepted;
      count -= accepted;
      if (result != SendResult::kOk) break;
    }
  }
  void SendEach(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      command.xpuid = static_cast<uint16_t>(1 + next);
      command.flags = pack != 0 && (sent + 1) % pack == 0 ? SUEDE_RECORD_TRANSMIT_NOW : 0;
      if (queue->Send(command) != SendResult::kOk) break;
      ++sent;
      next = next + 1 == destinations ? 0 : next + 1;
    }
  }
  __attribute__((noinline)) void PollSender() { sender.pipeline.Poll(now); }
  __attribute__((noinline)) void PollReceiver() { receiver.pipeline.Poll(now); }
  __attribute__((noinline)) uint64_t Consume() {
    ReceivedSpan got;
    uint64_t total = 0;
    while (const uint32_t count = receivers[0]->PollRun(&got, 256)) total += count;
    receivers[0]->Release();
    return total;
  }
};

int Main(int argc, char** argv) {
  const auto arg = [&](int i, uint32_t value) {
    return i < argc ? static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)) : value;
  };
  const uint32_t data_bytes = arg(1, 32);
  const uint32_t pack = arg(2, 0);
  const uint32_t destinations = arg(3, 1);
  const uint64_t wanted = arg(4, 4'000'000);
  const uint32_t planes = arg(5, 1);
  const absl::Status eal = StartEal({.file_prefix = "suede_bench_" + std::to_string(getpid()),
                                     .no_huge = true,
                                     .memory_mb = 64,
                                     .log = [](EalLogLevel, std::string_view) {}});
  if (!eal.ok()) {
    std::fprintf(stderr, "%s\n", std::string(eal.message()).c_str());
    return 5;
  }
  Bench bench(data_bytes, pack, destinations, planes);
  bench.WarmUp();
  uint64_t stage[4] = {};
  uint64_t received = 0;
  const uint64_t start = __rdtsc();
  while (received < wanted) {
    uint64_t t[5];
    t[0] = __rdtsc();
    bench.Produce(256);
    t[1] = __rdtsc();
    bench.PollSender();
    t[2] = __rdtsc();
    bench.PollReceiver();
    t[3] = __rdtsc();
    received += bench.Consume();
    t[4] = __rdtsc();
    for (int i = 0; i < 4; ++i) stage[i] += t[i + 1] - t[i];
    bench.now += Duration(5000);
  }
  const double commands = static_cast<double>(received);
  const auto& counters = bench.sender.pipeline.counters(0);
  std::printf("data %u, pack %u, destinations %u, planes %u: %.1f cycles per command", data_bytes,
              pack, destinations, planes, static_cast<double>(__rdtsc() - start) / commands);
  const char* const names[] = {"produce", "sender", "receiver", "consume"};
  for (int i = 0; i < 4; ++i) {
    std::printf("  %s %.1f", names[i], static_cast<double>(stage[i]) / commands);
  }
  std::printf("  commands/PDU %.1f\n", commands / static_cast<double>(std::max<uint64_t>(
                                                      1, counters.Get(Counter::kTxPdus))));
  StopEal();
  return 0;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Main(argc, argv); }
