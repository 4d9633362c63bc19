// SPDX-License-Identifier: Apache-2.0
#include "suedectl/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace suede::ctl {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> has_signal{false};

}  // namespace

Terminal::Terminal(int out) : out_(out), has_keys_(isatty(STDIN_FILENO) == 1) {
  has_signal = false;
  struct sigaction action {};
  action.sa_handler = [](int) { has_signal = true; };
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &actions_[i]);
  if (!has_keys_) return;
  tcgetattr(STDIN_FILENO, &before_);
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

Terminal::~Terminal() {
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
}

std::optional<char> Terminal::Wait(double seconds) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int ms = static_cast<int>(std::ceil(std::max(seconds, 0.0) * 1e3));
  if (has_ended() || poll(&input, has_keys_ ? 1 : 0, ms) <= 0) return std::nullopt;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) == 1) return key;
  is_closed_ = true;
  return std::nullopt;
}

bool Terminal::has_ended() const { return is_closed_ || has_signal; }

Terminal::Size Terminal::size() const {
  winsize window{};
  Size size;
  if (ioctl(out_, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0)
    return size;
  return {.rows = window.ws_row, .columns = window.ws_col};
}

}  // namespace suede::ctl
