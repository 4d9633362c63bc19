// SPDX-License-Identifier: Apache-2.0
// The writer of the log against readers of a pipe that stop, read late, or go away.
#include "daemon/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

namespace suede {
namespace {

using std::chrono::steady_clock;

class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() {
    signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe(pipe_), 0);
    fcntl(pipe_[1], F_SETPIPE_SZ, 4096);
    writer_ = std::make_unique<LogWriter>(LogWriterOptions{
        .fd = pipe_[1], .queue_bytes = kQueueBytes, .report = [](uint64_t dropped) {
          return "dropped " + std::to_string(dropped) + "\n";
        }});
  }
  ~LogWriterTest() override {
    Close(0);
    writer_.reset();
    Close(1);
  }

  void Close(int end) {
    if (pipe_[end] >= 0) close(pipe_[end]);
    pipe_[end] = -1;
  }
  static std::string Line(int number) {
    std::string line = "line " + std::to_string(number);
    line.resize(99, '.');
    return line + "\n";
  }
  // Reads until the text has come.
  std::string ReadUntil(const std::string& text) {
    std::string all;
    pollfd more{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    while (all.find(text) == std::string::npos && poll(&more, 1, 10'000) == 1) {
      char buffer[1000];
      const ssize_t bytes = read(pipe_[0], buffer, sizeof buffer);
      if (bytes <= 0) break;
      all.append(buffer, static_cast<size_t>(bytes));
    }
    return all;
  }
  uint64_t dropped() const { return writer_->counters().dropped.load(); }

  static constexpr size_t kQueueBytes = 20'000;
  int pipe_[2] = {-1, -1};
  std::unique_ptr<LogWriter> writer_;
};

TEST_F(LogWriterTest, WritesInOrder) {
  for (int i = 0; i < 3; ++i) writer_->Post(Line(i));
  EXPECT_EQ(ReadUntil(Line(2)), Line(0) + Line(1) + Line(2));
  EXPECT_EQ(writer_->counters().lines.load(), 3u);
  EXPECT_EQ(dropped(), 0u);
}

TEST_F(LogWriterTest, DoesNotWaitForAReaderThatStops) {
  const auto begin = steady_clock::now();
  constexpr int kLines = 10'000;
  for (int i = 0; i < kLines; ++i) writer_->Post(Line(i));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_GT(dropped(), 9000u);
  EXPECT_EQ(fcntl(pipe_[1], F_GETFL) & O_NONBLOCK, 0) << "others share the descriptor's flags";
  // The reader goes on: it gets the first lines, and how many are missing in their place.
  const std::string report = "dropped " + std::to_string(dropped()) + "\n";
  const std::string all = ReadUntil(report);
  const size_t written = kLines - dropped();
  std::string expected;
  for (size_t i = 0; i < written; ++i) expected += Line(static_cast<int>(i));
  EXPECT_EQ(all, expected + report);
  writer_->Post(Line(kLines));
  EXPECT_EQ(ReadUntil(Line(kLines)), Line(kLines));
  EXPECT_EQ(writer_->counters().lines.load(), kLines + 1u);
}

TEST_F(LogWriterTest, ALineAfterThoseThatWereDroppedFollowsTheirNumber) {
  for (int i = 0; i < 1000; ++i) writer_->Post(Line(i));
  const uint64_t before = dropped();
  std::string all;
  // Makes room without letting the queue become empty.
  while (all.size() < kQueueBytes / 2 + 4096) all += ReadUntil("\n");
  writer_->Post("the next\n");
  all += ReadUntil("the next\n");
  if (dropped() == before) {
    const std::string end = "dropped " + std::to_string(before) + "\nthe next\n";
    EXPECT_EQ(all.substr(all.size() - end.size()), end);
  }
}

TEST_F(LogWriterTest, EndsInTimeBesideAFullPipe) {
  for (int i = 0; i < 1000; ++i) writer_->Post(Line(i));
  const auto begin = steady_clock::now();
  writer_.reset();
  const auto took = steady_clock::now() - begin;
  EXPECT_GE(took, LogWriter::kFlushTime);
  EXPECT_LT(took, LogWriter::kFlushTime * 5);
}

TEST_F(LogWriterTest, TheEndWritesWhatIsQueued) {
  for (int i = 0; i < 20; ++i) writer_->Post(Line(i));
  writer_.reset();
  Close(1);
  EXPECT_EQ(ReadUntil("no such text").size(), 2000u);
}

TEST_F(LogWriterTest, CountsLinesThatNobodyReads) {
  Close(0);
  for (int i = 0; i < 5; ++i) writer_->Post(Line(i));
  writer_->Flush();
  EXPECT_EQ(dropped(), 5u);
}

TEST_F(LogWriterTest, WaitsForRoomWhereOthersHaveMadeTheDescriptorNonBlocking) {
  fcntl(pipe_[1], F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 100; ++i) writer_->Post(Line(i));
  EXPECT_EQ(ReadUntil(Line(99)).size(), 10'000u);
  EXPECT_EQ(dropped(), 0u);
}

}  // namespace
}  // namespace suede
