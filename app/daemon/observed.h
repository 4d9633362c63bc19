// SPDX-License-Identifier: Apache-2.0
// The state of a running daemon that can be read without asking anybody, as the web server shows
// it.
#ifndef SUEDE_APP_DAEMON_OBSERVED_H_
#define SUEDE_APP_DAEMON_OBSERVED_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/page.h"

namespace suede {

// The parts of the page at / that are the daemon's own.
struct StatusPage {
  struct Section {
    std::string_view title;
    std::string_view id;  // of its table
  };
  std::span<const Section> sections;
  // JavaScript: the function showTables(reading), which fills the tables (status_page.cc has those
  // that it may call).
  std::string_view script;
};

// Any thread; no function waits.
class Observed {
 public:
  virtual ~Observed() = default;

  virtual const std::string& name() const = 0;
  virtual const MetricsPage& page() const = 0;
  // The reasons why it does not work: empty, or a line for each.
  virtual std::vector<std::string> Ailments() const = 0;
  // Facts that make it no worse than slow: a line for each.
  virtual std::vector<std::string> Notes() const { return {}; }
  // The reasons why it cannot serve traffic, ailments included.
  virtual std::vector<std::string> Obstacles() const = 0;
  virtual StatusPage status_page() const = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_OBSERVED_H_
