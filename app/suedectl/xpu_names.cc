// SPDX-License-Identifier: Apache-2.0
#include "suedectl/xpu_names.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/edit_distance.h"
#include "base/text.h"
#include "suedectl/json_members.h"

namespace suede::ctl {
namespace {

constexpr const char* kMembers[] = {"xpu", "peer"};

bool HasXpu(const Json& row) {
  return std::ranges::any_of(kMembers, [&](const char* m) { return NumberOf(row, m).has_value(); });
}

Json ListWithNames(const Json& list, const XpuNames& names) {
  const auto has_name = [&](const char* member) {
    return std::ranges::any_of(list, [&](const Json& row) {
      const auto xpu = NumberOf(row, member);
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
        const auto xpu = NumberOf(row, kMembers[i]);
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
  for (const Json& peer : ListOf(peers, "peers")) {
    const std::optional<uint64_t> xpu = NumberOf(peer, "xpu");
    std::string name = StringOf(peer, "name");
    if (xpu && !name.empty()) names[*xpu] = std::move(name);
  }
  return names;
}

XpuNames NamesOf(Daemon& daemon) {
  if (daemon.kind() != DaemonKind::kEndpoint) return {};
  const absl::StatusOr<Json> peers = daemon.Call("peers.list", ForeignJson::object());
  return peers.ok() ? NamesIn(*peers) : XpuNames();
}

bool TakesXpu(std::string_view parameter) {
  return std::ranges::find(kMembers, parameter) != std::end(kMembers);
}

absl::StatusOr<uint64_t> NumberOfXpu(std::string_view parameter, const std::string& name,
                                     const XpuNames& names) {
  std::vector<std::string> known;
  for (const auto& [xpu, its_name] : names) {
    if (its_name == name) return xpu;
    known.push_back(its_name);
  }
  const std::vector<std::string> nearest = Nearest(name, known);
  return absl::InvalidArgumentError(
      StrCat(parameter, ": no XPU has the name '", name, "'; ",
             !nearest.empty() ? StrCat("did you mean ", StrJoin(nearest, " or "), "?")
             : known.empty()  ? "give its number: the configuration names none (peers[].name)"
                              : "give its number, or a name of suedectl peers list"));
}

std::string NamedXpu(uint64_t xpu, const XpuNames& names) {
  const auto found = names.find(xpu);
  return found == names.end() ? StrCat(xpu) : StrCat(xpu, " (", found->second, ")");
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
  return HasXpus(result) ? WithNames(result, NamesOf(daemon)) : result;
}

}  // namespace suede::ctl
