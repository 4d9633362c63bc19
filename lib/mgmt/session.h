// SPDX-License-Identifier: Apache-2.0
// One connection's requests: from lines to answers, without the socket.
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

// A descriptor that came with a line.
struct PassedFd {
  Fd fd;
  bool too_many = false;
};

struct SessionLimits {
  size_t answer_bytes = 4u << 20;  // of a line of answers
  int64_t later_ms = 2000;         // that a method may wait
};

// Control thread only. Carries out one line at a time: Start, then Run until it is idle.
class Session {
 public:
  // Told of each request that changes something, before it is carried out.
  using OnChange = std::function<void(const Method&)>;

  // Catalog and view outlive the session.
  Session(const Catalog* catalog, DaemonView* daemon, const SessionLimits& limits,
          OnChange on_change, Caller caller = {})
      : catalog_(catalog),
        daemon_(daemon),
        limits_(limits),
        on_change_(std::move(on_change)),
        caller_(caller) {}

  // Takes a line, without its newline. Only when idle.
  void Start(std::string_view line, PassedFd passed);
  bool idle() const { return next_ == line_.requests.size(); }
  // Whether Run can do nothing before some time has passed.
  bool waits() const { return waiting_.look != nullptr; }
  // When to Run again while it waits.
  int64_t next_look_ms() const { return next_look_ms_; }

  // Carries out at most one request. When the last of the line was, appends the line of answers
  // with its newline to `out`, if there is any.
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
  size_t next_ = 0;  // of line_.requests
  PassedFd passed_;
  std::string answers_;
  Answer::Waiting waiting_;  // the answer that the request next_ waits for
  int64_t wait_until_ms_ = 0;
  int64_t next_look_ms_ = 0;
  std::map<const Method*, std::any> memory_;
  uint64_t requests_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SESSION_H_
