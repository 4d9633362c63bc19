// SPDX-License-Identifier: Apache-2.0
// A client that means ill: scribbles its segment, lies about its rings, resets and comes again.
//
//   hostile_client SOCKET SECONDS SEED QUEUES [any|gag|reset|window|punch]
//
// gag: does nothing but take away from the daemon how it wakes us, and wait. reset: nothing but
// reset its queues, with something in them, as fast as it can.
// window: has memory served that lacks pages, or takes pages away from memory that is served, on VC
// QUEUES + 1.
// punch: does nothing but take pages away from its segment, as fast as it can; each third time it
// does not seal the segment, and each third time it seals it too late.
// Speaks docs/client-protocol.md by itself. Prints its actions; exit code 0 unless it never got a
// segment.
#include <fcntl.h>
#include <linux/falloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>

#include "local/passing.h"
#include "shm/protocol.h"

namespace {

namespace protocol = suede::protocol;
using Clock = std::chrono::steady_clock;
constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
constexpr int kNoHoles = 0x10;  // F_SEAL_FUTURE_WRITE

struct Connection {
  int socket = -1;
  int memory = -1;
  int signal = -1;
  uint8_t* base = nullptr;
  uint64_t bytes = 0;
  protocol::Hello hello;

  ~Connection() {
    if (base != nullptr) munmap(base, bytes);
    if (memory >= 0) close(memory);
    if (signal >= 0) close(signal);
    if (socket >= 0) close(socket);
  }
};

// The daemon's answer to OPEN, with the segment and the descriptor that it signals.
bool ReceiveSegment(Connection& c) {
  protocol::Reply reply;
  char control[CMSG_SPACE(2 * sizeof(int))];
  iovec part{.iov_base = &reply, .iov_len = sizeof reply};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(c.socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof reply)) {
    return false;
  }
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (reply.status != protocol::Status::kOk || head == nullptr) return false;
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(head), sizeof descriptors);
  c.signal = descriptors[1];
  c.memory = descriptors[0];
  c.bytes = reply.value;
  void* mapped = mmap(nullptr, c.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c.memory, 0);
  if (mapped == MAP_FAILED) return false;
  c.base = static_cast<uint8_t*>(mapped);
  return true;
}

// Has the daemon serve the segment.
bool Seal(Connection& c) {
  fcntl(c.memory, F_ADD_SEALS, kNoHoles);
  const protocol::Sealed sealed;
  protocol::Reply reply;
  return send(c.socket, &sealed, sizeof sealed, MSG_NOSIGNAL) > 0 &&
         recv(c.socket, &reply, sizeof reply, 0) > 0 && reply.status == protocol::Status::kOk;
}

