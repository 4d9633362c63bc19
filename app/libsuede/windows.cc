// SPDX-License-Identifier: Apache-2.0
// The functions of suede.h by which the lcore executes memory requests.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "client.h"

using suede::Fail;
namespace protocol = suede::protocol;

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace {

// Allocates the missing pages of a memfd, charged to this process. Returns 0 or a negative errno.
int Populate(int fd, uint64_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const bool is_writable = base != MAP_FAILED;
  if (!is_writable) base = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return Fail(-errno, "mmap of a window: %s", std::strerror(errno));
  int result;
  do {
    result = madvise(base, bytes, is_writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  // Older kernels do not support the advice (EINVAL); the daemon then reports the missing pages.
  const int error = result != 0 && errno != EINVAL ? errno : 0;
  munmap(base, bytes);
  return error == 0 ? 0 : Fail(-ENOMEM, "cannot allocate a window: %s", std::strerror(error));
}

// Performs the next step that the daemon requires before it serves a window: allocates all pages of
// the memfd; once the daemon has mapped them, seals it. Returns 0 or a negative errno.
int Prepare(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Fail(-errno, "fstat of a window: %s", std::strerror(errno));
  if (info.st_blocks < (info.st_size + 511) / 512) {
    return Populate(fd, static_cast<uint64_t>(info.st_size));
  }
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_GROW) == 0) return 0;
  return Fail(-EINVAL, "cannot seal a window's memfd: %s; open it for writing, without F_SEAL_SEAL",
              std::strerror(errno));
}

}  // namespace

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
  if (window->program != 0) return client->Call(&add);
  int error = client->Call(&add, nullptr, window->fd);
  for (int turn = 0; error == -ENOTSUP && turn < 2; ++turn) {
    if (const int failed = Prepare(window->fd); failed != 0) return failed;
    error = client->Call(&add, nullptr, window->fd);
  }
  return error == -ENOTSUP ? -EINVAL : error;
}

int suede_remove_window(suede_client* client, uint32_t id) {
  if (client == nullptr) return suede::FailNull("remove a window", "client", "suede_connect");
  if (id > 0xffff) return Fail(-EINVAL, "cannot remove a window: its id is %u; use 0 to 4095", id);
  protocol::WindowRemove remove;
  remove.id = static_cast<uint16_t>(id);
  return client->Call(&remove);
}

}  // extern "C"
