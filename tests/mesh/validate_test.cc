// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/text.h"
#include "page_tables.h"
#include "plan.h"
#include "specification.h"

namespace suede::mesh {
namespace {

class MeshValidate : public testing::Test {
 protected:
  static MeshSystem SystemOf(const std::string& name) {
    const auto system = LoadSystem(StrCat(SUEDE_SOURCE_DIR, "/conf/mesh/", name, ".yaml"));
    EXPECT_TRUE(system.ok()) << system.status();
    return *system;
  }
  // Plans the hosts of an example; Check compares with it.
  std::vector<HostPlan> Plan(const std::string& name) {
    system_ = SystemOf(name);
    const std::vector<Tables> tables = system_.GenerateTables();
    specification_ = SpecificationOf(system_);
    const auto plans = PlanHosts(system_, tables, {});
    EXPECT_TRUE(plans.ok()) << plans.status();
    return *plans;
  }
  Report Check(const Hosts& hosts) const {
    const auto report = ValidateHosts(system_, specification_, hosts);
    EXPECT_TRUE(report.ok()) << report.status();
    return *report;
  }

  MeshSystem system_;
  uint64_t specification_ = 0;
};

HostCables Planned(std::string_view text, const std::string& file) {
  const auto host = ParsePlanned(text, file);
  EXPECT_TRUE(host.ok()) << host.status();
  return *host;
}

HostCables Discovered(std::string_view text, const std::string& file) {
  const auto host = ParseDiscovered(text, file);
  EXPECT_TRUE(host.ok()) << host.status();
  return *host;
}

std::string Exchanged(std::string text, const std::string& one, const std::string& other) {
  const size_t a = text.find(one), b = text.find(other);
  EXPECT_NE(a, std::string::npos) << one;
  EXPECT_NE(b, std::string::npos) << other;
  text.replace(a, one.size(), other);
  return text.replace(text.find(other, b - 1), other.size(), one);
}

TEST_F(MeshValidate, AcceptsThePlanOfEachExample) {
  for (const char* name : {"four-by-nine", "quanta", "square", "square-hosts", "tg", "tgg"}) {
    Hosts hosts;
    for (const HostPlan& plan : Plan(name)) hosts.planned.push_back(Planned(plan.text, plan.host));
    const Report report = Check(hosts);
    EXPECT_TRUE(report.good) << report.text;
    size_t cables = 0;
    for (const SystemPlane& plane : system_.planes) cables += plane.topology.cables().size();
    EXPECT_EQ(report.text, StrCat("planned: ", cables, " of ", cables, " cables are good\n"));
  }
}

TEST_F(MeshValidate, NamesDefectsOfConfigurations) {
  std::vector<HostPlan> plans = Plan("square-hosts");
  plans[0].text = Exchanged(plans[0].text, "to: M0D2P3", "to: M0D1P4");
  plans[3].text.replace(plans[3].text.find("0xec960a63c1e6"), 14, "1");
  Hosts hosts;
  for (const HostPlan& plan : plans) hosts.planned.push_back(Planned(plan.text, plan.host));
  const Report report = Check(hosts);
  EXPECT_FALSE(report.good);
  EXPECT_EQ(report.text,
            "planned: different specification: host3 has 0x000000000001 in place of "
            "0xec960a63c1e6\n"
            "planned: one-sided: M0D1P4 (sees M0D0P2) - M0D0P2 (sees M0D2P3)\n"
            "planned: one-sided: M0D2P3 (sees M0D0P1) - M0D0P1 (sees M0D1P4)\n"
            "planned: 2 of 4 cables are good\n");
}

// The results of the hosts of square-hosts.yaml.
constexpr std::string_view kHost0 = R"({"cables": [
  {"plane": 0, "from": "M0D0P1", "to": "M0D2P3", "port": "a", "state": "up",
   "neighbour": "M0D2P3", "neighbour_plane": 0, "neighbour_specification": "ec960a63c1e6", "specification": "0xec960a63c1e6"},
  {"plane": 0, "from": "M0D0P2", "to": "M0D1P4", "port": "b", "state": "up",
   "neighbour": "M0D1P4", "neighbour_plane": 0, "neighbour_specification": "ec960a63c1e6", "specification": "0xec960a63c1e6"}]})";
