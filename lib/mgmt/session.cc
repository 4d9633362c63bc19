// SPDX-License-Identifier: Apache-2.0
#include "mgmt/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"

namespace suede {

void Session::Start(std::string_view line, PassedFd passed) {
  line_ = ParseRpcLine(line, *catalog_);
  next_ = 0;
  answers_.clear();
  passed_ = std::move(passed);
}

void Session::Run(int64_t now_ms, std::string& out) {
  if (idle()) return;
  const RpcRequest& request = line_.requests[next_];
  if (waits()) {
    PollQuestion(request, now_ms);
  } else {
    ++requests_;
    Begin(request, now_ms);
  }
  if (waits()) return;
  if (++next_ < line_.requests.size()) return;
  passed_.fd.Reset();
  if (answers_.empty()) return;
  if (line_.is_batch) {
    StrAppend(&out, "[", answers_, "]\n");
  } else {
    StrAppend(&out, answers_, "\n");
  }
  answers_ = std::string();
}

void Session::PollQuestion(const RpcRequest& request, int64_t now_ms) {
  const bool is_last = now_ms >= wait_until_ms_;
  if (now_ms < next_poll_ms_ && !is_last) return;
  const std::optional<Outcome> outcome = waiting_.poll(is_last);
  next_poll_ms_ = std::min(now_ms + waiting_.period_ms, std::max(now_ms + 1, wait_until_ms_));
  if (!outcome && !is_last) return;
  waiting_ = {};
  if (outcome) return Finish(request, *outcome);
  Refuse(request, {.code = RpcCode::kBusy,
                   .message = "no answer in time from within the daemon; try again"});
}

void Session::Begin(const RpcRequest& request, int64_t now_ms) {
  if (request.error) return Refuse(request, *request.error);
  if (passed_.too_many) {
    return Refuse(request,
                  {.code = RpcCode::kInvalidRequest,
                   .message = "more than one descriptor; send one with a line of its own"});
  }
  const Method& method = *request.method;
  if (method.descriptor && method.descriptor->required && !passed_.fd.ok()) {
    return Refuse(request,
                  {.code = RpcCode::kInvalidParams,
                   .message = StrCat("no descriptor; send one for ", method.descriptor->name,
                                           " with the line"),
                   .parameter = std::string(method.descriptor->name)});
  }
  if (method.changes && on_change_ != nullptr) on_change_(method);
  Call call{.daemon = *daemon_,
            .catalog = *catalog_,
            .arguments = request.arguments,
            .memory = memory_[&method],
            // The first request of a batch that takes a descriptor gets it.
            .descriptor = method.descriptor ? std::move(passed_.fd) : Fd(),
            .caller = caller_};
  Answer answer = method.run(call);
  if (const Outcome* outcome = answer.outcome()) return Finish(request, *outcome);
  waiting_ = std::move(*answer.waiting());
  wait_until_ms_ = now_ms + waiting_.limit_ms.value_or(limits_.later_ms);
  next_poll_ms_ = now_ms + 1;
}

void Session::Finish(const RpcRequest& request, const Outcome& outcome) {
  if (!outcome.status.ok()) return Refuse(request, ToRpcError(outcome.status));
  if (request.is_notification) return;
  const std::string answer = ResultAnswer(request.id, outcome.result);
  if (answers_.size() + answer.size() > limits_.answer_bytes) {
    return Refuse(request, {.code = RpcCode::kAnswerTooLong,
                            .message = StrCat("an answer has up to ", limits_.answer_bytes,
                                              " bytes, a batch's in sum; ask for less")});
  }
  Append(answer);
}

void Session::Refuse(const RpcRequest& request, const RpcError& error) {
  ++failed_;
  if (!request.is_notification) Append(ErrorAnswer(request.id, error));
}

void Session::Append(std::string_view answer) {
  if (!answers_.empty()) answers_ += ',';
  answers_ += answer;
}

}  // namespace suede
