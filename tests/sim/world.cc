#include "world.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "wire/forwarding.h"

namespace suede {
namespace {

constexpr uint32_t kMaxQueuesPerHost = 4;

// One stream: commands of one source queue to one {destination, VC}.
struct Stream {
  uint32_t sent = 0;
  uint32_t delivered = 0;        // where outages are off: all before this one
  std::vector<uint8_t> arrived;  // by sequence
};

uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// What a command's octets are: derived from who sends it to whom and where in the stream it stands.
struct Content {
  uint8_t control[kMaxControlBytes];
  uint8_t data[kMaxDataBytes];
  uint32_t control_bytes;
  uint32_t data_bytes;

  Content(uint32_t source, uint32_t queue, uint32_t destination, uint32_t vc, uint32_t sequence,
          uint32_t fixed_data_bytes) {
    const uint64_t key = Mix(uint64_t{source} << 40 | uint64_t{queue} << 36 |
                             uint64_t{destination} << 24 | uint64_t{vc} << 20 ) ^ Mix(sequence);
    control_bytes = 8 + 2 * static_cast<uint32_t>(Mix(key) % 6);
    data_bytes = fixed_data_bytes != 0 ? fixed_data_bytes
                 : Mix(key + 1) % 4 == 0 ? 0
                                         : 1 + static_cast<uint32_t>(Mix(key + 2) % kMaxDataBytes);
    control[0] = static_cast<uint8_t>(control_bytes / 2 | (data_bytes != 0 ? 0x10 : 0) | 0x20);
    control[1] = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0xaa);
    control[2] = static_cast<uint8_t>(queue);
    control[3] = 0;
    std::memcpy(control + 4, &sequence, 4);
    for (uint32_t i = 8; i < control_bytes; ++i) control[i] = static_cast<uint8_t>(key >> i);
    for (uint32_t i = 0; i < data_bytes; i += 8) {
      const uint64_t word = (key + i) * 0x9e3779b97f4a7c15u;
      std::memcpy(data + i, &word, std::min(data_bytes - i, 8u));
    }
  }
};

NetAddress AddressOf(uint32_t host, Encap encap) {
  switch (encap) {
    case Encap::kUdp4: return {.low = 0xc6120000u + host};
    case Encap::kUdp6: return {.high = 0xfd53'5545'0000'0000, .low = host};
    default: return {.low = DefaultForwardingAddress(0, host)};
  }
}

// What a switch for the encapsulation knows the host by: see SimNetwork::SetDestinationMask.
MacAddress MacOf(uint32_t host, Encap encap) {
  const auto low = static_cast<uint8_t>(host);
  if (encap == Encap::kAfh1 || encap == Encap::kAfh1s) return {0x02, 0x53, 0x55, 0x45, 0, low};
  return {2, 0, 0, 0, 0, low};
}
uint64_t DestinationMask(Encap encap) {
  if (encap == Encap::kAfh2) return 0xffffffff;
  if (encap == Encap::kAfh2c) return 0xffff;
  return 0xffff'ffff'ffff;
}

}  // namespace

struct World::Host {
  uint32_t number = 0;
  SimPort* port = nullptr;
  Pipeline pipeline;
  SettingsChange change;
  void* segment = nullptr;
  SegmentShape shape;
  bool claimed = false;
  std::vector<ClientQueue> queues;
  std::vector<ClientReceiver> receivers;
  uint32_t to_send = 0;
  // [queue][destination * 4 + vc]
  std::array<std::unordered_map<uint32_t, Stream>, kMaxQueuesPerHost> streams;
  struct Tagged {
    uint32_t destination, vc, queue, sequence;
  };
  std::vector<Tagged> tags;        // by tag
  std::vector<uint8_t> completed;  // by tag
  uint32_t completions = 0;

