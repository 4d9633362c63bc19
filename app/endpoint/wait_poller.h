// SPDX-License-Identifier: Apache-2.0
// Checks the waits of an lcore's clients in its poll loop.
#ifndef SUEDE_APP_ENDPOINT_WAIT_POLLER_H_
#define SUEDE_APP_ENDPOINT_WAIT_POLLER_H_

#include <memory>
#include <utility>

#include "pipeline/pipeline.h"
#include "shm/wait_board.h"

namespace suede {

class WaitPoller final : public PollHook {
 public:
  explicit WaitPoller(std::unique_ptr<WaitBoard> board) : board_(std::move(board)) {}

  WaitBoard* board() { return board_.get(); }
  // For the lcore.
  bool Poll(Time) override {
    board_->Poll();
    return false;
  }

 private:
  const std::unique_ptr<WaitBoard> board_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_WAIT_POLLER_H_
