// SPDX-License-Identifier: Apache-2.0
// The file of --json, which is opened before the run: a file that cannot be written is found out
// then.
#ifndef SUEDE_APP_PERF_RESULT_FILE_H_
#define SUEDE_APP_PERF_RESULT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "local/fd.h"

namespace suede::perf {

class ResultFile {
 public:
  // A regular file, or one that is not there yet, is written whole and renamed into place, through
  // symbolic links: a reader never sees half of it. "-" is the standard output; it, devices, FIFOs
  // and other files without a directory to rename into are written as they are. A FIFO waits for
  // its reader.
  static absl::StatusOr<ResultFile> Open(const std::string& path);

  absl::Status Write(const std::string& text);
  // Whether the standard output is for the file alone, so that a table has no place there.
  bool TakesStdout() const { return takes_stdout_; }

 private:
  absl::Status Replace(const std::string& text) const;
  absl::Status Failure(int error) const;

  std::string path_;    // as it was given, for messages
  std::string target_;  // to rename to; empty: `file_` is written as it is
  Fd file_;
  bool takes_stdout_ = false;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RESULT_FILE_H_
