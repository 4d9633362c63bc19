// SPDX-License-Identifier: Apache-2.0
#include "client_link.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace suede::rtl {
namespace {

constexpr uint32_t kAllVcs = (1u << kVcs) - 1;
constexpr std::chrono::milliseconds kRetryInterval(20);

}  // namespace

ClientConnection::ClientConnection(ClientAddress address) : address_(std::move(address)) {}

ClientConnection::~ClientConnection() {
  is_ending_ = true;
  if (call_.valid()) call_.wait();
  suede_close(client_);
}

bool ClientConnection::IsBusy() {
  if (!call_.valid()) return false;
  if (call_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return true;
  const Result result = call_.get();
  is_up_ = result.error == 0;
  if (result.error != last_error_) Report(result);
  last_error_ = result.error;
  return false;
}

void ClientConnection::Connect(std::function<int(suede_client*, suede_instance)> claim) {
  is_up_ = false;
  call_ = std::async(std::launch::async, [this, claim = std::move(claim)] {
    const Result result = ConnectOnce(claim);
    if (result.error != 0) std::this_thread::sleep_for(kRetryInterval);
    return result;
  });
}

void ClientConnection::Run(std::function<int(suede_client*, suede_instance)> call) {
  is_up_ = false;
  call_ = std::async(std::launch::async, [this, call = std::move(call)] {
    Result result;
    while (((result.error = call(client_, address_.own)) == -ETIMEDOUT || result.error == -EBUSY) &&
           !is_ending_) {
      std::this_thread::sleep_for(kRetryInterval);
    }
    if (result.error != 0) result.text = suede_error_text();
    return result;
  });
}

ClientConnection::Result ClientConnection::ConnectOnce(
    const std::function<int(suede_client*, suede_instance)>& claim) {
  suede_close(std::exchange(client_, nullptr));
  suede_open_params params{.size = sizeof params,
                           .queue_count = 1,
                           .instance_count = address_.is_first ? 0u : 1u,
                           .timeout_ms = 0,
                           .instances = {address_.own}};
  int error = suede_connect(address_.endpoint.c_str(), &params, &client_);
  if (error == 0 && address_.is_first) error = suede_get_instance(client_, 0, &address_.own);
  if (error == 0) error = claim(client_, address_.own);
  return {.error = error, .text = error == 0 ? "" : suede_error_text()};
}

void ClientConnection::Report(const Result& result) {
  if (result.error == 0) {
    std::fprintf(stderr, "%s: connected to %s\n", address_.label.c_str(),
                 address_.endpoint.c_str());
  } else {
    std::fprintf(stderr, "%s: cannot use %s: %s; trying again\n", address_.label.c_str(),
                 address_.endpoint.c_str(), result.text.c_str());
  }
}

ClientTxLink::ClientTxLink(ClientAddress address) : connection_(std::move(address)) {}

bool ClientTxLink::Complete() {
  suede_completion completions[16];
  const int count = suede_poll_completions(queue_, completions, 16);
  for (int i = 0; i < count; ++i) {
    const suede_completion& completion = completions[i];
    pending_.erase(completion.tag);
    if (completion.status != SUEDE_STATUS_OK && completion.status != SUEDE_STATUS_ERROR_MARK) {
      lost_.push_back(completion.tag);
    }
  }
  return count == 16;
}

bool ClientTxLink::IsReady() {
  if (connection_.IsBusy()) return false;
  suede_client* client = connection_.client();
  queue_ = client == nullptr ? nullptr : suede_get_queue(client, 0);
  if (queue_ != nullptr) {
    Complete();
    const int state = suede_queue_state(queue_);
    if (state > 0 && (wants_reset_ || state == SUEDE_QUEUE_BROKEN)) {
      wants_reset_ = false;
      connection_.Run([](suede_client* of, suede_instance) {
        return suede_reset_queue(suede_get_queue(of, 0));
      });
      return false;
    }
    if (state > 0) return state == SUEDE_QUEUE_READY;
    while (Complete()) {
    }
  }
  lost_.insert(lost_.end(), pending_.begin(), pending_.end());
  pending_.clear();
  wants_reset_ = false;
  connection_.Connect([](suede_client*, suede_instance) { return 0; });
  return false;
}

bool ClientTxLink::Send(const Command& command) {
  const suede_command sent{
      .xpuid = command.xpuid,
      .vc = command.vc,
      .flags = static_cast<uint8_t>(SUEDE_RECORD_COMPLETION |
                                    (command.is_error ? SUEDE_RECORD_ERROR : 0)),
      .reserved = 0,
      .tag = command.number,
      .control = command.control.data(),
      .data = command.data.data()};
  const int error = suede_send(queue_, &sent);
  // The loss of the connection is handled by the next IsReady; a command that was copied before it
  // is lost.
  if (error == 0 || error == -ECONNRESET) pending_.insert(command.number);
  return error == 0 || error == -ECONNRESET;
}

void ClientTxLink::Flush() { suede_flush(queue_); }

void ClientTxLink::Reset() { wants_reset_ = true; }

int64_t ClientTxLink::TakeLost() {
  if (lost_.empty()) return -1;
  const uint64_t number = lost_.front();
  lost_.pop_front();
  return static_cast<int64_t>(number);
}

ClientRxLink::ClientRxLink(ClientAddress address) : connection_(std::move(address)) {}

bool ClientRxLink::Take(uint8_t vc, Command* command) {
  suede_received received;
  suede_client* client = connection_.client();
  if (client == nullptr || suede_receive(client, vc, &received, 1) != 1) return false;
  *command = {};
  command->xpuid = received.source_xpuid;
  command->vc = vc;
  std::copy_n(received.control, received.control_bytes, command->control.begin());
  if (received.data != nullptr)
    std::copy_n(received.data, received.data_bytes, command->data.begin());
  suede_release(client, vc);
  return true;
}

bool ClientRxLink::IsReady() {
  if (connection_.IsBusy()) return false;
  suede_client* client = connection_.client();
  const int state = client == nullptr ? -ECONNRESET : suede_receive_state(client, 0);
  if (state > 0 && wants_reset_) {
    wants_reset_ = false;
    connection_.Run([](suede_client* of, suede_instance own) {
      const int error = suede_unclaim(of, own.xpuid, own.instance, kAllVcs);
      if (error != 0 && error != -ENOENT) return error;
      suede_received received;
      for (uint8_t vc = 0; vc < kVcs; ++vc) {
        while (suede_receive(of, vc, &received, 1) == 1) {
        }
        suede_release(of, vc);
      }
      return suede_claim(of, own.xpuid, own.instance, kAllVcs);
    });
    return false;
  }
  if (state > 0) return state == SUEDE_QUEUE_READY;
  // Keeps the rest of the rings, so that a VC without credit does not delay the next connection.
  Command command;
  for (uint8_t vc = 0; vc < kVcs; ++vc) {
    while (Take(vc, &command)) {
      if (!wants_reset_) saved_[vc].push_back(command);
    }
  }
  wants_reset_ = false;
  connection_.Connect([](suede_client* of, suede_instance own) {
    return suede_claim(of, own.xpuid, own.instance, kAllVcs);
  });
  return false;
}

bool ClientRxLink::Receive(uint8_t vc, Command* command) {
  if (saved_[vc].empty()) return Take(vc, command);
  *command = saved_[vc].front();
  saved_[vc].pop_front();
  return true;
}

void ClientRxLink::Reset() {
  wants_reset_ = true;
  for (std::deque<Command>& saved : saved_) saved.clear();
}

}  // namespace suede::rtl
