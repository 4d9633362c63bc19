// SPDX-License-Identifier: Apache-2.0
#include "memif/device.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event_count.h"
#include "frame_pool.h"
#include "local/passing.h"
#include "memif/server_socket.h"

namespace suede::memif {
namespace {

std::string SocketPath() { return "/tmp/suede_memif_device_" + std::to_string(getpid()) + ".sock"; }

DeviceOptions Options(bool is_server, uint16_t queues = 1) {
  return {.name = is_server ? "server" : "client",
          .is_server = is_server,
          .socket = SocketPath(),
          .is_abstract = false,
          .secret = "s",
          .queues = queues,
          .log2_slots = 7,
          .buffer_bytes = 512};
}

std::unique_ptr<Device> OpenDevice(const DeviceOptions& options) {
  auto device = Device::Open(options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

void* MapShared(int memory, size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  EXPECT_NE(mapped, MAP_FAILED);
  return mapped;
}

// Time passes by 10 ms with each poll.
class DeviceTest : public testing::Test {
 protected:
  ~DeviceTest() override {
    client_.reset();
    server_.reset();
    EXPECT_NE(access((SocketPath() + ".lock").c_str(), F_OK), 0);
  }
  void PollBoth() {
    now_ns_ += 10'000'000;
    if (client_ != nullptr) client_->Poll(now_ns_);
    if (server_ != nullptr) server_->Poll(now_ns_);
  }
  bool Connects(int polls = 200) {
    for (int i = 0; i < polls; ++i) {
      PollBoth();
      if (client_->up() && server_->up()) return true;
    }
    return false;
  }
  void SendFrames(Queue& from, uint32_t count) {
    std::vector<Frame*> frames(count);
    EXPECT_EQ(pool_.Allocate(frames.data(), count), count);
    for (Frame* frame : frames) frame->length = 100;
    from.Send(frames.data(), count);
    pool_.Release(frames.data(), count);
  }
  // Sends `count` frames and returns how many came.
  uint32_t Carry(Queue& from, Queue& to, uint32_t count) {
    SendFrames(from, count);
    std::vector<Frame*> frames(count);
    const uint32_t got = to.Receive(pool_, frames.data(), count);
    pool_.Release(frames.data(), got);
    return got;
  }

  int64_t now_ns_ = 0;
  FramePool pool_{256};
  std::unique_ptr<Device> server_;
  std::unique_ptr<Device> client_;
};

TEST_F(DeviceTest, CarriesFramesBothWaysOnAllQueues) {
  server_ = OpenDevice(Options(true, 3));
  client_ = OpenDevice(Options(false, 3));
  EXPECT_EQ(Carry(client_->queue(0), server_->queue(0), 5), 0u);
  ASSERT_TRUE(Connects());
  EXPECT_EQ(server_->connected_queues(), 3u);
  for (uint32_t queue = 0; queue < 3; ++queue) {
    EXPECT_EQ(Carry(client_->queue(queue), server_->queue(queue), 50), 50u);
    EXPECT_EQ(Carry(server_->queue(queue), client_->queue(queue), 50), 50u);
  }
  EXPECT_EQ(Carry(client_->queue(0), server_->queue(1), 5), 0u);
}

TEST_F(DeviceTest, RefusesAnotherNumberOfQueues) {
  server_ = OpenDevice(Options(true, 2));
  client_ = OpenDevice(Options(false, 1));
  EXPECT_FALSE(Connects(50));
  EXPECT_GT(server_->refused(Refusal::kRings), 0u);
  client_ = OpenDevice(Options(false, 3));
  EXPECT_FALSE(Connects(50));
  EXPECT_GT(server_->refused(Refusal::kRing), 0u);
  client_ = OpenDevice(Options(false, 2));
  EXPECT_TRUE(Connects());
}

TEST_F(DeviceTest, TheClientMayComeFirstAndComeBack) {
  client_ = OpenDevice(Options(false));
  for (int i = 0; i < 30; ++i) PollBoth();
  server_ = OpenDevice(Options(true));
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(Connects()) << round;
    EXPECT_EQ(Carry(client_->queue(0), server_->queue(0), 20), 20u);
    client_ = OpenDevice(Options(false));
    PollBoth();
    EXPECT_FALSE(server_->up());
    ASSERT_TRUE(Connects());
    EXPECT_EQ(Carry(server_->queue(0), client_->queue(0), 20), 20u);
    server_.reset();
    PollBoth();
    EXPECT_FALSE(client_->up());
    EXPECT_EQ(Carry(client_->queue(0), client_->queue(0), 20), 0u);
    server_ = OpenDevice(Options(true));
  }
}

TEST_F(DeviceTest, ASocketHasSeveralInterfaces) {
  DeviceOptions second = Options(true);
  second.id = 1;
  server_ = OpenDevice(Options(true));
  const std::unique_ptr<Device> other = OpenDevice(second);
  EXPECT_FALSE(Device::Open(second).ok());  // twice the same id
  second = Options(false);
  second.id = 1;
  client_ = OpenDevice(second);
  for (int i = 0; i < 50; ++i) PollBoth();
  EXPECT_TRUE(other->up());
  EXPECT_FALSE(server_->up());
}

TEST_F(DeviceTest, UsesTheAbstractNamespace) {
  DeviceOptions options = Options(true);
  options.is_abstract = true;
  options.secret = "";
  server_ = OpenDevice(options);
  options.is_server = false;
  client_ = OpenDevice(options);
  EXPECT_TRUE(Connects());
  EXPECT_NE(access(SocketPath().c_str(), F_OK), 0);
}

TEST_F(DeviceTest, TheSocketFileHasItsMode) {
  DeviceOptions options = Options(true);
  options.socket_mode = 0660;
  server_ = OpenDevice(options);
  struct stat file {};
  ASSERT_EQ(stat(SocketPath().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0660u);
}

TEST_F(DeviceTest, RefusesAWrongSecret) {
  server_ = OpenDevice(Options(true));
  DeviceOptions options = Options(false);
  options.secret = "t";
  client_ = OpenDevice(options);
  EXPECT_FALSE(Connects(100));
  EXPECT_GT(server_->refused(Refusal::kSecret), 3u);
}

TEST_F(DeviceTest, ReportsTheReasonAtBothEnds) {
  server_ = OpenDevice(Options(true));
  DeviceOptions options = Options(false);
  options.secret = "t";
  client_ = OpenDevice(options);
  EXPECT_FALSE(Connects(100));
  const auto of_server = server_->TakeEnding();
  const auto of_client = client_->TakeEnding();
  ASSERT_TRUE(of_server && of_client);
  EXPECT_EQ(of_server->reason, Refusal::kSecret);
  EXPECT_EQ(of_client->reason, Refusal::kNone);
  EXPECT_EQ(of_server->text, "Incorrect secret");
  EXPECT_EQ(of_client->text, "Incorrect secret");
  EXPECT_FALSE(Connects(100));
  EXPECT_TRUE(server_->TakeEnding());
  EXPECT_FALSE(client_->TakeEnding());  // the same again
  EXPECT_EQ(server_->connections(), 0u);
  client_ = OpenDevice(Options(false));
  ASSERT_TRUE(Connects());
  EXPECT_EQ(server_->connections(), 1u);
  server_->TakeEnding();
  client_->SetLink(false);
  PollBoth();
  const auto down = server_->TakeEnding();
  ASSERT_TRUE(down);
  EXPECT_EQ(down->text, "Interface is down");
}

TEST_F(DeviceTest, MakesNoDirectory) {
  DeviceOptions options = Options(true);
  options.socket = "/tmp/suede_memif_none/m.sock";
  const auto device = Device::Open(options);
  ASSERT_FALSE(device.ok());
  EXPECT_NE(device.status().message().find("mkdir -p /tmp/suede_memif_none"), std::string::npos);
}

TEST_F(DeviceTest, SetsItsLinkDownAndUp) {
  server_ = OpenDevice(Options(true));
  client_ = OpenDevice(Options(false));
  for (Device* device : {server_.get(), client_.get()}) {
    ASSERT_TRUE(Connects());
    device->SetLink(false);
    EXPECT_FALSE(device->up());
    for (int i = 0; i < 50; ++i) PollBoth();
    EXPECT_FALSE(server_->up() || client_->up());
    device->SetLink(true);
  }
  EXPECT_TRUE(Connects());
}

// A server that reads no ring: its program sleeps.
TEST_F(DeviceTest, AClientWakesItsServer) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  SocketPath().copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  client_ = OpenDevice(Options(false, 2));
  PollBoth();
  const Fd server(accept(listener.get(), nullptr, nullptr));
  unlink(SocketPath().c_str());
  SendWithFd(server.get(), BytesOf(ServerChannel::Greeting()), -1);
  const std::vector<InterfaceRules> rules{{.secret = "s", .rings = 2}};
  ServerChannel channel;
  Fd memory;
  std::vector<Fd> events;  // c2s, then s2c
  for (int i = 0; i < 50 && !client_->up(); ++i) {
    PollBoth();
    Message message{};
    ReceivedPacket packet = ReceivePacketWithFd(server.get(), &message, sizeof message);
    if (packet.bytes <= 0) continue;
    Step step = channel.OnMessage({reinterpret_cast<const uint8_t*>(&message), sizeof message},
                                  packet.fd.ok(), rules);
    if (step.action == Action::kAddRegion) {
      memory = std::move(packet.fd);
    } else if (packet.fd.ok()) {
      events.push_back(std::move(packet.fd));
    }
    if (step.action == Action::kConnect) step.reply = channel.Accept("server");
    ASSERT_TRUE(step.reply);
    SendWithFd(server.get(), BytesOf(*step.reply), -1);
  }
  ASSERT_TRUE(client_->up());
  ASSERT_EQ(events.size(), 4u);
  SendFrames(client_->queue(0), 3);
  EXPECT_EQ(TakeCount(events[0]), 1u);
  SendFrames(client_->queue(1), 2);
  SendFrames(client_->queue(1), 2);
  EXPECT_EQ(TakeCount(events[1]), 2u);
  EXPECT_EQ(TakeCount(events[0]), 0u);
}

// A client that does what a test wants.
class Stranger {
 public:
  Stranger() : socket_(ConnectTo(SocketPath(), false)) {}
  bool ok() const { return socket_.ok(); }
  void Send(const Message& message, int fd = -1) {
    SendWithFd(socket_.get(), BytesOf(message), fd);
  }
  void SendRaw(std::string_view bytes) { SendWithFd(socket_.get(), bytes, -1); }
  // Returns the text of a DISCONNECT, "ack", "connected", or "" if nothing waits.
  std::string Read() {
    Message message{};
    if (ReceivePacket(socket_.get(), &message, sizeof message) <= 0) return "";
    switch (message.type) {
      case MessageType::kAck:
        return "ack";
      case MessageType::kHello:
        return "hello";
      case MessageType::kConnected:
        return "connected";
      case MessageType::kDisconnect:
        return std::string(GetText(message.disconnect.reason));
      default:
        return "other";
    }
  }

 private:
  Fd socket_;
};

Message InitMessage() {
  Message message{};
  message.type = MessageType::kInit;
  message.init.version = kVersion;
  PutText(message.init.secret, "s");
  return message;
}

class StrangerTest : public DeviceTest {
 protected:
  StrangerTest() { server_ = OpenDevice(Options(true)); }

  // Connects with a memory file of `bytes`; returns the last answer. The server's ring comes first.
  std::string Handshake(Stranger& stranger, int memory, uint64_t bytes) {
    PollBoth();
    EXPECT_EQ(stranger.Read(), "hello");
    stranger.Send(InitMessage());
    Message message{};
    message.type = MessageType::kAddRegion;
    message.add_region = {.index = 0, .bytes = bytes};
    stranger.Send(message, memory);
    for (uint16_t flags = 0; flags < 2; ++flags) {
      message = {};
      message.type = MessageType::kAddRing;
      message.add_ring.flags = flags;
      message.add_ring.offset = 4096u * flags;
      message.add_ring.log2_slots = 4;
      stranger.Send(message, event_.get());
    }
    message = {};
    message.type = MessageType::kConnect;
    stranger.Send(message);
    PollBoth();
    std::string last;
    for (std::string text; !(text = stranger.Read()).empty();) last = text;
    return last;
  }
  // A memory file with rings.
  Fd MakeMemory(uint64_t bytes) {
    Fd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    for (const off_t offset : {0, 4096}) {
      EXPECT_EQ(pwrite(fd.get(), &kRingCookie, sizeof kRingCookie, offset), 4);
    }
    return fd;
  }
  const Fd event_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

TEST_F(StrangerTest, ConnectsIfItBehaves) {
  Stranger stranger;
  const Fd memory = MakeMemory(1 << 16);
  EXPECT_EQ(Handshake(stranger, memory.get(), 1 << 16), "connected");
  EXPECT_TRUE(server_->up());
  stranger.Send(InitMessage());
  PollBoth();
  EXPECT_FALSE(server_->up());
  EXPECT_EQ(stranger.Read(), TextOf(Refusal::kUnexpected));
}

TEST_F(StrangerTest, IsWokenWhileItSleeps) {
  Stranger stranger;
  const Fd memory = MakeMemory(1 << 16);
  void* const mapped = MapShared(memory.get(), 1 << 16);
  auto* const ring = static_cast<RingHeader*>(mapped);
  ASSERT_EQ(Handshake(stranger, memory.get(), 1 << 16), "connected");
  EXPECT_EQ(ring->flags.load(), 0u);
  for (uint32_t i = 0; i < 16; ++i) {
    ring->descriptors()[i].length = 512;
    ring->descriptors()[i].offset = 8192 + 512 * i;
  }
  ring->head.store(16);
  SendFrames(server_->queue(0), 3);
  EXPECT_EQ(ring->tail.load(), 3u);
  EXPECT_EQ(TakeCount(event_), 1u);
  ring->flags.store(RingHeader::kMaskInterrupt);
  SendFrames(server_->queue(0), 3);
  EXPECT_EQ(ring->tail.load(), 6u);
  EXPECT_EQ(TakeCount(event_), 0u);
  // It goes to sleep while the server sends nothing.
  SendFrames(server_->queue(0), 1);
  ring->flags.store(0);
  Frame* frame = nullptr;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(server_->queue(0).Receive(pool_, &frame, 1), 0u);
  EXPECT_EQ(TakeCount(event_), 1u);
  munmap(mapped, 1 << 16);
}

TEST_F(StrangerTest, IsRefusedWithoutMemory) {
  const Fd memory = MakeMemory(1 << 16);
  {
    Stranger stranger;
    EXPECT_EQ(Handshake(stranger, memory.get(), (1 << 16) + 1), TextOf(Refusal::kRegionMemory));
  }
  {
    Stranger stranger;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_EQ(Handshake(stranger, ends[0], 1 << 16), TextOf(Refusal::kRegionMemory));
    close(ends[0]);
    close(ends[1]);
  }
  {
    Stranger stranger;
    const uint32_t zero = 0;
    EXPECT_EQ(pwrite(memory.get(), &zero, 4, 0), 4);
    EXPECT_EQ(Handshake(stranger, memory.get(), 1 << 16), TextOf(Refusal::kRing));
  }
  EXPECT_FALSE(server_->up());
}

TEST_F(StrangerTest, CannotRemoveItsMemory) {
  Stranger stranger;
  const Fd memory = MakeMemory(1 << 20);
  ASSERT_EQ(Handshake(stranger, memory.get(), 1 << 20), "connected");
  EXPECT_NE(ftruncate(memory.get(), 8192), 0);
  EXPECT_NE(fallocate(memory.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20), 0);
}

TEST_F(StrangerTest, IsRefusedIfItsMemoryCannotBeSealed) {
  Stranger stranger;
  const Fd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), 1 << 16), 0);
  EXPECT_EQ(Handshake(stranger, memory.get(), 1 << 16), TextOf(Refusal::kRegionMemory));
}

TEST_F(StrangerTest, CannotKeepOthersOut) {
  client_ = OpenDevice(Options(false));
  std::vector<Stranger> silent(30);
  for (int i = 0; i < 100 && !(client_->up() && server_->up()); ++i) {
    for (int n = 0; n < 10; ++n) {
      Stranger stranger;
      if (n % 2 == 0) stranger.Send(InitMessage());
      if (n % 3 == 0) stranger.SendRaw("bad");
    }
    PollBoth();
  }
  EXPECT_TRUE(client_->up());
  EXPECT_EQ(Carry(client_->queue(0), server_->queue(0), 20), 20u);
}

TEST(MemifParseTest, ReadsADeviceString) {
  const DeviceOptions options = ParseDevice(
      "net_memif3,role=master,id=5,rsize=9,bsize=2112,socket-abstract=no,socket=/"
      "a=b,secret=x,queues=4");
  EXPECT_TRUE(options.is_server);
  EXPECT_EQ(options.queues, 4u);
  EXPECT_EQ(options.id, 5u);
  EXPECT_EQ(options.log2_slots, 9);
  EXPECT_EQ(options.buffer_bytes, 2112u);
  EXPECT_FALSE(options.is_abstract);
  EXPECT_EQ(options.socket, "/a=b");
  EXPECT_EQ(options.secret, "x");
  EXPECT_EQ(ParseDevice("net_memif0").socket, "/run/memif.sock");
  EXPECT_TRUE(ParseDevice("net_memif0").is_abstract);
  EXPECT_FALSE(ParseDevice("net_memif0").is_server);
  EXPECT_EQ(ParseDevice("net_memif0").buffer_bytes, 2048u);
}

}  // namespace
}  // namespace suede::memif
