// SPDX-License-Identifier: Apache-2.0
// The server's treatment of clients that do not keep to the protocol.
#include "shm/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_daemon.h"
#include "local/passing.h"

namespace suede {
namespace {

constexpr int kNoHoles = 0x10;  // F_SEAL_FUTURE_WRITE
constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

// A client that sends any bytes.
class RawClient {
 public:
  explicit RawClient(const std::string& path) {
    fd_ = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connected) recv(fd_, &hello, sizeof hello, 0);
  }
  ~RawClient() {
    close(fd_);
    if (segment_fd >= 0) close(segment_fd);
    if (event_fd >= 0) close(event_fd);
  }
  template <typename Message>
  bool Send(const Message& message, size_t bytes = sizeof(Message)) {
    return send(fd_, &message, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  // The next reply; takes descriptors along.
  bool Receive(protocol::Reply* reply) {
    iovec data{.iov_base = reply, .iov_len = sizeof *reply};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    if (recvmsg(fd_, &header, 0) != sizeof *reply) return false;
    if (const cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr) {
      int fds[2];
      std::memcpy(fds, CMSG_DATA(c), sizeof fds);
      segment_fd = fds[0];
      event_fd = fds[1];
    }
    return true;
  }
  // Whether the daemon closes the connection (replies before that are passed over).
  bool IsClosed() {
    char any[2048];
    ssize_t n;
    while ((n = recv(fd_, any, sizeof any, 0)) > 0) {
    }
    return n == 0 || errno == ECONNRESET;
  }
  protocol::Status OpenUnsealed(uint32_t queues = 1) {
    protocol::Open open;
    open.queue_count = queues;
    for (auto& instance : open.instances) instance.xpuid = 1;
    return Ask(open);
  }
  protocol::Status Seal() {
    fcntl(segment_fd, F_ADD_SEALS, kNoHoles);
    return Ask(protocol::Sealed());
  }
  protocol::Status Open(uint32_t queues = 1) {
    const protocol::Status status = OpenUnsealed(queues);
    return status == protocol::Status::kOk ? Seal() : status;
  }
  template <typename Request>
  protocol::Status Ask(const Request& request) {
    protocol::Reply reply;
    return Send(request) && Receive(&reply) ? reply.status : protocol::Status::kFailed;
  }

  protocol::Hello hello;
  int fd() const { return fd_; }

  bool connected = false;
  int segment_fd = -1;
  int event_fd = -1;

 private:
  int fd_ = -1;
};

class ServerTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  const std::string path_ = directory_.Socket();
  FakeDaemon daemon_{TestConfig(path_)};
};

TEST_F(ServerTest, GreetsAndGivesASealedSegment) {
  RawClient client(path_);
  EXPECT_EQ(client.hello.head.magic, protocol::kMagic);
  EXPECT_EQ(client.hello.head.type, protocol::Type::kHello);
  EXPECT_EQ(client.hello.head.size, sizeof client.hello);
  ASSERT_EQ(client.Open(), protocol::Status::kOk);
  const int seals = fcntl(client.segment_fd, F_GET_SEALS);
  EXPECT_EQ(seals, F_SEAL_SHRINK | F_SEAL_GROW | kNoHoles);
  EXPECT_NE(ftruncate(client.segment_fd, 0), 0);
}

TEST_F(ServerTest, TellsHowClientsComeAndGo) {
  const auto wait = [this](size_t count) {
    for (int i = 0; i < 5000 && daemon_.seen().size() < count; ++i) usleep(1000);
    return daemon_.seen();
  };
  {
    RawClient polite(path_);
    ASSERT_EQ(polite.Open(2), protocol::Status::kOk);
    ASSERT_TRUE(polite.Send(protocol::Goodbye()));
    EXPECT_TRUE(polite.IsClosed());
  }
  {
    RawClient dies(path_);
    ASSERT_EQ(dies.Open(), protocol::Status::kOk);
  }
  wait(4);
  {
    RawClient wrong(path_);
    ASSERT_TRUE(wrong.Send(protocol::Reset()));
    EXPECT_TRUE(wrong.IsClosed());
  }
  { RawClient probe(path_); }
  const auto seen = wait(6);
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_FALSE(seen[0].second.has_value());
  EXPECT_EQ(seen[0].first.queue_count, 2u);
  EXPECT_EQ(seen[0].first.pid, getpid());
  EXPECT_TRUE(seen[1].second->was_open && seen[1].second->sent_goodbye);
  EXPECT_EQ(seen[1].first.id, seen[0].first.id);
  EXPECT_EQ(seen[1].second->error, "");
  EXPECT_TRUE(seen[3].second->was_open && !seen[3].second->sent_goodbye);
  EXPECT_EQ(seen[4].second->error, "malformed");
  EXPECT_FALSE(seen[4].second->was_open || seen[5].second->was_open);
  EXPECT_EQ(seen[5].second->error, "");
}

TEST_F(ServerTest, OversizedMessagesEndTheConnection) {
  RawClient client(path_);
  const char big[4096] = {};
  ASSERT_TRUE(client.Send(big));
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(daemon_.counters().oversized, 1u);
}

TEST_F(ServerTest, MalformedMessagesEndTheConnection) {
  uint64_t expected = 0;
  const auto closes = [&](auto message, size_t bytes) {
    RawClient client(path_);
    client.Send(message, bytes);
    EXPECT_TRUE(client.IsClosed());
    EXPECT_EQ(daemon_.counters().malformed, ++expected);
  };
  protocol::Open open;
  closes(open, 3);
  closes(open, sizeof open - 4);
  open.head.magic = 1;
  closes(open, sizeof open);
  open = {};
  open.head.size = 7;
  closes(open, sizeof open);
  open = {};
  open.head.type = static_cast<protocol::Type>(99);
  closes(open, sizeof open);
  closes(protocol::Claim{}, sizeof(protocol::Claim));  // before OPEN
  closes(protocol::Wait{}, sizeof(protocol::Wait));
  closes(protocol::Reply{}, sizeof(protocol::Reply));
}

TEST_F(ServerTest, PacketsAndCommandsDoNotMix) {
  uint64_t expected = 0;
  const auto closes = [&](RawClient& client, auto message, size_t bytes) {
    client.Send(message, bytes);
    EXPECT_TRUE(client.IsClosed());
    EXPECT_EQ(daemon_.counters().malformed, ++expected);
  };
  protocol::PacketSend send;
  send.head = {.type = protocol::Type::kPacketSend, .size = 80};
  std::memset(send.bytes, 1, 64);
  {
    RawClient client(path_);
    closes(client, send, 80);  // before PACKETS_OPEN
  }
  {
    RawClient client(path_);
    ASSERT_EQ(client.Open(), protocol::Status::kOk);
    closes(client, protocol::PacketsOpen{}, sizeof(protocol::PacketsOpen));
  }
  const auto after = [&](auto message, size_t bytes) {
    RawClient client(path_);
    ASSERT_TRUE(client.Send(protocol::PacketsOpen{}));
    closes(client, message, bytes);
  };
  after(protocol::PacketsOpen{}, sizeof(protocol::PacketsOpen));
  after(protocol::Open{}, sizeof(protocol::Open));
  after(protocol::Claim{}, sizeof(protocol::Claim));
  after(protocol::Wait{}, sizeof(protocol::Wait));
  after(send, 79);  // shorter than its size says
  EXPECT_EQ(daemon_.packets, 0u);
}

TEST_F(ServerTest, WithoutAHandlerPacketsAreRefused) {
  daemon_.Ask<int>([](ShmServer& server) {
    server.SetPacketHandler(nullptr);
    return 0;
  });
  RawClient client(path_);
  protocol::PacketsOpen open;
  open.head.sequence = 7;
  ASSERT_TRUE(client.Send(open));
  protocol::Reply reply;
  ASSERT_TRUE(client.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kFailed);
  EXPECT_EQ(reply.head.sequence, 7u);
  EXPECT_EQ(client.Open(), protocol::Status::kOk) << "it may still become another kind of client";
}

TEST_F(ServerTest, PacketsOfAnyLengthReachTheHandlerAndNoLongerOnes) {
  RawClient client(path_);
  ASSERT_TRUE(client.Send(protocol::PacketsOpen{}));
  protocol::PacketSend send{};
  uint32_t sent = 0;
  for (const uint32_t bytes : {0u, 1u, 13u, 14u, 1518u, protocol::kMaxPacketBytes}) {
    send.head = {.type = protocol::Type::kPacketSend,
                 .size = static_cast<uint32_t>(sizeof send.head) + bytes};
    ASSERT_TRUE(client.Send(send, send.head.size));
    ++sent;
  }
  for (int i = 0; i < 5000 && daemon_.packets != sent; ++i) usleep(1000);
  EXPECT_EQ(daemon_.packets, sent);
  std::vector<char> longer(sizeof send + 1);
  std::memcpy(longer.data(), &send, sizeof send);
  protocol::Head head{.type = protocol::Type::kPacketSend,
                      .size = static_cast<uint32_t>(longer.size())};
  std::memcpy(longer.data(), &head, sizeof head);
  struct Longer {
    char bytes[sizeof(protocol::PacketSend) + 1];
  } message;
  std::memcpy(message.bytes, longer.data(), longer.size());
  client.Send(message);
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(daemon_.counters().oversized, 1u);
}

TEST_F(ServerTest, AReaderOfPacketsThatSleepsLosesThemAndNothingElse) {
  RawClient reader(path_);
  protocol::PacketsOpen open;
  open.receive = 1;
  ASSERT_TRUE(reader.Send(open));
  RawClient sender(path_);
  ASSERT_TRUE(sender.Send(protocol::PacketsOpen{}));
  protocol::PacketSend send{};
  send.head = {.type = protocol::Type::kPacketSend, .size = 16 + 1500};
  uint32_t sent = 0;
  for (; sent < 20'000 && daemon_.copies_lost < 100; ++sent) ASSERT_TRUE(sender.Send(send, 1516));
  EXPECT_GE(daemon_.copies_lost, 100u);
  for (int i = 0; i < 5000 && daemon_.packets != sent; ++i) usleep(1000);
  EXPECT_EQ(daemon_.packets, sent);
  EXPECT_EQ(daemon_.client_count(), 2u);
  EXPECT_EQ(daemon_.counters().gone, 0u);
}

TEST_F(ServerTest, SecondOpenEndsTheConnection) {
  RawClient client(path_);
  ASSERT_EQ(client.Open(), protocol::Status::kOk);
  client.Open();
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(daemon_.counters().malformed, 1u);
}

TEST_F(ServerTest, ForeignVersionIsToldSo) {
  RawClient client(path_);
  protocol::Open open;
  open.head.version = 9;
  ASSERT_TRUE(client.Send(open));
  protocol::Reply reply;
  ASSERT_TRUE(client.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kBadVersion);
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(daemon_.counters().version, 1u);
}

TEST_F(ServerTest, BadFieldsAreRefusedAndNothingElse) {
  RawClient client(path_);
  EXPECT_EQ(client.Open(0), protocol::Status::kInvalid);
  EXPECT_EQ(client.Open(5), protocol::Status::kInvalid);
  EXPECT_EQ(client.Open(4), protocol::Status::kOk);
  protocol::Reset reset;
  reset.queue = 4;
  protocol::Reply reply;
  ASSERT_TRUE(client.Send(reset) && client.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kNotFound);
  protocol::Wait wait;  // of queues that there are not
  wait.credit_queues = wait.completion_queues = wait.rx_vcs = ~0u;
  ASSERT_TRUE(client.Send(wait));
  reset.queue = 3;
  ASSERT_TRUE(client.Send(reset) && client.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kOk);
}

// An access to a register. The fake daemon says which there are.
protocol::Register Access(uint32_t address, uint16_t width_bits, bool is_write = false,
                          uint64_t value = 0) {
  protocol::Register access;
  access.address = address;
  access.width_bits = width_bits;
  access.is_write = is_write ? 1 : 0;
  access.value = value;
  return access;
}

TEST_F(ServerTest, RegistersAreReadWrittenAndRefused) {
  RawClient client(path_);
  ASSERT_EQ(client.Open(), protocol::Status::kOk);
  const auto ask = [&](const protocol::Register& access, uint64_t* value = nullptr) {
    protocol::Reply reply;
    EXPECT_TRUE(client.Send(access) && client.Receive(&reply));
    EXPECT_EQ(reply.request, protocol::Type::kRegister);
    if (value != nullptr) *value = reply.value;
    return reply.status;
  };
  uint64_t value = 0;
  EXPECT_EQ(ask(Access(8, 32), &value), protocol::Status::kOk);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(ask(Access(8, 32, true, 11), &value), protocol::Status::kOk);
  EXPECT_EQ(value, 11u);
  EXPECT_EQ(ask(Access(8, 64)), protocol::Status::kInvalid);
  EXPECT_EQ(ask(Access(12, 32, true)), protocol::Status::kNotPermitted);
  EXPECT_EQ(ask(Access(16, 32, true)), protocol::Status::kNotNow);
  EXPECT_EQ(ask(Access(20, 32, true)), protocol::Status::kBusy);
  EXPECT_EQ(ask(Access(0xffffffff, 0xffff)), protocol::Status::kInvalid);
  EXPECT_EQ(ask(Access(0xffffffff, 32), &value), protocol::Status::kNotFound);
  EXPECT_EQ(value, 0u);
}

TEST_F(ServerTest, RegisterBeforeOpenOrWithNonsenseEndsTheConnection) {
  RawClient early(path_);
  ASSERT_TRUE(early.Send(Access(8, 32)));
  EXPECT_TRUE(early.IsClosed());
  RawClient nonsense(path_);
  ASSERT_EQ(nonsense.Open(), protocol::Status::kOk);
  protocol::Register access = Access(8, 32);
  access.is_write = 2;
  ASSERT_TRUE(nonsense.Send(access));
  EXPECT_TRUE(nonsense.IsClosed());
  RawClient cut(path_);
  ASSERT_EQ(cut.Open(), protocol::Status::kOk);
  ASSERT_TRUE(cut.Send(Access(8, 32), sizeof(protocol::Register) - 1));
  EXPECT_TRUE(cut.IsClosed());
  EXPECT_EQ(daemon_.counters().malformed, 3u);
}

TEST_F(ServerTest, FloodingEndsTheConnectionAndNotTheOthers) {
  RawClient good(path_);
  ASSERT_EQ(good.Open(), protocol::Status::kOk);
  RawClient bad(path_);
  ASSERT_EQ(bad.Open(), protocol::Status::kOk);
  protocol::Reset reset;
  reset.queue = 99;
  while (bad.Send(reset)) {
  }
  const ShmServerCounters counters = daemon_.counters();
  EXPECT_EQ(counters.flooding + counters.not_reading, 1u);
  protocol::Reply reply;
  reset.queue = 0;
  ASSERT_TRUE(good.Send(reset) && good.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kOk);
}

TEST(ServerTimeout, ClientThatDoesNotOpenIsDropped) {
  TestDirectory directory;
  ShmServerConfig config = TestConfig(directory.Socket());
  config.open_timeout_ms = 100;
  FakeDaemon daemon(config);
  RawClient slow(directory.Socket());
  RawClient unsealed(directory.Socket());
  EXPECT_EQ(unsealed.OpenUnsealed(), protocol::Status::kOk);
  EXPECT_TRUE(slow.IsClosed());
  EXPECT_TRUE(unsealed.IsClosed());
  EXPECT_EQ(daemon.counters().open_timeout, 2u);
}

TEST_F(ServerTest, ConnectionsThatDoNotOpenGiveTheirPlaces) {
  RawClient idle[4] = {RawClient(path_), RawClient(path_), RawClient(path_), RawClient(path_)};
  ASSERT_EQ(idle[0].OpenUnsealed(), protocol::Status::kOk);
  ASSERT_EQ(idle[1].Open(), protocol::Status::kOk);
  usleep(200'000);
  RawClient late(path_);
  EXPECT_EQ(late.Open(), protocol::Status::kOk);
  EXPECT_TRUE(idle[0].IsClosed()) << "it came first";
  EXPECT_EQ(daemon_.counters().displaced, 1u);
  for (RawClient* client : {&idle[2], &idle[3]}) {
    EXPECT_EQ(client->Open(), protocol::Status::kOk);
  }
  // A client that has opened stays.
  RawClient refused(path_);
  EXPECT_EQ(refused.hello.head.type, protocol::Type::kReply);
  EXPECT_EQ(daemon_.counters().refused, 1u);
}

TEST(ServerAdmission, OneUserLeavesPlacesToOthers) {
  TestDirectory directory;
  ShmServerConfig config = TestConfig(directory.Socket());
  config.max_clients = 8;
  config.is_privileged = [](uid_t) { return false; };
  FakeDaemon daemon{config};
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<RawClient>(directory.Socket()));
    ASSERT_EQ(clients.back()->Open(), protocol::Status::kOk) << i;
  }
  RawClient late(directory.Socket());
  const auto* reply = reinterpret_cast<const protocol::Reply*>(&late.hello);
  ASSERT_EQ(reply->head.type, protocol::Type::kReply);
  EXPECT_EQ(reply->status, protocol::Status::kNoResources);
  EXPECT_NE(std::string(reply->text).find("has 6 of 8 connections"), std::string::npos)
      << reply->text;
  EXPECT_EQ(daemon.refusals(), std::vector<std::string>{reply->text});
}

// The reply to a request.
protocol::Reply ReplyTo(RawClient& client, const auto& request) {
  protocol::Reply reply;
  EXPECT_TRUE(client.Send(request) && client.Receive(&reply));
  return reply;
}

protocol::Claim ClaimOf(uint16_t xpuid, uint32_t vc_mask) {
  protocol::Claim claim;
  claim.instance.xpuid = xpuid;
  claim.vc_mask = vc_mask;
  return claim;
}

TEST(ServerRules, AUserIsTheXpusOfItsRulesAlone) {
  TestDirectory directory;
  ShmServerConfig config = TestConfig(directory.Socket());
  const uid_t uid = geteuid();
  // The user that runs the daemon, root too, has the rights of a rule and no others.
  config.rules = {{.uid = uid, .first_xpu = 2, .last_xpu = 9, .vc_mask = 6},
                  {.uid = uid + 1, .first_xpu = 1, .last_xpu = 1}};
  FakeDaemon daemon{config};
  RawClient client(directory.Socket());
  protocol::Open open;
  open.queue_count = 2;
  open.instances[0].xpuid = 2;
  open.instances[1].xpuid = 1;
  protocol::Reply reply = ReplyTo(client, open);
  EXPECT_EQ(reply.status, protocol::Status::kNotPermitted);
  EXPECT_EQ(reply.text, absl::StrCat("no rule lets uid ", uid, " be XPU 1; add \"", uid,
                                     ":1\" to clients.rules"));
  EXPECT_EQ(daemon.refusals(), std::vector<std::string>{reply.text});
  EXPECT_EQ(daemon.vc_masks(), std::vector<uint8_t>()) << "nobody was asked to serve it";

  open.instances[1] = {.xpuid = 2, .instance = 1};
  ASSERT_EQ(ReplyTo(client, open).status, protocol::Status::kOk);
  ASSERT_EQ(client.Seal(), protocol::Status::kOk);
  EXPECT_EQ(daemon.vc_masks(), (std::vector<uint8_t>{6, 6}));

  EXPECT_EQ(ReplyTo(client, ClaimOf(2, 6)).status, protocol::Status::kOk);
  reply = ReplyTo(client, ClaimOf(2, 15));
  EXPECT_EQ(reply.status, protocol::Status::kNotPermitted);
  EXPECT_EQ(reply.text, absl::StrCat("no rule lets uid ", uid, " be XPU 2.0 on VCs 0,3; add \"",
                                     uid, ":2.0:0,3\" to clients.rules"))
      << "XPU 2 has several instances";
  EXPECT_EQ(ReplyTo(client, ClaimOf(1, 1)).status, protocol::Status::kNotPermitted);
  // To have requests executed takes the same rights.
  protocol::Claim serve = ClaimOf(2, 7);
  serve.head.type = protocol::Type::kServe;
  reply = ReplyTo(client, serve);
  EXPECT_EQ(reply.status, protocol::Status::kNotPermitted);
  EXPECT_EQ(reply.text, absl::StrCat("no rule lets uid ", uid, " be XPU 2.0 on VCs 0; add \"", uid,
                                     ":2.0:0\" to clients.rules"));

  // Rules that change concern requests from then on.
  daemon.Ask<int>([&](ShmServer& server) {
    server.SetRules({{.uid = uid + 1, .first_xpu = 2, .last_xpu = 2}});
    return 0;
  });
  EXPECT_EQ(ReplyTo(client, ClaimOf(2, 2)).status, protocol::Status::kNotPermitted);
  protocol::Claim unclaim = ClaimOf(2, 6);
  unclaim.head.type = protocol::Type::kUnclaim;
  EXPECT_EQ(ReplyTo(client, unclaim).status, protocol::Status::kOk) << "it may always give up";
  daemon.Ask<int>([&](ShmServer& server) {
    server.SetRules({});
    return 0;
  });
  EXPECT_EQ(ReplyTo(client, ClaimOf(2, 15)).status, protocol::Status::kOk);
  RawClient any(directory.Socket());
  EXPECT_EQ(any.Open(), protocol::Status::kOk);
  EXPECT_EQ(daemon.vc_masks(), std::vector<uint8_t>{15});
}

TEST_F(ServerTest, SegmentStaysUntilDetached) {
  daemon_.hold_detach = true;
  ClientId id{};
  {
    RawClient client(path_);
    ASSERT_EQ(client.Open(), protocol::Status::kOk);
    id = daemon_.Ask<ClientId>([](ShmServer& server) { return server.clients()[0].id; });
  }
  while (daemon_.gone == 0) usleep(1000);
  const bool is_mapped = daemon_.Ask<bool>([id](ShmServer& server) {
    return server.segment(id) != nullptr && server.clients()[0].is_gone;
  });
  EXPECT_TRUE(is_mapped);
  daemon_.Ask<int>([id](ShmServer& server) {
    server.FinishDetach(id);
    return 0;
  });
  while (daemon_.client_count() != 0) usleep(1000);
}

// A client's view of its segment.
struct View {
  explicit View(int fd) : fd(fd), bytes(static_cast<size_t>(Stat().st_size)) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_NE(base, MAP_FAILED);
  }
  ~View() { munmap(base, bytes); }
  struct stat Stat() const {
    struct stat info = {};
    EXPECT_EQ(fstat(fd, &info), 0);
    return info;
  }
  size_t BytesMissing() const { return bytes - static_cast<size_t>(Stat().st_blocks) * 512; }

