// SPDX-License-Identifier: Apache-2.0
#include "memif/channel.h"

#include <algorithm>
#include <utility>

namespace suede::memif {
namespace {

constexpr char kProgram[] = "suede";
constexpr uint64_t kRingAlignment = sizeof(Descriptor);

// Returns the text with '?' for bytes that a terminal could interpret.
std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

// Compares in a time that does not depend on the first difference.
bool SameSecret(std::string_view ours, const char (&theirs)[kSecretBytes]) {
  char padded[kSecretBytes];
  PutText(padded, ours);
  uint8_t difference = 0;
  for (size_t i = 0; i < kSecretBytes; ++i)
    difference |= static_cast<uint8_t>(padded[i] ^ theirs[i]);
  return difference == 0;
}

// Reads a message; nullopt if its size is wrong.
std::optional<Message> Parse(std::span<const uint8_t> bytes) {
  if (bytes.size() != kMessageBytes) return std::nullopt;
  Message message{};
  std::memcpy(&message, bytes.data(), kMessageBytes);
  return message;
}

Message MakeAck() {
  Message message{};
  message.type = MessageType::kAck;
  return message;
}

Step Close(Refusal refusal) {
  return {.action = Action::kClose, .reply = MakeDisconnect(refusal), .refusal = refusal};
}

}  // namespace

const char* TextOf(Refusal refusal) {
  switch (refusal) {
#define SUEDE_MEMIF_REFUSAL(id, name, text) \
  case Refusal::id:                         \
    return text;
    SUEDE_MEMIF_REFUSALS(SUEDE_MEMIF_REFUSAL)
#undef SUEDE_MEMIF_REFUSAL
    case Refusal::kNone:
    case Refusal::kCount:
      break;
  }
  return "Disconnected";
}

Message MakeDisconnect(Refusal refusal) {
  Message message{};
  message.type = MessageType::kDisconnect;
  PutText(message.disconnect.reason, TextOf(refusal));
  return message;
}

std::string ReasonIn(std::span<const uint8_t> bytes) {
  const std::optional<Message> message = Parse(bytes);
  if (!message || message->type != MessageType::kDisconnect) return "";
  return Printable(GetText(message->disconnect.reason));
}

// ---- Server ----

Message ServerChannel::Greeting() {
  Message message{};
  message.type = MessageType::kHello;
  PutText(message.hello.name, kProgram);
  message.hello.min_version = kVersion;
  message.hello.max_version = kVersion;
  message.hello.max_region = kMaxRegions - 1;
  message.hello.max_s2c_ring = kMaxRings - 1;
  message.hello.max_c2s_ring = kMaxRings - 1;
  message.hello.max_log2_ring = kMaxLog2Ring;
  return message;
}

Step ServerChannel::Refuse(Refusal refusal) {
  state_ = State::kClosed;
  return Close(refusal);
}

Step ServerChannel::OnMessage(std::span<const uint8_t> bytes, bool has_descriptor,
                              std::span<const InterfaceRules> interfaces) {
  if (state_ == State::kClosed) return {.action = Action::kClose};
  const std::optional<Message> message = Parse(bytes);
  if (!message) return Refuse(Refusal::kMessageSize);
  if (message->type == MessageType::kDisconnect) {
    state_ = State::kClosed;
    return {.action = Action::kClose};
  }
  if (state_ == State::kGreeted) {
    if (message->type != MessageType::kInit) return Refuse(Refusal::kUnexpected);
    return OnInit(message->init, interfaces);
  }
  if (state_ != State::kSetup) return Refuse(Refusal::kUnexpected);
  switch (message->type) {
    case MessageType::kAddRegion:
      return OnAddRegion(message->add_region, has_descriptor);
    case MessageType::kAddRing:
      return OnAddRing(message->add_ring, has_descriptor);
    case MessageType::kConnect:
      return OnConnect();
    default:
      return Refuse(Refusal::kUnexpected);
  }
}

Step ServerChannel::OnInit(const Init& init, std::span<const InterfaceRules> interfaces) {
  if (init.version != kVersion) return Refuse(Refusal::kVersion);
  const uint32_t id = init.id;
  const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                  [id](const InterfaceRules& rules) { return rules.id == id; });
  if (found == interfaces.end()) return Refuse(Refusal::kUnknownId);
  // A stranger without the secret learns nothing about the interface.
  if (!found->secret.empty() && !SameSecret(found->secret, init.secret)) {
    return Refuse(Refusal::kSecret);
  }
  if (found->down) return Refuse(Refusal::kDown);
  if (found->taken) return Refuse(Refusal::kTaken);
  if (init.mode != kEthernetMode) return Refuse(Refusal::kMode);
  peer_ = Printable(GetText(init.name));
  max_rings_ = std::min(found->rings, kMaxRings);
  state_ = State::kSetup;
  return {.action = Action::kClaim,
          .reply = MakeAck(),
          .interface = static_cast<size_t>(found - interfaces.begin())};
}

