// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_files.h"

#include <cerrno>
#include <string>

#include "suedectl/frame_arguments.h"
#include "suedectl/frame_hex.h"
#include "suedectl/frame_text.h"

namespace suede::ctl {

absl::StatusOr<BorrowedFile> BorrowedFile::Open(std::string_view name, const char* mode,
                                                FILE* stream) {
  BorrowedFile file;
  file.file_ = stream;
  if (name.empty() || name == "-") return file;
  file.own_.reset(std::fopen(std::string(name).c_str(), mode));
  file.file_ = file.own_.get();
  if (file.file_ == nullptr) return absl::ErrnoToStatus(errno, std::string(name));
  return file;
}

void InputErrors::Add(std::string_view message) {
  any_ = true;
  std::fprintf(err_, "suedectl %.*s: %.*s\n", static_cast<int>(command_.size()), command_.data(),
               static_cast<int>(message.size()), message.data());
}

absl::StatusOr<FrameOutput> FrameOutput::Create(FILE* file, FrameFormat format) {
  FrameOutput output;
  output.file_ = file;
  output.format_ = format;
  if (format == FrameFormat::kPcap) {
    absl::StatusOr<CaptureWriter> capture = CaptureWriter::Create(file);
    if (!capture.ok()) return capture.status();
    output.capture_ = *std::move(capture);
  }
  return output;
}

void FrameOutput::WriteLine(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fputc('\n', file_);
}

void FrameOutput::WriteFrame(std::span<const uint8_t> bytes, uint64_t time_ns) {
  if (capture_.has_value()) {
    capture_->Write(bytes, time_ns);
  } else {
    WriteLine(ToHex(bytes));
  }
}

absl::Status FrameOutput::Finish() {
  if (capture_.has_value()) capture_->Flush();
  if (std::fflush(file_) != 0 || std::ferror(file_) != 0) {
    return absl::ErrnoToStatus(errno, "cannot write the output; check its space");
  }
  return absl::OkStatus();
}

int WorkOnFiles(const FileChoice& choice, FILE* in, FILE* out, InputErrors& complaints,
                absl::FunctionRef<void(FILE*, FrameOutput&)> work) {
  const auto fail = [&complaints](const absl::Status& status, int code) {
    complaints.Add(MessageOf(status));
    return code;
  };
  const absl::StatusOr<BorrowedFile> from = BorrowedFile::Open(choice.input, "rb", in);
  if (!from.ok()) return fail(from.status(), kExitUsage);
  const absl::StatusOr<BorrowedFile> to = BorrowedFile::Open(choice.output, "wb", out);
  if (!to.ok()) return fail(to.status(), kExitUsage);
  absl::StatusOr<FrameOutput> output = FrameOutput::Create(to->get(), choice.format);
  if (!output.ok()) return fail(output.status(), kExitFailure);
  work(from->get(), *output);
  if (std::ferror(from->get()) != 0) {
    return fail(absl::ErrnoToStatus(errno, "cannot read the input"), kExitFailure);
  }
  if (const absl::Status status = output->Finish(); !status.ok()) return fail(status, kExitFailure);
  return complaints.any() ? kExitUsage : kExitDone;
}

}  // namespace suede::ctl
