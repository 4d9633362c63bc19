// SPDX-License-Identifier: Apache-2.0
#include "simbricks/protocol.h"

#include <cstring>

namespace suede::simbricks {
namespace {

constexpr uint64_t kVersion = 1;
constexpr uint64_t kSyncForced = 2;  // of flags
constexpr uint64_t kMinEntryBytes = kHeaderBytes + 64;
constexpr uint64_t kMaxEntryBytes = kHeaderBytes + 65536;
constexpr uint64_t kMaxEntries = 1 << 20;
constexpr uint64_t kAlignment = 8;

struct ListenerIntro {
  uint64_t version;
  uint64_t flags;
  ConnectionPlan plan;
  uint64_t upper;
  uint64_t upper_offset;
};
static_assert(sizeof(ListenerIntro) == kListenerIntroBytes);

struct ConnecterIntro {
  uint64_t version;
  uint64_t flags;
  uint64_t upper;
  uint64_t upper_offset;
};
static_assert(sizeof(ConnecterIntro) == kConnecterIntroBytes);

template <typename Intro>
std::string Bytes(const Intro& intro) {
  std::string bytes(sizeof intro + kUpperIntroBytes, '\0');
  std::memcpy(bytes.data(), &intro, sizeof intro);
  return bytes;
}

template <typename Intro>
Fault Read(std::span<const char> bytes, Upper upper, Intro* intro) {
  if (bytes.size() < sizeof *intro || bytes.size() > kMaxIntroBytes) return Fault::kIntro;
  std::memcpy(intro, bytes.data(), sizeof *intro);
  if (intro->version != kVersion) return Fault::kVersion;
  if (intro->upper != static_cast<uint64_t>(upper)) return Fault::kUpper;
  if ((intro->flags & kSyncForced) != 0) return Fault::kSync;
  if (intro->upper_offset < sizeof *intro || intro->upper_offset > bytes.size()) {
    return Fault::kIntro;
  }
  return Fault::kNone;
}

bool IsLegal(const QueuePlan& queue) {
  return queue.offset % kAlignment == 0 && queue.offset <= kMaxMemoryBytes &&
         queue.entry_bytes % kAlignment == 0 && queue.entry_bytes >= kMinEntryBytes &&
         queue.entry_bytes <= kMaxEntryBytes && queue.entries > 0 && queue.entries <= kMaxEntries &&
         queue.end() <= kMaxMemoryBytes;
}

struct Text {
  const char* name;
  const char* sentence;
};
constexpr Text kTexts[] = {{"none", "no fault"},
#define SUEDE_SIMBRICKS_TEXT(id, name, sentence) {name, sentence},
                           SUEDE_SIMBRICKS_FAULTS(SUEDE_SIMBRICKS_TEXT)
#undef SUEDE_SIMBRICKS_TEXT
};

}  // namespace

const char* NameOf(Fault fault) { return kTexts[static_cast<size_t>(fault)].name; }
const char* SentenceOf(Fault fault) { return kTexts[static_cast<size_t>(fault)].sentence; }

std::string MakeListenerIntro(Upper upper, const ConnectionPlan& plan) {
  return Bytes(ListenerIntro{.version = kVersion,
                             .flags = 0,
                             .plan = plan,
                             .upper = static_cast<uint64_t>(upper),
                             .upper_offset = kListenerIntroBytes});
}

std::string MakeConnecterIntro(Upper upper) {
  return Bytes(ConnecterIntro{.version = kVersion,
                              .flags = 0,
                              .upper = static_cast<uint64_t>(upper),
                              .upper_offset = kConnecterIntroBytes});
}

Fault ReadListenerIntro(std::span<const char> bytes, Upper upper, ConnectionPlan* plan) {
  ListenerIntro intro;
  const Fault fault = Read(bytes, upper, &intro);
  if (fault != Fault::kNone) return fault;
  if (!IsLegal(intro.plan.to_connecter) || !IsLegal(intro.plan.to_listener)) return Fault::kQueues;
  *plan = intro.plan;
  return Fault::kNone;
}

Fault ReadConnecterIntro(std::span<const char> bytes, Upper upper) {
  ConnecterIntro intro;
  return Read(bytes, upper, &intro);
}

}  // namespace suede::simbricks