Step ServerChannel::OnAddRegion(const AddRegion& region, bool has_descriptor) {
  if (!has_descriptor) return Refuse(Refusal::kNoDescriptor);
  const uint64_t bytes = region.bytes;
  if (region.index != plan_.regions.size() || region.index >= kMaxRegions || bytes == 0 ||
      bytes > kMaxSharedBytes - shared_bytes_) {
    return Refuse(Refusal::kRegion);
  }
  shared_bytes_ += bytes;
  plan_.regions.push_back(bytes);
  return {.action = Action::kAddRegion, .reply = MakeAck()};
}

Step ServerChannel::OnAddRing(const AddRing& ring, bool has_descriptor) {
  if (!has_descriptor) return Refuse(Refusal::kNoDescriptor);
  const bool is_c2s = (ring.flags & AddRing::kC2s) != 0;
  std::vector<RingPlan>& rings = is_c2s ? plan_.c2s : plan_.s2c;
  if (ring.index != rings.size() || ring.index >= max_rings_ || ring.log2_slots == 0 ||
      ring.log2_slots > kMaxLog2Ring || ring.region >= plan_.regions.size() ||
      ring.offset % kRingAlignment != 0) {
    return Refuse(Refusal::kRing);
  }
  const uint64_t room = plan_.regions[ring.region];
  const uint64_t needs = RingBytes(ring.log2_slots);
  if (ring.offset > room || needs > room - ring.offset) return Refuse(Refusal::kRing);
  rings.push_back({.region = ring.region, .offset = ring.offset, .log2_slots = ring.log2_slots});
  return {.action = is_c2s ? Action::kNone : Action::kAddEvent, .reply = MakeAck()};
}

Step ServerChannel::OnConnect() {
  if (plan_.c2s.empty() || plan_.s2c.empty()) return Refuse(Refusal::kRings);
  state_ = State::kConnecting;
  return {.action = Action::kConnect};
}

Message ServerChannel::Accept(std::string_view interface) {
  state_ = State::kConnected;
  Message message{};
  message.type = MessageType::kConnected;
  PutText(message.connect.interface, interface);
  return message;
}

// ---- Client ----

Step ClientChannel::Refuse(Refusal refusal) {
  state_ = State::kClosed;
  return Close(refusal);
}

Step ClientChannel::OnMessage(std::span<const uint8_t> bytes) {
  if (state_ == State::kClosed) return {.action = Action::kClose};
  const std::optional<Message> message = Parse(bytes);
  if (!message) return Refuse(Refusal::kMessageSize);
  if (message->type == MessageType::kDisconnect) {
    state_ = State::kClosed;
    return {.action = Action::kClose};
  }
  if (state_ == State::kWaiting && message->type == MessageType::kHello) {
    return OnHello(message->hello);
  }
  if (state_ == State::kSending && message->type == MessageType::kAck) return OnAck();
  if (state_ == State::kConnecting && message->type == MessageType::kConnected) {
    state_ = State::kConnected;
    return {.action = Action::kConnected};
  }
  return Refuse(Refusal::kUnexpected);
}

