// SPDX-License-Identifier: Apache-2.0
// Any bytes on a management connection: each line that is answered is answered with JSON-RPC, the
// session comes to an end with it, and requests that changed nothing change nothing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../mgmt/small_endpoint.h"
#include "mgmt/catalog.h"
#include "mgmt/event_log.h"
#include "mgmt/json.h"
#include "mgmt/session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace suede {
namespace {

constexpr char kFirstConfig[] = "version: 1\n\xff";
constexpr uint64_t kFirstRegister = 5;

class FuzzEndpoint : public SmallEndpoint {
 public:
  FuzzEndpoint() { config = kFirstConfig; }
};

void Require(bool holds, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

void CheckAnswer(const Json& answer, const std::string& text) {
  Require(answer.is_object() && answer.contains("id") && answer["jsonrpc"] == "2.0", text);
  Require(answer.contains("result") != answer.contains("error"), text);
  if (answer.contains("result")) return Require(answer["result"].is_object(), text);
  Require(answer["error"]["code"].is_number_integer() && answer["error"]["message"].is_string(),
          text);
}

void CheckLine(const std::string& text) {
  Require(text.back() == '\n' && text.find('\n') == text.size() - 1, text);
  const std::optional<Json> json = TryParse<Json>(text);
  Require(json.has_value(), text);
  if (!json->is_array()) return CheckAnswer(*json, text);
  Require(!json->empty(), text);
  for (const Json& answer : *json) CheckAnswer(answer, text);
}

}  // namespace
}  // namespace suede

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace suede;  // NOLINT: of this function
  FuzzEndpoint endpoint;
  endpoint.events.Raise(EventKind::kStarted, {{EventField::kVersion, "1"}});
  int64_t now_ms = 0;  // so that each waiting request comes to its end
  int changes = 0;
  Session session(&EndpointCatalog(), &endpoint, {}, [&changes](const Method&) { ++changes; });
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    session.Start(line, {});
    std::string out;
    for (size_t i = 0; i < 4 * kMaxBatch; ++i) session.Run(now_ms += 100'000, out);
    Require(session.idle(), "not idle");
    if (!out.empty()) CheckLine(out);
  }
  const bool unchanged = endpoint.level == LogLevelView::kInfo && endpoint.config == kFirstConfig &&
                         endpoint.rw == kFirstRegister;
  Require(changes != 0 || unchanged, "changed unseen");
  return 0;
}
