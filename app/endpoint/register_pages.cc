// SPDX-License-Identifier: Apache-2.0
#include "endpoint/register_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "local/fd.h"
#include "local/sigbus.h"

namespace suede {
namespace {

constexpr std::chrono::milliseconds kInterval{10};
constexpr uint32_t kAtOnce = 1024;  // registers of one refresh
constexpr size_t kPageBytes = 4096;
constexpr std::string_view kEvents = "event.status";  // the first of its block

absl::Status PageFailed(const std::string& path, const char* what) {
  return absl::UnavailableError(
      absl::StrCat("register page ", path, ": cannot ", what, ": ", std::strerror(errno),
                   "; free the path, or set clients.register_pages to 0"));
}

int32_t ErrnoOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kNotFound:
      return -ENOENT;
    case absl::StatusCode::kInvalidArgument:
      return -EINVAL;
    case absl::StatusCode::kPermissionDenied:
      return -EACCES;
    case absl::StatusCode::kFailedPrecondition:
      return -ENOTSUP;
    case absl::StatusCode::kUnavailable:
      return -EBUSY;
    default:
      break;
  }
  return -EIO;
}

void AnswerPage(RegisterPage& page, const absl::StatusOr<uint64_t>& result) {
  page.Answer(ErrnoOf(result.status()), result.ok() ? *result : 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RegisterPages>> RegisterPages::Create(const ClientsConfig& clients,
                                                                     EndpointRegisters* registers,
                                                                     Logger* logger) {
  std::unique_ptr<RegisterPages> pages(new RegisterPages(registers, logger));
  pages->next_ = *registers->Current().Find(kEvents);
  for (uint32_t i = 0; i < clients.register_pages; ++i) {
    const std::string path = absl::StrCat(clients.socket, ".registers", i);
    const mode_t mode = clients.socket_mode & 0666;
    if (absl::Status status = pages->Add(path, mode); !status.ok()) return status;
  }
  return pages;
}

absl::Status RegisterPages::Add(const std::string& path, mode_t mode) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return PageFailed(path, "remove a former one");
  const Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return PageFailed(path, "make it");
  Page& page = pages_.emplace_back(Page{.path = path});
  if (ftruncate(file.get(), RegisterPage::kBytes) != 0) return PageFailed(path, "size it");
  void* memory =
      mmap(nullptr, RegisterPage::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return PageFailed(path, "map it");
  page.memory = static_cast<std::byte*>(memory);
  // A process that may write the file may cut it: that page alone is not served any more.
  page.range = SigbusGuard::Register(memory, RegisterPage::kBytes, kPageBytes);
  if (page.range < 0) return absl::ResourceExhaustedError("too many shared segments");
  page.page.emplace(page.memory);
  // Last: nobody can open the file before.
  if (fchmod(file.get(), mode) != 0) return PageFailed(path, "set its mode");
  return absl::OkStatus();
}

RegisterPages::~RegisterPages() {
  for (Page& page : pages_) {
    SigbusGuard::Unregister(page.range);
    if (page.memory != nullptr) munmap(page.memory, RegisterPage::kBytes);
    unlink(page.path.c_str());
  }
}

void RegisterPages::Poll() {
  if (pages_.empty()) return;
  for (Page& page : pages_) {
    if (!page.broken) Serve(page);
    if (!page.broken && SigbusGuard::IsBroken(page.range)) {
      page.broken = true;
      logger_.Write(EalLogLevel::kWarning, "registers",
                    absl::StrCat("page not served any more: another process has cut its file, or "
                                 "its memory failed; restart to make it anew path=",
                                 page.path));
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < due_) return;
  due_ = now + kInterval;
  Refresh();
}

void RegisterPages::Serve(Page& page) {
  if (page.writing) {
    if (registers_.changing()) return;
    AnswerPage(*page.page, registers_.Written(*std::exchange(page.writing, std::nullopt)));
  }
  const std::optional<RegisterPage::Access> access = page.page->Take();
  if (!access) return;
  const RegisterRequest request{.address = access->address,
                                .width_bits = access->width_bits,
                                .is_write = access->is_write,
                                .value = access->value};
  const std::optional<absl::StatusOr<uint64_t>> result = registers_.Access(request);
  if (!result) {
    page.writing = request;
  } else {
    AnswerPage(*page.page, *result);
  }
}

void RegisterPages::Store(const RegisterFile& file, const RegisterRef& ref) {
  const bool readable = registers_.config().clients.registers != ClientsConfig::Registers::kOff;
  const uint64_t value = readable ? file.Read(ref) : 0;
  for (Page& page : pages_) {
    if (!page.broken) page.page->Store(ref, value);
  }
}

void RegisterPages::Refresh() {
  const RegisterFile& file = registers_.Current();
  const RegisterRef events = *file.Find(kEvents);
  for (std::optional<RegisterRef> ref = events; ref && ref->block == events.block;
       ref = file.Next(*ref)) {
    Store(file, *ref);
  }
  for (uint32_t i = 0; i < kAtOnce; ++i) {
    Store(file, next_);
    if (const std::optional<RegisterRef> next = file.Next(next_)) {
      next_ = *next;
      continue;
    }
    next_ = *file.Find("endpoint.id");
    ++refreshes_;
    for (Page& page : pages_) {
      if (!page.broken) page.page->SetRefreshes(refreshes_);
    }
    break;
  }
}

}  // namespace suede
