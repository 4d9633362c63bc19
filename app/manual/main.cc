// SPDX-License-Identifier: Apache-2.0
// suede-manual: generates the manual pages and the completion of programs from the declarations
// that the programs themselves use. Run by the build; not installed.
//
//   suede-manual page TEMPLATE            the page, for scdoc
//   suede-manual completion PROGRAM       a script for bash
//   suede-manual completion-zsh PROGRAM   a script for zsh
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "fragments.h"

namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "suede-manual: %s\n", message.c_str());
  return 1;
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

int PrintPage(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(path + " cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  const std::optional<std::string> page =
      suede::manual::FillIn(text.str(), DirectoryOf(path) + "../../include/suede");
  if (!page) return Fail(path + " names an unknown fragment or header");
  std::fputs(page->c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what == "page") return PrintPage(argv[2]);
  if (what != "completion" && what != "completion-zsh") {
    return Fail("usage: suede-manual page TEMPLATE | completion PROGRAM | completion-zsh PROGRAM");
  }
  const auto shell =
      what == "completion" ? suede::manual::Shell::kBash : suede::manual::Shell::kZsh;
  const std::string script = suede::manual::FlagCompletion(argv[2], shell);
  if (script.empty()) return Fail(std::string("no flags of ") + argv[2]);
  std::fputs(script.c_str(), stdout);
  return 0;
}