  ~Host() { std::free(segment); }
};

World::World(uint64_t seed, const WorldOptions& options) : options_(options), network_(seed) {
  network_.SetDestinationMask(DestinationMask(options_.encap));
  for (uint32_t h = 0; h < options_.hosts; ++h) {
    hosts_.push_back(std::make_unique<Host>());
    Host& host = *hosts_.back();
    host.number = h;
    uint8_t mac[6];
    std::copy_n(MacOf(h, options_.encap).begin(), 6, mac);
    host.port = network_.AddPort(mac, 8192, 64, options_.faults);
    host.pipeline.AddPort(host.port, {.rules = {.encap = options_.encap},
                                      .tagged = options_.tagged_frames,
                                      .mac = MacOf(h, options_.encap)});
    InstanceParams params{.xpuid = static_cast<uint16_t>(h),
                          .planes = {{.address = AddressOf(h, options_.encap)}},
                          .partition = 7};
    params.pack_limit_bytes = options_.pack_limit_bytes;
    params.transport = options_.transport;
    params.epoch = 1000 + h;
    for (uint32_t peer = 0; peer < options_.hosts; ++peer) {
      if (peer == h) continue;
      params.peers.push_back(
          {.xpuid = static_cast<uint16_t>(peer),
           .planes = {{.address = AddressOf(peer, options_.encap),
                       .mac = MacOf(peer, options_.encap)}}});
    }
    host.pipeline.AddInstance(params);
    host.shape = {.queue_count = options_.queues, .tx_lines = 1024, .rx_lines = options_.rx_lines,
                  .completion_count = 1024, .credit_lines = 256, .aggregate_lines = 1024};
    const uint64_t bytes = SegmentOffsets(host.shape).bytes;
    host.segment = std::aligned_alloc(4096, bytes);
    std::memset(host.segment, 0, bytes);
    FormatSegment(host.segment, host.shape);
    const uint32_t instances[SUEDE_MAX_QUEUES] = {};
    host.pipeline.mailbox().requests.Push({.kind = LcoreRequestKind::kAttach,
                                           .client = 1,
                                           .queue_instances = instances,
                                           .segment = host.segment,
                                           .shape = &host.shape});
    host.pipeline.Poll(network_.now());
    for (uint32_t q = 0; q < options_.queues; ++q) host.queues.emplace_back(host.segment, q);
    for (uint32_t vc = 0; vc < kVcCount; ++vc) host.receivers.emplace_back(host.segment, vc);
    host.to_send = options_.both_ways || h == 0 ? options_.commands : 0;
  }
}

World::~World() = default;

uint64_t World::Sum(Counter counter) const {
  uint64_t sum = 0;
  for (const auto& host : hosts_) {
    sum += host->pipeline.counters(0).Get(counter) + host->pipeline.port_counters().Get(counter);
  }
  return sum;
}

void World::Send(Host& host) {
  uint64_t batch = Random(options_.most_sent + 1);
  while (host.to_send != 0 && batch-- != 0) {
    const auto q = static_cast<uint32_t>(Random(options_.queues));
    uint32_t destination = static_cast<uint32_t>(Random(options_.hosts - 1));
    if (destination >= host.number) ++destination;
    const auto vc = static_cast<uint32_t>(Random(kVcCount));
    Stream& stream = host.streams[q][destination * kVcCount + vc];
    const Content content(host.number, q, destination, vc, stream.sent, options_.fixed_data_bytes);
    const bool tagged = network_.Chance(options_.tagged);
    ClientCommand command{.xpuid = static_cast<uint16_t>(destination),
                          .vc = static_cast<uint8_t>(vc),
                          .flags = 0,
                          .tag = host.tags.size(),
                          .control = content.control,
                          .data = content.data};
    if (tagged) command.flags |= SUEDE_RECORD_COMPLETION;
    if (network_.Chance(options_.transmit_now)) command.flags |= SUEDE_RECORD_TRANSMIT_NOW;
    const SendResult result = host.queues[q].Send(command);
    if (result == SendResult::kWouldBlock) continue;
    if (result != SendResult::kOk) return Fail("Send refused a good command");
    if (tagged) {
      host.tags.push_back({destination, vc, q, stream.sent});
      host.completed.push_back(0);
    }
    ++stream.sent;
    stream.arrived.push_back(0);
    --host.to_send;
  }
  for (ClientQueue& queue : host.queues) queue.Flush();
}

// Whether the command is one that may come now.
bool World::Delivered(Host& host, const ReceivedCommand& got) {
  const uint32_t queue = got.control[2];
  Stream& stream = hosts_[got.source_xpuid]->streams[queue][host.number * kVcCount + got.vc];
  uint32_t sequence = stream.delivered;
  // What was given up may be missing, so that later ones follow: in order all the same.
  if (options_.outages) std::memcpy(&sequence, got.control + 4, 4);
  if (sequence < stream.delivered || sequence >= stream.sent) return false;
  const Content want(got.source_xpuid, queue, host.number, got.vc, sequence,
                     options_.fixed_data_bytes);
  stream.arrived[sequence] = 1;
  stream.delivered = sequence + 1;
  return got.control_bytes == want.control_bytes && got.data_bytes == want.data_bytes &&
         std::memcmp(got.control, want.control, want.control_bytes) == 0 &&
         (want.data_bytes == 0 || std::memcmp(got.data, want.data, want.data_bytes) == 0);
}

// Takes links down and up again, one at a time.
void World::PullCables() {
  if (!options_.outages || network_.now() < next_outage_) return;
  SimPort* port = hosts_[Random(hosts_.size())]->port;
  if (port->link().up) {
    port->SetLink(false);
    next_outage_ = network_.now() + Duration(static_cast<int64_t>(Random(40'000'000)));
  } else {
    port->SetLink(true);
    next_outage_ = network_.now() + Duration(static_cast<int64_t>(Random(20'000'000)));
  }
}

// What any host may be given at any time: small windows and large, short waits and long ones.
Settings World::RandomSettings() {
  Settings settings{.partition = partition_};
  settings.transport = options_.transport;
  TransportParams& t = settings.transport;
  for (TrafficClass& c : settings.classes) c.dscp = static_cast<uint8_t>(Random(64));
  settings.pack_limit_bytes = static_cast<uint32_t>(276 + Random(kMaxPackBytes - 276 + 1));
  settings.inflight_pdus = 1u << Random(11);
  settings.unclaimed_pdus = static_cast<uint32_t>(Random(65));
  t.window_pdus = 1u << Random(10);
  t.window_bytes = settings.pack_limit_bytes << Random(8);
  t.ack_every_pdus = static_cast<uint32_t>(1 + Random(t.window_pdus));
  t.rto_min = std::chrono::microseconds(100 + Random(400));
  t.rto_initial = t.rto_min + std::chrono::microseconds(Random(2000));
  t.rto_max = t.rto_initial + std::chrono::microseconds(Random(20000));
  t.ack_delay = std::chrono::microseconds(1 + Random(90));
  t.nack_timeout = std::chrono::microseconds(20 + Random(500));
  t.not_ready_backoff = std::chrono::microseconds(10 + Random(200));
  t.hello_timeout = std::chrono::microseconds(100 + Random(2000));
  return settings;
}

// Gives a host other settings, and now and then all of them another partition.
void World::ChangeSettings() {
  if (!options_.changes || network_.now() < next_change_) return;
  next_change_ = network_.now() + Duration(static_cast<int64_t>(Random(1'000'000)));
  for (const auto& host : hosts_) {
    if (!host->change.done.load(std::memory_order_acquire)) return;
  }
  const bool all = Random(8) == 0;
  if (all) partition_ = static_cast<uint16_t>(Random(16));
  const uint64_t chosen = Random(hosts_.size());
  for (const auto& host : hosts_) {
    if (!all && host->number != chosen) continue;
    host->change.settings = RandomSettings();
    host->change.done.store(false, std::memory_order_relaxed);
    host->pipeline.mailbox().requests.Push(
        {.kind = LcoreRequestKind::kSettings, .settings = &host->change});
    ++changes_;
  }
}

void World::Receive(Host& host) {
  if (!host.claimed) {
    if (network_.now() - Time{} < options_.claim_after) return;
    host.claimed = true;
    host.pipeline.mailbox().requests.Push(
        {.kind = LcoreRequestKind::kClaim, .vc_mask = 0xf, .client = 1, .instance = 0});
  }
  if (network_.Chance(options_.slow_receiver)) return;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    received_.resize(options_.most_received);
    const uint32_t count = host.receivers[vc].Poll(received_.data(), options_.most_received);
    if (count != 0) last_delivery_ = network_.now();
    for (uint32_t i = 0; i < count; ++i) {
      const ReceivedCommand& got = received_[i];
      const uint32_t queue = got.control[2];
      if (got.source_xpuid >= hosts_.size() || queue >= options_.queues || got.vc != vc ||
          got.own_xpuid != host.number) {
        return Fail("a command came with a wrong source, queue, VC or destination");
      }
      if (!Delivered(host, got)) return Fail("a command is lost, doubled, out of order or damaged");
      delivered_bytes_ += got.data_bytes;
    }
    host.receivers[vc].Release();
  }
}

