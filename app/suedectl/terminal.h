// SPDX-License-Identifier: Apache-2.0
// A terminal that gives keys as they are pressed.
#ifndef SUEDE_SUEDECTL_TERMINAL_H_
#define SUEDE_SUEDECTL_TERMINAL_H_

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <optional>

namespace suede::ctl {

// The terminal `out`. Standard input, if it is a terminal, has neither echo nor lines. SIGINT,
// SIGTERM and SIGHUP end Wait; the destructor restores the terminal. One object at a time.
class Terminal {
 public:
  explicit Terminal(int out);
  ~Terminal();
  Terminal(const Terminal&) = delete;

  // Whether standard input gives keys.
  bool has_keys() const { return has_keys_; }
  // Returns the next key; nothing after `seconds`, an interrupt, or the end of the input.
  std::optional<char> Wait(double seconds);
  // Whether a signal came or the input ended.
  bool has_ended() const;

  struct Size {
    size_t rows = 24;
    size_t columns = 80;
  };
  Size size() const;

 private:
  const int out_;
  const bool has_keys_;
  termios before_{};
  struct sigaction actions_[3] = {};
  bool is_closed_ = false;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_TERMINAL_H_
