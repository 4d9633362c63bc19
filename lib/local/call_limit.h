// SPDX-License-Identifier: Apache-2.0
// Bounds the sleep of this thread's system calls.
#ifndef SUEDE_LOCAL_CALL_LIMIT_H_
#define SUEDE_LOCAL_CALL_LIMIT_H_

namespace suede {

// While an instance exists, an interruptible sleep in a system call ends within about 10 ms, with
// EINTR if the call has a result.
//
// Intended for calls that normally do not sleep but may close files of another process: the thread
// that receives a message (or closes the socket) closes the descriptors passed with it, and the
// last close of a TCP socket with SO_LINGER sleeps for as long as its former owner chose, whatever
// the flags of either socket. Costs two system calls.
class CallLimit {
 public:
  CallLimit();
  ~CallLimit();
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_CALL_LIMIT_H_
