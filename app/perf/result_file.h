// SPDX-License-Identifier: Apache-2.0
// A file of results, as that of --json. Opened before the run, to detect early if it cannot be
// written.
#ifndef SUEDE_APP_PERF_RESULT_FILE_H_
#define SUEDE_APP_PERF_RESULT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "local/fd.h"

namespace suede::perf {

class ResultFile {
 public:
  // Opens the file. A regular or new file is written to a temporary file and renamed into place,
  // following symbolic links, so readers never see a partial file. Standard output ("-"), devices,
  // FIFOs, and files in directories without write permission are written in place. Opening a FIFO
  // blocks until it has a reader.
  // Messages name the flag.
  static absl::StatusOr<ResultFile> Open(const std::string& path, const char* flag = "--json");

  absl::Status Write(const std::string& text);
  // Whether the file is the standard output, which then must not contain the table.
  bool TakesStdout() const { return takes_stdout_; }

 private:
  absl::Status Replace(const std::string& text) const;
  absl::Status Failure(int error) const;

  const char* flag_ = "";
  std::string path_;    // as given, for messages
  std::string target_;  // destination of the rename; empty: writes `file_` in place
  Fd file_;
  bool takes_stdout_ = false;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RESULT_FILE_H_
