// SPDX-License-Identifier: Apache-2.0
//
// File: methods.h
//
// Which methods of the contract are served, and by what. A new method is one
// row here and its rules in validate.h.
#ifndef FROSTLINE_SERVER_RPC_METHODS_H_
#define FROSTLINE_SERVER_RPC_METHODS_H_

#include "base/clock.h"
#include "server/coordinator.h"
#include "server/rpc/raw_service.h"

namespace frostline {

// `coordinator` must outlive the server that gets the table.
MethodTable ServedMethods(Coordinator& coordinator, Duration watch_alive);

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_METHODS_H_
