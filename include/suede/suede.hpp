// SPDX-License-Identifier: Apache-2.0
// A thin C++ layer over suede.h: the same calls in classes that manage lifetimes. C++20, header
// only.
//
// Errors are those of suede.h: negative errno values; suede_error_text() returns the text.
#ifndef SUEDE_SUEDE_HPP_
#define SUEDE_SUEDE_HPP_

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "load.h"
#include "suede.h"

namespace suede::client {

// Returns a command of this control and data, with the lengths filled in. The caller owns the
// memory.
inline suede_command MakeCommand(uint16_t xpuid, uint8_t vc, std::span<uint8_t> control,
                                 std::span<const uint8_t> data = {}) {
  suede_command command{};
  command.xpuid = xpuid;
  command.vc = vc;
  const int error = suede_set_lengths(control.data(), static_cast<uint32_t>(control.size()),
                                      static_cast<uint32_t>(data.size()));
  command.control = error == 0 ? control.data() : nullptr;  // Send then returns -EINVAL
  command.data = data.data();
  return command;
}

// Returns a sentence on the status of a completion.
inline const char* StatusText(uint32_t status) { return suede_status_text(status); }

// One send queue; one thread at a time uses it. A Queue is valid as long as its Client.
class Queue {
 public:
  explicit Queue(suede_queue* queue) : queue_(queue) {}
  int Send(const suede_command& command) { return suede_send(queue_, &command); }
  // Sends up to `count` commands. Returns the number that was accepted, or an error.
  int SendBatch(suede_batch batch, uint32_t count) {
    batch.size = sizeof batch;
    return suede_send_batch(queue_, &batch, count);
  }
  // Reserves up to `count` commands to be written in place, and sends the first of them.
  int Reserve(suede_shape shape, uint32_t count, suede_span* span) {
    shape.size = sizeof shape;
    return suede_reserve(queue_, &shape, count, span);
  }
  int Commit(uint32_t count) { return suede_commit(queue_, count); }
  void Flush() { suede_flush(queue_); }
  int Credit(uint16_t xpuid, uint8_t vc) { return suede_credit(queue_, xpuid, vc); }
  int PollCompletions(std::span<suede_completion> out) {
    return suede_poll_completions(queue_, out.data(), static_cast<uint32_t>(out.size()));
  }
  int Reset() { return suede_reset_queue(queue_); }
  // Reads the load of the queue's instance. Returns 0 or an error.
  int GetLoad(suede_load* load) const {
    load->size = sizeof *load;
    return suede_get_load(queue_, load);
  }
  int Watch(uint16_t xpuid) { return suede_watch_destination(queue_, xpuid); }
  int Unwatch(uint16_t xpuid) { return suede_unwatch_destination(queue_, xpuid); }
  int GetDestination(uint16_t xpuid, suede_destination* destination) const {
    destination->size = sizeof *destination;
    return suede_get_destination(queue_, xpuid, destination);
  }
  suede_queue* get() const { return queue_; }

 private:
  suede_queue* queue_;
};

// A connection to a daemon.
class Client {
 public:
  Client() = default;

  // Returns 0 or an error. Connect closes an earlier connection.
  int Connect(const std::string& name_or_path, const suede_open_params& params) {
    client_.reset();
    suede_client* client = nullptr;
    const int result = suede_connect(name_or_path.c_str(), &params, &client);
    client_.reset(client);
    return result;
  }
  int Connect(const std::string& name_or_path, uint32_t queue_count = 1) {
    suede_open_params params{};
    params.size = sizeof params;
    params.queue_count = queue_count;
    return Connect(name_or_path, params);
  }
  int Reconnect() { return suede_reconnect(client_.get()); }
  int Status() { return suede_status(client_.get()); }
  suede_limits Limits() const {
    suede_limits limits{};
    limits.size = sizeof limits;
    suede_get_limits(client_.get(), &limits);
    return limits;
  }
  Queue queue(uint32_t index) { return Queue(suede_get_queue(client_.get(), index)); }

