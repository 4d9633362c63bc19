// SPDX-License-Identifier: Apache-2.0
// Keys of many peers: however many change at once, a turn derives few.
#include "frame/sealing.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "../seal/counted_crypto.h"
#include "bench.h"
#include "frame/frame_writer.h"
#include "lcore/secrets_update.h"
#include "lcore/settings.h"
#include "lcore/wait_snapshot.h"
#include "openssl/openssl_crypto.h"
#include "planes_bench.h"

namespace suede {
namespace {

class ManySealedTest : public PipelineTest {
 protected:
  static constexpr uint32_t kPeers = 512;  // unless a test has fewer
  // A turn makes and ends no more keys than this, whatever happens.
  static constexpr uint32_t kFew = 100;

  // One end, and the most that it has done in a turn.
  struct End {
    std::unique_ptr<Crypto> library = NewOpensslCrypto();
    CountedCrypto crypto{*library};
    std::unique_ptr<SecretsUpdate> update{new SecretsUpdate};
    Host* host = nullptr;
    uint32_t max_keys = 0;
    uint32_t max_ended = 0;
    uint32_t keys = 0;
  };

  void SetUp() override {
    ASSERT_NE(a.library, nullptr);
    params.seal.mode = SealMode::kRequired;
    params.transport.max_tries = 10;  // as it is by default
  }
  // Pipelines end their keys, so before their libraries end.
  void TearDown() override { hosts.clear(); }
  // End a is XPU 0; all others are instances of one pipeline, each with a for its only peer.
  void Start() {
    NewHost(b, 1);
    for (uint32_t xpu = 1; xpu <= peers; ++xpu) {
      InstanceParams p = ParamsOf(xpu);
      p.peers.push_back(PeerAt(0, 0));
      b.host->pipeline->AddInstance(p);
    }
    NewHost(a, 0);
    InstanceParams p = ParamsOf(0);
    for (uint32_t xpu = 1; xpu <= peers; ++xpu) p.peers.push_back(PeerAt(xpu, 1));
    a.host->pipeline->AddInstance(p);
    for (End* end : {&a, &b}) SetSecrets(*end, {1});
    client = &Attach(*a.host);
    SendToAll();
    ASSERT_TRUE(TurnsUntil([&] { return AllSealWith(1); }));
    for (int turns = 0; turns < 1000; ++turns)
      Turn();  // until what else they owe each other is made
    for (End* end : {&a, &b}) end->max_keys = end->max_ended = end->keys = 0;
  }
  void NewHost(End& end, uint32_t number) {
    hosts.push_back(std::make_unique<Host>());
    end.host = hosts.back().get();
    end.host->number = number;
    end.host->pipeline = std::make_unique<Pipeline>();
    end.host->pipeline->SetCrypto(&end.crypto);
    uint8_t mac[6];
    std::copy_n(MacOf(number).begin(), 6, mac);
    end.host->port = network.AddPort(mac, 16384, 1024, SimFaults());
    end.host->pipeline->AddPort(end.host->port, {.rules = rules, .mac = MacOf(number)});
  }
  InstanceParams ParamsOf(uint32_t xpu) const {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.secret = {xpu, 1};
    p.planes.push_back({.port = 0, .address = {.low = IpOf(xpu)}});
    return p;
  }
  static PeerParams PeerAt(uint32_t xpu, uint32_t host) {
    PeerParams peer{.xpuid = static_cast<uint16_t>(xpu), .planes = {}};
    peer.planes.push_back({.address = {.low = IpOf(xpu)}, .mac = MacOf(host)});
    return peer;
  }
  // The newest first.
  static void SetSecrets(End& end, const std::vector<uint8_t>& ids) {
    SealSecrets& secrets = end.update->secrets;
    secrets = {};
    secrets.partition = kPartition;
    for (const uint8_t id : ids) {
      std::array<uint8_t, kSealSecretBytes> secret;
      secret.fill(id);
      secrets.all[secrets.count++] = {.id = id, .prk = ExtractSecret(*end.library, secret)};
    }
    end.update->done = false;
    end.host->pipeline->mailbox().requests.Push(request::SetSecrets{.update = end.update.get()});
  }
  void SendToAll() {
    for (uint32_t xpu = 1; xpu <= peers; ++xpu) {
      while (client->Send(TestCommand(8, 16, 1), static_cast<uint16_t>(xpu)) != SendResult::kOk) {
        Turn();
      }
    }
  }
  void Turn() {
    network.AdvanceTo(network.now() + microseconds(10));
    for (End* end : {&a, &b}) {
      end->host->pipeline->Poll(network.now());
      const uint32_t keys = end->crypto.TakeKeys();
      end->keys += keys;
      end->max_keys = std::max(end->max_keys, keys);
      end->max_ended = std::max(end->max_ended, end->crypto.TakeEnded());
    }
    client->Completions();
  }
  template <typename Done>
  bool TurnsUntil(Done done) {
    for (int left = 500'000; left != 0; --left) {
      Turn();
      if (done()) return true;
    }
    return false;
  }
  bool AllSealWith(uint8_t secret) const {
    const auto with = [&](const Instance& instance) {
      return std::all_of(instance.sealing.cells.begin(), instance.sealing.cells.end(),
                         [&](const SealCell& cell) {
                           return cell.Get().sealed && cell.Get().secret_id == secret;
                         });
    };
    for (const End* end : {&a, &b}) {
      for (uint32_t i = 0; i < end->host->pipeline->instance_count(); ++i) {
        if (!with(end->host->pipeline->instance(i))) return false;
      }
    }
    return true;
  }
  uint64_t Count(const End& end, Counter counter) const {
    uint64_t all = 0;
    for (uint32_t i = 0; i < end.host->pipeline->instance_count(); ++i) {
      all += end.host->pipeline->counters(i).Get(counter);
    }
    return all;
  }