constexpr std::string_view kHost3 = R"({"cables": [
  {"plane": 0, "from": "M0D3P3", "to": "M0D1P1", "port": "a", "state": "up",
   "neighbour": "M0D1P1", "neighbour_plane": 0, "neighbour_specification": null, "specification": "0xec960a63c1e6"},
  {"plane": 0, "from": "M0D3P4", "to": "M0D2P2", "port": "b", "state": "silent",
   "neighbour": null, "specification": "0xec960a63c1e6"}]})";

TEST_F(MeshValidate, ComparesWhatDaemonsSee) {
  Plan("square-hosts");
  EXPECT_EQ(Check({.discovered = {Discovered(kHost0, "0")}}).text,
            "2 of 4 cables are good, 2 are of other hosts\n");
  const Report report = Check({.discovered = {Discovered(kHost0, "0"), Discovered(kHost3, "3")}});
  EXPECT_FALSE(report.good);
  EXPECT_EQ(report.text, "missing: M0D2P2 (unknown) - M0D3P4 (silent)\n3 of 4 cables are good\n");
}

TEST_F(MeshValidate, NamesExchangedCables) {
  Plan("square-hosts");
  const std::string swapped =
      Exchanged(std::string(kHost0), R"("neighbour": "M0D2P3")", R"("neighbour": "M0D1P4")");
  const Report report = Check({.discovered = {Discovered(swapped, "0")}});
  EXPECT_FALSE(report.good);
  EXPECT_EQ(report.text,
            "swapped: M0D0P1 - M0D2P3 and M0D0P2 - M0D1P4 are exchanged\n"
            "0 of 4 cables are good, 2 are of other hosts\n");
}

TEST_F(MeshValidate, NamesPlacesThatNoSystemHas) {
  Plan("square-hosts");
  std::string text(kHost0);
  const std::string end = R"("neighbour": "M0D2P3", "neighbour_plane": 0)";
  text.replace(text.find(end), end.size(), R"("neighbour": "M65535D9P200", "neighbour_plane": 15)");
  EXPECT_EQ(Check({.discovered = {Discovered(text, "0")}}).text,
            "missing: M0D0P1 (sees M65535D9P200) - M0D2P3 (unknown)\n"
            "1 of 4 cables are good, 2 are of other hosts\n");
}

TEST_F(MeshValidate, TakesInnerCablesThatAreUp) {
  Plan("square");
  std::string text = R"({"cables": [)";
  const auto add = [&](const DevicePort& from, const DevicePort& to) {
    StrAppend(&text, R"({"plane": 0, "from": ")", NameOf(from), R"(", "to": ")", NameOf(to),
              R"(", "port": null, "state": "up", "neighbour": ")", NameOf(to),
              R"(", "neighbour_plane": 0},)");
  };
  for (const Cable& cable : system_.planes[0].topology.cables()) {
    add(cable.a, cable.b);
    add(cable.b, cable.a);
  }
  text.back() = ']';
  text += "}";
  EXPECT_EQ(Check({.discovered = {Discovered(text, "0")}}).text, "4 of 4 cables are good\n");
}

