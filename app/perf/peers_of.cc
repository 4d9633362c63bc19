// SPDX-License-Identifier: Apache-2.0
#include "perf/peers_of.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "suedectl/daemon.h"

namespace suede::perf {
namespace {

constexpr int kTimeoutS = 2;

std::vector<std::string> SocketsOf(const std::string& endpoint) {
  const size_t slash = endpoint.rfind('/');
  if (slash == std::string::npos) return ctl::Daemon::PathsOf(endpoint);
  return {endpoint.substr(0, slash) + "/management.sock"};
}

}  // namespace

std::string RangesOf(std::vector<uint32_t> ids, size_t max) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::string text;
  size_t ranges = 0;
  for (size_t first = 0, last; first < ids.size(); first = last + 1, ++ranges) {
    last = first;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ", ");
    if (ranges == max) return text + "...";
    absl::StrAppend(&text, ids[first]);
    if (last > first) absl::StrAppend(&text, "-", ids[last]);
  }
  return text;
}

std::string PeersOf(const std::string& endpoint) {
  auto daemon = ctl::Daemon::Connect(SocketsOf(endpoint), kTimeoutS);
  auto peers = daemon.ok() ? daemon->Call("peers.list", ForeignJson::object())
                           : absl::StatusOr<Json>(daemon.status());
  if (!peers.ok() || !peers->contains("peers")) return "; `suedectl peers list` names its peers";
  std::vector<uint32_t> ids;
  for (const Json& peer : (*peers)["peers"]) {
    if (peer.contains("xpu") && peer["xpu"].is_number()) ids.push_back(peer["xpu"].get<uint32_t>());
  }
  std::string text = ids.empty() ? "; it has no peers"
                                 : absl::StrCat("; its peers are XPU ", RangesOf(std::move(ids)));
  const auto version = daemon->Call("version", ForeignJson::object());
  if (version.ok() && version->contains("config") && (*version)["config"].is_string()) {
    absl::StrAppend(&text, " (", (*version)["config"].get<std::string>(), ")");
  }
  return text;
}

}  // namespace suede::perf
