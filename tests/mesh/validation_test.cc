// SPDX-License-Identifier: Apache-2.0
#include "mesh/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "base/text.h"

namespace suede::mesh {
namespace {

constexpr uint64_t kSpecification = 0x123456789abc;

// Four cables between the two devices of mesh 0, of host a, and the two of mesh 1, of host b; and
// one inside host a.
std::vector<DeclaredCable> Declared() {
  return {{.a = {{0, 0}, 1}, .b = {{1, 0}, 3}, .plane = 0},
          {.a = {{0, 0}, 2}, .b = {{1, 0}, 4}, .plane = 1},
          {.a = {{0, 1}, 1}, .b = {{1, 1}, 3}, .plane = 0},
          {.a = {{0, 1}, 2}, .b = {{1, 1}, 4}, .plane = 1},
          {.a = {{0, 0}, 5}, .b = {{0, 1}, 5}, .plane = 0}};
}

// The hosts of the declared cables, and the cables that they see.
class Plant {
 public:
  Plant() {
    for (const DeclaredCable& cable : Declared()) {
      At(cable.a).plane = At(cable.b).plane = cable.plane;
      Connect(cable.a, cable.b);
    }
  }

  ObservedEnd& At(const DevicePort& end) {
    ObservedEnd& at = ends_[NameOf(end)];
    at.end = end;
    return at;
  }
  void See(const DevicePort& end, const DevicePort& far) {
    At(end).neighbour = {
        .end = far, .plane = At(far).plane, .specification = specifications[far.device.mesh]};
    At(end).state = "up";
  }
  void Connect(const DevicePort& a, const DevicePort& b) {
    See(a, b);
    See(b, a);
  }
  void Cut(const DevicePort& end) {
    At(end).neighbour.reset();
    At(end).state = "silent";
  }
  void Remove(const DevicePort& end) { ends_.erase(NameOf(end)); }

  std::vector<HostCables> Hosts() const {
    std::vector<HostCables> hosts = {{.name = "a", .specification = specifications[0]},
                                     {.name = "b", .specification = specifications[1]}};
    for (const auto& [name, end] : ends_) hosts[end.end.device.mesh].ends.push_back(end);
    return hosts;
  }
  Validation Check() const {
    const auto result = ValidateCables(Declared(), kSpecification, Hosts());
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }
  // A line for each defect, and the number of good cables.
  std::string Text() const {
    const Validation result = Check();
    std::string text;
    for (const CableDefect& defect : result.defects) StrAppend(&text, defect.text, "\n");
    return StrCat(text, result.good, " good");
  }

  std::array<uint64_t, 2> specifications = {kSpecification, kSpecification};

 private:
  std::map<std::string, ObservedEnd> ends_;
};

using DefectKind = CableDefect::Kind;

TEST(MeshValidation, FindsNothingWhereAllCablesAreRight) {
  const Validation result = Plant().Check();
  EXPECT_TRUE(result.defects.empty());
  EXPECT_EQ(result.good, 5u);
  EXPECT_EQ(result.unobserved, 0u);
}

TEST(MeshValidation, NamesAMissingCable) {
  Plant plant;
  plant.Cut({{0, 1}, 1});
  plant.Cut({{1, 1}, 3});
  plant.At({{1, 1}, 3}).state = "down";
  EXPECT_EQ(plant.Text(), "missing: M0D1P1 (silent) - M1D1P3 (down)\n4 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kMissing);
  plant.Remove({{1, 1}, 3});
  EXPECT_EQ(plant.Text(), "missing: M0D1P1 (silent) - M1D1P3 (has no cable)\n4 good");
}

TEST(MeshValidation, NamesAnExtraCable) {
  Plant plant;
  plant.Connect({{0, 0}, 9}, {{1, 1}, 9});
  EXPECT_EQ(plant.Text(), "extra: M0D0P9 - M1D1P9\n5 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kExtra);
}

TEST(MeshValidation, NamesACableInAWrongPort) {
  Plant plant;
  plant.Cut({{1, 1}, 3});
  plant.Connect({{0, 1}, 1}, {{1, 0}, 9});
  EXPECT_EQ(plant.Text(),
            "missing: M0D1P1 (sees M1D0P9) - M1D1P3 (silent)\n"
            "extra: M0D1P1 - M1D0P9\n4 good");
}

TEST(MeshValidation, NamesExchangedCablesOnce) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{1, 1}, 3});
  plant.Connect({{0, 1}, 1}, {{1, 0}, 3});
  EXPECT_EQ(plant.Text(), "swapped: M0D0P1 - M1D0P3 and M0D1P1 - M1D1P3 are exchanged\n3 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kSwapped);
}

// The near ends are connected with each other, and so are the far ends.
TEST(MeshValidation, NamesCablesThatTurnBack) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{0, 1}, 1});
  plant.Connect({{1, 0}, 3}, {{1, 1}, 3});
  EXPECT_EQ(plant.Text(), "swapped: M0D0P1 - M1D0P3 and M1D1P3 - M0D1P1 are exchanged\n3 good");
}