  uint32_t peers = kPeers;
  FrameRules rules;
  End a, b;
  Client* client = nullptr;
};

// All peers meet at once, and none is found unreachable.
TEST_F(ManySealedTest, PeersThatAreMetAtOnceAreMet) {
  Start();
  for (const End* end : {&a, &b}) EXPECT_EQ(Count(*end, Counter::kUnreachable), 0u);
}

TEST_F(ManySealedTest, ANewSecretComesToPeersSomeInATurn) {
  Start();
  for (End* end : {&a, &b}) SetSecrets(*end, {2, 1});
  ASSERT_TRUE(TurnsUntil([&] { return AllSealWith(2); }));
  for (const End* end : {&a, &b}) {
    EXPECT_TRUE(end->update->done);
    EXPECT_EQ(end->update->secrets.count, 0u) << "no copy of them stays";
    EXPECT_EQ(end->update->secrets.all[0].prk, SealPrk{});
    EXPECT_LE(end->max_keys, kFew);
    EXPECT_LE(end->max_ended, kFew);
    EXPECT_EQ(Count(*end, Counter::kTxSealKey), 0u);
  }
}

TEST_F(ManySealedTest, ANewerSecretEndsTheUpdateThatIsUnderWay) {
  peers = 40;
  Start();
  SetSecrets(a, {2, 1});
  Turn();
  EXPECT_FALSE(a.update->done);
  const std::unique_ptr<SecretsUpdate> former = std::move(a.update);
  a.update.reset(new SecretsUpdate);
  SetSecrets(a, {3, 1});
  Turn();
  EXPECT_TRUE(former->done);
  EXPECT_FALSE(a.update->done);
  SetSecrets(b, {3, 1});
  EXPECT_TRUE(TurnsUntil([&] { return AllSealWith(3); }));
  EXPECT_TRUE(a.update->done);
}

// The secret that all send with is taken away, and no peer has shown that it has the other one.
TEST_F(ManySealedTest, ASecretThatEndsIsReplacedAtPeersSomeInATurn) {
  Start();
  for (End* end : {&a, &b}) SetSecrets(*end, {2});
  ASSERT_TRUE(TurnsUntil([&] { return AllSealWith(2); }));
  for (const End* end : {&a, &b}) {
    EXPECT_TRUE(end->update->done);
    EXPECT_GE(end->keys, kPeers);
    EXPECT_LE(end->max_keys, kFew);
    EXPECT_LE(end->max_ended, kFew);
  }
}

// Nothing is lost, and all have begun another epoch.
TEST_F(ManySealedTest, InstancesOfAnLcoreShareTheBoundOfEpochs) {
  Start();
  b.host->pipeline->mailbox().requests.Push(request::RotateKeys{});
  const uint64_t refused = Count(a, Counter::kRxSealBudget);
  SendToAll();
  ASSERT_TRUE(TurnsUntil([&] { return Count(b, Counter::kSealRotations) == kPeers; }));
  ASSERT_TRUE(TurnsUntil([&] { return Count(a, Counter::kSealEpochs) == kPeers; }));
  EXPECT_LE(b.max_keys, SealTurn::kRotations + SealTurn::kOwing);
  EXPECT_LE(a.max_keys, 2 * SealTurn::kOwing);  // of its own epochs, too, as it follows
  EXPECT_EQ(Count(a, Counter::kRxSealBudget), refused);
  for (const Counter drop : {Counter::kRxSealTag, Counter::kRxSealReplay, Counter::kRxSealKey}) {
    EXPECT_EQ(Count(a, drop) + Count(b, drop), 0u);
  }
}

// The checksum of UDP over IPv6 covers what is sealed.
TEST_F(ManySealedTest, EachSealedFrameOverIpv6HasTheRightChecksum) {
  rules.encap = Encap::kUdp6;
  peers = 4;
  Start();
  for (const End* end : {&a, &b}) {
    EXPECT_GT(Count(*end, Counter::kRxSealed), 0u);
    EXPECT_EQ(end->host->Count(Counter::kRxUdpChecksum), 0u);
  }
}

// Two ends that have the same secret.
class SealedPairTest : public PlanesTest {
 protected:
  void StartSealed(SealMode mode) { StartSealed(mode, mode); }
  void StartSealed(SealMode of_a, SealMode of_b) {
    StartWithoutSecrets(of_a, of_b);
    for (Host* host : {a, b}) {
      updates_.emplace_back(new SecretsUpdate);
      SealSecrets& secrets = updates_.back()->secrets;
      secrets.partition = kPartition;
      secrets.count = 1;
      std::array<uint8_t, kSealSecretBytes> secret{1};
      secrets.all[0] = {.id = 1, .prk = ExtractSecret(*library_, secret)};
      host->pipeline->mailbox().requests.Push(request::SetSecrets{.update = updates_.back().get()});
    }
  }
  void StartWithoutSecrets(SealMode of_a, SealMode of_b) {
    library_ = NewOpensslCrypto();
    ASSERT_NE(library_, nullptr);
    crypto = library_.get();
    params.seal.mode = of_a;
    a = &AddHost(0, 2);
    params.seal.mode = of_b;
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  // Pipelines end their keys, so before their library ends.
  void TearDown() override { hosts.clear(); }

  // Sends a control PDU of the host to its peer in plane 0, sealed: in the form of HELLOs, or in
  // that of all others.
  void SendSealed(Host& host, ControlMessage message, bool as_hello) {
    auto& from = const_cast<Instance&>(host.pipeline->instance(0));
    PortContext& port = *from.ports[0];
    ASSERT_TRUE(port.link.frames().Has(1));
    IdentitiesOf(message) = from.peers[0].handshake().identities();
    Frame* frame = port.link.frames().New();
    uint8_t* commands = frame->buffer + Frame::kCommandOffset;
    const uint32_t bytes = EncodeControl(message, commands);
    const ConnectionIndex connection = from.map.At(0, 0, 0);
    const HeaderTemplate& header = from.headers.At(connection, Instance::kAckClass);
    const PlainPdu pdu =
        FinishPlain(header, commands, bytes, ControlRh(from.params.xpuid, from.params.partition));
    ASSERT_TRUE(as_hello ? Sealing::SealHello(from, port, header, 0, 0, frame, pdu)
                         : Sealing::SealOneShot(from, port, header, connection, frame, pdu));
    port.link.StageFront(frame, TxNote::kNoCredit);
    Run(microseconds(20));
  }

  std::unique_ptr<Crypto> library_;
  std::vector<std::unique_ptr<SecretsUpdate>> updates_;
};

// Sealing begins soon after an association without it, where both ends can seal.
TEST_F(SealedPairTest, APeerThatIsMetByPlainHellosIsAskedAtOnceWhetherItSeals) {
  planes = 1;
  StartSealed(SealMode::kPreferred);
  const auto have_met = [&] { return a->pipeline->instance(0).peers[0].handshake().associated(); };
  network.SetFilter([&](std::span<const uint8_t> frame) {
    return have_met() || !IsSealedVersion(frame[kRhAt] >> 6);
  });
  ca->SendTagged(0, 1);
  ASSERT_TRUE(RunUntil(have_met));
  const SealCell& of_a = a->pipeline->instance(0).sealing.cells[0];
  const SealCell& of_b = b->pipeline->instance(0).sealing.cells[0];
  ASSERT_FALSE(of_a.Get().sealed);
  EXPECT_TRUE(RunUntil([&] { return of_a.Get().sealed && of_b.Get().sealed; }, milliseconds(1)));
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
}

// An end that prefers to seal asks in either form; no answer arrives.
TEST_F(SealedPairTest, AHelloIsAnsweredInItsOwnForm) {
  planes = 1;
  StartSealed(SealMode::kPreferred);
  constexpr auto kPlain = static_cast<uint8_t>(RhVersion::kControl);
  std::vector<bool> asked;     // whether b's HELLO was sealed
  std::vector<bool> answered;  // the same of a's answer
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const bool is_question = frame[5] == 0;  // by the MAC address of a
    const uint32_t version = frame[kRhAt] >> 6;
    const bool is_sealed = version == SealedVersion(kPlain);
    if (is_sealed || version == kPlain) {
      (is_question ? asked : answered).push_back(is_sealed);
    }
    return is_question;
  });
  cb->SendTagged(0, 0);
  ASSERT_TRUE(RunUntil([&] { return answered.size() == 4; }));
  EXPECT_EQ(asked, (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(answered, asked);
}

TEST_F(SealedPairTest, AControlPduInTheSealedFormOfAnotherIsDroppedAndCounted) {
  planes = 1;
  StartSealed(SealMode::kRequired);
  WarmUp();
  const Hello hello = b->pipeline->instance(0).peers.own.hello;
  ASSERT_EQ(a->Count(Counter::kRxControlMalformed), 0u);
  SendSealed(*b, Ready{}, false);
  EXPECT_EQ(a->Count(Counter::kRxControlMalformed), 0u);
  SendSealed(*b, Ready{}, true);
  EXPECT_EQ(a->Count(Counter::kRxControlMalformed), 1u);
  SendSealed(*b, hello, false);
  EXPECT_EQ(a->Count(Counter::kRxControlMalformed), 2u);
}

TEST_F(SealedPairTest, ANewPartitionIsThatOfSealedPdus) {
  planes = 1;
  StartSealed(SealMode::kRequired);
  WarmUp();
  SettingsChange change;
  change.settings = {.partition = kPartition + 1,
                     .classes = params.classes,
                     .ack_class = params.ack_class,
                     .pack_limit_bytes = params.pack_limit_bytes,
                     .inflight_pdus = params.inflight_pdus,
                     .unclaimed_pdus = params.unclaimed_pdus,
                     .transport = params.transport,
                     .paths = params.paths};
  change.done = false;
  a->pipeline->mailbox().requests.Push(request::ChangeSettings{.settings = &change});
  ASSERT_TRUE(RunUntil([&] { return change.done.load(); }));
  EXPECT_EQ(a->pipeline->instance(0).params.partition, kPartition + 1);
  EXPECT_EQ(a->pipeline->instance(0).sealing.own->partition, kPartition + 1);
}

TEST_F(SealedPairTest, APlainPduOfAPeerThatSealsIsDroppedCountedAndTold) {
  planes = 1;
  StartSealed(SealMode::kRequired);
  WarmUp();
  ASSERT_TRUE(Events(*a, LcoreEventKind::kSealMismatch).empty());
  const std::vector<uint8_t> commands = TestCommand(8, 16, 1).bytes();
  std::vector<uint8_t> buffer(FrameBufferBytes(static_cast<uint32_t>(commands.size())));
  for (const uint32_t source : {1u, 2u}) {
    const HeaderTemplate header = Udp4::MakeTemplate({.source_mac = MacOf(1),
                                                      .destination_mac = MacOf(0),
                                                      .source = {.low = IpOf(source)},
                                                      .destination = {.low = IpOf(0)}});
    const std::span<uint8_t> frame = BuildFrame(
        header, {.op = RhOp::kNothing, .xpuid = 1, .partition = kPartition}, commands, buffer);
    a->port->Arrive(frame);
    a->pipeline->Poll(network.now());
    EXPECT_EQ(a->Count(Counter::kRxUnsealed), 1u);
    EXPECT_EQ(Events(*a, LcoreEventKind::kSealMismatch).size(), source == 1 ? 1u : 0u);
  }
  EXPECT_EQ(a->Count(Counter::kRxSource), 1u) << "the other one is not the peer's";
  EXPECT_TRUE(ca->Receive().empty());
}

TEST_F(SealedPairTest, OneThatPrefersToSealSpeaksPlainlyWithOneThatCannot) {
  planes = 1;
  StartSealed(SealMode::kPreferred, SealMode::kOff);
  WarmUp();
  SendPdus(64);
  EXPECT_EQ(Statuses(*ca, 64), std::vector<int>(64, kOk));
  for (uint64_t tag = 0; tag < 64; ++tag) cb->SendTagged(tag, 0);
  EXPECT_EQ(Statuses(*cb, 64), std::vector<int>(64, kOk));
  for (const Host* host : {a, b}) {
    EXPECT_EQ(host->Count(Counter::kTxRetransmissions), 0u);
    EXPECT_EQ(host->Count(Counter::kRxSealed), 0u);
  }
  ExpectNoFramesOut();
}

// A question makes a HELLO and four probes, none of which can be sealed.
TEST_F(SealedPairTest, WithoutASecretNothingLeavesAndNoFrameIsKept) {
  constexpr uint32_t kQuestions = 200;
  planes = 1;
  StartWithoutSecrets(SealMode::kRequired, SealMode::kRequired);
  for (uint32_t ticket = 1; ticket <= kQuestions; ++ticket) {
    Ask(*a, request::Ping{.ticket = ticket, .plane_mask = 1});
    Run(microseconds(2));
    EXPECT_EQ(a->pipeline->ping_board(0).planes[0].state.load(), PingState::kAsked);
  }
  EXPECT_EQ(a->pipeline->instance(0).ping.probe, 0u) << "no answer to a probe is waited for";
  EXPECT_EQ(a->Count(Counter::kTxSealKey), uint64_t{5 * kQuestions});
  EXPECT_EQ(a->Count(Counter::kTxSealed), 0u);
  EXPECT_EQ(a->Count(Counter::kTxFrames), 0u);
  ExpectNoFramesOut();
}

// A probe is as long as a plain one would be, and opened before it is reported.
TEST_F(SealedPairTest, ProbesOfThePathAreSealed) {
  planes = 1;
  params.path_probes_per_s = 1000;
  StartSealed(SealMode::kRequired);
  WarmUp();
  const uint64_t sealed = a->Count(Counter::kTxSealed);
  PathRun run;
  run.spec = {.bytes = 1000, .long_reply = true, .timeout = milliseconds(1)};
  run.rows.resize(4);
  run.state.store(PathState::kRunning);
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::ProbePath{.run = &run}));
  ASSERT_TRUE(RunUntil([&] { return run.state.load() != PathState::kRunning; }));
  EXPECT_EQ(run.state.load(), PathState::kDone);
  for (const PathRun::Row& row : run.rows) {
    EXPECT_EQ(row.copies, 1u);
    EXPECT_EQ(row.report.bytes, 1000);
    EXPECT_EQ(row.reply_bytes, 1000u);
    EXPECT_EQ(row.report.there, run.sent);
  }
  EXPECT_GE(a->Count(Counter::kTxSealed), sealed + 4);
  ExpectNoFramesOut();
}

TEST_F(SealedPairTest, PdusWithoutAKeyAreAsIfTheyWereLost) {
  planes = 1;
  StartSealed(SealMode::kRequired);
  WarmUp();
  SecretsUpdate& update = *updates_[0];
  update.done = false;
  update.secrets = {};
  update.secrets.partition = kPartition;
  a->pipeline->mailbox().requests.Push(request::SetSecrets{.update = &update});
  ASSERT_TRUE(RunUntil([&] { return update.done.load(); }));
  ASSERT_EQ(a->Count(Counter::kTxSealKey), 0u);
  const uint64_t left = a->Count(Counter::kTxFrames);
  SendPdus(64);
  for (const int status : Statuses(*ca, 64)) EXPECT_GT(status, kOk);
  EXPECT_GE(a->Count(Counter::kTxSealKey), 4u * 64);
  EXPECT_EQ(a->Count(Counter::kTxFrames), left);
  ExpectNoFramesOut();
}

// Ends with one address on several planes (docs/fare.md).
class OneAddressTest : public SealedPairTest {
 protected:
  void SetUp() override {
    one_address = true;
    StartSealed(SealMode::kRequired);
    WarmUp();
  }
};

// An attacker on the path takes a PDU from one plane to the other.
TEST_F(OneAddressTest, APduIsOfThePlaneThatItWasSentOn) {
  const MacAddress of_first = MacOf(OnPlane(0, 1));
  const MacAddress of_second = MacOf(OnPlane(1, 1));
  // Counts what came before the planes were paired.
  const uint64_t strays = b->Count(Counter::kRxSealPlane);
  std::vector<uint8_t> taken;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const bool is_data = frame.size() > kRhAt && frame[kRhAt] >> 6 == 1;
    if (!taken.empty() || !is_data || !std::equal(of_first.begin(), of_first.end(), frame.begin()))
      return true;
    taken.assign(frame.begin(), frame.end());
    return false;
  });
  SendPdus(16);
  ASSERT_EQ(Statuses(*ca, 16), std::vector<int>(16, kOk));
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(b->Count(Counter::kRxSealPlane), strays);
  std::copy(of_second.begin(), of_second.end(), taken.begin());
  const uint64_t opened = b->Count(Counter::kRxSealed);
  network.Inject(taken);
  b->pipeline->Poll(network.now());
  EXPECT_EQ(b->Count(Counter::kRxSealPlane), strays + 1);
  EXPECT_EQ(b->Count(Counter::kRxSealed), opened);
  std::vector<uint8_t> received = cb->Receive();
  std::sort(received.begin(), received.end());
  EXPECT_EQ(received, Seeds(16));
}

