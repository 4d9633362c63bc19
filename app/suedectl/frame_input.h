// SPDX-License-Identifier: Apache-2.0
// Text input of the frame commands in pieces of bounded length. A piece that is too long is
// reported and skipped.
#ifndef SUEDE_SUEDECTL_FRAME_INPUT_H_
#define SUEDE_SUEDECTL_FRAME_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace suede::ctl {

// Maximum length in bytes of a line or JSON object. The largest frame is shorter in either form.
inline constexpr size_t kMaxPieceBytes = 1 << 20;

enum class Piece : uint8_t {
  kRead,
  kTooLong,
  kUnfinished,  // the input ends within a JSON array; last piece
  kLeftOver,    // text follows the JSON array; last piece
  kEnd,
};

// Reads characters of a file, and counts lines.
class CharacterReader {
 public:
  explicit CharacterReader(FILE* file) : file_(file) {}
  int Next();  // EOF at the end
  // Skips white space. Returns the next character, without consuming it, or EOF.
  int SkipSpace();
  uint64_t line() const { return line_; }

 private:
  FILE* const file_;
  uint64_t line_ = 1;
  bool line_ended_ = false;
};

// Reads lines, without their newlines.
class LineReader {
 public:
  explicit LineReader(CharacterReader& characters) : characters_(characters) {}
  Piece Next(std::string& line);
  uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  CharacterReader& characters_;
  uint64_t number_ = 0;
};

// Reads JSON texts: the elements of an array if the input begins with '[', otherwise the non-blank
// lines. Elements are split by bracket depth, and may span lines.
class ObjectReader {
 public:
  explicit ObjectReader(FILE* file);
  Piece Next(std::string& text);
  uint64_t number() const { return number_; }  // of the last object, from 1
  uint64_t line() const { return line_; }      // line of its start

 private:
  Piece NextLine(std::string& text);
  Piece NextElement(std::string& text);
  Piece EndArray();

  CharacterReader characters_;
  LineReader lines_;
  bool array_ = false;
  bool closed_ = false;  // the array's ']' was read
  bool ended_ = false;   // reading is finished
  uint64_t number_ = 0;
  uint64_t line_ = 0;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_INPUT_H_
