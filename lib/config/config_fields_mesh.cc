// SPDX-License-Identifier: Apache-2.0
// The keys of a mesh (docs/mesh.md).
#include "config/config_fields.h"
#include "config/config_key.h"
#include "mesh/discovery.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::Hex;
using config_key::Key;
using config_key::kNoDefault;
using config_key::kRequired;
using config_key::Microseconds;
using config_key::Name;

constexpr ConfigField<MeshConfig> kMesh[] = {
    Key<&MeshConfig::specification>(
        "specification", "", Hex(0, mesh::kMaxSpecification),
        "Hash of the system specification, as suede-mesh prints it: ends of cables tell it each "
        "other. 0: none."),
    Key<&MeshConfig::cbfc>("cbfc", "", {},
                           "Credit-based flow control of cables between own devices, which then "
                           "lose no frame. Cables by a port have that of the port."),
    Key<&MeshConfig::levels>("levels", "", Between(1, mesh::kLevels),
                             "Levels of frames: one more than the cables to other meshes that a "
                             "frame may pass."),
    Key<&MeshConfig::credit_frames>(
        "credit_frames", "frames", Between(2, 256),
        "Credit that each end of a cable grants to each link VC in use, in frames of the MTU."),
    Key<&MeshConfig::buffer_kb>("buffer_kb", "KiB", Between(64, 1u << 20),
                                "Buffer of each device for queued frames without credit."),
    Key<&MeshConfig::max_wait>("max_wait_us", "µs", Microseconds(0, 10'000'000),
                               "Max time of a frame in a queue; it is dropped then, with an event. "
                               "0: no bound."),
};

constexpr ConfigField<DeviceEntry> kDevice[] = {
    Key<&DeviceEntry::device>("device", "", Name(10), "The device, as in M0D4.", kRequired),
    Key<&DeviceEntry::lcore>("lcore", "", Between(0, 4095),
                             "CPU of the lcore that runs the device and serves its instances.",
                             {.shown_default = "the first of lcores"}),
};

constexpr ConfigField<TableEntry> kTable[] = {
    Key<&TableEntry::devices>("devices", "", Between(1, 4),
                              "Port toward each device of the mesh; D: the device itself, .: no "
                              "route.",
                              {.required = true, .effect = Effect::kAtOnce}),
    Key<&TableEntry::meshes>("meshes", "", Between(1, 4),
                             "Port toward each mesh; D: the own mesh, .: no route.",
                             {.required = true, .effect = Effect::kAtOnce}),
};

constexpr ConfigField<CableEntry> kCable[] = {
    Key<&CableEntry::from>("from", "", Name(16), "Port of an own device, as in M0D4P2.", kRequired),
    Key<&CableEntry::to>("to", "", Name(16),
                         "Port at the other end: of an own device, or with port: of any.",
                         kRequired),
    Key<&CableEntry::port>("port", "", Name(32),
                           "Name of one of ports, by which the cable leaves the endpoint.",
                           kNoDefault),
    Key<&CableEntry::plane>("plane", "", Between(0, mesh::kMaxPlanes - 1), "Plane of the cable."),
};

}  // namespace

SUEDE_CONFIG_SECTION(MeshConfig, kMesh)
SUEDE_CONFIG_SECTION(DeviceEntry, kDevice)
SUEDE_CONFIG_SECTION(TableEntry, kTable)
SUEDE_CONFIG_SECTION(CableEntry, kCable)

}  // namespace suede