// Ends that have met, and whose PLANEs are lost.
class UnpairedTest : public SealedPairTest {
 protected:
  void SetUp() override {
    one_address = true;
    StartSealed(SealMode::kRequired);
    network.SetFilter([&](std::span<const uint8_t> frame) {
      return (frame[kRhAt + kRhBytes] & 0x80) != 0;  // of HELLOs
    });
    ca->SendTagged(0, 1);
    ASSERT_TRUE(RunUntil([&] { return HasMet(*a) && HasMet(*b); }));
    network.SetFilter(nullptr);
  }
  static bool HasMet(const Host& host) {
    return host.pipeline->instance(0).peers[0].handshake().associated();
  }
};

// b has seen a number of a's plane, while nothing was sealed.
TEST_F(UnpairedTest, APlaneThatIsNotPairedTakesNoStream) {
  SessionOf(*b, 0).OnPlane({.plane = 0}, network.now(), params.paths);
  ASSERT_EQ(SessionOf(*b, 0).peer_plane(), 0);
  ASSERT_FALSE(SessionOf(*b, 0).paired());
  const uint64_t strays = b->Count(Counter::kRxSealPlane);
  SendSealed(*a, Ready{}, false);
  EXPECT_EQ(b->Count(Counter::kRxSealPlane), strays + 1);
}

