// SPDX-License-Identifier: Apache-2.0
// A file that the daemon writes during a call. Replaces the former file atomically once it is
// complete and on disk: a failed call or a crash leaves the former file unchanged.
#ifndef SUEDE_APP_SUEDECTL_OUTPUT_FILE_H_
#define SUEDE_APP_SUEDECTL_OUTPUT_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "local/fd.h"

namespace suede::ctl {

class OutputFile {
 public:
  // Creates a temporary file beside `path`, with the permissions and owner of the file at `path`.
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;

  int fd() const { return file_.get(); }
  // Syncs the file and renames it to its path.
  absl::Status Commit();

 private:
  OutputFile(Fd file, std::string temporary, std::string path)
      : file_(std::move(file)), temporary_(std::move(temporary)), path_(std::move(path)) {}

  Fd file_;
  std::string temporary_;  // path of the temporary file
  std::string path_;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_OUTPUT_FILE_H_
