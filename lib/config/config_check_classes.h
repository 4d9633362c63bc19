// SPDX-License-Identifier: Apache-2.0
// Classes of traffic and the scope of PSNs: defaults and warnings (docs/pfc.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
#define SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_

#include "config/config_draft.h"

namespace suede {

// Returns the default classes of VCs if a port has PFC or credit-based flow control: VC v is in
// class v; none shares the class of acknowledgements.
ClassesConfig ClassesOfControlledPorts();
// Sets psn_scope to vc, unless the file sets it, if a port has PFC or credit-based flow control and
// all peers speak HELLO: other peers may number PSNs over all VCs.
void FillPsnScope(ConfigDraft& draft);
// Gives each VC its own class, unless the file sets it, if it has its own PSN sequence and a port
// has PFC or credit-based flow control.
void FillClasses(ConfigDraft& draft);
// Warns of class values that no port sends, of VCs that share a class on a port with PFC or
// credit-based flow control, and of VCs there in several classes that share a PSN sequence.
void WarnOfClasses(ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_CLASSES_H_
