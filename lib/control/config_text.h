// This room's name for what all rooms use.
#ifndef SUEDE_CONTROL_CONFIG_TEXT_H_
#define SUEDE_CONTROL_CONFIG_TEXT_H_

#include "base/text.h"  // IWYU pragma: export

#endif  // SUEDE_CONTROL_CONFIG_TEXT_H_
