// SPDX-License-Identifier: Apache-2.0
// Checks of sockets, directories, and other processes that use them.
#include "preflight/check_files.h"

#include <algorithm>
#include <optional>

#include "base/listen_address.h"
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
  CheckPlaceOfSocket(machine, key, path, findings);
}

}  // namespace

void CheckPlaceOfSocket(const Machine& machine, const std::string& key, const std::string& path,
                        std::vector<Finding>& findings) {
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

void CheckHttp(const PreflightSubject& s, std::vector<Finding>& findings) {
  const std::string& text = s.config.management.http_address;
  const std::optional<ListenAddress> address = ParseListenAddress(text);
  if (text.empty() || !address || address->port == 0) return;
  const std::string why = s.machine.ListenError(*address);
  if (why.empty()) return;
  findings.push_back({.problem = StrCat("management.http_address: ", address->text(), ": ", why),
                      .mend = "choose another port or address; ss -ltnp shows the listeners"});
}

void CheckSealing(const PreflightSubject& s, std::vector<Finding>& findings) {
  const auto seals = [](const InstanceConfig& instance) {
    return instance.sealing != InstanceConfig::Sealing::kOff;
  };
  if (std::none_of(s.config.instances.begin(), s.config.instances.end(), seals)) return;
  for (const std::string& fault : s.machine.SealingFaults(s.config.sealing)) {
    const size_t mend = fault.rfind("; ");
    findings.push_back(
        {.problem = fault.substr(0, mend),
         .mend = mend == std::string::npos ? "see docs/sealing.md" : fault.substr(mend + 2)});
  }
}

void CheckDescriptors(const PreflightSubject& s, std::vector<Finding>& findings) {
  // Descriptors of DPDK's pipes, logs and devices, and of the endpoint's own sockets and timers.
  constexpr uint64_t kOfEndpoint = 56;
  constexpr uint64_t kOfLcore = 4;
  constexpr uint64_t kOfPort = 8;
  constexpr uint64_t kOfClient = 8;  // socket, segment, and a notifier for each queue
  const Config& config = s.config;
  const uint64_t limit = s.machine.DescriptorLimit();
  const uint64_t start =
      kOfEndpoint + kOfLcore * config.lcores.size() + kOfPort * config.ports.size();
  const uint64_t all =
      start + kOfClient * config.clients.max_clients + config.management.max_clients;
  if (limit >= all) return;
  const bool starts = limit >= start;
  findings.push_back(
      {.severity = starts ? Finding::Severity::kWarning : Finding::Severity::kError,
       .problem = starts ? StrCat("clients.max_clients: with ", config.clients.max_clients,
                                  " clients it takes up to ", all,
                                  " descriptors, and this process may open ", limit)
                         : StrCat("ports: the endpoint takes ", start,
                                  " descriptors to start, and this process may open ", limit),
       .mend = StrCat("ulimit -n ", all, " (in a unit: LimitNOFILE=", all, ")")});
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
