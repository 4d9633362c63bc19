// SPDX-License-Identifier: Apache-2.0
#include "daemon/logger.h"

#include <signal.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "daemon/log_line.h"

namespace suede {
namespace {

constexpr uint32_t kLinesPerSecond = 50;

// In the order of EalLogLevel, and in the reverse order of LogConfig::Level.
constexpr spdlog::level::level_enum kSpdLevels[] = {spdlog::level::err, spdlog::level::warn,
                                                    spdlog::level::info, spdlog::level::debug};

spdlog::level::level_enum ToLevel(EalLogLevel level) {
  return kSpdLevels[static_cast<size_t>(level)];
}

spdlog::level::level_enum ToLevel(LogConfig::Level level) {
  return kSpdLevels[3 - static_cast<size_t>(level)];
}

// Whether stderr is systemd's journal.
bool IsToJournal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  return stream != nullptr && fstat(STDERR_FILENO, &file) == 0 &&
         StrCat(file.st_dev, ":", file.st_ino) == stream;
}

// Prefixes a line with its priority for the journal: sd-daemon(3).
class JournalPriority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string_view priority = message.level == spdlog::level::err    ? "<3>"
                                      : message.level == spdlog::level::warn ? "<4>"
                                      : message.level == spdlog::level::info ? "<6>"
                                                                             : "<7>";
    out.append(priority.data(), priority.data() + priority.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalPriority>();
  }
};

std::unique_ptr<spdlog::formatter> NewFormatter(LogConfig::Format format) {
  std::string pattern = IsToJournal() ? "%*" : "";
  pattern += format == LogConfig::Format::kJson
                 ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})"
                 : "%Y-%m-%dT%H:%M:%S.%fZ %l %v";
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JournalPriority>('*').set_pattern(std::move(pattern));
  return formatter;
}

std::string Format(spdlog::formatter& formatter, const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t text;
  formatter.format(message, text);
  return std::string(text.data(), text.size());
}

class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit WriterSink(LogWriter* writer) : writer_(writer) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    writer_->Post(Format(*formatter_, message));
  }
  void flush_() override {}

  LogWriter* const writer_;
};

// The writer of the process's log, for the signal handler.
std::atomic<const LogWriter*> the_writer{nullptr};

// Flushes the log, so that it contains the reason for the abort.
void OnAbort(int /*signal*/) {
  if (const LogWriter* const writer = the_writer.load()) writer->Flush();
}

std::string JsonText(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Returns the rest of a JSON line after time and level: the line's fields become members.
std::string JsonMembers(std::string_view component, std::string_view line, uint64_t suppressed) {
  const LogLine split = SplitLogLine(line);
  std::string out = StrCat(R"("component":)", JsonText(component), R"(,"message":)",
                           JsonText(split.words), R"(,"suppressed":)", suppressed);
  constexpr std::string_view kTaken[] = {"time", "level", "component", "message", "suppressed"};
  std::set<std::string_view> names(std::begin(kTaken), std::end(kTaken));
  for (const auto& [name, value] : split.fields) {
    std::string member(name);
    if (!names.insert(name).second) continue;  // each name once
    StrAppend(&out, ",", JsonText(member), ":",
              std::visit([](const auto& v) { return JsonText(v); }, value));
  }
  return out;
}

}  // namespace

Logger::Logger(const LogConfig& config) : config_(config), level_(config.level) {
  const auto report = [format = config.format,
                       formatter = std::shared_ptr(NewFormatter(config.format))](uint64_t dropped) {
    const std::string line =
        StrCat("lines dropped: the reader of the log was too slow dropped=", dropped);
    const std::string text =
        format == LogConfig::Format::kJson ? JsonMembers("log", line, 0) : StrCat("log: ", line);
    return Format(*formatter, {"suede", spdlog::level::warn, text});
  };
  writer_ = std::make_unique<LogWriter>(LogWriterOptions{.fd = STDERR_FILENO, .report = report});
  logger_ = std::make_unique<spdlog::logger>("suede", std::make_shared<WriterSink>(writer_.get()));
  logger_->set_level(ToLevel(config.level));
  logger_->set_formatter(NewFormatter(config.format));
  the_writer.store(writer_.get());
  signal(SIGABRT, OnAbort);
}

Logger::~Logger() {
  signal(SIGABRT, SIG_DFL);
  the_writer.store(nullptr);
}

void Logger::SetLevel(LogConfig::Level level) {
  level_.store(level, std::memory_order_relaxed);
  logger_->set_level(ToLevel(level));
}

void Logger::Write(EalLogLevel level, std::string_view component, std::string_view line) {
  // Checked before the budget, which counts only written lines.
  if (ToLevel(level) < ToLevel(this->level())) return;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  uint64_t suppressed = 0;
  if (!Allow(component, std::chrono::duration_cast<std::chrono::seconds>(now).count(),
             suppressed)) {
    return;
  }
  if (config_.format == LogConfig::Format::kJson) {
    logger_->log(ToLevel(level), "{}", JsonMembers(component, line, suppressed));
  } else if (suppressed != 0) {
    logger_->log(ToLevel(level), "{}: {} suppressed={}", component, line, suppressed);
  } else {
    logger_->log(ToLevel(level), "{}: {}", component, line);
  }
}

bool Logger::Allow(std::string_view component, int64_t second, uint64_t& suppressed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto it = budgets_.find(component);
  if (it == budgets_.end()) it = budgets_.emplace(std::string(component), Budget()).first;
  Budget& budget = it->second;
  if (budget.second != second) {
    budget.second = second;
    budget.lines = 0;
  }
  if (++budget.lines > kLinesPerSecond) {
    ++budget.suppressed;
    return false;
  }
  suppressed = budget.suppressed;
  budget.suppressed = 0;
  return true;
}

}  // namespace suede