  const int fd;
  const size_t bytes;
  void* base = nullptr;
};

TEST_F(ServerTest, ASegmentThatHasLostPagesIsNeitherTouchedNorServed) {
  RawClient client(path_);
  ASSERT_EQ(client.OpenUnsealed(), protocol::Status::kOk);
  const View view(client.segment_fd);
  EXPECT_EQ(view.BytesMissing(), 0u);
  ASSERT_EQ(fallocate(client.segment_fd, kPunch, 0, static_cast<off_t>(view.bytes)), 0);
  daemon_.Ask<int>([](ShmServer& server) {
    server.waits().SetEventSummary(true);
    return 0;
  });
  EXPECT_EQ(client.Seal(), protocol::Status::kInvalid);
  EXPECT_EQ(view.BytesMissing(), view.bytes);
  EXPECT_EQ(daemon_.vc_masks(), std::vector<uint8_t>()) << "nobody was asked to serve it";
}

TEST_F(ServerTest, AServedSegmentHasAllPagesAndCannotLoseThem) {
  RawClient client(path_);
  ASSERT_EQ(client.OpenUnsealed(), protocol::Status::kOk);
  const View view(client.segment_fd);
  daemon_.Ask<int>([](ShmServer& server) {
    server.waits().SetEventSummary(true);
    return 0;
  });
  ASSERT_EQ(client.Seal(), protocol::Status::kOk);
  const auto* head = static_cast<const suede_segment*>(view.base);
  EXPECT_EQ(head->magic, SUEDE_LAYOUT_MAGIC);
  EXPECT_EQ(head->event_summary, 1u);
  EXPECT_NE(fallocate(client.segment_fd, kPunch, 0, static_cast<off_t>(view.bytes)), 0);
  EXPECT_NE(madvise(view.base, view.bytes, MADV_REMOVE), 0);
  EXPECT_NE(ftruncate(client.segment_fd, 0), 0);
  EXPECT_EQ(view.BytesMissing(), 0u);
}

TEST_F(ServerTest, ASegmentThatIsNotSealedIsNotServed) {
  RawClient client(path_);
  ASSERT_EQ(client.OpenUnsealed(), protocol::Status::kOk);
  EXPECT_EQ(client.Ask(protocol::Sealed()), protocol::Status::kInvalid);
  EXPECT_EQ(daemon_.vc_masks(), std::vector<uint8_t>()) << "nobody was asked to serve it";
  EXPECT_EQ(client.Open(), protocol::Status::kOk) << "it may try again";
  EXPECT_EQ(daemon_.counters().opened, 1u);
  EXPECT_EQ(daemon_.counters().open_failed, 1u);
}

TEST_F(ServerTest, OtherRequestsBetweenOpenAndSealedEndTheConnection) {
  const auto closes = [&](const auto& request) {
    RawClient client(path_);
    ASSERT_EQ(client.OpenUnsealed(), protocol::Status::kOk);
    ASSERT_TRUE(client.Send(request));
    EXPECT_TRUE(client.IsClosed());
  };
  closes(protocol::Open());
  closes(protocol::Claim());
  closes(protocol::Wait());
  RawClient early(path_);
  ASSERT_TRUE(early.Send(protocol::Sealed()));
  EXPECT_TRUE(early.IsClosed());
  RawClient twice(path_);
  ASSERT_EQ(twice.Open(), protocol::Status::kOk);
  ASSERT_TRUE(twice.Send(protocol::Sealed()));
  EXPECT_TRUE(twice.IsClosed());
  EXPECT_EQ(daemon_.counters().malformed, 5u);
}

// A wait that is over at once.
protocol::Wait Over() {
  protocol::Wait wait;
  wait.completion_queues = 1;
  wait.completion[0] = ~0u;
  return wait;
}

TEST_F(ServerTest, ADescriptorThatIsFullAndBlocksHoldsNobodyUp) {
  RawClient villain(path_);
  ASSERT_EQ(villain.Open(), protocol::Status::kOk);
  // A change that the client may make to the description that it was given.
  fcntl(villain.event_fd, F_SETFL, fcntl(villain.event_fd, F_GETFL) & ~O_NONBLOCK);
  const uint64_t max = ~uint64_t{1};
  while (send(villain.event_fd, &max, sizeof max, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
  }
  if (errno == ENOTSOCK) static_cast<void>(!write(villain.event_fd, &max, sizeof max));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(villain.Send(Over()));
  {
    RawClient other(path_);
    EXPECT_EQ(other.hello.head.magic, protocol::kMagic);
    EXPECT_EQ(other.Open(), protocol::Status::kOk);
    EXPECT_EQ(villain.Open(), protocol::Status::kFailed) << "opens twice, and is not sent away";
  }
  // Lets the daemon's thread go, should it be held.
  uint64_t count;
  static_cast<void>(!read(villain.event_fd, &count, sizeof count));
}

TEST_F(ServerTest, SignalsThatAreNotReadAreOne) {
  RawClient client(path_);
  ASSERT_EQ(client.Open(), protocol::Status::kOk);
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(client.Send(Over()));
    for (int j = 0; j < 5000 && daemon_.counters().wakeups == i; ++j) usleep(100);
  }
  uint64_t count;
  EXPECT_EQ(read(client.event_fd, &count, sizeof count), 8);
  EXPECT_LT(read(client.event_fd, &count, sizeof count), 0);
  ASSERT_TRUE(client.Send(Over()));
  struct pollfd what {.fd = client.event_fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&what, 1, 5000), 1) << "the one after those that were read";
}

