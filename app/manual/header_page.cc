// SPDX-License-Identifier: Apache-2.0
#include "header_page.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "scdoc.h"

namespace suede::manual {
namespace {

using Lines = std::vector<std::string>;

// A comment and the declaration below it; either may be empty.
struct Item {
  Lines comment;
  Lines code;
};

int BracesOf(std::string_view line) {
  return static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
}

std::string_view Trimmed(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

// Returns the position of a function's body, or of the initializers before it; npos: none.
size_t BodyAt(std::string_view line) {
  const size_t initializers = line.find(") : ");
  if (initializers != std::string_view::npos) return initializers + 1;
  for (size_t at = line.find(" {"); at != std::string_view::npos; at = line.find(" {", at + 1)) {
    const std::string_view before = line.substr(0, at);
    for (const std::string_view end : {")", " const", " noexcept", " override"}) {
      if (before.ends_with(end)) return at;
    }
  }
  return std::string_view::npos;
}

bool IsType(std::string_view line) {
  for (const std::string_view word : {"class ", "struct ", "enum ", "typedef "}) {
    if (Trimmed(line).starts_with(word)) return true;
  }
  return false;
}

// Returns the declaration without private members and bodies.
Lines Shaped(const Lines& code) {
  Lines out;
  int skipped = 0;  // braces of the body that is left out
  for (const std::string& line : code) {
    if (skipped > 0) {
      skipped += BracesOf(line);
      continue;
    }
    if (Trimmed(line) == "private:") {
      while (!out.empty() && out.back().empty()) out.pop_back();
      out.emplace_back("};");
      return out;
    }
    const bool is_initializer = Trimmed(line).starts_with(": ");
    if (is_initializer && !out.empty()) {
      out.back() += ";";
      skipped = BracesOf(line);
    } else if (const size_t body = BodyAt(line); body != std::string::npos && !IsType(line)) {
      out.push_back(line.substr(0, body) + ";");
      skipped = BracesOf(line);
    } else {
      out.push_back(line);
    }
  }
  return out;
}

// Returns the text of a comment's line without its marks.
std::string Uncommented(std::string_view line) {
  if (Trimmed(line) == "*/") return "";
  for (const std::string_view mark : {"/* ", "//", " * ", " *"}) {
    if (!line.starts_with(mark)) continue;
    line.remove_prefix(mark.size());
    break;
  }
  if (line.ends_with("*/")) line.remove_suffix(2);
  while (line.ends_with(' ')) line.remove_suffix(1);
  if (line.starts_with(' ') && !line.starts_with("  ")) line.remove_prefix(1);
  return std::string(line);
}

// Splits a header into its items, without what serves the compiler alone.
class Reader {
 public:
  explicit Reader(std::string_view header) {
    for (const std::string_view line : Split(header, '\n')) Read(line);
    Flush();
  }
  const std::vector<Item>& items() const { return items_; }

 private:
  void Read(std::string_view line) {
    if (depth_ > 0 || in_declaration_) return ReadCode(line);
    if (in_comment_ || line.starts_with("/*") || line.starts_with("//")) return ReadComment(line);
    if (line.starts_with("#define ") && line.find(' ', 8) != std::string_view::npos &&
        line.find("_API ") == std::string_view::npos) {
      item_.code.emplace_back(line);
    } else if (line.empty()) {
      Flush();
    } else if (line[0] != '#' && line[0] != '}' && !line.starts_with("extern \"C\"") &&
               !line.starts_with("namespace ")) {
      ReadCode(line);
    }
  }

  void ReadComment(std::string_view line) {
    if (!item_.code.empty()) Flush();
    if (line.find("SPDX") == std::string_view::npos) item_.comment.push_back(Uncommented(line));
    in_comment_ = !line.starts_with("//") && !line.ends_with("*/");
  }

  void ReadCode(std::string_view line) {
    constexpr std::string_view kApi = "SUEDE_API ";
    if (line.starts_with(kApi)) line.remove_prefix(kApi.size());
    item_.code.emplace_back(line);
    depth_ += BracesOf(line);
    const std::string_view code = Trimmed(line.substr(0, line.find("/*")));
    in_declaration_ = depth_ > 0 || !(code.ends_with(";") || code.ends_with("}"));
  }

  void Flush() {
    if (!item_.comment.empty() || !item_.code.empty()) items_.push_back(std::move(item_));
    item_ = {};
  }

  std::vector<Item> items_;
  Item item_;
  int depth_ = 0;
  bool in_comment_ = false;
  bool in_declaration_ = false;
};

std::string Literal(const Lines& lines) {
  return StrCat("```\n", StrJoin(lines, "\n"), "\n```\n\n");
}

// Returns paragraphs; lines that are indented stay as they are.
std::string Paragraphs(const Lines& comment) {
  std::string out, paragraph;
  Lines literal;
  const auto flush = [&] {
    if (!paragraph.empty()) StrAppend(&out, Plain(paragraph), "\n\n");
    if (!literal.empty()) out += Literal(literal);
    paragraph.clear();
    literal.clear();
  };
  for (const std::string& line : comment) {
    if (line.empty() || line.starts_with("  ") != !literal.empty()) flush();
    if (line.starts_with("  "))
      literal.push_back(line);
    else if (!line.empty())
      StrAppend(&paragraph, paragraph.empty() ? "" : " ", line);
  }
  flush();
  return out;
}

// Returns the name in a comment that divides the header ("---- Sending ----"); empty: another one.
std::string HeadingOf(const Item& item) {
  constexpr std::string_view kMark = "---- ";
  if (!item.code.empty() || item.comment.size() != 1) return "";
  const std::string& text = item.comment[0];
  if (!text.starts_with(kMark) || !text.ends_with(" ----")) return "";
  return text.substr(kMark.size(), text.size() - 2 * kMark.size());
}

}  // namespace

std::string HeaderAbout(std::string_view header) {
  const Reader reader(header);
  return reader.items().empty() ? "" : Paragraphs(reader.items().front().comment);
}

std::string HeaderPage(std::string_view header) {
  const Reader reader(header);
  std::string out;
  bool is_first = true;
  for (const Item& item : reader.items()) {
    if (std::exchange(is_first, false) && item.code.empty()) continue;
    if (const std::string heading = HeadingOf(item); !heading.empty()) {
      StrAppend(&out, "## ", Plain(heading), "\n\n");
      continue;
    }
    if (!item.code.empty()) out += Literal(Shaped(item.code));
    out += Paragraphs(item.comment);
  }
  return out;
}

}  // namespace suede::manual
