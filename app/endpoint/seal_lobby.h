// SPDX-License-Identifier: Apache-2.0
// Incoming connections that have not sent anything (docs/sealing.md, "Bounds"), which use no TLS.
// Connections from addresses of peers and from others have separate places, so that strangers
// cannot take peers' places. Control thread.
#ifndef SUEDE_APP_ENDPOINT_SEAL_LOBBY_H_
#define SUEDE_APP_ENDPOINT_SEAL_LOBBY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/socket_address.h"
#include "base/time.h"
#include "local/fd.h"

namespace suede {

// Returns the index of the connection to end for a newer one: the first for which `goes` returns
// true, of the source with the most connections; else the first of that source. Sources are
// compared by SocketAddress::network(). `connections` is not empty and sorted, oldest first.
template <class List, class AddressOf, class Goes>
size_t IndexOfLeaver(const List& connections, AddressOf&& address_of, Goes&& goes) {
  std::map<uint64_t, size_t> counts;
  size_t max = 0;
  for (const auto& one : connections) {
    max = std::max(max, ++counts[address_of(one).network()]);
  }
  size_t first = connections.size();
  for (size_t i = 0; i < connections.size(); ++i) {
    if (counts[address_of(connections[i]).network()] != max) continue;
    if (goes(connections[i])) return i;
    if (first == connections.size()) first = i;
  }
  return first;
}

class SealLobby {
 public:
  static constexpr size_t kPlaces = 64;  // for peers, and as many for others

  struct Guest {
    Fd fd;
    SocketAddress address;
    Time since;
    bool is_peer = false;  // by its address
  };

  // `hosts`: SocketAddress::host() of the configured peers.
  explicit SealLobby(std::set<std::string> hosts) : hosts_(std::move(hosts)) {}

  // Adds a connection. Returns the connection ended for it, if any.
  std::vector<Guest> Add(Fd fd, const SocketAddress& address, Time now);
  // Removes and returns guests that may proceed, oldest first: `speaks` returns whether a guest has
  // sent data; `goes_on` is called for each of these.
  std::vector<Guest> TakeSpeaking(const std::function<bool(const Guest&)>& speaks,
                                  const std::function<bool(const Guest&)>& goes_on);
  // Removes and returns guests that have been silent since before `limit`.
  std::vector<Guest> TakeSilent(Time limit);
  std::span<const Guest> guests() const { return guests_; }
  void Clear() { guests_.clear(); }

 private:
  std::vector<Guest> Take(const std::function<bool(const Guest&)>& leaves);

  const std::set<std::string> hosts_;
  std::vector<Guest> guests_;  // oldest first
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_LOBBY_H_