// A TCP socket whose last close waits for a peer that does not read.
int SocketThatLingers(int seconds, int* peer) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  *peer = accept(listener, nullptr, nullptr);
  close(listener);
  char bytes[65536] = {};
  while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  const struct linger late {.l_onoff = 1, .l_linger = seconds};
  EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &late, sizeof late), 0);
  return fd;
}

TEST_F(ServerTest, DescriptorsThatTakeLongToCloseHoldNobodyUp) {
  RawClient villain(path_);
  ASSERT_EQ(villain.Open(), protocol::Status::kOk);
  int peer;
  const int fd = SocketThatLingers(30, &peer);
  const protocol::Wait wait = Over();
  EXPECT_TRUE(SendWithFd(villain.fd(), {reinterpret_cast<const char*>(&wait), sizeof wait}, fd));
  std::thread own([fd] { close(fd); });  // which may be the last after all
  usleep(10'000);
  {
    RawClient other(path_);
    EXPECT_EQ(other.hello.head.magic, protocol::kMagic);
    EXPECT_EQ(other.Open(), protocol::Status::kOk);
  }
  close(peer);  // ends the lingering
  own.join();
}

// A daemon whose lcores execute no memory requests.
TEST_F(ServerTest, WithoutServingItIsRefused) {
  RawClient client(path_);
  ASSERT_EQ(client.Open(), protocol::Status::kOk);
  protocol::Claim serve = ClaimOf(1, 1);
  serve.head.type = protocol::Type::kServe;
  EXPECT_EQ(ReplyTo(client, serve).status, protocol::Status::kFailed);
  serve.vc_mask = 16;
  EXPECT_EQ(ReplyTo(client, serve).status, protocol::Status::kInvalid);
  serve = ClaimOf(77, 1);
  serve.head.type = protocol::Type::kServe;
  EXPECT_EQ(ReplyTo(client, serve).status, protocol::Status::kNotFound);
  EXPECT_EQ(ReplyTo(client, protocol::WindowRemove()).status, protocol::Status::kFailed);
  // The descriptor of a window is closed as any other is.
  int peer;
  const int fd = SocketThatLingers(30, &peer);
  const protocol::WindowAdd add;
  EXPECT_TRUE(SendWithFd(client.fd(), {reinterpret_cast<const char*>(&add), sizeof add}, fd));
  std::thread own([fd] { close(fd); });
  protocol::Reply reply;
  ASSERT_TRUE(client.Receive(&reply));
  EXPECT_EQ(reply.status, protocol::Status::kFailed);
  close(peer);
  own.join();
}

TEST(Listener, RefusesALiveDaemonAndReplacesADeadOnes) {
  TestDirectory directory;
  const std::string path = directory.Socket();
  {
    const auto first = Listener::Create(path, 0600);
    ASSERT_TRUE(first.ok()) << first.status();
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(Listener::Create(path, 0600).status().code(), absl::StatusCode::kAlreadyExists);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "a daemon that ends in order removes its socket";
  // A dead daemon's socket: bound, and the holder gone.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int dead = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(dead);
  const auto next = Listener::Create(path, 0600);
  EXPECT_TRUE(next.ok()) << next.status();
}

TEST(Listener, RefusesAnotherProgramsSocketAndOtherFiles) {
  TestDirectory directory;
  const std::string path = directory.Socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other, 1), 0);
  EXPECT_EQ(Listener::Create(path, 0600).status().code(), absl::StatusCode::kAlreadyExists);
  close(other);
  unlink(path.c_str());
  close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(Listener::Create(path, 0600).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Listener::Create(std::string(200, 'x'), 0600).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace suede
