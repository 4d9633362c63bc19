// SPDX-License-Identifier: Apache-2.0
// The hash by which hosts find out whether they have the same specification.
#ifndef SUEDE_APP_MESH_SPECIFICATION_H_
#define SUEDE_APP_MESH_SPECIFICATION_H_

#include <cstdint>

#include "system.h"

namespace suede::mesh {

// Returns a hash of 48 bits, never 0, of the cables and generated tables of all planes. Names,
// hosts and the form of the file do not matter, nor do tables in place of the generated ones, which
// may change while the system runs.
uint64_t SpecificationOf(const MeshSystem& system);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_SPECIFICATION_H_