Step ClientChannel::OnHello(const Hello& hello) {
  if (hello.min_version > kVersion || hello.max_version < kVersion) {
    return Refuse(Refusal::kVersion);
  }
  peer_ = Printable(GetText(hello.name));
  const auto rings_of = [&](uint16_t max_index) {
    return static_cast<size_t>(
        std::min<uint32_t>({rules_.rings, kMaxRings, uint32_t{max_index} + 1}));
  };
  const uint8_t log2_slots = std::min({rules_.log2_slots, kMaxLog2Ring, hello.max_log2_ring});
  if (log2_slots == 0) return Refuse(Refusal::kRing);
  plan_.c2s.resize(rings_of(hello.max_c2s_ring));
  plan_.s2c.resize(rings_of(hello.max_s2c_ring));
  uint64_t offset = 0;
  for (std::vector<RingPlan>* rings : {&plan_.c2s, &plan_.s2c}) {
    for (RingPlan& ring : *rings) {
      ring = {.region = 0, .offset = static_cast<uint32_t>(offset), .log2_slots = log2_slots};
      offset += (RingBytes(log2_slots) + kLineBytes - 1) / kLineBytes * kLineBytes;
    }
  }
  buffers_offset_ = offset;
  const uint64_t slots = (plan_.c2s.size() + plan_.s2c.size()) << log2_slots;
  plan_.regions = {offset + slots * rules_.buffer_bytes};
  // Descriptors have offsets of 32 bits.
  if (plan_.regions[0] > UINT32_MAX) return Refuse(Refusal::kRegion);
  state_ = State::kMaking;
  return {.action = Action::kMakeMemory};
}

Message ClientChannel::Start(uint64_t region_bytes) {
  plan_.regions[0] = region_bytes;
  state_ = State::kSending;
  sent_ = 0;
  return MakeSetup(0);
}

Step ClientChannel::OnAck() {
  if (++sent_ < setup_count()) return {.reply = MakeSetup(sent_)};
  state_ = State::kConnecting;
  Message message{};
  message.type = MessageType::kConnect;
  PutText(message.connect.interface, rules_.interface);
  return {.reply = message};
}

bool ClientChannel::sends_memory() const { return state_ == State::kSending && sent_ == 1; }
std::optional<size_t> ClientChannel::sent_ring() const {
  if (state_ != State::kSending || sent_ < 2) return std::nullopt;
  return sent_ - 2;
}

// Returns message `number` of the set-up: INIT, ADD_REGION, ADD_RING for each ring.
Message ClientChannel::MakeSetup(size_t number) {
  Message message{};
  if (number == 0) {
    message.type = MessageType::kInit;
    message.init.version = kVersion;
    message.init.id = rules_.id;
    message.init.mode = kEthernetMode;
    PutText(message.init.secret, rules_.secret);
    PutText(message.init.name, kProgram);
  } else if (number == 1) {
    message.type = MessageType::kAddRegion;
    message.add_region = {.index = 0, .bytes = plan_.regions[0]};
  } else {
    const size_t ring = number - 2;
    const bool is_c2s = ring < plan_.c2s.size();
    const size_t index = is_c2s ? ring : ring - plan_.c2s.size();
    const RingPlan& plan = is_c2s ? plan_.c2s[index] : plan_.s2c[index];
    message.type = MessageType::kAddRing;
    message.add_ring = {.flags = is_c2s ? AddRing::kC2s : uint16_t{0},
                        .index = static_cast<uint16_t>(index),
                        .region = plan.region,
                        .offset = plan.offset,
                        .log2_slots = plan.log2_slots,
                        .private_header_bytes = 0};
  }
  return message;
}

}  // namespace suede::memif
