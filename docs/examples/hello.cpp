// SPDX-License-Identifier: Apache-2.0
// hello.c over the C++ layer: the same arguments, output and exit codes.
//
//   hello NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--receive N] [--instance I] [--seconds S]
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "suede/suede.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string name;
  uint16_t own = 0;
  uint16_t peer = 0;
  uint8_t instance = 0;
  long count = 0;
  long expect = 0;
  long seconds = 10;
};

int Fail(int error) {
  std::fprintf(stderr, "hello: %s\n", suede_error_text());
  const bool is_unreachable =
      error == -ENOENT || error == -ECONNREFUSED || error == -ECONNRESET || error == -ETIMEDOUT;
  return is_unreachable ? 4 : 1;
}

class Hello {
 public:
  explicit Hello(const Arguments& arguments) : arguments_(arguments) {}

  int Run() {
    suede_open_params params{};
    params.size = sizeof params;
    params.queue_count = params.instance_count = 1;
    params.instances[0] = {.xpuid = arguments_.own, .instance = arguments_.instance, .reserved = 0};
    if (const int error = client_.Connect(arguments_.name, params); error != 0) return Fail(error);
    if (const int error = client_.Claim(arguments_.own, arguments_.instance, 0xf); error != 0) {
      return Fail(error);
    }
    const auto deadline = Clock::now() + std::chrono::seconds(arguments_.seconds);
    while (completed_ < arguments_.count || received_ < arguments_.expect) {
      if (const int error = Turn(); error != 0) return Fail(error);
      if (Clock::now() >= deadline) return TimeIsUp();
    }
    std::printf("sent %ld, completed %ld, received %ld\n", sent_, completed_, received_);
    return failed_ == 0 ? 0 : 3;
  }

 private:
  // Sends, takes completions and commands, and sleeps where there was nothing of it.
  int Turn() {
    const long before = sent_ + completed_ + received_;
    int error = SendSome();
    if (error == 0) error = TakeCompletions();
    for (uint8_t vc = 0; vc < 4 && error == 0; ++vc) error = TakeCommands(vc);
    if (error != 0 || sent_ + completed_ + received_ != before) return error;
    const suede_wait_set want{
        .credit_queues = sent_ < arguments_.count ? 1u : 0u, .completion_queues = 1, .rx_vcs = 0xf};
    error = client_.Wait(want, nullptr, 200);
    return error == -EINTR || error >= 0 ? 0 : error;
  }

  int SendSome() {
    suede::client::Queue queue = client_.queue(0);
    for (; sent_ < arguments_.count; ++sent_) {
      uint8_t control[8] = {};
      const std::string text =
          "hello " + std::to_string(sent_) + " from XPU " + std::to_string(arguments_.own);
      suede_command command =
          suede::client::MakeCommand(arguments_.peer, static_cast<uint8_t>(sent_ % 4), control,
                                     {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
      command.flags = SUEDE_RECORD_COMPLETION;
      command.tag = static_cast<uint64_t>(sent_);
      const int error = queue.Send(command);
      if (error == -EAGAIN || error == -EBUSY) break;  // again after a wait
      if (error != 0) return error;
    }
    queue.Flush();
    return 0;
  }

  int TakeCompletions() {
    suede_completion completions[32];
    const int n = client_.queue(0).PollCompletions(completions);
    for (int i = 0; i < n; ++i) {
      const suede_completion& c = completions[i];
      std::printf("completed tag %llu to XPU %u VC %u: status %u\n",
                  static_cast<unsigned long long>(c.tag), c.xpuid, c.vc, c.status);
      if (c.status != SUEDE_STATUS_OK) ++failed_;
    }
    if (n > 0) completed_ += n;
    return n < 0 ? n : 0;
  }

  int TakeCommands(uint8_t vc) {
    suede_received commands[32];
    const int n = client_.Receive(vc, commands);
    for (int i = 0; i < n; ++i) {
      const suede_received& r = commands[i];
      const std::string_view text(reinterpret_cast<const char*>(r.data), r.data_bytes);
      std::printf("received from XPU %u VC %u: %.*s\n", r.source_xpuid, r.vc,
                  static_cast<int>(text.size()), text.data());
    }
    if (n > 0) received_ += n;
    client_.Release(vc);  // only now may the ring's room be used again
    return n < 0 ? n : 0;
  }

  int TimeIsUp() const {
    std::fprintf(stderr, "hello: time is up: %ld of %ld completed, %ld of %ld received\n",
                 completed_, arguments_.count, received_, arguments_.expect);
    return 1;
  }

  const Arguments arguments_;
  suede::client::Client client_;
  long sent_ = 0;
  long completed_ = 0;
  long failed_ = 0;
  long received_ = 0;
};

int Usage() {
  std::fprintf(stderr,
               "usage: hello NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--receive N] [--instance I]"
               " [--seconds S]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc % 2 == 0) return Usage();
  Arguments arguments{.name = argv[1],
                      .own = static_cast<uint16_t>(std::atoi(argv[2])),
                      .peer = static_cast<uint16_t>(std::atoi(argv[3])),
                      .count = std::atol(argv[4])};
  for (int i = 5; i < argc; i += 2) {
    const std::string_view option = argv[i];
    const long value = std::atol(argv[i + 1]);
    if (option == "--receive") {
      arguments.expect = value;
    } else if (option == "--instance") {
      arguments.instance = static_cast<uint8_t>(value);
    } else if (option == "--seconds") {
      arguments.seconds = value;
    } else {
      return Usage();
    }
  }
  return Hello(arguments).Run();
}
