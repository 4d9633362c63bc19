// SPDX-License-Identifier: Apache-2.0
// The data path alone, in one thread: ring -> pack -> frame -> (a copy) -> unpack -> ring. For
// benchmarks that measure its stages: Produce, PollSender, PollReceiver and Consume are a turn.
#ifndef SUEDE_TESTS_BENCH_DATAPATH_H_
#define SUEDE_TESTS_BENCH_DATAPATH_H_

#include <malloc.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench_crypto.h"
#include "client/client_queue.h"
#include "lcore/secrets_update.h"
#include "loop_port.h"
#include "pipeline/pipeline.h"

namespace suede {

inline constexpr Ipv4Address kIpBase = 0xc6120000u;
inline constexpr uint32_t kControlBytes = 8;

// One end: a pipeline with its ports and clients.
struct Side {
  explicit Side(uint32_t frames) : pool(frames) {}
  Side(Side&&) = delete;
  // Call before instances are added. `keys`: number that the library of ciphers can hold at once.
  void Seal(const std::string& library, uint32_t keys) {
    crypto = OpenBenchCrypto(library, keys);
    pipeline.SetCrypto(crypto.get());
  }
  // All instances have this secret.
  void SetSecret() {
    if (crypto == nullptr) return;
    std::array<uint8_t, kSealSecretBytes> secret;
    secret.fill(1);
    secrets.reset(new SecretsUpdate);
    if (secrets == nullptr) std::abort();
    secrets->secrets.all[0] = {.id = 1, .prk = ExtractSecret(*crypto, secret)};
    secrets->secrets.count = 1;
    pipeline.mailbox().requests.Push(request::SetSecrets{.update = secrets.get()});
    pipeline.Poll(TimeFromNs(0));
  }
  ~Side() {
    for (void* segment : segments) std::free(segment);
  }
  template <typename PortType = LoopPort>
  PortType* AddPort() {
    auto port = std::make_unique<PortType>(&pool);
    PortType* const added = port.get();
    ports.push_back(std::move(port));
    pipeline.AddPort(added, {});
    return added;
  }
  // A client whose queues are of these instances; all that arrives for `claimed` is for it.
  void* Attach(const SegmentShape& shape, const std::vector<uint32_t>& instances,
               uint32_t claimed) {
    const uint64_t bytes = SegmentOffsets(shape).bytes;
    void* const segment = std::aligned_alloc(4096, bytes);
    std::memset(segment, 0, bytes);
    FormatSegment(segment, shape);
    segments.push_back(segment);
    const auto client = static_cast<uint32_t>(segments.size());
    pipeline.mailbox().requests.Push(request::Attach{.client = client,
                                                     .queue_instances = instances.data(),
                                                     .segment = segment,
                                                     .shape = &shape});
    for (uint32_t i = 0; i < claimed; ++i) {
      pipeline.mailbox().requests.Push(
          request::Claim{.vc_mask = 0xf, .client = client, .instance = i});
      pipeline.Poll(TimeFromNs(0));
    }
    pipeline.Poll(TimeFromNs(0));
    return segment;
  }
  LoopPool pool;
  std::unique_ptr<Crypto> crypto;  // where it seals
  std::unique_ptr<SecretsUpdate> secrets;
  std::vector<std::unique_ptr<LoopPort>> ports;
  Pipeline pipeline;
  std::vector<void*> segments;
};

inline constexpr SegmentShape kShape{.queue_count = 1,
                                     .tx_lines = 4096,
                                     .rx_lines = 16384,
                                     .completion_count = 4096,
                                     .credit_lines = 2048,
                                     .aggregate_lines = 4096};
// For clients of a sender: each queue sends for another instance.
inline constexpr SegmentShape kSmallShape{.queue_count = SUEDE_MAX_QUEUES,
                                          .tx_lines = 256,
                                          .rx_lines = 512,
                                          .completion_count = 64,
                                          .credit_lines = 128,
                                          .aggregate_lines = 256};

// Traffic of a benchmark.
struct Traffic {
  uint32_t data_bytes = 32;
  uint32_t pack = 0;
  uint32_t destinations = 1;
  uint32_t planes = 1;
  bool to_one = false;  // `destinations` XPUs send to one
  CongestionControl control = CongestionControl::kFixed;
  uint32_t sessions = 1;  // all of them open
  std::string crypto;     // name for OpenBenchCrypto; empty: nothing is sealed
};

// Pairs of XPUs: one XPU sends to many by one queue, or many send to one by a queue each.
struct Bench {
  // Commands under way. A PDU for another destination may first have to ask for its credit: a turn
  // has others to send.
  static constexpr uint32_t kWindow = 256;
  static constexpr uint32_t kPackedWindow = 1024;
  static constexpr uint32_t kFrames = 16384;

