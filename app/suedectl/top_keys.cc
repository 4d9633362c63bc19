// SPDX-License-Identifier: Apache-2.0
#include "suedectl/top_keys.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace suede::ctl {
namespace {

constexpr char kEscape = 0x1b;
constexpr char kDelete = 0x7f;
constexpr int kPlanes = 4;
constexpr uint32_t kPeersStep = 5;
constexpr uint32_t kMaxPeers = 1000;
constexpr size_t kMaxFilter = 64;

bool HasWord(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || line[at - 1] == ' ') && (end == line.size() || line[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

void TopKeys::On(char key) {
  if (is_typing_) return OnText(key);
  switch (key) {
    case 'q':
      has_quit_ = true;
      break;
    case 's':
      view_.sort = static_cast<TopSort>((static_cast<size_t>(view_.sort) + 1) % kTopSorts.size());
      break;
    case 'f':
      is_typing_ = true;
      typed_ = view_.filter;
      break;
    case 'p':
      view_.plane = view_.plane + 1 < kPlanes ? view_.plane + 1 : -1;
      break;
    case 'c':
      has_colours_ = !has_colours_;
      break;
    case '+':
      view_.peers = std::min(view_.peers + kPeersStep, kMaxPeers);
      break;
    case '-':
      view_.peers -= std::min(view_.peers, kPeersStep);
      break;
    default:
      break;
  }
}

void TopKeys::OnText(char key) {
  if (key == '\n' || key == '\r') {
    view_.filter = typed_;
    is_typing_ = false;
  } else if (key == kEscape) {
    is_typing_ = false;
  } else if (key == kDelete || key == '\b') {
    if (!typed_.empty()) typed_.pop_back();
  } else if (std::isprint(static_cast<unsigned char>(key)) != 0 && typed_.size() < kMaxFilter) {
    typed_ += key;
  }
}

std::string TopKeys::Line(size_t columns) const {
  std::string line =
      is_typing_
          ? StrCat("filter (NAME=VALUE or a part; Enter takes it, Esc does not): ", typed_, "_")
          : StrCat("q quit  s sort=", kTopSorts[static_cast<size_t>(view_.sort)],
                   "  f filter=", view_.filter.empty() ? "none" : view_.filter,
                   "  p plane=", view_.plane < 0 ? "all" : StrCat(view_.plane),
                   "  +- peers=", view_.peers, "  c colour=", has_colours_ ? "on" : "off");
  if (line.size() > columns) line.resize(columns);
  return line;
}

std::string WithColours(const std::string& text) {
  constexpr std::string_view kBold = "\x1b[1m";
  constexpr std::string_view kRed = "\x1b[31m";
  constexpr std::string_view kYellow = "\x1b[33m";
  constexpr std::string_view kPlain = "\x1b[0m";
  std::string out;
  bool is_head = true;
  bool is_drop = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (is_head) is_drop = line.starts_with("drop ");
    const std::string_view colour = line.empty()            ? std::string_view()
                                    : is_head               ? kBold
                                    : is_drop               ? kYellow
                                    : HasWord(line, "down") ? kRed
                                                            : std::string_view();
    StrAppend(&out, out.empty() ? "" : "\n", colour, line, colour.empty() ? "" : kPlain);
    is_head = line.empty();
  }
  return out;
}

std::string FitScreen(const std::string& text, size_t rows, size_t columns) {
  std::string out;
  size_t count = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (count++ == rows) break;
    StrAppend(&out, count == 1 ? "" : "\n", line.substr(0, columns));
  }
  return out;
}

}  // namespace suede::ctl
