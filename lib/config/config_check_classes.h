// SPDX-License-Identifier: Apache-2.0
// Classes of traffic and the span of PSNs: values that the file does not give, and warnings
// (docs/pfc.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
#define SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_

#include "config/config_draft.h"

namespace suede {

// The classes of VCs where a port has PFC or credit-based flow control: VC v is in class v, none in
// that of acknowledgements.
ClassesConfig ClassesOfControlledPorts();
// Gives each VC a sequence of PSNs of its own, unless the file says otherwise, where a port has PFC
// or credit-based flow control and all peers speak HELLO: others may number PSNs over all VCs.
void FillPsnScope(ConfigDraft& draft);
// Gives each VC a class of its own, as far as the file gives none, where it has a sequence of PSNs
// of its own and a port has PFC or credit-based flow control.
void FillClasses(ConfigDraft& draft);
// Warns of values of classes that no port sends, of VCs that share a class on a port with PFC or
// credit-based flow control, and of VCs in several classes there that share a sequence of PSNs.
void WarnOfClasses(ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
