// SPDX-License-Identifier: Apache-2.0
#include "seal/secrets_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hex.h"

namespace suede {
namespace {

constexpr char kOne[] = "1f0e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789ABCDEF";
constexpr char kTwo[] = "93b1aa00000000000000000000000000000000000000000000000000000000bb";

// A secret, or what has one, goes into no text.
template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <typename T>
concept Joinable = requires(const T& value) {
  absl::StrCat(value);
};
static_assert(Streamable<int> && Joinable<int>);
static_assert(!Streamable<Secret> && !Joinable<Secret>);
static_assert(!Streamable<FileSecret> && !Joinable<FileSecret>);
static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);

std::string Line(const std::string& partition, const std::string& id, const std::string& secret,
                 const std::string& from = "-", const std::string& until = "-") {
  return absl::StrCat(partition, "  ", id, "  ", secret, "  ", from, "  ", until, "\n");
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseSecrets("s", text).status().message());
}

TEST(SecretsFile, ThePagesExample) {
  const auto secrets = ParseSecrets(
      "s", absl::StrCat("# partition  id  secret\n",
                        Line("7", "1", kOne, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), "\n",
                        "\t7 127\t", kTwo, " 2026-12-01T00:00:00Z - # the next one\r\n"));
  ASSERT_TRUE(secrets.ok()) << secrets.status();
  ASSERT_EQ(secrets->size(), 2u);
  const FileSecret& first = (*secrets)[0];
  EXPECT_EQ(first.partition, 7);
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(ToHex(first.secret.bytes()),
            "1f0e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef");
  EXPECT_EQ(first.from_s, 1'767'225'600);
  EXPECT_EQ(first.until_s, 1'798'761'600);
  EXPECT_EQ(first.line, 2u);
  const FileSecret& second = (*secrets)[1];
  EXPECT_EQ(second.id, 127);
  EXPECT_EQ(second.until_s, FileSecret::kForever);
  EXPECT_EQ(second.line, 4u);
}

TEST(SecretsFile, NothingIsNoError) {
  for (const char* text : {"", "\n\n", "# a comment", "   \t\r\n"}) {
    const auto secrets = ParseSecrets("s", text);
    ASSERT_TRUE(secrets.ok()) << secrets.status();
    EXPECT_TRUE(secrets->empty());
  }
}

TEST(SecretsFile, TimesAreThoseOfTheCalendar) {
  const auto read = [](const char* time) {
    const auto secrets = ParseSecrets("s", Line("0", "0", kOne, time));
    return secrets.ok() ? secrets->front().from_s : -1;
  };
  EXPECT_EQ(read("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(read("2000-02-29T23:59:59Z"), 951'868'799);
  EXPECT_EQ(read("2038-01-19T03:14:08Z"), 2'147'483'648);
  EXPECT_EQ(read("9999-12-31T23:59:59Z"), 253'402'300'799);
  for (const char* wrong :
       {"1969-12-31T23:59:59Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00+", "2026-1-01T00:00:00Z", "now", "--"}) {
    EXPECT_EQ(read(wrong), -1) << wrong;
  }
  const std::string right = "2026-01-01T00:00:00Z";
  for (size_t at = 0; at < right.size(); ++at) {
    std::string wrong = right;
    wrong[at] = 'x';
    EXPECT_EQ(read(wrong.c_str()), -1) << wrong;
  }
}

TEST(SecretsFile, ErrorsNamePlaceAndMend) {
  EXPECT_EQ(ErrorOf("\n7 1\n"),
            "s:2:3: too few columns; a line is: partition, id, secret, from, until (UTC, or -); # "
            "begins a comment");
  EXPECT_EQ(ErrorOf(absl::StrCat("7 1 ", kOne, " - - -")).substr(0, 24),
            "s:1:74: too many columns");
  EXPECT_EQ(ErrorOf(Line("1024", "1", kOne)), "s:1:1: partition: must be a number of 0 to 1023");
  EXPECT_EQ(ErrorOf(Line("-1", "1", kOne)), "s:1:1: partition: must be a number of 0 to 1023");
  EXPECT_EQ(ErrorOf(Line("0x1", "1", kOne)), "s:1:1: partition: must be a number of 0 to 1023");
  EXPECT_EQ(ErrorOf(Line("7", "128", kOne)), "s:1:4: id: must be a number of 0 to 127");
  EXPECT_EQ(ErrorOf(Line("7", "4294967297", kOne)), "s:1:4: id: must be a number of 0 to 127");
  const std::string no_secret =
      "s:1:7: secret: must be 64 hexadecimal digits; openssl rand -hex 32 makes one";
  const std::string one(kOne);
  EXPECT_EQ(ErrorOf(Line("7", "1", one.substr(1))), no_secret);
  EXPECT_EQ(ErrorOf(Line("7", "1", one + "0")), no_secret);
  EXPECT_EQ(ErrorOf(Line("7", "1", "g" + one.substr(1))), no_secret);
  EXPECT_EQ(ErrorOf(Line("7", "1", std::string(64, '0'))),
            "s:1:7: secret: 32 times the same octet is no secret; openssl rand -hex 32 makes one");
  EXPECT_EQ(ErrorOf(Line("7", "1", kOne, "soon")),
            "s:1:73: from: must be a time of UTC, as 2026-01-31T00:00:00Z, or -");
  EXPECT_EQ(ErrorOf(Line("7", "1", kOne, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")),
            "s:1:95: until: is not after from, so the secret is never valid; exchange them");
}

TEST(SecretsFile, DuplicatesAreRefused) {
  EXPECT_EQ(ErrorOf(Line("7", "1", kOne) + "\n" + Line("7", "01", kTwo)),
            "s:3:4: id: is that of line 1 of the same partition; give one of them another");
  EXPECT_EQ(ErrorOf(Line("7", "1", kOne) + Line("7", "2", kOne)),
            "s:2:7: secret: is that of line 1 of the same partition; make a new one: openssl rand "
            "-hex 32");
  EXPECT_TRUE(ParseSecrets("s", Line("7", "1", kOne) + Line("8", "1", kTwo)).ok());
}

// A secret in a wrong column is a secret still.
TEST(SecretsFile, ErrorsRepeatNothingOfTheFile) {
  for (const std::string& text :
       {Line(kOne, "1", "7"), Line("7", kOne, "1"), Line("7", "1", std::string(kOne) + "0"),
        Line("7", "1", kTwo, kOne), Line("7", "1", kTwo, "-", kOne), std::string(kOne)}) {
    const std::string error = ErrorOf(text);
    EXPECT_NE(error, "");
    EXPECT_EQ(error.find(std::string(kOne).substr(0, 8)), std::string::npos) << error;
  }
}

TEST(SecretsFile, HasBounds) {
  std::string text;
  for (size_t i = 0; i <= kMaxFileSecrets; ++i) {
    std::string secret(kTwo);
    secret.replace(4, 4, absl::StrCat(1000 + i));
    text += Line(absl::StrCat(i / 100), absl::StrCat(i % 100), secret);
  }
  EXPECT_EQ(ErrorOf(text).substr(0, 34), "s:4097:1: more than 4096 secrets; ");
  EXPECT_EQ(ErrorOf(std::string(kMaxSecretsFileBytes, '\n')), "");
  EXPECT_EQ(ErrorOf(std::string(kMaxSecretsFileBytes + 1, '\n')).substr(0, 20),
            "s:1:1: more than 104");
}

TEST(SecretsFile, WhichAreValid) {
  const auto secrets = ParseSecrets(
      "s",
      absl::StrCat(Line("7", "1", kOne, "1970-01-01T00:01:40Z", "1970-01-01T00:05:00Z"),
                   Line("7", "2", kTwo, "1970-01-01T00:03:20Z"),
                   Line("7", "9", "00" + std::string(kOne).substr(2), "1970-01-01T00:03:20Z"),
                   Line("7", "3", "01" + std::string(kOne).substr(2), "-", "1970-01-01T00:10:00Z"),
                   Line("8", "4", kOne)));
  ASSERT_TRUE(secrets.ok()) << secrets.status();
  const auto ids = [&](uint16_t partition, int64_t now) {
    std::vector<int> out;
    for (const FileSecret* each : SecretsValidAt(*secrets, partition, now)) out.push_back(each->id);
    return out;
  };
  EXPECT_EQ(ids(7, 0), (std::vector{3}));
  EXPECT_EQ(ids(7, 99), (std::vector{3}));
  EXPECT_EQ(ids(7, 100), (std::vector{1, 3}));
  EXPECT_EQ(ids(7, 200), (std::vector{9, 2, 1, 3}));
  EXPECT_EQ(ids(7, 300), (std::vector{9, 2, 3}));
  EXPECT_EQ(ids(7, 600), (std::vector{9, 2}));
  EXPECT_EQ(ids(8, 600), (std::vector{4}));
  EXPECT_TRUE(ids(9, 600).empty());
  EXPECT_EQ(NextSecretChange(*secrets, 0), 100);
  EXPECT_EQ(NextSecretChange(*secrets, 100), 200);
  EXPECT_EQ(NextSecretChange(*secrets, 599), 600);
  EXPECT_EQ(NextSecretChange(*secrets, 600), FileSecret::kForever);
}

TEST(SecretsFile, OwnerAndMode) {
  constexpr uid_t kDaemon = 120;
  for (const mode_t mode : {0640, 0600, 0400, 0440, 0000}) {
    EXPECT_TRUE(CheckSecretsFile("s", 0, S_IFREG | mode, kDaemon).ok()) << mode;
    EXPECT_TRUE(CheckSecretsFile("s", kDaemon, S_IFREG | mode, kDaemon).ok()) << mode;
  }
  const auto error = [](uid_t owner, mode_t mode, uid_t own) {
    return std::string(CheckSecretsFile("/etc/s", owner, mode, own).message());
  };
  EXPECT_EQ(error(0, S_IFREG | 0644, 0),
            "/etc/s: has mode 0644, so others could read or change the secrets: chmod 0640 /etc/s");
  EXPECT_EQ(error(kDaemon, S_IFREG | 0660, kDaemon),
            "/etc/s: has mode 0660, so others could read or change the secrets: chmod 0640 /etc/s");
  EXPECT_EQ(error(0, S_IFREG | 04700, 0),
            "/etc/s: has mode 4700, so others could read or change the secrets: chmod 0600 /etc/s");
  EXPECT_EQ(
      error(1000, S_IFREG | 0600, kDaemon),
      "/etc/s: belongs to user 1000, who could read and change the secrets: chown 120 /etc/s");
  EXPECT_EQ(error(1000, S_IFREG | 0600, 0),
            "/etc/s: belongs to user 1000, who could read and change the secrets: chown root "
            "/etc/s");
  EXPECT_EQ(error(0, S_IFIFO | 0600, 0), "/etc/s: is no regular file; put the secrets into one");
  // Each mode either passes or has a mend that passes.
  for (mode_t mode = 0; mode <= 07777; ++mode) {
    const bool passes = CheckSecretsFile("s", 0, S_IFREG | mode, 0).ok();
    EXPECT_EQ(passes, (mode & 07137) == 0) << mode;
  }
}

class ReadSecretsTest : public testing::Test {
 protected:
  ReadSecretsTest() {
    char name[] = "/tmp/suede-secrets-XXXXXX";
    directory_ = mkdtemp(name);
    file_ = directory_ / "secrets";
  }
  ~ReadSecretsTest() override { std::filesystem::remove_all(directory_); }
  void Write(const std::string& text, mode_t mode) {
    std::ofstream(file_) << text;
    chmod(file_.c_str(), mode);
  }
  std::filesystem::path directory_;
  std::filesystem::path file_;
};

TEST_F(ReadSecretsTest, ReadsAndForgets) {
  Write(Line("7", "1", kOne), 0600);
  const size_t before = LockedMemory::OfProcess().used_bytes();
  {
    const auto secrets = ReadSecrets(file_);
    ASSERT_TRUE(secrets.ok()) << secrets.status();
    ASSERT_EQ(secrets->size(), 1u);
    EXPECT_TRUE(LockedMemory::OfProcess().Holds((*secrets)[0].secret.bytes().data()));
  }
  EXPECT_EQ(LockedMemory::OfProcess().used_bytes(), before);
}

// Neither the text, which is locked, nor the file.
TEST_F(ReadSecretsTest, KeepsNothingOfTheFile) {
  const auto locked = [] {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line) && !line.starts_with("VmLck:")) {
    }
    return line;
  };
  const auto descriptors = [] {
    using Files = std::filesystem::directory_iterator;
    return std::distance(Files("/proc/self/fd"), Files());
  };
  Write(Line("7", "1", kOne), 0600);
  ASSERT_TRUE(ReadSecrets(file_).ok());
  const std::string locked_before = locked();
  ASSERT_NE(locked_before, "");
  const auto descriptors_before = descriptors();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ReadSecrets(file_).ok());
  chmod(file_.c_str(), 0644);
  EXPECT_FALSE(ReadSecrets(file_).ok());
  EXPECT_EQ(locked(), locked_before);
  EXPECT_EQ(descriptors(), descriptors_before);
}

TEST_F(ReadSecretsTest, ReadsWithoutAStandardInput) {
  Write(Line("7", "1", kOne), 0600);
  const int kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const absl::Status status = ReadSecrets(file_).status();
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(ReadSecretsTest, RefusesWhatOthersCanRead) {
  Write(Line("7", "1", kOne), 0644);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadSecrets(file_).status()));
  EXPECT_TRUE(ReadSecrets(file_, SecretsFileRule::kAnybodys).ok());
}

TEST_F(ReadSecretsTest, SaysWhatIsNotThere) {
  EXPECT_EQ(ReadSecrets(file_).status().message().find(
                absl::StrCat("cannot read the secrets in ", file_.string())),
            0u);
  std::filesystem::create_directory(file_);
  chmod(file_.c_str(), 0600);
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadSecrets(file_).status()));
  EXPECT_EQ(ReadSecrets(file_, SecretsFileRule::kAnybodys)
                .status()
                .message()
                .find(absl::StrCat("cannot read the secrets in ", file_.string())),
            0u);
  std::filesystem::remove(file_);
  // A pipe without a writer stops nobody.
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadSecrets(file_).status()));
}

}  // namespace
}  // namespace suede
