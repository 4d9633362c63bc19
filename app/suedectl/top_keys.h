// SPDX-License-Identifier: Apache-2.0
// Keys of suedectl top on a terminal, as a state without I/O.
#ifndef SUEDE_SUEDECTL_TOP_KEYS_H_
#define SUEDE_SUEDECTL_TOP_KEYS_H_

#include <cstddef>
#include <string>

#include "suedectl/top.h"

namespace suede::ctl {

class TopKeys {
 public:
  TopKeys(TopView view, bool has_colours) : view_(std::move(view)), has_colours_(has_colours) {}

  // Applies one byte from the terminal.
  void On(char key);

  const TopView& view() const { return view_; }
  bool has_colours() const { return has_colours_; }
  bool has_quit() const { return has_quit_; }
  // Returns the line that lists the keys and their values, or the text that is being typed. At most
  // `columns` characters, without a newline.
  std::string Line(size_t columns) const;

 private:
  void OnText(char key);

  TopView view_;
  bool has_colours_;
  bool has_quit_ = false;
  bool is_typing_ = false;  // the filter
  std::string typed_;
};

// Returns the text of TopText with terminal colours: heads bold, rows with something down red, and
// drops yellow.
std::string WithColours(const std::string& text);
// Returns the first lines of the text, each without what exceeds `columns`.
std::string FitScreen(const std::string& text, size_t rows, size_t columns);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_TOP_KEYS_H_
