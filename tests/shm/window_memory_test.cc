// SPDX-License-Identifier: Apache-2.0
#include "shm/window_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "local/fd.h"

namespace suede {
namespace {

constexpr uint64_t kHuge = 2u << 20;

constexpr int kSize = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr int kSealed = kSize | F_SEAL_FUTURE_WRITE;

// A memfd with all its pages.
Fd Memory(uint64_t bytes, unsigned flags = 0, int seals = F_SEAL_SHRINK) {
  Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)), 0);
  if (seals != 0) {
    EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  }
  return fd;
}

class WindowMemoryTest : public ::testing::Test {
 protected:
  using Part = WindowFiles::Part;

  absl::StatusOr<std::unique_ptr<WindowMemory>> Map(const Part& part) {
    return files_.Map(part, &unsealed_);
  }
  // As a client does: seals the memfd once the daemon has mapped it.
  absl::StatusOr<std::unique_ptr<WindowMemory>> MapSealed(const Part& part) {
    if (auto memory = Map(part); memory.ok() || unsealed_ == nullptr) return memory;
    EXPECT_EQ(fcntl(part.fd, F_ADD_SEALS, kSealed), 0);
    auto memory = Map(part);
    unsealed_.reset();
    return memory;
  }
  std::string ErrorOf(const Part& part) {
    const auto memory = MapSealed(part);
    return memory.ok() ? "" : std::string(memory.status().message());
  }

  WindowFiles files_;
  std::shared_ptr<const WindowFile> unsealed_;
};

TEST_F(WindowMemoryTest, IsSharedWithItsOwner) {
  const Fd fd = Memory(3 * 4096);
  auto* const own =
      static_cast<char*>(mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  auto memory = MapSealed({.fd = fd.get(), .offset = 4096, .bytes = 5000, .is_writable = true});
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ((*memory)->bytes(), 8192u);
  EXPECT_EQ((*memory)->file()->page_bytes, 4096u);
  std::memcpy((*memory)->base(), "window", 6);
  EXPECT_EQ(std::string(own + 4096, 6), "window");
  std::memcpy(own + 4096, "client", 6);
  EXPECT_EQ(std::memcmp((*memory)->base(), "client", 6), 0);
  EXPECT_FALSE((*memory)->broken());
  munmap(own, 3 * 4096);
}

// An lcore that touches memory waits while a hole is punched there, so no hole can be.
TEST_F(WindowMemoryTest, NoHoleCanBePunched) {
  for (const bool is_writable : {true, false}) {
    const Fd fd = Memory(1 << 20);
    void* own = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    const Part part{.fd = fd.get(), .bytes = 1 << 20, .is_writable = is_writable};
    const auto before = Map(part);
    EXPECT_TRUE(absl::IsFailedPrecondition(before.status())) << before.status();
    EXPECT_NE(before.status().message().find("F_SEAL_FUTURE_WRITE"), std::string::npos);
    const auto memory = MapSealed(part);
    ASSERT_TRUE(memory.ok()) << memory.status();
    constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    EXPECT_EQ(fallocate(fd.get(), kPunch, 0, 1 << 20), -1);
    EXPECT_EQ(madvise(own, 1 << 20, MADV_REMOVE), -1);
    EXPECT_EQ(ftruncate(fd.get(), 0), -1);
    munmap(own, 1 << 20);
  }
}

TEST_F(WindowMemoryTest, RefusesMemoryThatMayVanish) {
  const Fd unsealed = Memory(4096, 0, F_SEAL_GROW);
  EXPECT_NE(ErrorOf({.fd = unsealed.get(), .bytes = 64}).find("F_SEAL_SHRINK"), std::string::npos);
  const Fd fixed = Memory(4096, 0, kSize | F_SEAL_SEAL);
  EXPECT_NE(ErrorOf({.fd = fixed.get(), .bytes = 64}).find("F_SEAL_SEAL"), std::string::npos);
  const Fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_NE(ErrorOf({.fd = file.get(), .bytes = 64}).find("memfd"), std::string::npos);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd in(ends[0]);
  const Fd out(ends[1]);
  EXPECT_NE(ErrorOf({.fd = in.get(), .bytes = 64}).find("memfd"), std::string::npos);
  EXPECT_NE(ErrorOf({.fd = -1, .bytes = 64}).find("no descriptor"), std::string::npos);
}

TEST_F(WindowMemoryTest, RefusesPlacesThatAreNotThere) {
  const Fd fd = Memory(8192);
  EXPECT_EQ(ErrorOf({.fd = fd.get(), .bytes = 8192}), "");
  for (const Part part :
       {Part{.fd = fd.get(), .bytes = 8193}, Part{.fd = fd.get(), .offset = 4096, .bytes = 4097},
        Part{.fd = fd.get(), .offset = 12288, .bytes = 1},
        Part{.fd = fd.get(), .offset = uint64_t{1} << 63, .bytes = 4096},
        Part{.fd = fd.get(), .bytes = UINT64_MAX}, Part{.fd = fd.get(), .bytes = 0}}) {
    EXPECT_NE(ErrorOf(part).find("longer"), std::string::npos) << part.offset << " " << part.bytes;
  }
  EXPECT_NE(ErrorOf({.fd = fd.get(), .offset = 64, .bytes = 64}).find("page size"),
            std::string::npos);
}

TEST_F(WindowMemoryTest, OnlyReadsMemoryThatMayNotBeWritten) {
  const Fd fd = Memory(4096, 0, kSize | F_SEAL_WRITE);
  EXPECT_NE(ErrorOf({.fd = fd.get(), .bytes = 64, .is_writable = true}).find("rights"),
            std::string::npos);
  EXPECT_EQ(ErrorOf({.fd = fd.get(), .bytes = 64}), "");
  // A descriptor that reads is given no writes by way of another's mapping.
  const Fd shared = Memory(4096);
  const auto memory = MapSealed({.fd = shared.get(), .bytes = 64, .is_writable = true});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const Fd reads(open(("/proc/self/fd/" + std::to_string(shared.get())).c_str(), O_RDONLY));
  EXPECT_NE(ErrorOf({.fd = reads.get(), .bytes = 64, .is_writable = true}).find("rights"),
            std::string::npos);
}

// A sealed memfd cannot be mapped for writing again.
TEST_F(WindowMemoryTest, WindowsOfAUserShareTheMappingOfAFile) {
  const Fd fd = Memory(2 * 4096);
  const Part part{.fd = fd.get(), .bytes = 4096, .is_writable = true, .uid = 5};
  auto first = MapSealed(part);
  ASSERT_TRUE(first.ok()) << first.status();
  Part part2 = part;
  part2.offset = 4096;
  const auto second = Map(part2);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->base(), (*first)->base() + 4096);
  EXPECT_EQ(files_.bytes(), 8192u);
  Part other = part;
  other.uid = 6;
  EXPECT_NE(ErrorOf(other).find("use a new memfd"), std::string::npos);
  first->reset();
  EXPECT_EQ(files_.bytes(), 8192u);
  EXPECT_TRUE(Map(part).ok());
}

