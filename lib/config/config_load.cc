// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "config/config_draft.h"
#include "config/config_reader.h"

namespace suede {
namespace {

absl::StatusOr<ConfigOverride> OverrideFromVariable(std::string_view variable,
                                                    const std::vector<ConfigKey>& keys) {
  const size_t equals = variable.find('=');
  const std::string_view name = variable.substr(0, equals);
  ConfigOverride result{.place = StrCat("environment ", name)};
  if (equals == std::string_view::npos) return result;
  result.value = std::string(variable.substr(equals + 1));
  std::vector<std::string_view> known;
  std::string section;  // the longest section of which the name has the prefix
  for (const ConfigKey& key : keys) {
    if (key.path.find("[]") != std::string::npos) continue;
    const std::string spelled =
        StrCat("SUEDE_", absl::AsciiStrToUpper(absl::StrReplaceAll(key.path, {{".", "_"}})));
    if (key.is_section) {
      if (name.starts_with(spelled + "_") && key.path.size() > section.size()) section = key.path;
    } else if (spelled == name) {
      result.path = key.path;
      return result;
    }
  }
  if (section.empty()) return ConfigOverride{};
  for (const ConfigKey& key : keys) {
    if (key.path.starts_with(section + ".") && !key.is_section) known.push_back(key.path);
  }
  return absl::InvalidArgumentError(
      StrCat(result.place, ": ", section, ": no key has this variable; unset it, or take one ",
             "of the keys ", StrJoin(known, ", "), " with _ for the dot"));
}

}  // namespace

MachineFacts MachineFacts::Here() {
  MachineFacts facts;
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > 0) facts.cpu_count = static_cast<uint32_t>(cpus);
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  if (geteuid() != 0 && runtime != nullptr && *runtime == '/') {
    facts.runtime_root = StrCat(runtime, "/suede");
  }
  // systemd.exec(5): RuntimeDirectory= of the unit, or the first of several.
  if (const char* given = getenv("RUNTIME_DIRECTORY"); given != nullptr && *given == '/') {
    const std::string_view list = given;
    facts.runtime_directory = std::string(list.substr(0, list.find(':')));
  }
  return facts;
}

absl::Status ConfigDraft::Error(std::string_view path, std::string_view problem) const {
  std::string_view at = path;
  auto found = places.find(at);
  while (found == places.end() && !at.empty()) {
    const size_t cut = at.find_last_of(".[");
    at = cut == std::string_view::npos ? std::string_view() : at.substr(0, cut);
    found = places.find(at);
  }
  return ConfigError(sources, found == places.end() ? ConfigLocation{} : found->second, path,
                     problem);
}

std::string Entry(std::string_view list, size_t index) { return StrCat(list, "[", index, "]"); }

void Warn(ConfigDraft& draft, std::string_view path, std::string_view problem) {
  draft.warnings.emplace_back(draft.Error(path, problem).message());
}

absl::StatusOr<ConfigOverride> OverrideFromFlag(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        StrCat("flag --set: ", Quoted(assignment),
               ": no assignment; write key.path=value, as in transport.window_pdus=64"));
  }
  return ConfigOverride{.path = std::string(assignment.substr(0, equals)),
                        .value = std::string(assignment.substr(equals + 1)),
                        .place = "flag --set"};
}

absl::StatusOr<std::vector<ConfigOverride>> OverridesFromEnvironment(
    const char* const* environment, const std::vector<ConfigKey>& keys) {
  std::vector<ConfigOverride> result;
  for (; *environment != nullptr; ++environment) {
    if (!std::string_view(*environment).starts_with("SUEDE_")) continue;
    absl::StatusOr<ConfigOverride> found = OverrideFromVariable(*environment, keys);
    if (!found.ok()) return found.status();
    if (!found->path.empty()) result.push_back(*std::move(found));
  }
  return result;
}

absl::StatusOr<std::string> ReadConfigFile(const std::string& path) {
  const auto failed = [&](std::string_view why, std::string_view mend) {
    return absl::InvalidArgumentError(StrCat(path, ": (file): ", why, "; ", mend));
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return failed(StrCat("cannot be opened: ", strerror(errno)),
                  "give the path of a readable file");
  }
  struct stat facts {};
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(fd);
    return failed("not a regular file", "give the path of a file");
  }
  // One byte more than permitted, so that the parser detects a file that is too large.
  std::string text(kMaxConfigBytes + 1, '\0');
  size_t used = 0;
  ssize_t got = 0;
  while (used < text.size() && (got = read(fd, &text[used], text.size() - used)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    used += static_cast<size_t>(got);
  }
  const int error = errno;
  close(fd);
  if (got < 0) return failed(StrCat("cannot be read: ", strerror(error)), "check the disk");
  text.resize(used);
  return text;
}

absl::StatusOr<ConfigNode> ParseTree(std::string_view text, std::string_view file_name,
                                     const std::vector<ConfigOverride>& overrides,
                                     ConfigDraft& draft) {
  draft.sources.file = std::string(file_name);
  for (const ConfigOverride& override_ : overrides) {
    draft.sources.overrides.push_back(override_.place);
  }
  absl::StatusOr<ConfigNode> root = ParseConfigNode(text, draft.sources, 0);
  if (!root.ok()) return root.status();
  uint32_t source = 0;
  for (const ConfigOverride& override_ : overrides) {
    if (absl::Status s = ApplyOverride(override_, draft.sources, ++source, *root); !s.ok())
      return s;
  }
  return root;
}

absl::StatusOr<Config> ParseConfig(std::string_view text, std::string_view file_name,
                                   const MachineFacts& machine,
                                   const std::vector<ConfigOverride>& overrides,
                                   std::vector<std::string>* warnings) {
  ConfigDraft draft;
  absl::StatusOr<ConfigNode> root = ParseTree(text, file_name, overrides, draft);
  if (!root.ok()) return root.status();
  if (absl::Status s = ReadConfig(*root, draft); !s.ok()) return s;
  if (absl::Status s = CheckConfig(machine, draft); !s.ok()) return s;
  if (warnings != nullptr) *warnings = std::move(draft.warnings);
  return std::move(draft.config);
}

absl::StatusOr<Config> LoadConfig(const std::string& path, const MachineFacts& machine,
                                  const std::vector<ConfigOverride>& overrides,
                                  std::vector<std::string>* warnings) {
  absl::StatusOr<std::string> text = ReadConfigFile(path);
  if (!text.ok()) return text.status();
  return ParseConfig(*text, path, machine, overrides, warnings);
}

}  // namespace suede