bool Open(Connection& c, const char* path, uint32_t queues, bool seals = true) {
  c.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (connect(c.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(c.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (recv(c.socket, &c.hello, sizeof c.hello, 0) != static_cast<ssize_t>(sizeof c.hello)) {
    return false;
  }
  protocol::Open open;
  open.queue_count = queues;
  for (uint32_t q = 0; q < queues; ++q) open.instances[q] = c.hello.instances[0];
  if (send(c.socket, &open, sizeof open, MSG_NOSIGNAL) < 0) return false;
  return ReceiveSegment(c) && (!seals || Seal(c));
}

class Villain {
 public:
  // Remembers where the rings are: the segment's head will be scribbled over.
  Villain(uint64_t seed, uint32_t queues, const Connection& c) : random_(seed), queues_(queues) {
    std::memcpy(rings_, c.base + offsetof(suede_segment, tx_ring), sizeof rings_);
  }

  ~Villain() {
    if (peer_ >= 0) close(peer_);
  }

  // Has records that are right and lead nowhere taken, and resets the queue that they are in, again
  // and again: the daemon's answers are read as they come.
  void ResetAll(Connection& c) {
    for (uint32_t queue = 0; queue < queues_; ++queue) {
      SendNonsense(c);
      protocol::Reset reset;
      reset.queue = queue;
      send(c.socket, &reset, sizeof reset, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    protocol::Reply reply;
    while (recv(c.socket, &reply, sizeof reply, MSG_DONTWAIT) > 0) ++replies;
  }

  // Does one mean thing.
  void Act(Connection& c) {
    switch (random_() % 10) {
      case 0: ScribbleAll(c); break;
      case 1:
      case 2: ScribbleWords(c); break;
      case 3: LieAboutPositions(c); break;
      case 4:
        PunchAll(c);
        break;
      case 5: Gag(c); break;
      case 6: SendDescriptor(c); break;
      default: SendNonsense(c); break;
    }
  }

  void Request(Connection& c) {
    protocol::Reset reset;
    reset.head.sequence = static_cast<uint32_t>(random_());
    reset.queue = static_cast<uint32_t>(random_() % (queues_ + 1));
    send(c.socket, &reset, sizeof reset, MSG_NOSIGNAL | MSG_DONTWAIT);
    protocol::Register access;
    access.address = static_cast<uint32_t>(random_() % 8 == 0 ? random_() : random_() % 0x500);
    access.width_bits = static_cast<uint16_t>(random_() % 4 == 0 ? random_() : 32);
    access.is_write = random_() % 2;
    access.value = random_() % 4 == 0 ? random_() : random_() % 4;
    send(c.socket, &access, sizeof access, MSG_NOSIGNAL | MSG_DONTWAIT);
    protocol::Reply reply;
    while (recv(c.socket, &reply, sizeof reply, MSG_DONTWAIT) > 0) ++replies;
  }

  // Abuses flags and positions of the shared descriptions as far as it can, and waits: a daemon
  // that writes there as it used to would sleep.
  void Gag(Connection& c) {
    for (const int fd : {c.signal, c.socket, c.memory}) {
      fcntl(fd, F_SETFL, random_() % 2 == 0 ? O_ASYNC | O_APPEND : 0);
    }
    lseek(c.memory, static_cast<off_t>(random_()), SEEK_SET);
    const uint64_t max = ~uint64_t{1};
    if (send(c.signal, &max, sizeof max, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == ENOTSOCK) {
      fcntl(c.signal, F_SETFL, O_NONBLOCK);
      static_cast<void>(!write(c.signal, &max, sizeof max));
      fcntl(c.signal, F_SETFL, 0);
    }
    if (random_() % 16 == 0) shutdown(c.signal, SHUT_RDWR);
    protocol::Wait wait;
    wait.completion_queues = wait.credit_queues = wait.rx_vcs = ~0u;
    for (uint32_t& position : wait.completion) position = static_cast<uint32_t>(random_());
    for (int i = 0; i < 20; ++i) send(c.socket, &wait, sizeof wait, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  // Takes all pages of the segment away, in each way there is.
  void PunchAll(Connection& c) {
    if (fallocate(c.memory, kPunch, 0, static_cast<off_t>(c.bytes)) == 0) ++punched;
    if (madvise(c.base, c.bytes, MADV_REMOVE) == 0) ++punched;
    if (ftruncate(c.memory, 0) == 0) ++punched;
  }

  uint64_t replies = 0;
  uint64_t punched = 0;

 private:
  void ScribbleAll(Connection& c) {
    for (uint64_t at = 0; at + 8 <= c.bytes; at += 8) Put64(c, at, random_());
  }

  void ScribbleWords(Connection& c) {
    for (int i = 0; i < 10'000; ++i) Put64(c, random_() % (c.bytes / 8) * 8, random_());
  }

  void LieAboutPositions(Connection& c) {
    const uint64_t ring = rings_[random_() % queues_];
    uint32_t* head = reinterpret_cast<uint32_t*>(c.base + ring);
    uint32_t* tail = head + 16;
    const uint32_t lies[] = {0, ~0u, *tail + c.hello.tx_lines, *tail + c.hello.tx_lines + 1,
                             *tail - 1, static_cast<uint32_t>(random_())};
    __atomic_store_n(random_() % 2 == 0 ? head : tail, lies[random_() % 6], __ATOMIC_RELEASE);
  }

  // Records that are nearly right, shown to the daemon the way a good client does.
  void SendNonsense(Connection& c) {
    const uint64_t ring = rings_[random_() % queues_];
    uint32_t* head = reinterpret_cast<uint32_t*>(c.base + ring);
    uint8_t* lines = c.base + ring + 128;
    uint32_t at = *head;
    for (int i = 0; i < 200; ++i) {
      uint8_t record[SUEDE_LINE_BYTES];
      for (uint8_t& byte : record) byte = static_cast<uint8_t>(random_());
      record[0] = static_cast<uint8_t>(random_() % 4);
      record[1] = static_cast<uint8_t>(random_() % 5);
      // XPUs that there are not: correct commands to those that there are would be delivered,
      // and rightly, into the load that the test looks at.
      record[2] = static_cast<uint8_t>(8 + random_() % 248);
      record[3] = static_cast<uint8_t>(random_() % 8);
      std::memcpy(lines + uint64_t{at & (c.hello.tx_lines - 1)} * 64, record, sizeof record);
      at += 1 + static_cast<uint32_t>(random_() % 8 == 0 ? random_() % 8 : 0);
    }
    __atomic_store_n(head, at, __ATOMIC_RELEASE);
  }

  // A TCP socket that sleeps in its last close, which is the daemon's.
  void SendDescriptor(Connection& c) {
    if (random_() % 64 != 0) return;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
        connect(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0) {
      if (peer_ >= 0) close(peer_);
      peer_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);  // and is never read
      static const char bytes[65536] = {};
      while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
      }
      const linger late{.l_onoff = 1, .l_linger = 60};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &late, sizeof late);
      const protocol::Wait wait;
      const std::string_view message(reinterpret_cast<const char*>(&wait), sizeof wait);
      suede::SendWithFd(c.socket, message, fd);
    }
    // This may be the last close after all.
    std::thread([fd] { close(fd); }).detach();
    close(listener);
  }

  static void Put64(Connection& c, uint64_t at, uint64_t value) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(c.base + at), value, __ATOMIC_RELAXED);
  }

  std::mt19937_64 random_;
  const uint32_t queues_;
  int peer_ = -1;
  uint64_t rings_[SUEDE_MAX_QUEUES] = {};
};

// Has windows served in ways that docs/memory.md rules out.
class WindowVillain {
 public:
  static constexpr uint64_t kBytes = 64u << 20;
  static constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | kNoHoles;

  bool Serve(Connection& c, uint32_t vc) {
    protocol::Claim serve;
    serve.head.type = protocol::Type::kServe;
    serve.instance = c.hello.instances[0];
    serve.vc_mask = 1u << vc;
    return Ask(c, serve, -1) == protocol::Status::kOk;
  }

  // Memory without pages, of which the client says that it has them all.
  void AddSparse(Connection& c, bool has_blocks) {
    const int fd = Make(0);
    if (has_blocks) fallocate(fd, FALLOC_FL_KEEP_SIZE, kBytes, kBytes);
    if (AddSealed(c, fd)) ++sparse_served;
    Remove(c);
    close(fd);
  }

  // Memory as it should be, whose pages are taken away before, while and after it is served.
  void Punch(Connection& c) {
    const int fd = Make(kBytes);
    void* own = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    std::memset(own, 1, kBytes);
    if (AddSealed(c, fd)) ++served;
    const auto end = Clock::now() + std::chrono::milliseconds(300);
    while (Clock::now() < end) {
      if (fallocate(fd, kPunch, 0, kBytes) == 0) ++punched;
      if (madvise(own, kBytes, MADV_REMOVE) == 0) ++punched;
      if (ftruncate(fd, 0) == 0) ++punched;
      std::memset(own, 2, 4096);
    }
    Remove(c);
    munmap(own, kBytes);
    close(fd);
  }

  uint64_t served = 0;
  uint64_t sparse_served = 0;
  uint64_t punched = 0;

 private:
  static int Make(uint64_t allocated) {
    const int fd = memfd_create("hostile-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ftruncate(fd, kBytes) != 0) std::abort();
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    if (allocated != 0 && fallocate(fd, 0, 0, static_cast<off_t>(allocated)) != 0) std::abort();
    return fd;
  }
  protocol::Status Add(Connection& c, int fd) {
    protocol::WindowAdd add;
    add.id = 1;
    add.rights = 7;
    add.bytes = kBytes;
    return Ask(c, add, fd);
  }
  // Seals the memory only if the daemon wants that.
  bool AddSealed(Connection& c, int fd) {
    if (Add(c, fd) == protocol::Status::kOk) return true;
    fcntl(fd, F_ADD_SEALS, kSeals);
    return Add(c, fd) == protocol::Status::kOk;
  }
  void Remove(Connection& c) {
    protocol::WindowRemove remove;
    remove.id = 1;
    Ask(c, remove, -1);
  }
  template <typename Request>
  protocol::Status Ask(Connection& c, Request& request, int fd) {
    const std::string_view message(reinterpret_cast<const char*>(&request), sizeof request);
    if (fd >= 0) {
      suede::SendWithFd(c.socket, message, fd);
    } else {
      send(c.socket, &request, sizeof request, MSG_NOSIGNAL);
    }
    protocol::Reply reply;
    if (recv(c.socket, &reply, sizeof reply, 0) <= 0) return protocol::Status::kFailed;
    return reply.status;
  }
};

int MisuseWindows(const char* path, Clock::time_point end, uint32_t queues) {
  WindowVillain villain;
  uint64_t connections = 0;
  while (Clock::now() < end) {
    Connection connection;
    if (!Open(connection, path, queues) || !villain.Serve(connection, queues + 1)) {
      usleep(10'000);
      continue;
    }
    ++connections;
    villain.Punch(connection);
    villain.AddSparse(connection, false);
    villain.AddSparse(connection, true);
  }
  std::printf("connections=%llu served=%llu sparse_served=%llu punched=%llu\n",
              static_cast<unsigned long long>(connections),
              static_cast<unsigned long long>(villain.served),
              static_cast<unsigned long long>(villain.sparse_served),
              static_cast<unsigned long long>(villain.punched));
  return connections != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const std::string_view act = argc == 6 ? argv[5] : "any";
  const double seconds = std::atof(argv[2]);
  const uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  const auto queues = static_cast<uint32_t>(std::atoi(argv[4]));
  const auto end =
      Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  if (act == "window") return MisuseWindows(argv[1], end, queues);
  uint64_t acts = 0;
  uint64_t connections = 0;
  uint64_t replies = 0;
  uint64_t punched = 0;
  uint64_t holed_served = 0;
  while (Clock::now() < end) {
    Connection connection;
    const bool seals = act != "punch" || connections % 3 == 0;
    if (!Open(connection, argv[1], queues, seals)) {
      usleep(10'000);
      continue;
    }
    Villain villain(seed + connections, queues, connection);
    if (!seals && connections % 3 == 1) {
      villain.PunchAll(connection);
      if (Seal(connection)) ++holed_served;
    }
    ++connections;
    auto next_request = Clock::now();
    const auto leave = Clock::now() + std::chrono::milliseconds(700);
    while (Clock::now() < std::min(end, leave)) {
      if (act == "gag") {
        villain.Gag(connection);
      } else if (act == "reset") {
        villain.ResetAll(connection);
      } else if (act == "punch") {
        villain.PunchAll(connection);
      } else {
        villain.Act(connection);
      }
      ++acts;
      if (act != "any") continue;
      if (Clock::now() < next_request) continue;
      villain.Request(connection);
      next_request = Clock::now() + std::chrono::milliseconds(5);
    }
    replies += villain.replies;
    if (seals) punched += villain.punched;
  }
  std::printf("connections=%llu acts=%llu replies=%llu punched=%llu holed_served=%llu\n",
              static_cast<unsigned long long>(connections), static_cast<unsigned long long>(acts),
              static_cast<unsigned long long>(replies), static_cast<unsigned long long>(punched),
              static_cast<unsigned long long>(holed_served));
  return connections != 0 ? 0 : 1;
}