class OneAddressControlTest : public SealedPairTest {
 protected:
  void SetUp() override {
    one_address = true;
    params.counts_credit = false;
    shape.rx_lines = 64;
    StartSealed(SealMode::kRequired);
    WarmUp();
  }
};

// NOT_READY is of the plane whose PDU is refused; PLANEs name theirs.
TEST_F(OneAddressControlTest, AControlPduIsOfThePlaneThatItWasSentOn) {
  const MacAddress of_first = MacOf(OnPlane(0, 0));
  const MacAddress of_second = MacOf(OnPlane(1, 0));
  std::vector<std::vector<uint8_t>> taken;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const bool is_control = frame.size() > kRhAt && frame[kRhAt] >> 6 == 2;
    if (!is_control || !std::equal(of_first.begin(), of_first.end(), frame.begin())) return true;
    taken.emplace_back(frame.begin(), frame.end());
    return false;
  });
  SendPdus(200);
  ASSERT_TRUE(RunUntil([&] { return b->Count(Counter::kRxNotReady) >= 4; }));
  Run(microseconds(20));
  network.SetFilter(nullptr);
  const uint64_t strays = a->Count(Counter::kRxSealPlane);
  for (std::vector<uint8_t>& frame : taken) {
    std::copy(of_second.begin(), of_second.end(), frame.begin());
    network.Inject(frame);
  }
  a->pipeline->Poll(network.now());
  EXPECT_GT(a->Count(Counter::kRxSealPlane), strays);
}

