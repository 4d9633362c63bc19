// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_input.h"

namespace suede::ctl {
namespace {

bool IsSpace(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Appends a character to a piece. Returns false if the piece is full.
bool Append(int c, std::string& text) {
  if (text.size() >= kMaxPieceBytes) return false;
  text += static_cast<char>(c);
  return true;
}

// Tracks the bracket depth of JSON text, even if invalid.
class Nesting {
 public:
  void Take(int c) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
      return;
    }
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') ++depth_;
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
  }
  bool outside() const { return depth_ == 0 && !in_string_; }

 private:
  uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

int CharacterReader::Next() {
  const int c = getc_unlocked(file_);
  if (line_ended_) ++line_;
  line_ended_ = c == '\n';
  return c;
}

int CharacterReader::SkipSpace() {
  int c = getc_unlocked(file_);
  while (IsSpace(c)) {
    if (line_ended_) ++line_;
    line_ended_ = c == '\n';
    c = getc_unlocked(file_);
  }
  if (c != EOF) std::ungetc(c, file_);
  return c;
}

Piece LineReader::Next(std::string& line) {
  line.clear();
  bool fits = true;
  int c = characters_.Next();
  if (c == EOF) return Piece::kEnd;
  number_ = characters_.line();
  for (; c != EOF && c != '\n'; c = characters_.Next()) fits = fits && Append(c, line);
  return fits ? Piece::kRead : Piece::kTooLong;
}

ObjectReader::ObjectReader(FILE* file) : characters_(file), lines_(characters_) {
  array_ = characters_.SkipSpace() == '[';
  if (array_) characters_.Next();
}

Piece ObjectReader::Next(std::string& text) {
  if (ended_) return Piece::kEnd;
  if (closed_) return EndArray();
  return array_ ? NextElement(text) : NextLine(text);
}

Piece ObjectReader::NextLine(std::string& text) {
  if (characters_.SkipSpace() == EOF) return Piece::kEnd;
  const Piece piece = lines_.Next(text);
  ++number_;
  line_ = lines_.number();
  return piece;
}

Piece ObjectReader::NextElement(std::string& text) {
  text.clear();
  const int first = characters_.SkipSpace();
  if (first == ']' && number_ == 0) {
    characters_.Next();
    return EndArray();
  }
  bool fits = true;
  Nesting nesting;
  for (bool start = true;; start = false) {
    const int c = characters_.Next();
    if (start) line_ = characters_.line();
    if (c == EOF) {
      ended_ = true;
      return Piece::kUnfinished;
    }
    if (nesting.outside() && (c == ',' || c == ']')) {
      ++number_;
      if (c == ']') closed_ = true;
      return fits ? Piece::kRead : Piece::kTooLong;
    }
    nesting.Take(c);
    fits = fits && Append(c, text);
  }
}

Piece ObjectReader::EndArray() {
  ended_ = true;
  return characters_.SkipSpace() == EOF ? Piece::kEnd : Piece::kLeftOver;
}

}  // namespace suede::ctl
