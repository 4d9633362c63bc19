// SPDX-License-Identifier: Apache-2.0
// Arbitrary commands to a target of memory operations and to an initiator: nothing outside the
// windows is touched, a request that is read is written again as it was, and the state holds to its
// invariants.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "mem/initiator.h"
#include "mem/target.h"

namespace suede::mem {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Exactly as large as it is: the address sanitizer sees the first byte behind it.
std::unique_ptr<uint8_t[]> TakeFrom(Input& input, uint32_t bytes) {
  std::unique_ptr<uint8_t[]> taken(new uint8_t[bytes]);
  for (uint32_t i = 0; i < bytes; ++i) taken[i] = input.Byte();
  return taken;
}

class Sink final : public ResponseSink, public BurstSink {
 public:
  explicit Sink(Input* input) : input_(*input) {}
  bool Send(const Route&, const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
            uint32_t data_bytes) override {
    Response response;
    Require(ParseResponse(control, control_bytes, data, data_bytes, &response));
    return input_.Byte() % 4 != 0;
  }
  int Send(const Burst& burst) override {
    return static_cast<int>(input_.Byte() % (burst.count + 1));
  }

 private:
  Input& input_;
};

// A request is written as it was read.
void CheckRewritten(const uint8_t* control, const uint8_t* data, uint32_t data_bytes) {
  Request request;
  if (ParseRequest(control, kRequestControlBytes, data, data_bytes, &request) != Parsed::kRequest) {
    return;
  }
  uint8_t again[kRequestControlBytes];
  EncodeRequest(request, again);
  // The lengths in the first two octets are the endpoint's.
  Require(std::memcmp(control + 2, again + 2, kRequestControlBytes - 2) == 0);
  uint8_t operands[kRequestDataBytes];
  const uint32_t bytes = EncodeOperands(request, operands);
  Require(bytes <= data_bytes);
  if (bytes != 0) Require(std::memcmp(data, operands, bytes) == 0);
  if (request.opcode == Opcode::kPut || request.opcode == Opcode::kPutImmediate) {
    Require(request.data + request.bytes == data + data_bytes);
  }
}

class Play {
 public:
  explicit Play(Input* input)
      : input_(*input),
        sink_(input),
        target_({.planes = 2,
                 .response_places = 64,
                 .max_places_per_initiator = 16,
                 .notice_places = 4}),
        initiator_({.planes = 2, .requests = 64, .requests_to_target = 16, .operations = 16}) {
    memory_.reset(new uint64_t[kWords]());
    auto* base = reinterpret_cast<uint8_t*>(memory_.get());
    target_.windows().Add(0, {.base = base, .bytes = kWords * 8, .rights = Window::kAllRights});
    target_.windows().Add(
        1, {.base = base, .bytes = 100, .key = 7, .rights = Window::kRead | Window::kAtomic});
  }

  void Step() {
    const uint8_t kind = input_.Byte() % 8;
    const Route route{.xpuid = static_cast<uint16_t>(input_.Byte() % 4),
                      .plane = static_cast<uint8_t>(input_.Byte() % 2)};
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return Request(route);
      case 3:
      case 4:
        return Response(route);
      case 5:
        return Start(route);
      case 6:
        target_.Flush(sink_);
        initiator_.Pump(sink_);
        if (Notice notice; input_.Byte() % 2 == 0) target_.TakeNotice(&notice);
        return;
      default:
        return Lose(route);
    }
  }

  void Check() const {
    target_.CheckInvariants();
    initiator_.CheckInvariants();
  }

 private:
  static constexpr uint32_t kWords = 40;

  void Request(const Route& route) {
    const uint32_t control_bytes = input_.Byte() % 4 == 0 ? 2 + input_.Byte() % 9 * 2 : 18;
    const std::unique_ptr<uint8_t[]> control = TakeFrom(input_, control_bytes);
    if (input_.Byte() % 2 == 0) control[0] = 0x99;
    const uint32_t data_bytes = input_.Byte() % 2 == 0 ? input_.Byte() % 18 : input_.Byte() + 1u;
    const std::unique_ptr<uint8_t[]> data = TakeFrom(input_, data_bytes);
    if (control_bytes == kRequestControlBytes) {
      CheckRewritten(control.get(), data.get(), data_bytes);
    }
    target_.OnCommand(route, control.get(), control_bytes, data.get(), data_bytes, sink_);
  }

  void Response(const Route& route) {
    static constexpr uint8_t kTypes[] = {0xa5, 0xb4, 0xa8, 0xa9};
    const uint8_t type = kTypes[input_.Byte() % 4];
    const uint32_t control_bytes = (type & 15u) * 2;
    const std::unique_ptr<uint8_t[]> control = TakeFrom(input_, control_bytes);
    control[0] = type;
    control[4] = control[5] = control[6] = 0;  // numbers that may be open
    const uint32_t data_bytes = input_.Byte();
    const std::unique_ptr<uint8_t[]> data = TakeFrom(input_, data_bytes);
    initiator_.OnCommand(route, control.get(), control_bytes, data.get(), data_bytes);
  }

  void Start(const Route& route) {
    const Call call{.opcode = static_cast<Opcode>(1 + input_.Byte() % 8),
                    .counter = 3,
                    .xpuid = route.xpuid,
                    .bytes = uint64_t{input_.Byte()} * 3,
                    .source = octets_.data(),
                    .room = octets_.data(),
                    .deadline = TimeFromNs(input_.Byte())};
    initiator_.Start(call, nullptr);
    initiator_.Pump(sink_);
  }

  void Lose(const Route& route) {
    switch (input_.Byte() % 4) {
      case 0:
        return target_.OnPlaneLost(route.plane);
      case 1:
        return initiator_.OnPlaneLost(route.plane);
      case 2:
        return initiator_.OnTime(TimeFromNs(input_.Byte()));
      default:
        return initiator_.OnCompletion(route, input_.Byte(), input_.Byte() % 9);
    }
  }

  Input& input_;
  Sink sink_;
  Target target_;
  Initiator initiator_;
  std::unique_ptr<uint64_t[]> memory_;  // exactly as large as the window
  std::array<uint8_t, 1024> octets_ = {};
};

}  // namespace
}  // namespace suede::mem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  suede::mem::Play play(&input);
  while (!input.empty()) {
    play.Step();
    play.Check();
  }
  return 0;
}
