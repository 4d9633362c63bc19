// SPDX-License-Identifier: Apache-2.0
// Text input of the frame commands, piece by piece, each piece bounded: a piece that is too long
// is reported and passed over, and the next one is read.
#ifndef SUEDE_SUEDECTL_FRAME_INPUT_H_
#define SUEDE_SUEDECTL_FRAME_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace suede::ctl {

// Bytes of a line or JSON object. The largest frame has fewer in either form.
inline constexpr size_t kMaxPieceBytes = 1 << 20;

enum class Piece : uint8_t {
  kRead,
  kTooLong,
  kUnfinished,  // a JSON array that the input ends in; nothing follows
  kLeftOver,    // something behind a JSON array; nothing follows
  kEnd,
};

// Characters of a file, with the number of the line that the last one stood in.
class CharacterReader {
 public:
  explicit CharacterReader(FILE* file) : file_(file) {}
  int Next();  // or EOF
  // Gives the first character that is no white space, which Next will give too.
  int SkipSpace();
  uint64_t line() const { return line_; }

 private:
  FILE* const file_;
  uint64_t line_ = 1;
  bool line_ended_ = false;
};

// Lines without their ends.
class LineReader {
 public:
  explicit LineReader(CharacterReader& characters) : characters_(characters) {}
  Piece Next(std::string& line);
  uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  CharacterReader& characters_;
  uint64_t number_ = 0;
};

// JSON texts: the lines that are not blank, or the elements of an array where the input starts as
// one. Elements are told apart by their brackets, and may span lines.
class ObjectReader {
 public:
  explicit ObjectReader(FILE* file);
  Piece Next(std::string& text);
  uint64_t number() const { return number_; }  // of the last object, from 1
  uint64_t line() const { return line_; }      // where it starts

 private:
  Piece NextLine(std::string& text);
  Piece NextElement(std::string& text);
  Piece EndArray();

  CharacterReader characters_;
  LineReader lines_;
  bool array_ = false;
  bool closed_ = false;  // the array's end was read
  bool ended_ = false;   // nothing more is read
  uint64_t number_ = 0;
  uint64_t line_ = 0;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_INPUT_H_
