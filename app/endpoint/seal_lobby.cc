// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_lobby.h"

namespace suede {

std::vector<SealLobby::Guest> SealLobby::Take(const std::function<bool(const Guest&)>& leaves) {
  std::vector<Guest> taken;
  std::vector<Guest> rest;
  for (Guest& guest : guests_) (leaves(guest) ? taken : rest).push_back(std::move(guest));
  guests_ = std::move(rest);
  return taken;
}

std::vector<SealLobby::Guest> SealLobby::Add(Fd fd, const SocketAddress& address, Time now) {
  const bool is_peer = hosts_.contains(address.host());
  std::vector<const Guest*> alike;  // guests of the same kind
  for (const Guest& guest : guests_) {
    if (guest.is_peer == is_peer) alike.push_back(&guest);
  }
  std::vector<Guest> ended;
  if (alike.size() == kPlaces) {
    const size_t index = IndexOfLeaver(
        alike, [](const Guest* guest) -> const SocketAddress& { return guest->address; },
        [](const Guest*) { return true; });
    ended = Take([leaver = alike[index]](const Guest& guest) { return &guest == leaver; });
  }
  guests_.push_back({.fd = std::move(fd), .address = address, .since = now, .is_peer = is_peer});
  return ended;
}

std::vector<SealLobby::Guest> SealLobby::TakeSpeaking(
    const std::function<bool(const Guest&)>& speaks,
    const std::function<bool(const Guest&)>& goes_on) {
  return Take([&](const Guest& guest) { return speaks(guest) && goes_on(guest); });
}

std::vector<SealLobby::Guest> SealLobby::TakeSilent(Time limit) {
  return Take([limit](const Guest& guest) { return guest.since <= limit; });
}

}  // namespace suede