TEST_F(OneAddressTest, SecretsThatAreAgreedWithAPeerAreTakenAtOnce) {
  for (Host* host : {a, b}) {
    SecretsUpdate* update = updates_[host == a ? 0 : 1].get();
    update->done = false;
    SealSecrets& secrets = update->secrets;
    secrets.partition = kPartition;
    secrets.count = 1;
    std::array<uint8_t, kSealSecretBytes> secret{2};
    secrets.all[0] = {.id = 2, .prk = ExtractSecret(*library_, secret)};
    Ask(*host, request::SetPeerSecrets{.instance = 0, .peer = 0, .update = update});
    EXPECT_TRUE(update->done);
    EXPECT_EQ(update->secrets.count, 0u) << "no copy of them stays";
  }
  SendPdus(16);
  EXPECT_EQ(Statuses(*ca, 16), std::vector<int>(16, kOk));
  for (Host* host : {a, b}) {
    // Peers are asked with one secret after the other, each 100 ms.
    const SealCell& cell = host->pipeline->instance(0).sealing.cells[0];
    EXPECT_TRUE(RunUntil([&] { return cell.Get().secret_id == 2; }, milliseconds(300)));
  }
  // There is one peer.
  for (const uint32_t peer : {1u, 77u}) {
    updates_[0]->done = false;
    Ask(*a, request::SetPeerSecrets{
                .instance = 0, .peer = PeerIndex(peer), .update = updates_[0].get()});
    EXPECT_TRUE(updates_[0]->done) << peer;
  }
}