TEST_F(WindowMemoryTest, RefusesAFileThatIsTooLarge) {
  const Fd fd = Memory(2 * 4096);
  const auto refused = Map({.fd = fd.get(), .bytes = 64, .is_writable = true, .max_bytes = 8191});
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_EQ(unsealed_, nullptr);
  EXPECT_EQ(fcntl(fd.get(), F_GET_SEALS), F_SEAL_SHRINK) << "it can be served later";
}

TEST_F(WindowMemoryTest, PagesAreMappedStepByStep) {
  for (const bool is_writable : {true, false}) {
    const Fd fd = Memory(10 * 65536, 0, F_SEAL_SHRINK);
    auto memory = MapSealed({.fd = fd.get(), .bytes = 10 * 65536, .is_writable = is_writable});
    ASSERT_TRUE(memory.ok());
    int steps = 1;
    for (; steps < 100; ++steps) {
      const auto done = (*memory)->Populate(4 * 65536);
      ASSERT_TRUE(done.ok()) << done.status();
      if (*done) break;
    }
    EXPECT_EQ(steps, 3);
    unsigned char there[160];
    ASSERT_EQ(mincore((*memory)->base(), 10 * 65536, there), 0);
    for (const unsigned char page : there) EXPECT_EQ(page & 1, 1);
    EXPECT_GE((*memory)->NumaNode(), -1);
  }
}

uint64_t BlocksOf(const Fd& fd) {
  struct stat info;
  EXPECT_EQ(fstat(fd.get(), &info), 0);
  return static_cast<uint64_t>(info.st_blocks);
}

