// SPDX-License-Identifier: Apache-2.0
// The rows of incast_bench as text, as a page of Markdown and as JSON.
#ifndef SUEDE_TESTS_SIM_INCAST_REPORT_H_
#define SUEDE_TESTS_SIM_INCAST_REPORT_H_

#include <string>
#include <vector>

#include "incast_figures.h"

namespace suede {

// One line, as the row is ready.
std::string LineOf(const IncastRow& row);
// The settings, and a table with the reference's figures beside ours.
std::string MarkdownOf(const std::vector<IncastRow>& rows, const IncastOptions& options);
std::string JsonOf(const std::vector<IncastRow>& rows, const IncastOptions& options);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_REPORT_H_