  const Traffic traffic;
  const uint32_t commands_of_pdu;
  Side receiver{kFrames};
  std::vector<std::unique_ptr<Side>> senders;
  std::vector<std::unique_ptr<ClientQueue>> queues;
  std::vector<std::unique_ptr<ClientReceiver>> receivers;
  ClientCommand command;
  uint8_t control[kMaxControlBytes] = {};
  uint8_t data[kMaxDataBytes] = {};
  uint32_t next = 0;    // index of a pair
  uint32_t of_run = 0;  // commands of the PDU that the pair has already sent
  uint64_t sent = 0;
  Time now = TimeFromNs(1'000'000);
  double peer_bytes = 0;  // bytes of the heap for each peer of the sender

  // Keys for associations: of three epochs, of both directions, and of HELLOs.
  static constexpr uint32_t KeysFor(uint32_t associations) { return 64 + 12 * associations; }
  static size_t HeapBytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  // An XPU's address on a plane.
  static NetAddress AddressOf(uint32_t xpu, uint32_t plane) {
    return {.low = kIpBase + (plane << 12) + xpu};
  }
  static InstanceParams ParamsOf(uint32_t xpu, const Traffic& traffic) {
    InstanceParams params;
    params.xpuid = static_cast<uint16_t>(xpu);
    params.paths.ordering = Ordering::kUnordered;
    // However little congested the open sessions are, another one is opened.
    params.sessions = traffic.sessions;
    params.paths.sessions.open_percent = 100;
    params.inflight_pdus = 8192;
    params.congestion.control = traffic.control;
    if (!traffic.crypto.empty()) params.seal.mode = SealMode::kRequired;
    for (uint32_t plane = 0; plane < traffic.planes; ++plane) {
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
  // XPU `xpu` with the XPUs from `first` to `last` as its peers.
  static void AddXpu(Side& side, const Traffic& traffic, uint32_t xpu, uint32_t first,
                     uint32_t last) {
    InstanceParams params = ParamsOf(xpu, traffic);
    for (uint32_t p = first; p <= last; ++p) params.peers.push_back(PeerOf(p, traffic.planes));
    side.pipeline.AddInstance(params);
  }

  explicit Bench(const Traffic& what)
      : traffic(what), commands_of_pdu(kDefaultPackBytes / (kControlBytes + what.data_bytes)) {
    traffic.to_one ? BuildManyToOne() : BuildOneToMany();
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      receivers.push_back(std::make_unique<ClientReceiver>(receiver.segments[0], vc));
    }
    control[0] =
        static_cast<uint8_t>(0x20 | (traffic.data_bytes != 0 ? 0x10 : 0) | kControlBytes / 2);
    control[1] = static_cast<uint8_t>(traffic.data_bytes - 1);
    command.control = control;
    command.data = data;
  }
  void BuildOneToMany() {
    senders.push_back(std::make_unique<Side>(kFrames));
    Side& sender = *senders[0];
    for (Side* side : {&sender, &receiver}) {
      if (!traffic.crypto.empty()) side->Seal(traffic.crypto, KeysFor(traffic.destinations));
    }
    for (uint32_t plane = 0; plane < traffic.planes; ++plane) {
      LoopPort* const to = sender.AddPort();
      LoopPort* const from = receiver.AddPort();
      to->ConnectTo(from);
      from->ConnectTo(to);
    }
    const size_t before = HeapBytes();
    AddXpu(sender, traffic, 0, 1, traffic.destinations);
    peer_bytes = static_cast<double>(HeapBytes() - before) / traffic.destinations;
    for (uint32_t d = 1; d <= traffic.destinations; ++d) AddXpu(receiver, traffic, d, 0, 0);
    queues.push_back(std::make_unique<ClientQueue>(sender.Attach(kShape, {0}, 1), 0));
    receiver.Attach(kShape, {0}, traffic.destinations);
    for (Side* side : {&sender, &receiver}) side->SetSecret();
  }
  // A pipeline serves a bounded number of queues, so several pipelines send.
  void BuildManyToOne() {
    auto* const from = receiver.AddPort<FanPort>();
    AddXpu(receiver, traffic, 0, 1, traffic.destinations);
    for (uint32_t xpu = 1; xpu <= traffic.destinations;) {
      senders.push_back(std::make_unique<Side>(kFrames / 4));
      Side& sender = *senders.back();
      LoopPort* const to = sender.AddPort();
      to->ConnectTo(receiver.ports[0].get());
      from->AddOther(to);
      uint32_t count = 0;
      do {
        AddXpu(sender, traffic, xpu, 0, 0);
        ++count;
        ++xpu;
      } while (xpu <= traffic.destinations && xpu % FanPort::kXpus != 0);
      for (uint32_t first = 0; first < count; first += SUEDE_MAX_QUEUES) {
        AttachSmall(sender, first, std::min(count - first, SUEDE_MAX_QUEUES));
      }
    }
    receiver.Attach(kShape, {0}, 1);
  }
  void AttachSmall(Side& sender, uint32_t first, uint32_t count) {
    SegmentShape shape = kSmallShape;
    shape.queue_count = count;
    std::vector<uint32_t> instances;
    for (uint32_t i = 0; i < count; ++i) instances.push_back(first + i);
    void* const segment = sender.Attach(shape, instances, 0);
    for (uint32_t i = 0; i < count; ++i) {
      queues.push_back(std::make_unique<ClientQueue>(segment, i));
    }
  }

  // Runs until each pair has exchanged a command: handshakes and first grants of credit are over.
  void WarmUp() {
    for (uint64_t received = 0; received < traffic.destinations;) {
      if (sent < traffic.destinations) {
        next = static_cast<uint32_t>(sent);
        if (Begin().Send(command) == SendResult::kOk) ++sent;
        QueueOf(next).Flush();
      }
      for (const auto& sender : senders) sender->pipeline.Poll(now);
      receiver.pipeline.Poll(now);
      received += Consume();
      now += Duration(5000);
    }
    next = 0;
    sent = 0;
  }
  ClientQueue& QueueOf(uint32_t pair) { return *queues[traffic.to_one ? pair : 0]; }
  // The queue of the pair whose turn it is. `command` then has its destination.
  ClientQueue& Begin() {
    command.xpuid = static_cast<uint16_t>(traffic.to_one ? 0 : 1 + next);
    return QueueOf(next);
  }
  void GoOn() {
    if (traffic.to_one) QueueOf(next).Flush();
    next = next + 1 == traffic.destinations ? 0 : next + 1;
  }
  // As many commands as fit are sent in batches of up to a full PDU, each to another destination; a
  // mark makes each command a call of its own.
  __attribute__((noinline)) void Produce(uint64_t received) {
    const bool packed = traffic.pack == 0 && traffic.destinations > 1;
    const uint64_t window = packed ? kPackedWindow : kWindow;
    const auto count = static_cast<uint32_t>(window - std::min<uint64_t>(window, sent - received));
    if (packed) {
      SendPdus(count / commands_of_pdu);
    } else if (traffic.pack == 0) {
      SendBatches(count);
    } else {
      SendEach(count);
    }
    QueueOf(next).Flush();
  }
  void SendPdus(uint32_t count) {
    for (; count != 0; --count, GoOn()) {
      uint32_t left = commands_of_pdu - of_run;
      while (left != 0) {
        uint32_t accepted;
        const SendResult result = Begin().SendRun({.first = command}, left, &accepted);
        sent += accepted;
        left -= accepted;
        of_run = commands_of_pdu - left;
        if (result != SendResult::kOk) return;
      }
      of_run = 0;
    }
  }
  void SendBatches(uint32_t count) {
    while (count != 0) {
      uint32_t accepted;
      const SendResult result =
          Begin().SendRun({.first = command}, std::min(count, commands_of_pdu), &accepted);
      sent += accepted;
      count -= accepted;
      if (result != SendResult::kOk) break;
    }
  }
  void SendEach(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      ClientQueue& queue = Begin();
      command.flags = (sent + 1) % traffic.pack == 0 ? SUEDE_RECORD_TRANSMIT_NOW : 0;
      if (queue.Send(command) != SendResult::kOk) break;
      ++sent;
      GoOn();
    }
  }
  __attribute__((noinline)) void PollSender() {
    for (const auto& sender : senders) sender->pipeline.Poll(now);
  }
  __attribute__((noinline)) void PollReceiver() { receiver.pipeline.Poll(now); }
  __attribute__((noinline)) uint64_t Consume() {
    ReceivedSpan got;
    uint64_t total = 0;
    while (const uint32_t count = receivers[0]->PollRun(&got, 256)) total += count;
    receivers[0]->Release();
    return total;
  }
  // One turn of all stages, whose cycles are added. Returns the commands that were consumed.
  using Stages = std::array<uint64_t, 4>;  // produce, sender, receiver, consume
  uint64_t Turn(uint64_t received, Stages& cycles) {
    uint64_t t[5];
    t[0] = __rdtsc();
    Produce(received);
    t[1] = __rdtsc();
    PollSender();
    t[2] = __rdtsc();
    PollReceiver();
    t[3] = __rdtsc();
    const uint64_t consumed = Consume();
    t[4] = __rdtsc();
    for (size_t i = 0; i < cycles.size(); ++i) cycles[i] += t[i + 1] - t[i];
    now += Duration(5000);
    return consumed;
  }
  uint64_t CountSent(Counter counter) const {
    uint64_t sum = 0;
    for (const auto& sender : senders) {
      for (uint32_t i = 0; i < sender->pipeline.instance_count(); ++i) {
        sum += sender->pipeline.counters(i).Get(counter);
      }
    }
    return sum;
  }
  uint64_t CountReceived(Counter counter) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < receiver.pipeline.instance_count(); ++i) {
      sum += receiver.pipeline.counters(i).Get(counter);
    }
    return sum;
  }
};

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_DATAPATH_H_