TEST(MeshValidation, NamesAnExchangeOfThreeCablesOnce) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{1, 0}, 4});
  plant.Connect({{0, 0}, 2}, {{1, 1}, 3});
  plant.Connect({{0, 1}, 1}, {{1, 0}, 3});
  EXPECT_EQ(plant.Text(),
            "swapped: M0D0P1 - M1D0P3, M0D0P2 - M1D0P4 and M0D1P1 - M1D1P3 are exchanged\n"
            "2 good");
}

// A cable inside the host takes part like others.
TEST(MeshValidation, NamesAnExchangeOfWhichOneHostTells) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{1, 1}, 3});
  plant.Connect({{0, 1}, 1}, {{1, 0}, 3});
  const std::vector<HostCables> hosts = {plant.Hosts()[0]};
  const auto result = ValidateCables(Declared(), kSpecification, hosts);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->defects.size(), 1u);
  EXPECT_EQ(result->defects[0].text, "swapped: M0D0P1 - M1D0P3 and M0D1P1 - M1D1P3 are exchanged");
  EXPECT_EQ(result->good, 3u);
}

TEST(MeshValidation, TellsAnExchangeFromOtherDefects) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{1, 1}, 3});
  plant.Connect({{0, 1}, 1}, {{1, 0}, 3});
  plant.Cut({{0, 0}, 5});
  plant.Cut({{0, 1}, 5});
  plant.Cut({{0, 0}, 2});
  plant.Connect({{0, 0}, 8}, {{1, 0}, 8});
  EXPECT_EQ(plant.Text(),
            "swapped: M0D0P1 - M1D0P3 and M0D1P1 - M1D1P3 are exchanged\n"
            "one-sided: M0D0P2 (silent) - M1D0P4 (sees M0D0P2)\n"
            "missing: M0D0P5 (silent) - M0D1P5 (silent)\n"
            "extra: M0D0P8 - M1D0P8\n1 good");
}

TEST(MeshValidation, NamesACableOfWhichOneEndSeesTheOther) {
  Plant plant;
  plant.Cut({{1, 0}, 3});
  EXPECT_EQ(plant.Text(), "one-sided: M0D0P1 (sees M1D0P3) - M1D0P3 (silent)\n4 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kOneSided);
  plant.Remove({{1, 0}, 3});
  EXPECT_EQ(plant.Text(), "one-sided: M0D0P1 (sees M1D0P3) - M1D0P3 (has no cable)\n4 good");
}

// Three ends on one cable, as behind a switch.
TEST(MeshValidation, NamesAnEndThatSeesAThird) {
  Plant plant;
  plant.Connect({{1, 0}, 3}, {{0, 0}, 9});
  EXPECT_EQ(plant.Text(),
            "one-sided: M0D0P1 (sees M1D0P3) - M1D0P3 (sees M0D0P9)\n"
            "extra: M0D0P9 - M1D0P3\n4 good");
}

TEST(MeshValidation, NamesAPortThatIsCabledToItself) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{0, 0}, 1});
  plant.Cut({{1, 0}, 3});
  EXPECT_EQ(plant.Text(),
            "missing: M0D0P1 (sees M0D0P1) - M1D0P3 (silent)\n"
            "extra: M0D0P1 - M0D0P1\n4 good");
}

