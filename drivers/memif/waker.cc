// SPDX-License-Identifier: Apache-2.0
#include "memif/waker.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "local/fd.h"

namespace suede::memif {
namespace {

// Returns a file whose reads end at once.
int EmptyFile() {
  static const Fd* const file = new Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return file->get();
}

}  // namespace

Waker::~Waker() {
  if (context_ != 0) syscall(SYS_io_destroy, context_);
}

void Waker::Open(int event) {
  event_ = event;
  if (event < 0 || context_ != 0 || EmptyFile() < 0) return;
  if (syscall(SYS_io_setup, 1, &context_) != 0) context_ = 0;
}

void Waker::Signal() {
  if (event_ < 0 || context_ == 0) return;
  iocb read{};
  read.aio_lio_opcode = IOCB_CMD_PREAD;
  read.aio_fildes = static_cast<__u32>(EmptyFile());
  read.aio_flags = IOCB_FLAG_RESFD;
  read.aio_resfd = static_cast<__u32>(event_);
  iocb* reads[] = {&read};
  if (syscall(SYS_io_submit, context_, 1, reads) >= 0 || errno != EAGAIN) return;
  // The results of earlier calls have filled their ring.
  io_event results[64];
  while (syscall(SYS_io_getevents, context_, 0, 64, results, nullptr) > 0) continue;
  syscall(SYS_io_submit, context_, 1, reads);
}

}  // namespace suede::memif
