// SPDX-License-Identifier: Apache-2.0
// Pages of registers in files that emulators map (docs/registers.md, "Pages").
#ifndef SUEDE_APP_ENDPOINT_REGISTER_PAGES_H_
#define SUEDE_APP_ENDPOINT_REGISTER_PAGES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/logger.h"
#include "endpoint/registers.h"
#include "registers/register_page.h"

namespace suede {

// Control thread only. The lcores have no part in it: values come from the cells that metrics read.
class RegisterPages {
 public:
  // Makes the files of clients.register_pages; none where that is 0. `registers` and `logger` must
  // outlive this.
  static absl::StatusOr<std::unique_ptr<RegisterPages>> Create(const ClientsConfig& clients,
                                                               EndpointRegisters* registers,
                                                               Logger* logger);
  ~RegisterPages();  // removes the files

  // Takes up accesses, and refreshes some registers where 10 ms have passed. To be called about
  // every 10 ms.
  void Poll();

 private:
  struct Page {
    std::string path;
    std::byte* memory = nullptr;
    int range = -1;  // of SigbusGuard
    std::optional<RegisterPage> page;
    std::optional<RegisterRequest> writing;  // a write whose change is in progress
    bool broken = false;
  };

  RegisterPages(EndpointRegisters* registers, Logger* logger)
      : registers_(*registers), logger_(*logger) {}
  absl::Status Add(const std::string& path, mode_t mode);
  void Serve(Page& page);
  void Refresh();
  void Store(const RegisterFile& file, const RegisterRef& ref);

  EndpointRegisters& registers_;
  Logger& logger_;
  std::vector<Page> pages_;
  RegisterRef next_;  // to be refreshed
  uint64_t refreshes_ = 0;
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_REGISTER_PAGES_H_