void World::Complete(Host& host) {
  for (ClientQueue& queue : host.queues) {
    suede_completion completions[16];
    const uint32_t count = queue.PollCompletions(completions, 16);
    for (uint32_t i = 0; i < count; ++i) {
      const suede_completion& c = completions[i];
      if (c.tag >= host.tags.size() || host.completed[c.tag]++ != 0) {
        return Fail("a tag was completed that is not outstanding");
      }
      ++host.completions;
      if (c.status == SUEDE_STATUS_OK) continue;
      if (!options_.outages || c.status != SUEDE_STATUS_UNREACHABLE) {
        return Fail("status " + std::to_string(c.status));
      }
      ++given_up_;
      host.completed[c.tag] = 2;
    }
  }
}

bool World::Finished() const {
  for (const auto& host : hosts_) {
    if (host->to_send != 0 || host->completions != host->tags.size()) return false;
    for (const auto& streams : host->streams) {
      for (const auto& [key, stream] : streams) {
        if (stream.sent != stream.delivered && !options_.outages) return false;
      }
    }
  }
  for (const auto& host : hosts_) {
    if (!host->pipeline.IsQuiet()) return false;
  }
  return true;
}

std::string World::Verdict() const {
  if (!failure_.empty()) return failure_;
  if (!Finished()) return "not everything was delivered in time";
  for (const auto& host : hosts_) {
    for (size_t t = 0; t < host->tags.size(); ++t) {
      const Host::Tagged& tag = host->tags[t];
      const Stream& stream = host->streams[tag.queue].at(tag.destination * kVcCount + tag.vc);
      if (host->completed[t] == 1 && stream.arrived[tag.sequence] == 0) {
        return "a command was completed as acknowledged and never delivered";
      }
    }
    // What the pipeline keeps at hand for the next turns.
    if (host->port->frames_out() > 3 * kBurst) return "frames were leaked";
  }
  return "";
}

