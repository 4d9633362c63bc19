// SPDX-License-Identifier: Apache-2.0
#include "fake_axi.h"

#include <cerrno>

namespace {

template <typename Transfer>
int Put(std::deque<Transfer>& channel, const Transfer* transfer, size_t places) {
  if (channel.size() >= places) return -EAGAIN;
  channel.push_back(*transfer);
  return 0;
}

template <typename Transfer>
int Take(std::deque<Transfer>& channel, Transfer* transfer) {
  if (channel.empty()) return 0;
  *transfer = channel.front();
  channel.pop_front();
  return 1;
}

}  // namespace

extern "C" {

int suede_axi_send_aw(suede_axi* axi, const suede_axi_address* address) {
  return Put(axi->aw, address, axi->address_places);
}
int suede_axi_send_w(suede_axi* axi, const suede_axi_write_beat* beat) {
  return Put(axi->w, beat, axi->beat_places);
}
int suede_axi_send_ar(suede_axi* axi, const suede_axi_address* address) {
  return Put(axi->ar, address, axi->address_places);
}
int suede_axi_take_b(suede_axi* axi, suede_axi_write_response* to) { return Take(axi->b, to); }
int suede_axi_take_r(suede_axi* axi, suede_axi_read_beat* to) { return Take(axi->r, to); }
int suede_axi_take_aw(suede_axi* axi, suede_axi_address* to) { return Take(axi->manager_aw, to); }
int suede_axi_take_w(suede_axi* axi, suede_axi_write_beat* to) { return Take(axi->manager_w, to); }
int suede_axi_take_ar(suede_axi* axi, suede_axi_address* to) { return Take(axi->manager_ar, to); }
int suede_axi_send_b(suede_axi* axi, const suede_axi_write_response* response) {
  axi->manager_b.push_back(*response);
  return 0;
}
int suede_axi_send_r(suede_axi* axi, const suede_axi_read_beat* beat) {
  axi->manager_r.push_back(*beat);
  return 0;
}

}  // extern "C"