// Pages that the daemon allocates are the daemon's to pay for.
TEST_F(WindowMemoryTest, MissingPagesAreTheClientsToAllocate) {
  const Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(fd.get(), 64 << 20), 0);
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const Part part{.fd = fd.get(), .bytes = 64 << 20, .is_writable = true};
  const auto refused = Map(part);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_NE(refused.status().message().find("missing"), std::string::npos);
  EXPECT_EQ(unsealed_, nullptr);
  EXPECT_EQ(BlocksOf(fd), 0u);
}

// Pages behind the end make up for the ones that are missing, as far as the blocks tell.
TEST_F(WindowMemoryTest, PagesBehindTheEndDoNotHideMissingOnes) {
  for (const bool frees_them : {false, true}) {
    const Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(fd.get(), 64 << 20), 0);
    ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    ASSERT_EQ(fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 64 << 20, 64 << 20), 0);
    auto memory = MapSealed({.fd = fd.get(), .bytes = 64 << 20, .is_writable = true});
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 64 << 20, 4096), -1) << "no more of them";
    if (frees_them) {
      EXPECT_EQ(ftruncate(fd.get(), 64 << 20), 0);
    }
    const auto done = (*memory)->Populate(64 << 20);
    EXPECT_EQ(absl::IsPermissionDenied(done.status()), !frees_them) << done.status();
    EXPECT_FALSE(done.ok());
    EXPECT_LE(BlocksOf(fd), (frees_them ? 0 : 64 << 20 >> 9) + (WindowMemory::kStepBytes >> 9));
  }
}

// Holds the lock of a memfd's inode: a write whose source is a page that another process withholds.
TEST_F(WindowMemoryTest, AClientThatHoldsTheInodeHoldsUpNobody) {
  const Fd fd = Memory(1 << 20);
  const Fd faults(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  if (!faults.ok() || ioctl(faults.get(), UFFDIO_API, &api) != 0) {
    GTEST_SKIP() << "no userfaultfd here";
  }
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uffdio_register range{};
  range.range = {.start = reinterpret_cast<uintptr_t>(page), .len = 4096};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  ASSERT_EQ(ioctl(faults.get(), UFFDIO_REGISTER, &range), 0);
  std::thread holder([&] { EXPECT_EQ(write(fd.get(), page, 4096), 4096); });
  uffd_msg message;
  pollfd what{.fd = faults.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&what, 1, 10'000), 1);
  EXPECT_EQ(read(faults.get(), &message, sizeof message), static_cast<ssize_t>(sizeof message));
  // A call that took the lock would not return.
  const auto memory = Map({.fd = fd.get(), .bytes = 1 << 20, .is_writable = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(memory.status())) << memory.status();
  EXPECT_NE(unsealed_, nullptr);
  uffdio_zeropage zero{};
  zero.range = range.range;
  EXPECT_EQ(ioctl(faults.get(), UFFDIO_ZEROPAGE, &zero), 0);
  holder.join();
  munmap(page, 4096);
}

TEST_F(WindowMemoryTest, HugepagesOfAMemfdAreSealed) {
  Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_HUGETLB | MFD_ALLOW_SEALING));
  if (!fd.ok() || ftruncate(fd.get(), 2 * kHuge) != 0 ||
      fallocate(fd.get(), 0, 0, 2 * kHuge) != 0) {
    GTEST_SKIP() << "no hugepages here";
  }
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  auto memory = MapSealed({.fd = fd.get(), .bytes = 2 * kHuge, .is_writable = true});
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ((*memory)->file()->page_bytes, kHuge);
  EXPECT_TRUE((*memory)->Populate(2 * kHuge).value_or(false));
  (*memory)->base()[kHuge] = 7;
  EXPECT_EQ(fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kHuge), -1);
}

TEST_F(WindowMemoryTest, HugepagesOfAFileCannotBeSealed) {
  // A memfd without MFD_ALLOW_SEALING is sealed against seals, as a file on hugetlbfs is.
  Fd fd(memfd_create("window", MFD_CLOEXEC | MFD_HUGETLB));
  if (!fd.ok()) GTEST_SKIP() << "no hugepages here";
  ASSERT_EQ(ftruncate(fd.get(), 2 * kHuge), 0);
  EXPECT_NE(ErrorOf({.fd = fd.get(), .bytes = kHuge, .is_writable = true}).find("MFD_HUGETLB"),
            std::string::npos);
}

}  // namespace
}  // namespace suede
