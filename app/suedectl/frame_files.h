// SPDX-License-Identifier: Apache-2.0
// Input and output files of the frame commands.
#ifndef SUEDE_SUEDECTL_FRAME_FILES_H_
#define SUEDE_SUEDECTL_FRAME_FILES_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "suedectl/frame_capture.h"

namespace suede::ctl {

// A file opened by name, or a stream owned by the caller.
class BorrowedFile {
 public:
  // Opens the file; uses `stream` if the name is empty or "-".
  static absl::StatusOr<BorrowedFile> Open(std::string_view name, const char* mode, FILE* stream);
  FILE* get() const { return file_; }

 private:
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  FILE* file_ = nullptr;
  std::unique_ptr<FILE, Close> own_;
};

enum class FrameFormat : uint8_t { kHex, kJson, kPcap };

// Prints messages about invalid input to `err`, and records that there were any.
class InputErrors {
 public:
  InputErrors(std::string_view command, FILE* err) : command_(command), err_(err) {}
  void Add(std::string_view message);
  bool any() const { return any_; }

 private:
  std::string_view command_;
  FILE* err_;
  bool any_ = false;
};

// Writes frames as lines or as a capture. The file must outlive the object.
class FrameOutput {
 public:
  static absl::StatusOr<FrameOutput> Create(FILE* file, FrameFormat format);
  bool takes_frames() const { return format_ != FrameFormat::kJson; }
  void WriteLine(std::string_view line);
  void WriteFrame(std::span<const uint8_t> bytes, uint64_t time_ns);  // kHex, kPcap
  // Flushes the output. Returns an error if anything could not be written.
  absl::Status Finish();

 private:
  FILE* file_ = nullptr;
  FrameFormat format_ = FrameFormat::kHex;
  std::optional<CaptureWriter> capture_;
};

struct FileChoice {
  std::string_view input;                  // a name, or empty for the stream
  std::string_view output;                 // a name, or empty for the stream
  FrameFormat format = FrameFormat::kHex;  // of the output
};

// Opens both files and calls `work`. Returns the program's exit code.
int WorkOnFiles(const FileChoice& choice, FILE* in, FILE* out, InputErrors& complaints,
                absl::FunctionRef<void(FILE*, FrameOutput&)> work);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_FILES_H_
