// SPDX-License-Identifier: Apache-2.0
#include "shm/window_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "local/fd.h"

namespace suede {
namespace {

constexpr uint64_t kHuge = 2u << 20;

Fd Memory(uint64_t bytes, unsigned flags = 0, int seals = F_SEAL_SHRINK) {
  Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  if (seals != 0) {
    EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  }
  return fd;
}

std::string ErrorOf(const WindowMemory::Part& part) {
  const auto memory = WindowMemory::Map(part);
  return memory.ok() ? "" : std::string(memory.status().message());
}

TEST(WindowMemoryTest, IsSharedWithItsOwner) {
  const Fd fd = Memory(3 * 4096);
  auto memory =
      WindowMemory::Map({.fd = fd.get(), .offset = 4096, .bytes = 5000, .is_writable = true});
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ((*memory)->bytes(), 8192u);
  EXPECT_EQ((*memory)->page_bytes(), 4096u);
  std::memcpy((*memory)->base(), "window", 6);
  char got[6];
  EXPECT_EQ(pread(fd.get(), got, 6, 4096), 6);
  EXPECT_EQ(std::string(got, 6), "window");
  EXPECT_FALSE((*memory)->broken());
}

TEST(WindowMemoryTest, WhatMayVanishIsRefused) {
  const Fd unsealed = Memory(4096, 0, F_SEAL_GROW);
  EXPECT_NE(ErrorOf({.fd = unsealed.get(), .bytes = 64}).find("F_SEAL_SHRINK"), std::string::npos);
  const Fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_NE(ErrorOf({.fd = file.get(), .bytes = 64}).find("memfd"), std::string::npos);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd in(ends[0]);
  const Fd out(ends[1]);
  EXPECT_NE(ErrorOf({.fd = in.get(), .bytes = 64}).find("memfd"), std::string::npos);
  EXPECT_NE(ErrorOf({.fd = -1, .bytes = 64}).find("no descriptor"), std::string::npos);
}

TEST(WindowMemoryTest, WhatIsNotThereIsRefused) {
  const Fd fd = Memory(8192);
  EXPECT_EQ(ErrorOf({.fd = fd.get(), .bytes = 8192}), "");
  for (const WindowMemory::Part part :
       {WindowMemory::Part{.fd = fd.get(), .bytes = 8193},
        WindowMemory::Part{.fd = fd.get(), .offset = 4096, .bytes = 4097},
        WindowMemory::Part{.fd = fd.get(), .offset = 12288, .bytes = 1},
        WindowMemory::Part{.fd = fd.get(), .offset = uint64_t{1} << 63, .bytes = 4096},
        WindowMemory::Part{.fd = fd.get(), .bytes = UINT64_MAX},
        WindowMemory::Part{.fd = fd.get(), .bytes = 0}}) {
    EXPECT_NE(ErrorOf(part).find("longer"), std::string::npos) << part.offset << " " << part.bytes;
  }
  EXPECT_NE(ErrorOf({.fd = fd.get(), .offset = 64, .bytes = 64}).find("page size"),
            std::string::npos);
}

TEST(WindowMemoryTest, WhatMayNotBeWrittenIsOnlyRead) {
  const Fd fd = Memory(4096, 0, F_SEAL_SHRINK | F_SEAL_WRITE);
  EXPECT_NE(ErrorOf({.fd = fd.get(), .bytes = 64, .is_writable = true}).find("rights"),
            std::string::npos);
  EXPECT_EQ(ErrorOf({.fd = fd.get(), .bytes = 64}), "");
}

TEST(WindowMemoryTest, PagesAreFaultedInBitByBit) {
  const Fd fd = Memory(10 * 4096);
  for (const bool is_writable : {true, false}) {
    auto memory =
        WindowMemory::Map({.fd = fd.get(), .bytes = 10 * 4096, .is_writable = is_writable});
    ASSERT_TRUE(memory.ok());
    int steps = 1;
    for (; steps < 100; ++steps) {
      const auto done = (*memory)->Populate(4 * 4096);
      ASSERT_TRUE(done.ok());
      if (*done) break;
    }
    EXPECT_EQ(steps, 3);
    unsigned char there[10];
    ASSERT_EQ(mincore((*memory)->base(), 10 * 4096, there), 0);
    for (const unsigned char page : there) EXPECT_EQ(page & 1, 1);
    EXPECT_GE((*memory)->NumaNode(), -1);
  }
}

// Its seal keeps a memfd from shrinking; a file on hugetlbfs has none. An access behind its end
// goes on, and says so.
TEST(WindowMemoryTest, HugepagesThatVanishHarmNobody) {
  Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_HUGETLB));
  if (!fd.ok() || ftruncate(fd.get(), 2 * kHuge) != 0) GTEST_SKIP() << "no hugepages here";
  auto memory = WindowMemory::Map({.fd = fd.get(), .bytes = 2 * kHuge, .is_writable = true});
  if (!memory.ok()) GTEST_SKIP() << "no hugepages here";
  EXPECT_EQ((*memory)->page_bytes(), kHuge);
  (*memory)->base()[kHuge] = 7;
  ASSERT_EQ(ftruncate(fd.get(), 0), 0);
  EXPECT_FALSE((*memory)->broken());
  EXPECT_EQ(static_cast<volatile uint8_t*>((*memory)->base())[kHuge], 0);
  EXPECT_TRUE((*memory)->broken());
}

}  // namespace
}  // namespace suede
