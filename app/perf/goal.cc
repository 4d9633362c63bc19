// SPDX-License-Identifier: Apache-2.0
#include "perf/goal.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace suede::perf {
namespace {

constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 40;
constexpr int64_t kMaxNs = int64_t{86400} * 1'000'000'000;  // one day
constexpr uint32_t kMaxRanks = 1024;

struct Token {
  absl::string_view text;
  uint32_t line = 0;
};

// Words, braces, and labels with their colon; comments are left out.
std::vector<Token> TokensOf(absl::string_view text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  for (size_t i = 0; i < text.size();) {
    const absl::string_view rest = text.substr(i);
    if (rest[0] == '\n') ++line;
    if (rest[0] == '#' || absl::StartsWith(rest, "//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (absl::StartsWith(rest, "/*")) {
      const size_t end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
      line += static_cast<uint32_t>(std::count(&text[i], text.data() + end, '\n'));
      i = end;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(rest[0]))) {
      ++i;
    } else if (rest[0] == '{' || rest[0] == '}') {
      tokens.push_back({rest.substr(0, 1), line});
      ++i;
    } else {
      const size_t end = std::min(rest.find_first_of(" \t\r\n{}#:"), rest.size());
      const size_t length = end < rest.size() && rest[end] == ':' ? end + 1 : end;
      tokens.push_back({rest.substr(0, length), line});
      i += length;
    }
  }
  return tokens;
}

struct Operation {
  enum class Kind : uint8_t { kSend, kReceive, kCalculate };
  struct Need {
    size_t operation;
    bool begin;  // irequires: its begin is enough
  };

  Kind kind = Kind::kCalculate;
  uint32_t rank = 0;
  uint32_t peer = 0;
  uint64_t bytes = 0;
  int64_t ns = 0;  // of a calculation
  uint64_t tag = 0;
  uint32_t line = 0;
  std::vector<Need> needs;
  size_t send = SIZE_MAX;  // of a receive: its send
  // The earliest place: a step, and nanoseconds from its begin.
  std::pair<uint32_t, int64_t> at{0, 0};
};
using Kind = Operation::Kind;

class GoalReader {
 public:
  GoalReader(absl::string_view text, absl::string_view place, uint32_t ranks)
      : place_(place), ranks_(ranks), tokens_(TokensOf(text)) {}

  absl::StatusOr<std::vector<Operation>> Read() {
    uint64_t count = 0;
    if (Take("num_ranks") && TakeNumber("number of ranks", 1, kMaxRanks, &count)) {
      if (count > ranks_) {
        Complain(absl::StrCat("num_ranks ", count, ": --ranks names ", ranks_, "; name as many"));
      }
      while (error_.empty() && next_ < tokens_.size()) ReadRank(static_cast<uint32_t>(count));
    }
    if (error_.empty() && operations_.empty()) Complain("no operations; write rank 0 { … }");
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    return std::move(operations_);
  }

 private:
  bool Complain(absl::string_view message, uint32_t line = 0) {
    const size_t last = std::min(next_ == 0 ? 0 : next_ - 1, tokens_.size() - 1);
    if (line == 0) line = tokens_.empty() ? 1 : tokens_[last].line;
    if (error_.empty()) error_ = absl::StrCat(place_, ":", line, ": ", message);
    return false;
  }
  absl::string_view Peek() const {
    return next_ < tokens_.size() ? tokens_[next_].text : absl::string_view();
  }
  absl::string_view Next() {
    const absl::string_view text = Peek();
    ++next_;
    return text;
  }
  bool Take(absl::string_view word) {
    const absl::string_view text = Next();
    return text == word || Complain(absl::StrCat("\"", text, "\": write ", word));
  }
  bool TakeNumber(absl::string_view name, uint64_t min, uint64_t max, uint64_t* out,
                  absl::string_view suffix = "") {
    const absl::string_view text = Next();
    absl::string_view digits = text;
    const bool has_suffix = absl::EndsWith(digits, suffix);
    if (has_suffix) digits.remove_suffix(suffix.size());
    if (has_suffix && absl::SimpleAtoi(digits, out) && *out >= min && *out <= max) return true;
    return Complain(absl::StrCat(name, " \"", text, "\": give ", min, suffix, " to ", max, suffix));
  }

  void ReadRank(uint32_t count) {
    uint64_t rank = 0;
    if (!Take("rank") || !TakeNumber("rank", 0, count - 1, &rank) || !Take("{")) return;
    labels_.clear();
    pending_.clear();
    while (error_.empty() && Peek() != "}") {
      if (next_ >= tokens_.size()) return void(Complain("rank without an end; write }"));
      ReadStatement(static_cast<uint32_t>(rank), count);
    }
    ++next_;
    Resolve();
  }

  // [LABEL:] send|recv|calc …, or LABEL requires|irequires LABEL.
  void ReadStatement(uint32_t rank, uint32_t count) {
    absl::string_view word = Next();
    absl::string_view label;
    if (absl::EndsWith(word, ":")) {
      label = word.substr(0, word.size() - 1);
      word = Next();
    }
    if (word != "send" && word != "recv" && word != "calc") {
      if (!label.empty()) {
        return void(Complain(absl::StrCat("\"", word, "\": write send, recv or calc")));
      }
      return ReadNeed(word);
    }
    if (!label.empty() && !labels_.emplace(label, operations_.size()).second) {
      return void(Complain(absl::StrCat("label ", label, " is there twice; rename one")));
    }
    Operation operation{.rank = rank, .line = tokens_[next_ - 1].line};
    if (word == "calc") {
      uint64_t ns = 0;
      if (!TakeNumber("calc", 0, kMaxNs, &ns)) return;
      operation.ns = static_cast<int64_t>(ns);
    } else if (!ReadTransfer(word, count, operation)) {
      return;
    }
    while (Peek() == "tag" || Peek() == "cpu" || Peek() == "nic") {
      const absl::string_view name = Next();
      uint64_t value = 0;
      if (!TakeNumber(name, 0, UINT32_MAX, &value)) return;
      if (name == "tag") operation.tag = value;
    }
    operations_.push_back(std::move(operation));
  }

  bool ReadTransfer(absl::string_view word, uint32_t count, Operation& operation) {
    operation.kind = word == "send" ? Kind::kSend : Kind::kReceive;
    uint64_t peer = 0;
    if (!TakeNumber("size", 0, kMaxMessageBytes, &operation.bytes, "b") ||
        !Take(word == "send" ? "to" : "from") || !TakeNumber("rank", 0, count - 1, &peer)) {
      return false;
    }
    operation.peer = static_cast<uint32_t>(peer);
    if (operation.peer == operation.rank) {
      return Complain("a rank sends nothing to itself: remove the operation");
    }
    // A message without data is one nevertheless.
    operation.bytes = std::max<uint64_t>(operation.bytes, 1);
    return true;
  }

  void ReadNeed(absl::string_view label) {
    const uint32_t line = tokens_[next_ - 1].line;
    const absl::string_view word = Next();
    if (word != "requires" && word != "irequires") {
      return void(Complain(absl::StrCat("\"", label, " ", word,
                                        "\": write LABEL: send, recv or calc, or LABEL requires "
                                        "LABEL"),
                           line));
    }
    pending_.push_back({label, Next(), word == "irequires", line});
  }

  void Resolve() {
    for (const Pending& need : pending_) {
      for (const absl::string_view label : {need.later, need.earlier}) {
        if (labels_.contains(label)) continue;
        return void(Complain(absl::StrCat("label ", label,
                                          " is not there; write it before an "
                                          "operation of this rank"),
                             need.line));
      }
      operations_[labels_[need.later]].needs.push_back({labels_[need.earlier], need.begin});
    }
  }

  struct Pending {
    absl::string_view later, earlier;
    bool begin;
    uint32_t line;
  };

  const absl::string_view place_;
  const uint32_t ranks_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  std::string error_;
  std::vector<Operation> operations_;
  std::map<absl::string_view, size_t> labels_;  // of the rank
  std::vector<Pending> pending_;                // of the rank
};

absl::Status Wrong(absl::string_view place, const Operation& operation, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(place, ":", operation.line, ": ", message));
}

// Finds the send of each receive: those of one pair of ranks and one tag match in their order.
absl::Status Match(absl::string_view place, std::vector<Operation>& operations) {
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::deque<size_t>> sends;
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& each = operations[i];
    if (each.kind == Kind::kSend) sends[{each.rank, each.peer, each.tag}].push_back(i);
  }
  for (Operation& each : operations) {
    if (each.kind != Kind::kReceive) continue;
    std::deque<size_t>& queue = sends[{each.peer, each.rank, each.tag}];
    if (queue.empty()) {
      return Wrong(place, each,
                   absl::StrCat("rank ", each.peer,
                                " has no send for this recv; add "
                                "one with its tag"));
    }
    each.send = queue.front();
    queue.pop_front();
    const Operation& send = operations[each.send];
    if (send.bytes != each.bytes) {
      return Wrong(place, each,
                   absl::StrCat("recv of ", each.bytes, " bytes, and its send in line ", send.line,
                                " has ", send.bytes, "; give one size"));
    }
  }
  for (const auto& [_, queue] : sends) {
    if (queue.empty()) continue;
    const Operation& send = operations[queue.front()];
    return Wrong(place, send,
                 absl::StrCat("rank ", send.peer,
                              " has no recv for this send; add "
                              "one with its tag"));
  }
  return absl::OkStatus();
}

// Returns the place at which an operation lets those go on that need it.
std::pair<uint32_t, int64_t> After(const Operation& operation, bool begin) {
  if (begin) return operation.at;
  if (operation.kind == Kind::kCalculate) {
    return {operation.at.first, operation.at.second + operation.ns};
  }
  return {operation.at.first + 1, 0};
}

// Gives each operation its place, in the order of the needs. A receive is in no earlier step than
// its send, so ranks that wait in a step wait for steps that others have begun.
absl::Status Place(absl::string_view place, std::vector<Operation>& operations) {
  std::vector<std::vector<size_t>> later(operations.size());
  std::vector<size_t> missing(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    for (const auto& need : operations[i].needs) later[need.operation].push_back(i);
    if (operations[i].send != SIZE_MAX) later[operations[i].send].push_back(i);
    missing[i] = operations[i].needs.size() + (operations[i].send != SIZE_MAX ? 1 : 0);
  }
  std::deque<size_t> ready;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  size_t placed = 0;
  for (; !ready.empty(); ready.pop_front(), ++placed) {
    Operation& each = operations[ready.front()];
    for (const auto& need : each.needs) {
      each.at = std::max(each.at, After(operations[need.operation], need.begin));
    }
    if (each.send != SIZE_MAX) {
      each.at = std::max(each.at, {operations[each.send].at.first, int64_t{0}});
    }
    if (each.at.first >= kMaxSteps) {
      return Wrong(place, each,
                   absl::StrCat("more than ", kMaxSteps,
                                " operations need each other "
                                "in turn; cut the trace"));
    }
    for (const size_t i : later[ready.front()]) {
      if (--missing[i] == 0) ready.push_back(i);
    }
  }
  if (placed == operations.size()) return absl::OkStatus();
  const auto stuck = std::find_if(missing.begin(), missing.end(), [](size_t n) { return n != 0; });
  return Wrong(place, operations[static_cast<size_t>(stuck - missing.begin())],
               "operations wait for each other in a circle; remove a requires");
}

// A rank counts what a pair's sends bring in their order: a receive takes all that was sent before.
void TakeInOrder(std::vector<TraceRow>& rows) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<TraceRow*>> pairs;
  for (TraceRow& row : rows) {
    if (!row.IsCalculation()) pairs[{row.source, row.destination}].push_back(&row);
  }
  for (auto& [_, of_pair] : pairs) {
    std::stable_sort(of_pair.begin(), of_pair.end(), [](const TraceRow* a, const TraceRow* b) {
      return std::tie(a->step, a->at) < std::tie(b->step, b->at);
    });
    uint32_t min = UINT32_MAX;
    for (auto row = of_pair.rbegin(); row != of_pair.rend(); ++row) {
      min = std::min(min, (*row)->taken);
      (*row)->taken = min;
    }
  }
}

}  // namespace

bool IsGoal(absl::string_view text) {
  const std::vector<Token> tokens = TokensOf(text.substr(0, 4096));
  return !tokens.empty() && tokens.front().text == "num_ranks";
}

absl::StatusOr<std::vector<TraceRow>> ParseGoal(absl::string_view text, absl::string_view place,
                                                uint32_t ranks) {
  auto read = GoalReader(text, place, ranks).Read();
  if (!read.ok()) return read.status();
  std::vector<Operation> operations = *std::move(read);
  if (absl::Status status = Match(place, operations); !status.ok()) return status;
  if (absl::Status status = Place(place, operations); !status.ok()) return status;
  std::vector<TraceRow> rows;
  for (const Operation& each : operations) {
    if (each.kind == Kind::kCalculate && each.ns != 0) {
      rows.push_back({.at = Duration(each.at.second + each.ns),
                      .source = each.rank,
                      .destination = each.rank,
                      .step = each.at.first,
                      .taken = each.at.first});
    } else if (each.kind == Kind::kReceive) {
      const Operation& send = operations[each.send];
      rows.push_back({.at = Duration(send.at.second),
                      .source = send.rank,
                      .destination = each.rank,
                      .bytes = send.bytes,
                      .step = send.at.first,
                      .taken = each.at.first});
    }
  }
  if (rows.empty()) return absl::InvalidArgumentError(absl::StrCat(place, ": no operations"));
  TakeInOrder(rows);
  return rows;
}

}  // namespace suede::perf
