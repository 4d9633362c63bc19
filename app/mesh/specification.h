// SPDX-License-Identifier: Apache-2.0
// The hash by which hosts find out whether they have the same specification.
#ifndef SUEDE_APP_MESH_SPECIFICATION_H_
#define SUEDE_APP_MESH_SPECIFICATION_H_

#include <cstdint>
#include <vector>

#include "system.h"

namespace suede::mesh {

// Returns a hash of 48 bits, never 0, of the cables and tables of all planes. Names, hosts and the
// form of the file do not matter.
uint64_t SpecificationOf(const MeshSystem& system, const std::vector<Tables>& tables);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_SPECIFICATION_H_
