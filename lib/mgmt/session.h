// SPDX-License-Identifier: Apache-2.0
// Processes a connection's requests: from lines to answers, without the socket.
#ifndef SUEDE_MGMT_SESSION_H_
#define SUEDE_MGMT_SESSION_H_

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "local/fd.h"
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"
#include "mgmt/rpc.h"

namespace suede {

// A descriptor received with a line.
struct PassedFd {
  Fd fd;
  bool too_many = false;
};

struct SessionLimits {
  size_t answer_bytes = 4u << 20;  // maximum per line of answers
  int64_t later_ms = 2000;         // maximum wait of a method
};

// Processes one line at a time: call Start, then Run until idle. Control thread only.
class Session {
 public:
  // Called before each request that changes something.
  using OnChange = std::function<void(const Method&)>;

  // Catalog and daemon must outlive the session.
  Session(const Catalog* catalog, DaemonView* daemon, const SessionLimits& limits,
          OnChange on_change, Caller caller = {})
      : catalog_(catalog),
        daemon_(daemon),
        limits_(limits),
        on_change_(std::move(on_change)),
        caller_(caller) {}

  // Begins a line, without its newline. Only when idle.
  void Start(std::string_view line, PassedFd passed);
  bool idle() const { return next_ == line_.requests.size(); }
  // Whether the current request waits, so that Run has nothing to do before next_poll_ms.
  bool waits() const { return waiting_.poll != nullptr; }
  // Returns the time of the next Run while waiting.
  int64_t next_poll_ms() const { return next_poll_ms_; }

  // Runs at most one request. After the last of the line, appends the line of answers, if any, with
  // its newline to `out`.
  void Run(int64_t now_ms, std::string& out);

  uint64_t requests() const { return requests_; }
  uint64_t failed() const { return failed_; }

 private:
  void Begin(const RpcRequest& request, int64_t now_ms);
  void PollQuestion(const RpcRequest& request, int64_t now_ms);
  void Finish(const RpcRequest& request, const Outcome& outcome);
  void Refuse(const RpcRequest& request, const RpcError& error);
  void Append(std::string_view answer);

  const Catalog* const catalog_;
  DaemonView* const daemon_;
  const SessionLimits limits_;
  const OnChange on_change_;
  const Caller caller_;
  RpcLine line_;
  size_t next_ = 0;  // index into line_.requests
  PassedFd passed_;
  std::string answers_;
  Answer::Waiting waiting_;  // answer that request next_ waits for
  int64_t wait_until_ms_ = 0;
  int64_t next_poll_ms_ = 0;
  std::map<const Method*, std::any> memory_;
  uint64_t requests_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SESSION_H_