std::string World::Run() {
  const Time limit = network_.now() + options_.time_limit;
  uint32_t turns = 0;
  while (failure_.empty() && network_.now() < limit) {
    bool work = false;
    PullCables();
    ChangeSettings();
    for (const auto& host : hosts_) {
      Send(*host);
      work |= host->pipeline.Poll(network_.now());
      Receive(*host);
      Complete(*host);
      if (turns % 64 == 0) host->pipeline.CheckInvariants();
    }
    if (++turns % 16 == 0 && !work && Finished()) break;
    Time next = network_.now() + Duration(200 + static_cast<int64_t>(Random(2000)));
    if (network_.Chance(options_.pauses)) {
      next += Duration(static_cast<int64_t>(Random(5'000'000)));
    } else if (!work) {
      const Time idle_until = network_.now() + std::chrono::microseconds(40);
      next = std::max(next, std::min(network_.next_arrival(), idle_until));
    }
    network_.AdvanceTo(next);
  }
  for (const auto& host : hosts_) host->port->SetLink(true);
  // Let the last transmissions end.
  for (int i = 0; i < 64; ++i) {
    network_.AdvanceTo(network_.now() + std::chrono::milliseconds(5));
    for (const auto& host : hosts_) {
      host->pipeline.Poll(network_.now());
      Receive(*host);
    }
  }
  return Verdict();
}

}  // namespace suede