TEST(MeshValidation, NamesAnotherSpecificationOnceForEachHost) {
  Plant plant;
  plant.specifications[1] = 0xfedcba987654;
  for (const DeclaredCable& cable : Declared()) plant.Connect(cable.a, cable.b);
  EXPECT_EQ(plant.Text(),
            "different specification: b has 0xfedcba987654 in place of 0x123456789abc\n5 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kSpecification);
  // Without the other host's own account.
  const std::vector<HostCables> hosts = {plant.Hosts()[0]};
  const auto result = ValidateCables(Declared(), kSpecification, hosts);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->defects.size(), 4u);
  EXPECT_EQ(result->defects[0].text,
            "different specification: M0D0P1 - M1D0P3: M1D0P3 has 0xfedcba987654 in place of "
            "0x123456789abc");
  plant.specifications[1] = 0;  // unknown
  for (const DeclaredCable& cable : Declared()) plant.Connect(cable.a, cable.b);
  EXPECT_EQ(plant.Text(), "5 good");
}

TEST(MeshValidation, NamesACableOfTheWrongPlane) {
  Plant plant;
  plant.At({{1, 0}, 3}).plane = 2;
  plant.Connect({{0, 0}, 1}, {{1, 0}, 3});
  EXPECT_EQ(plant.Text(),
            "wrong plane: M0D0P1 (plane 0) - M1D0P3 (plane 2) in place of plane 0\n4 good");
  EXPECT_EQ(plant.Check().defects[0].kind, DefectKind::kPlane);
  plant.At({{0, 0}, 1}).plane = 2;
  plant.Connect({{0, 0}, 1}, {{1, 0}, 3});
  EXPECT_EQ(plant.Text(),
            "wrong plane: M0D0P1 (plane 2) - M1D0P3 (plane 2) in place of plane 0\n4 good");
}

TEST(MeshValidation, NamesAnExtraCableBetweenPlanes) {
  Plant plant;
  plant.At({{0, 0}, 9}).plane = 1;
  plant.Connect({{0, 0}, 9}, {{1, 1}, 9});
  EXPECT_EQ(plant.Text(), "wrong plane: M0D0P9 (plane 1) - M1D1P9 (plane 0), not declared\n5 good");
}

// Cables of two planes that are exchanged are one defect as well.
TEST(MeshValidation, NamesAnExchangeBetweenPlanesOnce) {
  Plant plant;
  plant.Connect({{0, 0}, 1}, {{1, 0}, 4});
  plant.Connect({{0, 0}, 2}, {{1, 0}, 3});
  EXPECT_EQ(plant.Text(), "swapped: M0D0P1 - M1D0P3 and M0D0P2 - M1D0P4 are exchanged\n3 good");
}

TEST(MeshValidation, CountsCablesOfWhichNoHostTells) {
  Plant plant;
  plant.Cut({{1, 1}, 4});
  const std::vector<HostCables> hosts = {plant.Hosts()[1]};
  const auto result = ValidateCables(Declared(), kSpecification, hosts);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->defects.size(), 1u);
  EXPECT_EQ(result->defects[0].text, "missing: M0D1P2 (unknown) - M1D1P4 (silent)");
  EXPECT_EQ(result->good, 3u);
  EXPECT_EQ(result->unobserved, 1u);
  // A host without cables.
  const std::vector<HostCables> idle = {{.name = "a", .devices = {{0, 0}, {0, 1}}}};
  const auto none = ValidateCables(Declared(), kSpecification, idle);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->defects.size(), 5u);
}

