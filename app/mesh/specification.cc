// SPDX-License-Identifier: Apache-2.0
#include "specification.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "mesh/discovery.h"
#include "table_file.h"

namespace suede::mesh {
namespace {

// FNV-1a.
class TextHash {
 public:
  void Add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  uint64_t Folded() const {
    const uint64_t folded = (hash_ ^ hash_ >> 48) & kMaxSpecification;
    return folded == 0 ? 1 : folded;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

uint64_t SpecificationOf(const MeshSystem& system) {
  const std::vector<Tables> tables = system.GenerateTables();
  TextHash hash;
  for (size_t plane = 0; plane < system.planes.size(); ++plane) {
    const Topology& topology = system.planes[plane].topology;
    std::vector<std::string> cables;
    for (const Cable& cable : topology.cables()) {
      const std::string a = NameOf(cable.a), b = NameOf(cable.b);
      cables.push_back(
          StrCat(std::min(a, b), " ", std::max(a, b), cable.lossless ? " lossless\n" : "\n"));
    }
    std::sort(cables.begin(), cables.end());
    hash.Add(StrCat("plane ", plane, "\n"));
    for (const std::string& cable : cables) hash.Add(cable);
    hash.Add(WriteTables(topology, tables[plane]));
  }
  return hash.Folded();
}

}  // namespace suede::mesh
