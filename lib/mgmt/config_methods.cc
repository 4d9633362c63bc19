// SPDX-License-Identifier: Apache-2.0
// Methods that check, load and save the configuration of the running daemon.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "local/passing.h"
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

// One byte more than the maximum size of a configuration, so that the parser detects a text that is
// too long.
constexpr size_t kMaxBytes = (size_t{2} << 20) + 1;

constexpr Param kText[] = {
    Param::Text("yaml", "The configuration itself, instead of a file.", 65536),
    Param::Text("file_name", "The file's name in messages; suedectl gives it.", 4096),
};
constexpr DescriptorParam kSource = {.name = "file",
                                     .sentence = "Regular file with the configuration.",
                                     .is_written = false,
                                     .required = false};

// Checks that no access to the file can block: it must not be a pipe, a device or a socket.
absl::Status CheckRegular(int fd) {
  if (IsPlainFile(fd)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "file: is no regular file, or of a file system that a program serves (FUSE); pass another");
}

absl::StatusOr<std::string> ReadAll(int fd) {
  if (absl::Status status = CheckRegular(fd); !status.ok()) return status;
  std::string text(kMaxBytes, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = pread(fd, &text[used], text.size() - used, static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::InvalidArgumentError(
          StrCat("file: cannot be read: ", std::strerror(errno), "; open it for reading"));
    }
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

absl::Status WriteAll(int fd, std::string_view text) {
  if (absl::Status status = CheckRegular(fd); !status.ok()) return status;
  const auto failed = [] {
    return absl::InvalidArgumentError(
        StrCat("file: cannot be written: ", std::strerror(errno), "; open it for writing"));
  };
  if (ftruncate(fd, 0) != 0) return failed();
  for (off_t at = 0; !text.empty();) {
    const ssize_t put = pwrite(fd, text.data(), text.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return failed();
    at += put;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

// A configuration from a request, and its origin for messages.
struct Source {
  std::string text;
  std::string place;
};
absl::StatusOr<Source> Given(const Call& call) {
  const bool has_text = call.arguments.Has("yaml");
  if (has_text == call.descriptor.ok()) {
    return absl::InvalidArgumentError(has_text ? "both yaml and a file; give one of them"
                                               : "no configuration; give yaml or a file");
  }
  if (has_text) return Source{.text = call.arguments.Text("yaml"), .place = "yaml"};
  absl::StatusOr<std::string> text = ReadAll(call.descriptor.get());
  if (!text.ok()) return text.status();
  const bool named = call.arguments.Has("file_name");
  return Source{.text = *std::move(text),
                .place = named ? call.arguments.Text("file_name") : "file"};
}

Answer Check(Call& call) {
  const absl::StatusOr<Source> source = Given(call);
  if (!source.ok()) return source.status();
  return OutcomeOf(call.daemon.CheckConfig(source->text, source->place));
}

Answer Load(Call& call) {
  const absl::StatusOr<Source> source = Given(call);
  if (!source.ok()) return source.status();
  return Answer::To(call.endpoint().LoadConfig(source->text, source->place));
}

Answer Save(Call& call) {
  const std::string text = call.daemon.EffectiveConfig();
  if (absl::Status status = WriteAll(call.descriptor.get(), text); !status.ok()) return status;
  return Json{{"bytes", text.size()}};
}

constexpr Member kSavedResult[] = {Member::Integer("bytes", "that were written")};

constexpr Method kCheckMethod = {
    .name = "config.check",
    .sentence = "Checks a configuration against all rules and the running one; changes nothing.",
    .result = ConfigCheckView::kMembers,
    .run = Check,
    .params = kText,
    .descriptor = kSource};
constexpr Method kSaveMethod = {
    .name = "config.save",
    .sentence = "Writes the effective configuration to a file.",
    .result = kSavedResult,
    .run = Save,
    .descriptor = DescriptorParam{
        .name = "file", .sentence = "Regular file that is written.", .is_replaced = true}};
constexpr Method kConfigMethods[] = {
    kCheckMethod,
    {.name = "config.load",
     .sentence = "Checks a configuration and applies changes that take effect at once. Flags and "
                 "environment win over it, as at the start. With an error nothing is applied.",
     .result = ConfigCheckView::kMembers,
     .run = Load,
     .params = kText,
     .changes = true,
     .descriptor = kSource},
    kSaveMethod,
};
constexpr Method kSwitchConfigMethods[] = {kCheckMethod, kSaveMethod};

}  // namespace

std::span<const Method> ConfigMethods() { return kConfigMethods; }
std::span<const Method> SwitchConfigMethods() { return kSwitchConfigMethods; }

}  // namespace suede