  int Claim(uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
    return suede_claim(client_.get(), own_xpuid, instance, vc_mask);
  }
  int Unclaim(uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
    return suede_unclaim(client_.get(), own_xpuid, instance, vc_mask);
  }
  int Receive(uint8_t vc, std::span<suede_received> out) {
    return suede_receive(client_.get(), vc, out.data(), static_cast<uint32_t>(out.size()));
  }
  int ReceiveSpan(uint8_t vc, suede_received_span* span, uint32_t max) {
    return suede_receive_span(client_.get(), vc, span, max);
  }
  int ReceiveState(uint8_t vc) { return suede_receive_state(client_.get(), vc); }
  void Release(uint8_t vc) { suede_release(client_.get(), vc); }

  int ReadRegister(uint32_t address, uint32_t width_bits, uint64_t* value) {
    return suede_register_read(client_.get(), address, width_bits, value);
  }
  int WriteRegister(uint32_t address, uint32_t width_bits, uint64_t value) {
    return suede_register_write(client_.get(), address, width_bits, value);
  }

  int Wait(const suede_wait_set& want, suede_wait_set* ready, int timeout_ms) {
    return suede_wait(client_.get(), &want, ready, timeout_ms);
  }
  suede_client* get() const { return client_.get(); }

 private:
  struct Close {
    void operator()(suede_client* client) const { suede_close(client); }
  };
  std::unique_ptr<suede_client, Close> client_;
};

// A Balancer chooses among queues, each of another instance, of one or several clients that outlive
// the Balancer. One thread at a time uses it.
class Balancer {
 public:
  Balancer() = default;

  // Returns 0 or an error. `policy` is one of SUEDE_BALANCE_…
  int Create(std::span<const Queue> queues, uint32_t policy) {
    std::vector<suede_queue*> all;
    for (const Queue& queue : queues) all.push_back(queue.get());
    suede_balancer* balancer = nullptr;
    const int result = suede_balancer_create(all.data(), static_cast<uint32_t>(all.size()), policy,
                                             &balancer);
    balancer_.reset(balancer);
    return result;
  }
  // Returns the number of a queue, or an error.
  int Choose(uint16_t xpuid) { return suede_balancer_choose(balancer_.get(), xpuid); }
  int Send(const suede_command& command) { return suede_balancer_send(balancer_.get(), &command); }
  void Flush() { suede_balancer_flush(balancer_.get()); }
  suede_balancer* get() const { return balancer_.get(); }

 private:
  struct Destroy {
    void operator()(suede_balancer* balancer) const { suede_balancer_destroy(balancer); }
  };
  std::unique_ptr<suede_balancer, Destroy> balancer_;
};

// The management packets of a port.
class Packets {
 public:
  // Returns 0 or an error. Open closes an earlier connection. An empty name is the first port.
  int Open(const std::string& name_or_path, const std::string& port, bool receive) {
    packets_.reset();
    suede_packets_params params{};
    params.size = sizeof params;
    params.receive = receive ? 1 : 0;
    params.port = port.empty() ? nullptr : port.c_str();
    suede_packets* packets = nullptr;
    const int result = suede_packets_open(name_or_path.c_str(), &params, &packets);
    packets_.reset(packets);
    return result;
  }
  suede_packets_info Info() const {
    suede_packets_info info{};
    info.size = sizeof info;
    suede_packets_get_info(packets_.get(), &info);
    return info;
  }
  int Send(std::span<const uint8_t> frame) {
    return suede_packets_send(packets_.get(), frame.data(), static_cast<uint32_t>(frame.size()));
  }
  int Receive(std::span<uint8_t> room) {
    return suede_packets_receive(packets_.get(), room.data(), static_cast<uint32_t>(room.size()));
  }
  uint64_t lost() const { return suede_packets_lost(packets_.get()); }
  int fd() const { return suede_packets_fd(packets_.get()); }
  suede_packets* get() const { return packets_.get(); }

 private:
  struct Close {
    void operator()(suede_packets* packets) const { suede_packets_close(packets); }
  };
  std::unique_ptr<suede_packets, Close> packets_;
};

}  // namespace suede::client

#endif  // SUEDE_SUEDE_HPP_
