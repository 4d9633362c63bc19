// SPDX-License-Identifier: Apache-2.0
// The calls of suede.h that let the lcore execute memory requests.
#include <cerrno>

#include "client.h"

using suede::Fail;
namespace protocol = suede::protocol;

extern "C" {

int suede_serve(suede_client* client, uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
  if (client == nullptr || vc_mask == 0 || vc_mask >= 1u << SUEDE_VCS) {
    return Fail(-EINVAL, "vc_mask is 1 to 15");
  }
  protocol::Claim serve;
  serve.head.type = protocol::Type::kServe;
  serve.instance = {.xpuid = own_xpuid, .instance = instance};
  serve.vc_mask = vc_mask;
  return client->Call(&serve);
}

int suede_add_window(suede_client* client, const suede_window* window) {
  if (client == nullptr || window == nullptr || window->size != sizeof *window) {
    return Fail(-EINVAL, "no client, or suede_window.size is not set");
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
  if (client == nullptr || id > 0xffff) return Fail(-EINVAL, "no client, or no id of a window");
  protocol::WindowRemove remove;
  remove.id = static_cast<uint16_t>(id);
  return client->Call(&remove);
}

}  // extern "C"
