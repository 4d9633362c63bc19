// SPDX-License-Identifier: Apache-2.0
// A simulator with SimBricks' interface, written from docs/simbricks.md alone: it shares no code
// with app/simbricks. Keeps every rule, unless a test breaks one.
#ifndef SUEDE_TESTS_SIMBRICKS_PEER_H_
#define SUEDE_TESTS_SIMBRICKS_PEER_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace suede::simbricks {

// Returns integers of 8 bytes, then `rest` bytes of 0.
std::string Words(const std::vector<uint64_t>& words, size_t rest);

class Peer {
 public:
  // A message as the peer finds it.
  struct Got {
    uint8_t type = 0;
    uint64_t request = 0;
    uint64_t space = 0;
    uint64_t address = 0;
    uint16_t bytes = 0;
    std::vector<uint8_t> data;  // of the whole entry
  };
  // A queue: offset in the memory, bytes of an entry, entries.
  struct Queue {
    uint64_t offset = 0;
    uint64_t entry_bytes = 0;
    uint64_t entries = 0;
    uint64_t at = 0;
  };

  Peer() = default;
  ~Peer() { Close(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // ---- Either role
  int socket() const { return socket_; }
  void Close();
  // Whether the other end has closed its socket; reads what it has sent before.
  bool IsTurnedAway();
  uint8_t* memory() { return memory_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  // Sends the message; false: the queue is full.
  bool Send(uint8_t type, uint64_t request, uint64_t address, uint64_t bytes,
            const std::vector<uint8_t>& data = {}, uint64_t space = 0);
  std::optional<Got> Receive();
  Queue in;
  Queue out;

  // ---- A connecter
  void Connect(const std::string& path);
  void SendIntro(const std::string& intro);
  static std::string Intro(uint64_t upper) { return Words({1, 0, upper, 32}, 4); }
  // Reads the listener's intro and maps its memory. Returns whether there was one.
  bool TakeIntro();

  // ---- A listener
  static int Listen(const std::string& path);
  void Accept(int listener) { AdoptSocket(listener, /*accepts=*/true); }
  // Makes the memory of two queues, and sends an intro with `fds` copies of its descriptor.
  void MakeMemory(uint64_t entry_bytes, uint64_t entries);
  std::string ListenerIntro(uint64_t upper) const;
  void SendListenerIntro(const std::string& intro, const std::vector<int>& fds);
  int memory_fd() const { return memory_fd_; }

 private:
  void AdoptSocket(int socket, bool accepts);
  void Map(int fd);

  int socket_ = -1;
  int memory_fd_ = -1;
  uint8_t* memory_ = nullptr;
  uint64_t memory_bytes_ = 0;
};

// Random numbers of 32 bits.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

// A directory of the test, removed at its end.
class Directory {
 public:
  Directory();
  ~Directory();
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace suede::simbricks

#endif  // SUEDE_TESTS_SIMBRICKS_PEER_H_
