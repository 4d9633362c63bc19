// SPDX-License-Identifier: Apache-2.0
#include "mgmt/known_peers.h"

#include <set>
#include <string>

#include "base/text.h"

namespace suede {
namespace {

constexpr size_t kMaxNamed = 16;

}  // namespace

absl::Status CheckPeer(EndpointView& endpoint, std::optional<uint32_t> peer) {
  if (!peer) return absl::OkStatus();
  std::set<uint32_t> known;
  for (const PeerView& view : endpoint.Peers()) known.insert(view.xpu);
  if (known.contains(*peer)) return absl::OkStatus();
  std::string message = StrCat("no peer with XPU id ", *peer);
  if (known.empty()) return absl::NotFoundError(message + "; there are no peers at all");
  std::string names;
  size_t named = 0;
  for (const uint32_t xpu : known) {
    if (named++ == kMaxNamed) break;
    StrAppend(&names, names.empty() ? "" : ", ", xpu);
  }
  StrAppend(&message, "; peers are: ", names);
  if (known.size() > kMaxNamed) {
    StrAppend(&message, " and ", known.size() - kMaxNamed, " more (peers.list)");
  }
  return absl::NotFoundError(message);
}

}  // namespace suede
