// SPDX-License-Identifier: Apache-2.0
// The state of a running daemon that is readable without a request to other threads; for the web
// server.
#ifndef SUEDE_APP_DAEMON_OBSERVED_H_
#define SUEDE_APP_DAEMON_OBSERVED_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/page.h"

namespace suede {

// The daemon-specific parts of the page at /.
struct StatusPage {
  struct Section {
    std::string_view title;
    std::string_view id;  // of its table
  };
  std::span<const Section> sections;
  // JavaScript that defines showTables(reading), which fills the tables by the functions in
  // status_page.cc.
  std::string_view script;
};

// Any thread; no function blocks.
class Observed {
 public:
  virtual ~Observed() = default;

  virtual const std::string& name() const = 0;
  virtual const MetricsPage& page() const = 0;
  // Returns why the daemon does not work, a line for each reason; empty: it works.
  virtual std::vector<std::string> HealthFaults() const = 0;
  // Returns conditions that at most slow the daemon down, a line for each.
  virtual std::vector<std::string> Notes() const { return {}; }
  // Returns why it cannot serve traffic, a line for each reason, ailments included.
  virtual std::vector<std::string> Obstacles() const = 0;
  virtual StatusPage status_page() const = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_OBSERVED_H_
