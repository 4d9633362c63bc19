// SPDX-License-Identifier: Apache-2.0
// Pipelines on a simulated network with clients, and a bare port that speaks to them by hand.
#ifndef SUEDE_TESTS_PIPELINE_BENCH_H_
#define SUEDE_TESTS_PIPELINE_BENCH_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "../client/segment_memory.h"
#include "pipeline/pipeline.h"
#include "sim/sim.h"
#include "wire/frame_builder.h"

namespace suede {

inline constexpr int kOk = SUEDE_STATUS_OK;

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint16_t kPartition = 7;
// Offsets in a frame of UDP over IPv4.
constexpr uint32_t kSourcePortAt = 34;
constexpr uint32_t kRhAt = kSourcePortAt + 8;

inline MacAddress MacOf(uint32_t host) {
  return {2, 0, 0, 0, static_cast<uint8_t>(host >> 8), static_cast<uint8_t>(host)};
}
inline Ipv4Address IpOf(uint32_t host) { return 0xc6120000u + host; }

struct Client {
  Client(uint32_t client_number, const SegmentShape& shape)
      : number(client_number), memory(shape) {
    for (uint32_t q = 0; q < shape.queue_count; ++q) queues.emplace_back(memory.base(), q);
    for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers.emplace_back(memory.base(), vc);
  }
  SendResult Send(const TestCommand& command, uint16_t xpuid, uint8_t vc = 0, uint8_t flags = 0,
                  uint64_t tag = 0, uint32_t queue = 0) {
    const SendResult result = queues[queue].Send(command.To(xpuid, vc, flags, tag));
    queues[queue].Flush();
    return result;
  }
  SendResult SendTagged(uint64_t tag, uint16_t xpuid, uint8_t vc = 0) {
    return Send(TestCommand(8, 16, static_cast<uint8_t>(tag)), xpuid, vc, SUEDE_RECORD_COMPLETION,
                tag);
  }
  // The first data bytes of the commands received on a VC: the seeds of TestCommand, times 3.
  std::vector<uint8_t> Receive(uint32_t vc = 0, uint32_t max = 1024) {
    std::vector<uint8_t> got;
    ReceivedCommand command;
    while (got.size() < max && receivers[vc].Poll(&command, 1) == 1) {
      got.push_back(command.data != nullptr ? command.data[0] : 0);
    }
    receivers[vc].Release();
    return got;
  }
  std::vector<suede_completion> Completions(uint32_t queue = 0) {
    std::vector<suede_completion> all(1024);
    all.resize(queues[queue].PollCompletions(all.data(), 1024));
    return all;
  }
  uint32_t number;
  SegmentMemory memory;
  std::vector<ClientQueue> queues;
  std::vector<ClientReceiver> receivers;
};

// The kinds of objects that an operator can take out of service and put back, for tests that do so
// with each.
enum class OutOfService : uint8_t { kPort, kInstance };
inline LcoreRequest Switch(OutOfService kind, bool up, uint32_t number = 0) {
  if (kind == OutOfService::kPort) return request::SetPort{.port = number, .up = up};
  return request::SetInstance{.instance = number, .up = up};
}

class PipelineTest : public ::testing::Test {
 protected:
  struct Host {
    uint32_t number = 0;
    SimPort* port = nullptr;        // of plane 0
    std::vector<SimPort*> ports;    // of all planes
    std::unique_ptr<PacketLane> lane;  // where lane_burst is set
    std::vector<std::unique_ptr<PortPauses>> pauses;  // of its ports, where pfc is set
    std::unique_ptr<Pipeline> pipeline;
    std::vector<LcoreReply> replies;
    uint64_t Count(Counter counter) const {
      return pipeline->counters(0).Get(counter) + pipeline->port_counters().Get(counter);
    }
  };

