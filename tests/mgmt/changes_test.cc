// SPDX-License-Identifier: Apache-2.0
// Methods that change the configuration and registers: their parameters, answers and refusals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "bench.h"

namespace suede {
namespace {

constexpr int kInvalidParams = -32602;
constexpr int kNotFound = -32001;
constexpr int kNotPermitted = -32005;
constexpr char kGood[] = "version: 1\nname: right\n";

class ChangesTest : public testing::Test {
 protected:
  static std::string Line(const std::string& method, const Json& params) {
    return Dump(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}});
  }
  Json Ask(const std::string& method, const Json& params, int fd = -1) {
    return client.Ask(Line(method, params), fd);
  }
  Fd File(const std::string& text, int flags = O_RDWR) {
    const std::string path = bench.directory / ("file" + std::to_string(++files_));
    std::ofstream(path) << text;
    return Fd(open(path.c_str(), flags | O_CLOEXEC));
  }
  static std::string Contents(const Fd& file) {
    std::string text(4096, '\0');
    text.resize(static_cast<size_t>(pread(file.get(), text.data(), text.size(), 0)));
    return text;
  }

  ManagementBench bench;
  TestClient client{bench};

 private:
  int files_ = 0;
};

TEST_F(ChangesTest, CheckTakesATextOrAFileAndChangesNothing) {
  const Json by_text = Ask("config.check", {{"yaml", kGood}})["result"];
  EXPECT_EQ(Dump(by_text),
            R"({"warnings":["careful"],"changes":[)"
            R"({"key":"log.level","from":"info","to":"debug","effect":"at once"},)"
            R"({"key":"name","from":"left","to":"right","effect":"after a restart"}]})");
  const Fd file = File(kGood, O_RDONLY);
  EXPECT_EQ(Ask("config.check", Json::object(), file.get())["result"], by_text);
  EXPECT_NE(bench.endpoint.config, kGood);
}

TEST_F(ChangesTest, LoadAnswersWhenItIsDone) {
  const Json answer = Ask("config.load", {{"yaml", kGood}});
  EXPECT_EQ(answer["result"]["changes"].size(), 2u) << answer;
  EXPECT_EQ(bench.endpoint.config, kGood);
}

TEST_F(ChangesTest, WrongConfigurationsAreErrorsWithTheirPlace) {
  for (const char* method : {"config.check", "config.load"}) {
    const Fd file = File("name: x\n", O_RDONLY);
    const Json by_file = Ask(method, Json::object(), file.get());
    EXPECT_EQ(ErrorOf(by_file), kInvalidParams);
    EXPECT_EQ(by_file["error"]["message"], "file:1:1: version: is missing; write 1");
    const Fd same = File("name: x\n", O_RDONLY);
    EXPECT_EQ(Ask(method, {{"file_name", "/etc/suede/left.yaml"}}, same.get())["error"]["message"],
              "/etc/suede/left.yaml:1:1: version: is missing; write 1");
    EXPECT_EQ(Ask(method, {{"yaml", "x"}})["error"]["message"],
              "yaml:1:1: version: is missing; write 1");
  }
}

TEST_F(ChangesTest, OneSourceAndNoOther) {
  const Fd file = File(kGood, O_RDONLY);
  for (const char* method : {"config.check", "config.load"}) {
    EXPECT_EQ(Ask(method, Json::object())["error"]["message"],
              "no configuration; give yaml or a file");
    EXPECT_EQ(Ask(method, {{"yaml", kGood}}, file.get())["error"]["message"],
              "both yaml and a file; give one of them");
  }
}

// No file that could keep the daemon waiting.
TEST_F(ChangesTest, OnlyRegularFilesThatCanBeReadOrWritten) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]), writing(ends[1]);
  const Fd only_written = File(kGood, O_WRONLY);
  const Fd only_read = File("", O_RDONLY);
  for (const char* method : {"config.check", "config.load"}) {
    EXPECT_EQ(Ask(method, Json::object(), reading.get())["error"]["message"],
              "file: is no regular file, or of a file system that a program serves (FUSE); "
              "pass another");
    EXPECT_EQ(ErrorOf(Ask(method, Json::object(), only_written.get())), kInvalidParams);
  }
  EXPECT_EQ(ErrorOf(Ask("config.save", Json::object(), writing.get())), kInvalidParams);
  EXPECT_EQ(ErrorOf(Ask("config.save", Json::object(), only_read.get())), kInvalidParams);
  EXPECT_EQ(ErrorOf(Ask("config.save", Json::object())), kInvalidParams);
}

TEST_F(ChangesTest, SaveReplacesWhatIsInTheFile) {
  const Fd file = File(std::string(2000, 'x'));
  EXPECT_EQ(Ask("config.save", Json::object(), file.get())["result"]["bytes"],
            bench.endpoint.config.size());
  EXPECT_EQ(Contents(file), bench.endpoint.config);
}

TEST_F(ChangesTest, RegistersAreListed) {
  const Json list = Ask("reg.list", Json::object())["result"]["registers"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(
      Dump(list[1]),
      R"({"name":"b.N.rw","address":"0x000010","stride":8,"count":2,"width":32,"access":"RW",)"
      R"("effect":"at once","reset":"5","unit":"s","sentence":"Two."})");
  EXPECT_TRUE(list[0]["effect"].is_null() && list[0]["reset"].is_null());
}

TEST_F(ChangesTest, RegistersAreReadWithAll64Bits) {
  const Json one = Ask("reg.read", {{"register", "a.ro"}})["result"]["registers"];
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["value"].get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Ask("reg.read", {{"register", "0x0"}, {"count", 2}})["result"]["registers"].size(), 2u);
  EXPECT_EQ(ErrorOf(Ask("reg.read", {{"register", "z"}})), kNotFound);
  EXPECT_EQ(ErrorOf(Ask("reg.read", Json::object())), kInvalidParams);
  EXPECT_EQ(ErrorOf(Ask("reg.read", {{"register", "a.ro"}, {"count", 0}})), kInvalidParams);
}

TEST_F(ChangesTest, RegistersAreWritten) {
  EXPECT_EQ(Dump(Ask("reg.write", {{"register", "b.0.rw"}, {"value", 9}})["result"]),
            R"({"name":"b.0.rw","address":"0x000010","width":32,"value":9})");
  EXPECT_EQ(bench.endpoint.rw, 9u);
  EXPECT_EQ(ErrorOf(Ask("reg.write", {{"register", "a.ro"}, {"value", 9}})), kNotPermitted);
  EXPECT_EQ(ErrorOf(Ask("reg.write", {{"register", "b.0.rw"}})), kInvalidParams);
  EXPECT_EQ(ErrorOf(Ask("reg.write", {{"register", "b.0.rw"}, {"value", -1}})), kInvalidParams);
}

// A client that goes while its change is under way takes nothing with it.
TEST_F(ChangesTest, ChangesOutliveTheConnectionThatAskedForThem) {
  {
    TestClient other(bench);
    ASSERT_TRUE(other.Send(Line("config.load", {{"yaml", kGood}}) + "\n"));
    other.Close();
  }
  EXPECT_EQ(Ask("version", Json::object())["result"]["name"], "left");
}

}  // namespace
}  // namespace suede
