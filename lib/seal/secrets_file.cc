// SPDX-License-Identifier: Apache-2.0
#include "seal/secrets_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "absl/strings/str_format.h"
#include "base/numbers.h"
#include "base/sue.h"
#include "base/text.h"

namespace suede {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kColumns =
    "a line is: partition, id, secret, from, until (UTC, or -); # begins a comment";
constexpr size_t kFields = 5;

struct Field {
  std::string_view text;
  size_t column = 1;
};

// The fields of a line; one more than kFields if there are too many.
struct Line {
  std::array<Field, kFields + 1> fields;
  size_t count = 0;
  uint32_t number = 0;
};

Line SplitLine(std::string_view text, uint32_t number) {
  text = text.substr(0, text.find('#'));
  Line line{.number = number};
  for (size_t at = text.find_first_not_of(kBlanks);
       at != std::string_view::npos && line.count < line.fields.size();
       at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    line.fields[line.count++] = {.text = text.substr(at, end - at), .column = at + 1};
    at = end;
  }
  return line;
}

bool ReadHex(std::string_view text, std::span<uint8_t, Secret::kBytes> out) {
  if (text.size() != out.size() * 2) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto byte = ParseNumber<uint8_t>(text.substr(2 * i, 2), 0xff, 16);
    if (!byte) return false;
    out[i] = *byte;
  }
  return true;
}

// Parses "2026-01-01T00:00:00Z" into seconds since 1970.
std::optional<int64_t> ReadTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](size_t at, size_t digits) {
    return *ParseNumber<uint32_t>(text.substr(at, digits));
  };
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number(0, 4))),
                                         std::chrono::month(number(5, 2)),
                                         std::chrono::day(number(8, 2)));
  const uint32_t hour = number(11, 2);
  const uint32_t minute = number(14, 2);
  const uint32_t second = number(17, 2);
  if (!date.ok() || number(0, 4) < 1970 || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

class Parser {
 public:
  explicit Parser(std::string_view file) : file_(file) {}

  absl::Status Add(const Line& line) {
    if (line.count == 0) return absl::OkStatus();
    if (line.count != kFields) {
      const size_t at = std::min(line.count, kFields + 1) - 1;
      return Wrong(line, at,
                   StrCat(line.count < kFields ? "too few" : "too many", " columns; ", kColumns));
    }
    if (secrets_.size() == kMaxFileSecrets) {
      return Wrong(
          line, 0,
          StrCat("more than ", kMaxFileSecrets, " secrets; remove those whose time is over"));
    }
    FileSecret secret{.line = line.number};
    absl::Status status = ReadFields(line, secret);
    if (status.ok()) status = CheckOthers(line, secret);
    if (status.ok()) secrets_.push_back(std::move(secret));
    return status;
  }
  FileSecrets Take() { return std::move(secrets_); }

  absl::Status Wrong(const Line& line, size_t field, std::string_view problem) const {
    return absl::InvalidArgumentError(
        StrCat(file_, ":", line.number, ":", line.fields[field].column, ": ", problem));
  }

 private:
  absl::Status ReadFields(const Line& line, FileSecret& out) const {
    const auto partition = ParseNumber<uint32_t>(line.fields[0].text, kMaxPartition);
    if (!partition) {
      return Wrong(line, 0, StrCat("partition: must be a number of 0 to ", kMaxPartition));
    }
    const auto id = ParseNumber<uint32_t>(line.fields[1].text, kMaxSecretId);
    if (!id) return Wrong(line, 1, StrCat("id: must be a number of 0 to ", kMaxSecretId));
    out.partition = static_cast<uint16_t>(*partition);
    out.id = static_cast<uint8_t>(*id);
    if (!out.secret.Make()) {
      return absl::ResourceExhaustedError(LockedMemory::OfProcess().Shortage());
    }
    constexpr std::string_view kMend = "; openssl rand -hex 32 makes one";
    if (!ReadHex(line.fields[2].text, out.secret.bytes())) {
      return Wrong(line, 2, StrCat("secret: must be 64 hexadecimal digits", kMend));
    }
    const auto bytes = out.secret.bytes();
    if (std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return byte == bytes[0]; })) {
      return Wrong(line, 2, StrCat("secret: 32 times the same octet is no secret", kMend));
    }
    return ReadTimes(line, out);
  }

  absl::Status ReadTimes(const Line& line, FileSecret& out) const {
    for (const size_t field : {size_t{3}, size_t{4}}) {
      const std::string_view text = line.fields[field].text;
      if (text == "-") continue;
      const std::optional<int64_t> time = ReadTime(text);
      if (!time) {
        return Wrong(line, field,
                     StrCat(field == 3 ? "from" : "until",
                            ": must be a time of UTC, as 2026-01-31T00:00:00Z, or -"));
      }
      (field == 3 ? out.from_s : out.until_s) = *time;
    }
    if (out.from_s < out.until_s) return absl::OkStatus();
    return Wrong(line, 4, "until: is not after from, so the secret is never valid; exchange them");
  }

  absl::Status CheckOthers(const Line& line, const FileSecret& secret) const {
    for (const FileSecret& other : secrets_) {
      if (other.partition != secret.partition) continue;
      if (other.id == secret.id) {
        return Wrong(line, 1,
                     StrCat("id: is that of line ", other.line,
                            " of the same partition; give one of them another"));
      }
      if (std::memcmp(other.secret.bytes().data(), secret.secret.bytes().data(), Secret::kBytes) ==
          0) {
        return Wrong(line, 2,
                     StrCat("secret: is that of line ", other.line,
                            " of the same partition; make a new one: openssl rand -hex "
                            "32"));
      }
    }
    return absl::OkStatus();
  }

  const std::string_view file_;
  FileSecrets secrets_;
};