  PipelineTest() {
    params.partition = kPartition;
    params.transport.rto_initial = microseconds(300);
    params.transport.rto_min = microseconds(100);
    params.transport.rto_max = milliseconds(2);
    params.transport.max_tries = 4;
    params.transport.hello_timeout = microseconds(200);
    shape = {.queue_count = 1, .tx_lines = 1024, .rx_lines = 1024, .completion_count = 1024,
             .credit_lines = 256, .aggregate_lines = 1024};
  }
  // The number from which addresses are made for the host's port on the plane.
  static uint32_t OnPlane(uint32_t plane, uint32_t host) { return plane * 0x1000 + host; }
  SimPort* AddPort(uint32_t number) {
    uint8_t mac[6];
    std::copy_n(MacOf(number).begin(), 6, mac);
    return network.AddPort(mac, 4096, 64, SimFaults());
  }
  // Gives a host a new pipeline, as a new boot of its daemon does.
  void Boot(Host& host, uint32_t peers) {
    host.pipeline = std::make_unique<Pipeline>();
    if (crypto != nullptr) host.pipeline->SetCrypto(crypto);
    if (lane_burst != 0) {
      host.lane = std::make_unique<PacketLane>(FrameRules{}, SimPort::kMaxFrameBytes, lane_burst);
    }
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(host.number);
    for (uint32_t plane = 0; plane < planes; ++plane) {
      const uint32_t number = OnPlane(plane, host.number);
      host.pipeline->AddPort(host.ports[plane], {.mac = MacOf(number)},
                             plane == 0 ? host.lane.get() : nullptr);
      if (pfc) {
        host.pauses.push_back(std::make_unique<PortPauses>(pause_params));
        host.pipeline->SetPauses(plane, host.pauses.back().get(), true);
      }
      p.planes.push_back(
          {.port = plane, .address = {.low = IpOf(one_address ? host.number : number)}});
    }
    p.secret = {host.number, ++boots_};
    for (uint32_t peer = 0; peer < peers; ++peer) {
      if (peer == host.number) continue;
      p.peers.push_back({.xpuid = static_cast<uint16_t>(peer), .planes = {}, .plain = plain_peers});
      for (uint32_t plane = 0; plane < planes; ++plane) {
        const uint32_t number = OnPlane(plane, peer);
        p.peers.back().planes.push_back({.address = {.low = IpOf(one_address ? peer : number)},
                                         .mac = resolving ? MacAddress{} : MacOf(number),
                                         .resolving = resolving});
      }
    }
    host.pipeline->AddInstance(p);
  }
  Host& AddHost(uint32_t number, uint32_t peers) {
    hosts.push_back(std::make_unique<Host>());
    Host& host = *hosts.back();
    host.number = number;
    for (uint32_t plane = 0; plane < planes; ++plane) {
      host.ports.push_back(AddPort(OnPlane(plane, number)));
    }
    host.port = host.ports[0];
    Boot(host, peers);
    return host;
  }
  // Takes all events of the host's lcore. Returns those of the kind.
  static std::vector<LcoreEvent> Events(Host& host, LcoreEventKind kind) {
    std::vector<LcoreEvent> found;
    for (LcoreEvent event; host.pipeline->mailbox().events.Pop(event);) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }
  Client& Attach(Host& host, uint8_t claims = 0xf, uint32_t instance = 0) {
    const std::vector<uint32_t> instances(SUEDE_MAX_QUEUES, instance);
    clients.push_back(std::make_unique<Client>(static_cast<uint32_t>(clients.size() + 1), shape));
    Client& client = *clients.back();
    Ask(host, request::Attach{.client = client.number,
                              .queue_instances = instances.data(),
                              .segment = client.memory.base(),
                              .shape = &shape});
    if (claims != 0) {
      Ask(host, request::Claim{.vc_mask = claims, .client = client.number, .instance = instance});
    }
    return client;
  }
  // Asks and returns the answer; kBusy where none came at once.
  LcoreStatus Ask(Host& host, const LcoreRequest& request) {
    host.pipeline->mailbox().requests.Push(request);
    host.pipeline->Poll(network.now());
    LcoreReply reply;
    return host.pipeline->mailbox().replies.Pop(reply) ? reply.status : LcoreStatus::kBusy;
  }
  // Runs until `done`, at most `limit` of virtual time. Returns whether it was.
  bool RunUntil(const std::function<bool()>& done, Duration limit = milliseconds(50)) {
    const Time end = network.now() + limit;
    while (!done()) {
      if (network.now() >= end) return false;
      network.AdvanceTo(network.now() + microseconds(2));
      for (const auto& host : hosts) {
        unchecked_ += host->pipeline->Poll(network.now()) ? 16 : 1;
        if (unchecked_ < kMaxUnchecked) continue;
        host->pipeline->CheckInvariants();
        unchecked_ = 0;
      }
    }
    return true;
  }
  void Run(Duration time) {
    RunUntil([] { return false; }, time);
  }
  // Statuses of the completions that come within the time, by tag; -1 where none came.
  std::vector<int> Statuses(Client& client, size_t count, Duration limit = milliseconds(100)) {
    std::vector<suede_completion> all;
    RunUntil([&] {
      for (const suede_completion& c : client.Completions()) all.push_back(c);
      return all.size() >= count;
    }, limit);
    std::vector<int> statuses(count, -1);
    for (const suede_completion& c : all) statuses.at(c.tag) = c.status;
    return statuses;
  }
  // A frame that has arrived at a bare port since the last call.
  struct Sent {
    ReliabilityHeader rh;
    uint8_t dscp;
    std::vector<uint8_t> commands;
    uint32_t destination;  // the host that it was addressed to
    uint32_t source;
  };
  static std::vector<Sent> Take(SimPort* wire) {
    std::vector<Sent> all;
    Frame* frame;
    while (wire->Receive(&frame, 1) == 1) {
      const ParsedFrame parsed = ParseFrame({}, frame->data, frame->length, false);
      EXPECT_EQ(parsed.error, FrameError::kNone);
      all.push_back(
          {.rh = DecodeRh(parsed.pdu),
           .dscp = parsed.dscp,
           .commands = {parsed.pdu + kRhBytes, parsed.pdu + parsed.pdu_bytes - kRcrcBytes},
           .destination = static_cast<uint32_t>(parsed.destination.low) - IpOf(0),
           .source = static_cast<uint32_t>(parsed.source.low) - IpOf(0)});
      wire->Release(&frame, 1);
    }
    return all;
  }
  // No host keeps more frames than those at hand for its next turns.
  void ExpectNoFramesOut() {
    Run(milliseconds(1));
    for (const auto& host : hosts) EXPECT_LE(host->port->frames_out(), 3 * kBurst);
  }

