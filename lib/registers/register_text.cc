// SPDX-License-Identifier: Apache-2.0
#include "registers/register_text.h"

#include <cctype>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "registers/register_events.h"
#include "registers/register_map.h"
#include "registers/register_page.h"

namespace suede {
namespace {

std::string Upper(std::string_view text) {
  std::string upper;
  for (const char c : text) {
    upper += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return upper;
}

}  // namespace

std::string RegistersAsHeader() {
  const RegisterMap& map = RegisterMap::Get();
  std::string out =
      "/* SPDX-License-Identifier: Apache-2.0 */\n"
      "/* Registers of suede: docs/registers.md. Written by lib/registers/register_map.cc.\n"
      " *\n"
      " * SUEDE_REG_X is the address, SUEDE_REG_X_BITS the width; where there is one for each "
      "index "
      "n,\n"
      " * it is SUEDE_REG_X(n). Read SUEDE_REG_ENDPOINT_MAP_HASH first: where it is not\n"
      " * SUEDE_REG_MAP_HASH, the daemon has another map, and addresses may mean something else.\n"
      " */\n"
      "#ifndef SUEDE_REGISTERS_H_\n#define SUEDE_REGISTERS_H_\n/* clang-format off */\n\n";
  absl::StrAppendFormat(
      &out, "#define SUEDE_REG_MAP_HASH 0x%08xu\n\n/* Bits of event.status and event.mask. */\n",
      map.hash());
  for (uint32_t bit = 0; bit < RegisterEventRows().size(); ++bit) {
    StrAppend(&out, "#define SUEDE_EVENT_", Upper(RegisterEventRows()[bit].name), " (1u << ", bit,
              ") /* ", RegisterEventRows()[bit].sentence, " */\n");
  }
  absl::StrAppendFormat(
      &out,
      "\n/* Pages of registers: docs/registers.md, \"Pages\". */\n"
      "#define SUEDE_REGISTER_PAGE_BYTES 0x%xu\n#define SUEDE_REGISTER_PAGE_DOORBELL 0x%xu\n"
      "#define SUEDE_REGISTER_PAGE_MAGIC 0x%xu\n",
      RegisterPage::kBytes, RegisterPage::kDoorbell, RegisterPage::kMagic);
  for (const RegisterBlock& block : map.blocks()) {
    StrAppend(&out, "\n/* ", block.name, ": ", block.sentence, " */\n");
    for (const RegisterRow& row : block.rows) {
      const std::string name = StrCat("SUEDE_REG_", Upper(block.name), "_", Upper(row.name));
      const uint32_t address = block.base + row.offset;
      if (block.index == RegisterIndex::kNone) {
        absl::StrAppendFormat(&out, "#define %s 0x%06xu\n", name, address);
      } else {
        absl::StrAppendFormat(&out, "#define %s(n) (0x%06xu + (n) * %#xu)\n", name, address,
                              block.stride);
      }
      absl::StrAppendFormat(&out, "#define %s_BITS %d /* %s */\n", name, row.width_bits,
                            std::string(NameOf(row.access)));
    }
  }
  return out + "\n#endif /* SUEDE_REGISTERS_H_ */\n";
}

}  // namespace suede
