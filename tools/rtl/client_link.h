// SPDX-License-Identifier: Apache-2.0
// Links to a daemon by the client library, each with a connection of its own.
#ifndef SUEDE_RTL_CLIENT_LINK_H_
#define SUEDE_RTL_CLIENT_LINK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>

#include "link.h"
#include "suede/suede.h"

namespace suede::rtl {

struct ClientAddress {
  std::string label;     // begins messages
  std::string endpoint;  // name, or path of the socket
  bool is_first = true;  // the endpoint's first instance; otherwise `own`
  suede_instance own{};
};

// A client, and the calls on it that wait, which run one at a time in a thread of their own.
class ClientConnection {
 public:
  explicit ClientConnection(ClientAddress address);
  ~ClientConnection();

  // Null while there is no connection, and while a call runs.
  suede_client* client() const { return is_up_ ? client_ : nullptr; }
  // Sees whether the call has ended.
  bool IsBusy();
  // Opens a new connection and calls `claim` on it, once.
  void Connect(std::function<int(suede_client*, suede_instance)> claim);
  // Runs a call on the connection; repeats it unless it succeeds or the connection is lost.
  void Run(std::function<int(suede_client*, suede_instance)> call);

 private:
  struct Result {
    int error = 0;
    std::string text;
  };
  Result ConnectOnce(const std::function<int(suede_client*, suede_instance)>& claim);
  void Report(const Result& result);

  ClientAddress address_;
  suede_client* client_ = nullptr;
  bool is_up_ = false;
  int last_error_ = 0;
  std::atomic<bool> is_ending_{false};
  std::future<Result> call_;
};

class ClientTxLink : public TxLink {
 public:
  explicit ClientTxLink(ClientAddress address);
  bool IsReady() override;
  bool Send(const Command& command) override;
  void Flush() override;
  void Reset() override;
  int64_t TakeLost() override;
  uint64_t pending() const override { return pending_.size(); }

 private:
  // Takes completions; true if there may be more.
  bool Complete();

  ClientConnection connection_;
  bool wants_reset_ = false;
  suede_queue* queue_ = nullptr;
  std::set<uint64_t> pending_;  // numbers of commands that are not completed
  std::deque<uint64_t> lost_;
};

class ClientRxLink : public RxLink {
 public:
  explicit ClientRxLink(ClientAddress address);
  bool IsReady() override;
  bool Receive(uint8_t vc, Command* command) override;
  void Reset() override;

 private:
  bool Take(uint8_t vc, Command* command);

  ClientConnection connection_;
  bool wants_reset_ = false;
  std::deque<Command> saved_[kVcs];  // from the rings of a lost connection
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_CLIENT_LINK_H_