TEST_F(MeshValidate, NamesFaultsOfResults) {
  const auto refusal = [](std::string_view piece, std::string_view by) {
    std::string text(kHost0);
    const size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    text.replace(at, piece.size(), by);
    return std::string(ParseDiscovered(text, "h.json").status().message());
  };
  EXPECT_EQ(refusal("{", "["), "h.json: no JSON; give a file with the result of cables.list");
  EXPECT_EQ(refusal("\"cables\"", "\"ports\""),
            "h.json: cables is no list; give the result of cables.list");
  EXPECT_EQ(refusal("\"specification\": \"0xec960a63c1e6\"", "\"specification\": 12"),
            "h.json: cables[0].specification is no text of 12 hexadecimal digits; give the result "
            "of cables.list");
  EXPECT_EQ(refusal("\"M0D0P1\"", "\"M0D0\""),
            "h.json: cables[0].from is no end of a cable; give the result of cables.list");
  EXPECT_EQ(refusal("\"M0D2P3\"", "1"),
            "h.json: cables[0].to is no end of a cable; give the result of cables.list");
  EXPECT_EQ(refusal("\"plane\": 0", "\"plane\": -1"),
            "h.json: cables[0].plane is no plane; give the result of cables.list");
  EXPECT_EQ(refusal("\"neighbour_plane\": 0", "\"neighbour_plane\": 16"),
            "h.json: cables[0].neighbour_plane is no plane; give the result of cables.list");
  EXPECT_EQ(refusal("\"up\"", "1"),
            "h.json: cables[0].state is no text; give the result of cables.list");
  EXPECT_EQ(refusal("\"neighbour\": \"M0D2P3\"", "\"neighbour\": 3"),
            "h.json: cables[0].neighbour is no text; give the result of cables.list");
  EXPECT_EQ(refusal("\"neighbour_specification\": \"e", "\"neighbour_specification\": \"x"),
            "h.json: cables[0].neighbour_specification is no text of 12 hexadecimal digits; give "
            "the result of cables.list");
  EXPECT_FALSE(ParseDiscovered("[]", "h.json").ok());
  EXPECT_FALSE(ParseDiscovered(R"({"cables": [1]})", "h.json").ok());
}

TEST_F(MeshValidate, NamesFaultsOfConfigurations) {
  const auto refusal = [](std::string_view text) {
    return std::string(ParsePlanned(text, "h.yaml").status().message());
  };
  EXPECT_EQ(refusal("cables: [{from: M0D0, to: M0D1P1}]"),
            "h.yaml:1:17: cables[0].from: \"M0D0\" is no end of a cable; write one as in M0D4P2");
  EXPECT_EQ(refusal("cables: [{from: M0D0P1}]"),
            "h.yaml:1:10: cables[0].to: \"\" is no end of a cable; write one as in M0D4P2");
  EXPECT_EQ(refusal("cables: [{from: M0D0P1, to: M0D1P1, plane: 4}]"),
            "h.yaml:1:44: cables[0].plane: \"4\" is no plane; write 0 to 3");
  EXPECT_EQ(refusal("devices: [{device: D0}]"),
            "h.yaml:1:20: devices[0].device: \"D0\" is no device; write one as in M0D4");
  EXPECT_EQ(refusal("mesh: {specification: 0x}"),
            "h.yaml:1:23: mesh.specification: \"0x\" is no hash; write one as suede-mesh check "
            "does");
}

// A daemon that answers one request.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    thread_ = std::thread([this, answer] {
      const int fd = accept(listener_, nullptr, nullptr);
      Send(fd, R"({"protocol": 1, "kind": "endpoint"})");
      char c = 0;
      while (read(fd, &c, 1) == 1 && c != '\n') request_ += c;
      Send(fd, R"({"jsonrpc": "2.0", "id": 1, )" + answer + "}");
      close(fd);
    });
  }
  ~OneAnswer() {
    thread_.join();
    close(listener_);
    std::filesystem::remove_all(directory_);
  }
  std::string path() const { return directory_ + "/management.sock"; }

 private:
  static void Send(int fd, std::string text) {
    std::erase(text, '\n');
    text += "\n";
    EXPECT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  char template_[25] = "/tmp/suede-mesh-XXXXXX";
  const std::string directory_ = mkdtemp(template_);
  int listener_ = -1;
  std::string request_;
  std::thread thread_;
};

TEST_F(MeshValidate, QueriesDaemons) {
  Plan("square-hosts");
  {
    const OneAnswer daemon(StrCat(R"("result": )", kHost0));
    const auto host = QueryDaemon(daemon.path());
    ASSERT_TRUE(host.ok()) << host.status();
    EXPECT_EQ(Check({.discovered = {*host}}).text,
              "2 of 4 cables are good, 2 are of other hosts\n");
  }
  const OneAnswer daemon(R"("error": {"code": -32601, "message": "no method cables.list"})");
  EXPECT_EQ(QueryDaemon(daemon.path()).status().message(),
            StrCat("cannot list the cables of ", daemon.path(), ": no method cables.list"));
  const std::string none(QueryDaemon("no-such-endpoint").status().message());
  EXPECT_TRUE(none.starts_with("cannot list the cables of no-such-endpoint: no daemon: ")) << none;
}

}  // namespace
}  // namespace suede::mesh
