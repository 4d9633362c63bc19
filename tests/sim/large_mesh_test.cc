// SPDX-License-Identifier: Apache-2.0
// A mesh of 32 x 32 devices in virtual time (large_mesh.h). SUEDE_SIM_MESH_SECONDS: virtual time of
// the run, 5 s by default, with more commands if it is longer.
#include "large_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "fast_crc.h"

namespace suede {
namespace {

TEST(LargeMeshTest, CommandsArriveOnceWhileCablesFailAndMemoryIsBounded) {
  InstallFastCrc();
  LargeMeshOptions options;
  if (const char* const text = std::getenv("SUEDE_SIM_MESH_SECONDS"); text != nullptr) {
    options.run = std::chrono::seconds(std::max(10, std::atoi(text)));
    options.gap = std::chrono::milliseconds(20);
    options.xpus = 64;
  }
  LargeMesh mesh(options);
  EXPECT_EQ(mesh.Run(), "");
  const LargeMesh::Figures figures = mesh.figures();
  const LargeMesh::Memory& memory = mesh.memory();
  const uint32_t devices = options.columns * options.rows;
  const uint64_t of_device = (memory.routers - memory.before) / devices;
  std::cout << figures.commands << " commands, " << figures.turns << " turns, " << figures.frames
            << " frames received by routers, " << figures.outages << " outages, " << figures.swaps
            << " swaps, " << figures.drains << " drains, " << figures.lost_frames
            << " frames lost, " << figures.new_sessions << " new sessions, "
            << figures.retransmissions << " retransmissions\n"
            << figures.max_frames_out << " of " << figures.pool_frames << " frames in use at most; "
            << of_device << " bytes of each device; " << memory.warm / 1024 << " KB after 2 s, "
            << memory.end / 1024 << " KB at the end\n";
  EXPECT_GE(figures.outages, static_cast<uint64_t>(options.run / std::chrono::seconds(1)) - 1);
  EXPECT_GT(figures.lost_frames, 0u);
  EXPECT_GT(figures.new_sessions, 0u);
  EXPECT_GT(figures.retransmissions, 0u);
  EXPECT_LE(of_device, 100u << 10);
  // The books have five bytes of each command, in vectors that double.
  EXPECT_LE(memory.end, memory.warm + (4u << 20) + 10 * figures.commands);
}

// Routers and cables that are full hold no more frames than the pool has.
TEST(LargeMeshTest, ASmallMeshThatIsFullHasFramesEnough) {
  InstallFastCrc();
  LargeMesh mesh({.columns = 4,
                  .rows = 4,
                  .xpus = 16,
                  .run = std::chrono::milliseconds(200),
                  .gap = std::chrono::microseconds(20)});
  EXPECT_EQ(mesh.Run(), "");
  EXPECT_GT(mesh.figures().commands, 100'000u);
  std::cout << mesh.figures().commands << " commands, " << mesh.figures().max_frames_out << " of "
            << mesh.figures().pool_frames << " frames in use at most\n";
}

}  // namespace
}  // namespace suede
