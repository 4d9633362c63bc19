// Sockets, directories, and other processes that hold them.
#include "preflight/check_files.h"

#include "base/text.h"

namespace suede {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void CheckSocket(const Machine& machine, const std::string& key, const std::string& path,
                 std::vector<Finding>& findings) {
  CheckDirectoryOf(machine, key, path, true, findings);
  const FileFacts file = machine.File(path);
  if (file.kind == FileFacts::Kind::kAbsent) return;
  if (file.kind != FileFacts::Kind::kSocket) {
    findings.push_back({.problem = StrCat(key, ": another kind of file is at ", path),
                        .mend = StrCat("rm ", path)});
  } else if (machine.IsServed(path)) {
    findings.push_back({.problem = StrCat(key, ": a program listens at ", path),
                        .mend = "stop it (suedectl drain, where it is a suede), or give this "
                                "endpoint another name"});
  }
}

}  // namespace

void CheckDirectoryOf(const Machine& machine, const std::string& key, const std::string& path,
                      bool made_as_needed, std::vector<Finding>& findings) {
  const std::string wanted = ParentOf(path);
  std::string nearest = wanted;
  FileFacts facts = machine.File(nearest);
  while (made_as_needed && facts.kind == FileFacts::Kind::kAbsent && nearest != "/" &&
         nearest != ".") {
    nearest = ParentOf(nearest);
    facts = machine.File(nearest);
  }
  if (facts.kind == FileFacts::Kind::kDirectory && facts.writable) return;
  const std::string make = StrCat("install -d -o ", machine.User(), " ", wanted);
  if (facts.kind == FileFacts::Kind::kAbsent) {
    findings.push_back(
        {.problem = StrCat(key, ": the directory ", wanted, " is not there"), .mend = make});
  } else if (facts.kind != FileFacts::Kind::kDirectory) {
    findings.push_back({.problem = StrCat(key, ": ", nearest, " is no directory"),
                        .mend = StrCat("rm ", nearest, " && ", make)});
  } else {
    findings.push_back({.problem = StrCat(key, ": ", machine.User(), " may not write to ", nearest),
                        .mend = make});
  }
}

void CheckSockets(const PreflightSubject& s, std::vector<Finding>& findings) {
  CheckSocket(s.machine, "clients.socket", s.config.clients.socket, findings);
  CheckSocket(s.machine, "management.socket", s.config.management.socket, findings);
}

void CheckFilePrefix(const PreflightSubject& s, std::vector<Finding>& findings) {
  const std::string prefix = "suede_" + s.config.name;
  const pid_t holder = s.machine.PrefixHolder(prefix);
  if (holder == 0) return;
  findings.push_back(
      {.problem = StrCat("name: process ", holder, " runs with the EAL file prefix ", prefix),
       .mend = StrCat("stop it (kill ", holder, "), or give this endpoint another name")});
}

}  // namespace suede
