// SPDX-License-Identifier: Apache-2.0
// A file that the daemon writes whole while a call lasts. It takes the place of the former one when
// it is complete and on the disk: a call that fails, or a crash, leaves the former one as it was.
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
  // Makes a temporary file beside `path`, with the permissions and the owner of the file there.
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;

  int fd() const { return file_.get(); }
  // Puts it in place.
  absl::Status Commit();

 private:
  OutputFile(Fd file, std::string temporary, std::string path)
      : file_(std::move(file)), temporary_(std::move(temporary)), path_(std::move(path)) {}

  Fd file_;
  std::string temporary_;  // its path
  std::string path_;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_OUTPUT_FILE_H_