  SimNetwork network{1};
  InstanceParams params;
  uint32_t planes = 1;      // of each host
  uint32_t lane_burst = 0;  // of hosts' lanes for management packets; 0: they have none
  bool pfc = false;         // hosts' ports obey and ask for pauses
  PauseParams pause_params;
  bool resolving = false;   // hosts do not know the MAC addresses of their peers
  bool plain_peers = false; // hosts know that their peers do not speak HELLO
  bool one_address = false;  // a host has the same address on all planes
  Crypto* crypto = nullptr;  // of all hosts
  SegmentShape shape;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::unique_ptr<Client>> clients;

 private:
  uint64_t boots_ = 0;
  // Invariants are checked after each poll iteration with work, and after some without; with
  // sanitizers, which slow the checks down most, after some of all.
#ifdef SUEDE_SANITIZED
  static constexpr uint32_t kMaxUnchecked = 512;
#else
  static constexpr uint32_t kMaxUnchecked = 16;
#endif
  uint32_t unchecked_ = 0;
};

// One host, XPU 0, and XPU 1 played by hand over a bare port: a plain peer until it meets the host.
class ByHandTest : public PipelineTest {
 protected:
  ByHandTest() { plain_peers = true; }
  void Start() {
    host = &AddHost(0, 2);
    wire = AddPort(1);
  }
  // A HELLO of the peer that answers the last one of an instance and knows it: both are associated
  // then, the peer's first PSN is 0, and the host's is FirstPsn.
  Hello HelloTo(const Instance& instance, uint64_t identity = 5, uint16_t peer = 1) const {
    const Handshake& handshake = instance.peers[instance.peers.OfXpu(peer)].handshake();
    return {.identities = {.own = identity, .peer = handshake.identities().own},
            .nonce = 77,
            .echo = handshake.nonce(),
            .psn_scope = static_cast<uint8_t>(instance.params.transport.psn_scope),
            .window_pdus = 64,
            .pack_limit_bytes = 2048};
  }
  void Meet(uint16_t peer = 1, uint32_t destination = 0, uint32_t port = 0) {
    const Instance& instance = InstanceAt(destination);
    met_ = HelloTo(instance, 5, peer);
    Inject({Control(met_, peer, destination, port)});
    ASSERT_TRUE(instance.peers[instance.peers.OfXpu(peer)].handshake().associated());
  }
  // The identities between XPU 1 and the instance that it has met last.
  Identities Met() const { return met_.identities; }
  // The first PSN of the host's PDUs to XPU 1 on a VC since they met.
  Psn FirstPsn(uint32_t vc = 0) const {
    return host->pipeline->instance(0).peers[0].handshake().first()[vc];
  }
  const Instance& InstanceAt(uint32_t destination) const {
    for (const auto& h : hosts) {
      for (uint32_t i = 0; i < h->pipeline->instance_count(); ++i) {
        const Instance& instance = h->pipeline->instance(i);
        for (const PlaneParams& plane : instance.params.planes) {
          if (plane.address.low == IpOf(destination)) return instance;
        }
      }
    }
    std::abort();
  }
  ReliabilityHeader Rh(uint16_t psn = 0, uint8_t vc = 0) const {
    return {.ver = 0, .op = RhOp::kNothing, .xpuid = 1, .psn = Psn(psn), .vc = vc,
            .partition = kPartition};
  }
  std::vector<uint8_t> Build(const ReliabilityHeader& rh, const std::vector<uint8_t>& commands,
                             uint32_t source = 1, uint32_t destination = 0,
                             uint32_t port = 0) const {
    std::vector<uint8_t> buffer(FrameBufferBytes(static_cast<uint32_t>(commands.size())));
    const HeaderTemplate header = Udp4::MakeTemplate({.source_mac = MacOf(1),
                                                      .destination_mac = MacOf(port),
                                                      .source = {.low = IpOf(source)},
                                                      .destination = {.low = IpOf(destination)}});
    const std::span<uint8_t> frame = BuildFrame(header, rh, commands, buffer);
    return {frame.begin(), frame.end()};
  }
  // A `message` that names no association gets the one that was met.
  std::vector<uint8_t> Control(ControlMessage message, uint16_t peer = 1, uint32_t destination = 0,
                               uint32_t port = 0) const {
    if (IdentitiesOf(message).own == 0) IdentitiesOf(message) = Met();
    std::vector<uint8_t> body(kMaxControlPduBytes);
    body.resize(EncodeControl(message, body.data()));
    return Build(ControlRh(peer, kPartition), body, peer, destination, port);
  }
  // Sends frames at the same time, and runs until they have been seen.
  void Inject(const std::vector<std::vector<uint8_t>>& frames) {
    for (const auto& bytes : frames) {
      Frame* frame;
      ASSERT_EQ(wire->Allocate(&frame, 1), 1u);
      frame->data = frame->buffer + Frame::kCommandOffset;
      std::copy(bytes.begin(), bytes.end(), frame->data);
      frame->length = static_cast<uint32_t>(bytes.size());
      ASSERT_EQ(wire->Transmit(&frame, 1), 1u);
      wire->Release(&frame, 1);
    }
    Run(microseconds(10));
  }
  std::vector<Sent> TakeSent() { return Take(wire); }
  static std::vector<uint8_t> Command(uint8_t seed) {
    return TestCommand(8, 16, seed).bytes();
  }

  Host* host = nullptr;
  SimPort* wire = nullptr;

 private:
  Hello met_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_BENCH_H_
