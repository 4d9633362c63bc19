// SPDX-License-Identifier: Apache-2.0
#include "bgp_paths.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "mgmt/json.h"

namespace suede::fare {
namespace {

constexpr double kBitsPerOctet = 8;
constexpr double kBitsPerMegabit = 1e6;

const ForeignJson* Find(const ForeignJson& object, const char* member) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(member);
  return found != object.end() ? &*found : nullptr;
}

bool IsTrue(const ForeignJson* value) {
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string TextOf(const ForeignJson* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

// Whether bgpd installs routes from the path.
bool IsUsed(const ForeignJson& path) {
  const ForeignJson* best = Find(path, "bestpath");
  return IsTrue(Find(path, "valid")) &&
         (IsTrue(Find(path, "multipath")) || (best != nullptr && IsTrue(Find(*best, "overall"))));
}

// Records a path's bandwidth. Two paths by one next hop are one next hop of the route: the greater
// bandwidth counts.
void Note(const std::string& next_hop, std::optional<double> mbps, PathBandwidths& out) {
  if (next_hop.empty()) return;
  const auto [place, is_new] = out.emplace(next_hop, mbps);
  if (!is_new && mbps && place->second.value_or(0) < *mbps) place->second = mbps;
}

void TakePath(const ForeignJson& path, PathBandwidths& out) {
  if (!IsUsed(path)) return;
  const ForeignJson* communities = Find(path, "extendedCommunity");
  const std::string text = communities != nullptr ? TextOf(Find(*communities, "string")) : "";
  const std::optional<double> mbps = BandwidthIn(text);
  const ForeignJson* hops = Find(path, "nexthops");
  for (const ForeignJson& hop : hops != nullptr ? *hops : ForeignJson::array()) {
    Note(TextOf(Find(hop, "ip")), mbps, out);
  }
  const ForeignJson* peer = Find(path, "peer");
  const std::string interface = peer != nullptr ? TextOf(Find(*peer, "interface")) : "";
  if (!interface.empty()) Note(StrCat("%", interface), mbps, out);
}

void TakeDocument(std::string_view text, std::map<FarePrefix, PathBandwidths>& out) {
  const auto document = TryParse<ForeignJson>(text);
  if (!document) return;
  std::string problem;
  const auto prefix = ParseFarePrefix(TextOf(Find(*document, "prefix")), &problem);
  if (!prefix) return;
  PathBandwidths& paths = out[*prefix];
  const ForeignJson* list = Find(*document, "paths");
  if (list == nullptr || !list->is_array()) return;
  for (const ForeignJson& path : *list) TakePath(path, paths);
}

}  // namespace

std::optional<double> BandwidthIn(std::string_view communities) {
  constexpr std::string_view kName = "LB:";
  const size_t at = communities.find(kName);
  if (at == communities.npos || (at != 0 && communities[at - 1] != ' ')) return std::nullopt;
  const size_t colon = communities.find(':', at + kName.size());
  if (colon == communities.npos) return std::nullopt;
  const char* const first = communities.data() + colon + 1;
  double octets = 0;
  const auto [end, error] = std::from_chars(first, communities.data() + communities.size(), octets);
  if (error != std::errc() || !std::isfinite(octets) || octets < 0) return std::nullopt;
  return octets * kBitsPerOctet / kBitsPerMegabit;
}

std::map<FarePrefix, PathBandwidths> ReadBgpPaths(std::string_view text) {
  std::map<FarePrefix, PathBandwidths> out;
  // Each document ends with a brace at the beginning of a line.
  for (size_t begin = 0; begin < text.size();) {
    const size_t brace = text.find("\n}", begin);
    const size_t end = brace == text.npos ? text.size() : brace + 2;
    TakeDocument(text.substr(begin, end - begin), out);
    begin = end;
  }
  return out;
}

}  // namespace suede::fare
