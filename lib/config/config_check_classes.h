// SPDX-License-Identifier: Apache-2.0
// Classes of traffic: those of VCs that the file does not give, and warnings (docs/pfc.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
#define SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_

#include "config/config_draft.h"

namespace suede {

// The classes of VCs where a port has PFC or credit-based flow control: VC v is in class v, none in
// that of acknowledgements.
ClassesConfig ClassesOfControlledPorts();
// Gives each VC a class of its own, as far as the file gives none, where a port has PFC or
// credit-based flow control.
void FillClasses(ConfigDraft& draft);
// Warns of values of classes that no port sends, and of VCs that share a class on such a port.
void WarnOfClasses(ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
