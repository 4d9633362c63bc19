// SPDX-License-Identifier: Apache-2.0
// The state behind suede_sockets: sockets of lib/message over libsuede, polled by calls and by a
// thread.
#ifndef SUEDE_LIBSUEDE_MEM_SOCKETS_CLIENT_H_
#define SUEDE_LIBSUEDE_MEM_SOCKETS_CLIENT_H_

#include <cstdint>
#include <memory>
#include <set>

#include "message/sockets.h"
#include "planes/planes.h"
#include "suede/socket.h"

// Names of the C ABI, hence outside of any namespace.
struct suede_socket {
  suede_sockets* owner = nullptr;
  uint32_t index = 0;
};

struct suede_sockets {
  ~suede_sockets();
  // Connects the planes. The caller has checked null arguments and sizes. Returns 0 or a negative
  // errno.
  int Open(const char* name_or_path, const suede_sockets_params& params);
  int Reconnect();
  uint16_t xpuid() const { return planes_[0].instance().xpuid; }

  int Poll();
  int Start() { return thread_.Start(this); }
  int Stop() { return thread_.Stop(); }
  int GetCounts(suede_sockets_counts* counts);

  int OpenSocket(const suede_socket_params& params, suede_socket** socket);
  int Connect(const suede_socket& socket, int timeout_ms);
  int Send(const suede_socket& socket, const void* data, uint64_t bytes, int timeout_ms,
           uint64_t* pushed_bytes);
  int StartSend(const suede_socket& socket, const void* data, uint64_t bytes, uint32_t deadline_ms,
                suede_socket_result* result);
  int Drain(const suede_socket& socket, int timeout_ms);
  int Receive(const suede_socket& socket, void* room, uint32_t bytes, int timeout_ms);
  int CloseSocket(suede_socket* socket, int timeout_ms, uint32_t* status);
  uint32_t StatusOf(const suede_socket& socket);
  uint32_t PeerStatusOf(const suede_socket& socket, uint32_t peer);
  int GetInfo(const suede_socket& socket, suede_socket_info* info);

 private:
  // Backoff state of a polling call or of the thread: spins, yields the CPU, then sleeps.
  struct Backoff {
    suede::Idler idler;
    uint64_t progress = 0;
  };

  // Require the lock. PollPlanes returns whether a lost plane is still unreported.
  bool PollPlanes();
  void TakeCommands(uint32_t plane, uint8_t vc);
  int FailSocket(const suede_socket& socket) const;
  int StartLocked(const suede_socket& socket, const void* data, uint64_t bytes, int64_t deadline_ns,
                  suede_socket_result* result, uint64_t* number);

  // Polls until is_done(), called under the lock, returns true. Returns 0 or -ETIMEDOUT;
  // `timeout_ms` < 0: no timeout.
  template <class Done>
  int PollUntil(int timeout_ms, const Done& is_done);
  void Idle(Backoff* backoff, int64_t deadline_ns);
  void Sleep(int64_t deadline_ns);
  friend class suede::PollThread;
  void BeforeRun() {}
  void Run();  // body of the thread

  suede::PriorityLock lock_;
  std::unique_ptr<suede::message::Sockets> sockets_;
  suede::Planes planes_;
  std::set<suede_socket*> open_;
  uint32_t data_vcs_ = 0;
  uint8_t control_vc_ = 0;
  uint32_t reported_ = 0;  // mask of planes whose loss was reported

  suede::PollThread thread_{"a thread polls the sockets already", "no thread polls the sockets"};
};

#endif  // SUEDE_LIBSUEDE_MEM_SOCKETS_CLIENT_H_