// Secrets are for all instances that seal, and there is none.
// PDUs wait for frames to be sealed in (docs/why.md).
TEST_F(SealedPairTest, WithoutFramesPdusWait) {
  params.transport.window_pdus = 4;
  StartSealed(SealMode::kRequired);
  WarmUp();
  Cut(0, true);
  Cut(1, true);
  constexpr uint8_t kPdus = 80;
  SendPdus(kPdus);
  Run(microseconds(10));
  std::vector<Frame*> taken;
  const auto take_all = [&] {
    for (Frame* frame; a->port->Allocate(&frame, 1) == 1;) taken.push_back(frame);
  };
  take_all();
  Cut(0, false);
  Cut(1, false);
  WaitSnapshot snapshot;
  EXPECT_TRUE(RunUntil([&] {
    take_all();
    snapshot.done.store(false);
    a->pipeline->mailbox().requests.Push(request::Waits{.snapshot = &snapshot});
    a->pipeline->Poll(network.now());
    return snapshot.count != 0 && snapshot.rows[0].cause == WaitCause::kFrames;
  }));
  a->port->Release(taken.data(), static_cast<uint32_t>(taken.size()));
  EXPECT_EQ(Statuses(*ca, kPdus), std::vector<int>(kPdus, kOk));
}

class UnsealedTest : public PlanesTest {
 protected:
  void TearDown() override { hosts.clear(); }
  std::unique_ptr<Crypto> library_;
};

TEST_F(UnsealedTest, AnInstanceThatDoesNotSealHasNothingToDoWithSecrets) {
  library_ = NewOpensslCrypto();
  ASSERT_NE(library_, nullptr);
  crypto = library_.get();
  params.seal.mode = SealMode::kOff;
  StartPair();
  WarmUp();
  const std::unique_ptr<SecretsUpdate> update(new SecretsUpdate);
  update->secrets.count = 1;
  Ask(*a, request::SetSecrets{.update = update.get()});
  Ask(*a, request::RotateKeys{});
  SendPdus(4);
  EXPECT_EQ(Statuses(*ca, 4), std::vector<int>(4, kOk));
  EXPECT_TRUE(update->done);
  EXPECT_EQ(a->Count(Counter::kTxSealed) + b->Count(Counter::kRxSealed), 0u);
}

}  // namespace
}  // namespace suede
