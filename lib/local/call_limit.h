// SPDX-License-Identifier: Apache-2.0
// Bounds how long this thread's system calls sleep.
#ifndef SUEDE_LOCAL_CALL_LIMIT_H_
#define SUEDE_LOCAL_CALL_LIMIT_H_

namespace suede {

// While one lives, a call that sleeps where signals may end it ends within some 10 ms, with EINTR
// if it has a result.
//
// Made for calls that do not sleep by themselves but may close files of another process:
// descriptors that come with a message are closed by the thread that takes the message (or closes
// the socket), and the last close of a TCP socket with SO_LINGER sleeps for as long as its former
// owner likes, with any flags of any socket. Costs two system calls.
class CallLimit {
 public:
  CallLimit();
  ~CallLimit();
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_CALL_LIMIT_H_