TEST(MeshValidation, RefusesAnEndOfTwoHosts) {
  std::vector<HostCables> hosts = Plant().Hosts();
  hosts.push_back(hosts[0]);
  hosts[2].name = "c";
  EXPECT_EQ(ValidateCables(Declared(), kSpecification, hosts).status().message(),
            "cannot compare the cables: M0D0P1 is a port of a and of c; name each host once");
}

// Whether the text names the end, and not only as one that another sees.
bool Names(const std::string& text, const DevicePort& end) {
  const std::string name = NameOf(end), seen = "(sees ";
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    const bool is_whole = !isdigit(static_cast<unsigned char>(text[at + name.size()]));
    if (is_whole && text.compare(at - seen.size(), seen.size(), seen) != 0) return true;
  }
  return false;
}

// Cables between random ends: each declared one is good, in one exchange or missing, and each other
// discovered one is extra or in an exchange.
TEST(MeshValidation, NamesEachCableOnce) {
  std::mt19937 random(1);
  uint32_t swaps = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<DevicePort> ends;
    Plant plant;
    for (const DeclaredCable& cable : Declared()) {
      for (const DevicePort& end : {cable.a, cable.b}) {
        plant.Cut(end);
        plant.At(end).plane = 0;
        ends.push_back(end);
      }
    }
    ends.push_back({{1, 1}, 9});
    // Some cables stay, so that short exchanges are frequent.
    for (size_t i = 0; i < ends.size(); ++i) {
      if (random() % 2 == 0) std::swap(ends[i], ends[random() % ends.size()]);
    }
    std::vector<DeclaredCable> declared = Declared(), found;
    for (DeclaredCable& cable : declared) cable.plane = 0;
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      if (random() % 8 == 0) continue;
      plant.Connect(ends[i], ends[i + 1]);
      found.push_back({.a = ends[i], .b = ends[i + 1]});
    }
    const auto result = ValidateCables(declared, kSpecification, plant.Hosts());
    ASSERT_TRUE(result.ok()) << result.status();
    std::map<std::string, uint32_t> named;  // by end: defects of each kind that name it
    uint32_t exchanged = 0;
    for (const CableDefect& defect : result->defects) {
      const bool is_swap = defect.kind == DefectKind::kSwapped;
      if (is_swap) {
        ++swaps;
        exchanged += static_cast<uint32_t>(std::count(defect.text.begin(), defect.text.end(), '-'));
      }
      for (const DevicePort& end : ends) {
        if (Names(defect.text, end)) {
          ++named[NameOf(end) + (is_swap                             ? " swapped"
                                 : defect.kind == DefectKind::kExtra ? " extra"
                                                                     : " missing")];
        }
      }
    }
    uint32_t good = 0, missing = 0;
    for (const auto& [name, count] : named) EXPECT_EQ(count, 1u) << name;
    for (const DeclaredCable& cable : declared) {
      const bool is_missing = named.contains(NameOf(cable.a) + " missing");
      const bool is_swapped = named.contains(NameOf(cable.a) + " swapped");
      EXPECT_EQ(is_missing, named.contains(NameOf(cable.b) + " missing"));
      EXPECT_EQ(is_swapped, named.contains(NameOf(cable.b) + " swapped"));
      EXPECT_FALSE(is_missing && is_swapped);
      missing += is_missing;
      good += !is_missing && !is_swapped;
    }
    EXPECT_EQ(result->good, good);
    EXPECT_EQ(good + missing + exchanged, declared.size());
    for (const DeclaredCable& cable : found) {
      const bool is_declared =
          std::any_of(declared.begin(), declared.end(), [&](const DeclaredCable& one) {
            return (one.a == cable.a && one.b == cable.b) || (one.a == cable.b && one.b == cable.a);
          });
      const bool is_swapped = named.contains(NameOf(cable.a) + " swapped");
      EXPECT_EQ(named.contains(NameOf(cable.a) + " extra"), !is_declared && !is_swapped);
      EXPECT_EQ(is_swapped, named.contains(NameOf(cable.b) + " swapped"));
    }
  }
  EXPECT_GT(swaps, 100u);
}

}  // namespace
}  // namespace suede::mesh
