// SPDX-License-Identifier: Apache-2.0
// Connections that came and have sent nothing yet (docs/sealing.md, "Bounds"): they cost no TLS.
// Connections from addresses of peers and connections of others have places of their own, so that
// no number of strangers takes a peer's place. Control thread.
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

// Returns the index of the connection that gives its place to a newer one: the first that `goes`
// says may go, of the source that has the most of all; else the first of that source. Sources are
// compared by SocketAddress::network(). `connections` is not empty and begins with the oldest.
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
  static constexpr size_t kPlaces = 64;  // of peers, and as many of others

  struct Guest {
    Fd fd;
    SocketAddress address;
    Time since;
    bool is_peer = false;  // by its address
  };

  // `hosts`: SocketAddress::host() of the configured peers.
  explicit SealLobby(std::set<std::string> hosts) : hosts_(std::move(hosts)) {}

  // Takes a connection. Returns those that are ended for it: none, or the one that gives its place.
  std::vector<Guest> Add(Fd fd, const SocketAddress& address, Time now);
  // Returns guests that may go on, the oldest first: `speaks` says of which bytes have come,
  // `goes_on` is asked about each of these.
  std::vector<Guest> TakeSpeaking(const std::function<bool(const Guest&)>& speaks,
                                  const std::function<bool(const Guest&)>& goes_on);
  // Returns guests that have been silent since before `limit`.
  std::vector<Guest> TakeSilent(Time limit);
  std::span<const Guest> guests() const { return guests_; }
  void Clear() { guests_.clear(); }

 private:
  std::vector<Guest> Take(const std::function<bool(const Guest&)>& leaves);

  const std::set<std::string> hosts_;
  std::vector<Guest> guests_;  // the oldest first
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_LOBBY_H_