// The file's bytes: locked and excluded from core files like the secrets, overwritten at the end.
class FileBytes {
 public:
  FileBytes() {
    void* const bytes =
        mmap(nullptr, kRoomBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return;
    bytes_ = static_cast<char*>(bytes);
    madvise(bytes_, kRoomBytes, MADV_DONTDUMP);
  }
  ~FileBytes() {
    if (bytes_ == nullptr) return;
    explicit_bzero(bytes_, size_);
    munmap(bytes_, kRoomBytes);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  // Returns false on an error, in errno.
  bool ReadFrom(int fd) {
    if (bytes_ == nullptr || mlock2(bytes_, kRoomBytes, 0) != 0) return false;
    ssize_t count = 0;
    while (size_ < kRoomBytes && (count = read(fd, bytes_ + size_, kRoomBytes - size_)) > 0) {
      size_ += static_cast<size_t>(count);
    }
    return count >= 0;
  }
  std::string_view text() const { return {bytes_, size_}; }

 private:
  // One byte more than the max, to detect a file that is too large.
  static constexpr size_t kRoomBytes = kMaxSecretsFileBytes + 1;
  char* bytes_ = nullptr;
  size_t size_ = 0;
};

absl::Status CannotRead(const std::string& file) {
  const int error = errno;
  return absl::ErrnoToStatus(error, StrCat("cannot read the secrets in ", file));
}

}  // namespace

absl::StatusOr<FileSecrets> ParseSecrets(std::string_view file, std::string_view text) {
  if (text.size() > kMaxSecretsFileBytes) {
    return absl::InvalidArgumentError(StrCat(file, ":1:1: more than ", kMaxSecretsFileBytes,
                                             " bytes; remove secrets whose time is over"));
  }
  Parser parser(file);
  uint32_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (absl::Status status = parser.Add(SplitLine(line, ++number)); !status.ok()) return status;
  }
  return parser.Take();
}

std::vector<const FileSecret*> SecretsValidAt(std::span<const FileSecret> secrets,
                                              uint16_t partition, int64_t now_s) {
  std::vector<const FileSecret*> valid;
  for (const FileSecret& secret : secrets) {
    if (secret.partition == partition && secret.IsValidAt(now_s)) valid.push_back(&secret);
  }
  std::sort(valid.begin(), valid.end(), [](const FileSecret* a, const FileSecret* b) {
    return std::pair(a->from_s, a->id) > std::pair(b->from_s, b->id);
  });
  return valid;
}

int64_t NextSecretChange(std::span<const FileSecret> secrets, int64_t now_s) {
  int64_t next = FileSecret::kForever;
  for (const FileSecret& secret : secrets) {
    for (const int64_t time : {secret.from_s, secret.until_s}) {
      if (time > now_s) next = std::min(next, time);
    }
  }
  return next;
}

absl::Status CheckSecretsFile(std::string_view file, uid_t owner, mode_t mode, uid_t own_uid) {
  constexpr mode_t kMax = S_IRUSR | S_IWUSR | S_IRGRP;
  if (!S_ISREG(mode)) {
    return absl::FailedPreconditionError(
        StrCat(file, ": is no regular file; put the secrets into one"));
  }
  if (owner != 0 && owner != own_uid) {
    return absl::PermissionDeniedError(StrCat(file, ": belongs to user ", owner,
                                              ", who could read and change the secrets: chown ",
                                              own_uid == 0 ? "root" : StrCat(own_uid), " ", file));
  }
  const mode_t bits = mode & ALLPERMS;
  if ((bits & ~kMax) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      StrCat(file,
             absl::StrFormat(": has mode %04o, so others could read or change the secrets: "
                             "chmod %04o ",
                             bits, bits & kMax),
             file));
}

absl::StatusOr<FileSecrets> ReadSecrets(const std::string& file, SecretsFileRule rule) {
  // O_NONBLOCK, in case the file is a pipe.
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return CannotRead(file);
  struct stat info {};
  FileBytes bytes;
  absl::Status status;
  if (fstat(fd, &info) != 0) {
    status = CannotRead(file);
  } else {
    if (rule == SecretsFileRule::kPrivate) {
      status = CheckSecretsFile(file, info.st_uid, info.st_mode, geteuid());
    }
    if (status.ok() && !bytes.ReadFrom(fd)) status = CannotRead(file);
  }
  close(fd);
  if (!status.ok()) return status;
  return ParseSecrets(file, bytes.text());
}

}  // namespace suede
