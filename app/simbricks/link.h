// SPDX-License-Identifier: Apache-2.0
// A connection to a simulator: its socket, its handshake, its two queues (docs/simbricks.md,
// "Connection").
#ifndef SUEDE_SIMBRICKS_LINK_H_
#define SUEDE_SIMBRICKS_LINK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "base/token_bucket.h"
#include "local/fd.h"
#include "local/listener.h"
#include "memif/region.h"
#include "simbricks/protocol.h"
#include "simbricks/queues.h"

namespace suede::simbricks {

struct LinkOptions {
  Upper upper = Upper::kMemory;
  bool listens = true;      // otherwise it connects, again and again
  std::string path;         // of the socket
  const char* name = "";    // in lines for people
  uint32_t room = 8192;     // of a listener: data of an entry
  uint32_t entries = 1024;  // of a listener, in each direction
};

// One thread. Nothing blocks.
class Link {
 public:
  // Fails if the socket cannot be made.
  static absl::StatusOr<std::unique_ptr<Link>> Open(const LinkOptions& options);
  ~Link() { End(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Accepts or connects, proceeds with the handshake, and notices that the peer has closed.
  void Poll(Time now);
  bool is_connected() const { return has_intro_; }
  // Whether the peer has closed: it may have left messages, but takes none.
  bool is_closing() const { return is_closing_; }
  // Number of connections so far: tells requests of one from those of the next.
  uint32_t generation() const { return generation_; }

  // Copies the header of the peer's next message; the link itself handles SYNC and TERMINATE.
  // False: there is none now, or no connection any more.
  bool Next(Header* header);
  // The ends of the connection's queues, void without one.
  QueueReader& reader() { return reader_; }
  QueueWriter& writer() { return writer_; }
  // Ends the connection, and counts the reason.
  void Fail(Fault fault);

  const char* name() const { return options_.name; }
  uint64_t faults(Fault fault) const { return faults_[static_cast<size_t>(fault)]; }
  uint64_t busy() const { return busy_; }

 private:
  Link(const LinkOptions& options, std::unique_ptr<Listener> listener)
      : options_(options), listener_(std::move(listener)) {}
  void Accept();
  void Connect();
  bool SendIntro();
  void ReceiveIntro();
  Fault Establish(std::span<const char> intro, Fd fd);
  void CheckSocket();
  void End();

  const LinkOptions options_;
  const std::unique_ptr<Listener> listener_;  // null: connects
  Fd socket_;
  std::optional<memif::Region> memory_;
  ConnectionPlan plan_;
  bool has_intro_ = false;  // the peer's
  bool is_closing_ = false;
  QueueReader reader_;
  QueueWriter writer_;
  Time now_{};
  Time deadline_ = kNever;  // of the peer's intro, or of its last messages
  Time retry_at_{};
  int last_error_ = 0;  // of an attempt to connect
  uint32_t generation_ = 0;
  std::array<uint64_t, kFaults> faults_{};
  uint64_t busy_ = 0;
  TokenBucket lines_{1, 10};
};

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_LINK_H_
