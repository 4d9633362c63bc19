// SPDX-License-Identifier: Apache-2.0
#include "suedectl/xpu_names.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace suede::ctl {
namespace {

constexpr std::string_view kMembers[] = {"xpu", "peer"};

// Returns the number of an XPU in untrusted input.
std::optional<uint64_t> XpuIn(const Json& row, std::string_view member) {
  if (!row.is_object()) return std::nullopt;
  const auto found = row.find(std::string(member));
  if (found == row.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<uint64_t>();
}

bool HasXpu(const Json& row) {
  return std::ranges::any_of(kMembers,
                             [&](std::string_view m) { return XpuIn(row, m).has_value(); });
}

Json ListWithNames(const Json& list, const XpuNames& names) {
  const auto has_name = [&](std::string_view member) {
    return std::ranges::any_of(list, [&](const Json& row) {
      const auto xpu = XpuIn(row, member);
      return xpu && names.contains(*xpu) && !row.contains("name");
    });
  };
  const bool shown[] = {has_name(kMembers[0]), has_name(kMembers[1])};
  if (!shown[0] && !shown[1]) return list;
  Json named = Json::array();
  for (const Json& row : list) {
    Json out = Json::object();
    for (const auto& member : row.items()) {
      out[member.key()] = member.value();
      for (size_t i = 0; i < std::size(kMembers); ++i) {
        if (!shown[i] || member.key() != kMembers[i]) continue;
        const auto xpu = XpuIn(row, kMembers[i]);
        const auto found = xpu ? names.find(*xpu) : names.end();
        out[StrCat(kMembers[i], "_name")] = found != names.end() ? Json(found->second) : Json();
      }
    }
    named.push_back(std::move(out));
  }
  return named;
}

}  // namespace

XpuNames NamesIn(const Json& peers) {
  XpuNames names;
  const auto list = peers.is_object() ? peers.find("peers") : peers.end();
  if (list == peers.end() || !list->is_array()) return names;
  for (const Json& peer : *list) {
    const auto xpu = XpuIn(peer, "xpu");
    if (!xpu || !peer.contains("name") || !peer["name"].is_string()) continue;
    const auto& name = peer["name"].get_ref<const std::string&>();
    if (!name.empty()) names[*xpu] = name;
  }
  return names;
}

bool HasXpus(const Json& result) {
  if (!result.is_object()) return false;
  return std::ranges::any_of(result, [](const Json& list) {
    return list.is_array() && std::ranges::any_of(list, [](const Json& row) {
             return HasXpu(row) && !row.contains("name");
           });
  });
}

Json WithNames(const Json& result, const XpuNames& names) {
  if (names.empty() || !result.is_object()) return result;
  Json out = Json::object();
  for (const auto& member : result.items()) {
    const bool is_list = member.value().is_array();
    out[member.key()] = is_list ? ListWithNames(member.value(), names) : member.value();
  }
  return out;
}

Json WithNames(const Json& result, Daemon& daemon) {
  if (daemon.kind() != DaemonKind::kEndpoint || !HasXpus(result)) return result;
  const absl::StatusOr<Json> peers = daemon.Call("peers.list", ForeignJson::object());
  return peers.ok() ? WithNames(result, NamesIn(*peers)) : result;
}

}  // namespace suede::ctl
