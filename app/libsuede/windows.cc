// SPDX-License-Identifier: Apache-2.0
// The calls of suede.h that let the lcore execute memory requests.
#include <cerrno>

#include "client.h"

using suede::Fail;
namespace protocol = suede::protocol;

extern "C" {

int suede_serve(suede_client* client, uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
  if (client == nullptr) return suede::FailNull("serve", "client", "suede_connect");
  if (vc_mask == 0 || vc_mask >= 1u << SUEDE_VCS) {
    return Fail(-EINVAL, "cannot serve: vc_mask is 0x%x; use 1 to 15", vc_mask);
  }
  protocol::Claim serve;
  serve.head.type = protocol::Type::kServe;
  serve.instance = {.xpuid = own_xpuid, .instance = instance};
  serve.vc_mask = vc_mask;
  return client->Call(&serve);
}

int suede_add_window(suede_client* client, const suede_window* window) {
  if (client == nullptr) return suede::FailNull("add a window", "client", "suede_connect");
  if (window == nullptr || window->size != sizeof *window) {
    return Fail(-EINVAL, "suede_window.size is not set, or another version's");
  }
  protocol::WindowAdd add;
  add.id = window->id;
  add.program = window->program;
  if (window->program == 0) {
    add.rights = window->rights;
    add.key = window->key;
    add.partition = window->partition;
    add.bytes = window->bytes;
    add.fd_offset = window->fd_offset;
    if (window->fd < 0) return Fail(-EINVAL, "a window that the lcore serves has a descriptor");
  }
  return client->Call(&add, nullptr, window->program == 0 ? window->fd : -1);
}

int suede_remove_window(suede_client* client, uint32_t id) {
  if (client == nullptr) return suede::FailNull("remove a window", "client", "suede_connect");
  if (id > 0xffff) return Fail(-EINVAL, "cannot remove a window: its id is %u; use 0 to 4095", id);
  protocol::WindowRemove remove;
  remove.id = static_cast<uint16_t>(id);
  return client->Call(&remove);
}

}  // extern "C"
