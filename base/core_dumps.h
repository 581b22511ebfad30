// SPDX-License-Identifier: Apache-2.0
//
// File: core_dumps.h
//
// Keys and tokens are in memory, and a core dump would put them on a disk, or
// send them to wherever a node's dumps are collected.
#ifndef FROSTLINE_BASE_CORE_DUMPS_H_
#define FROSTLINE_BASE_CORE_DUMPS_H_

namespace frostline {

// Keeps this process from dumping core, whatever `ulimit -c` and core_pattern
// say; debuggers of its own user are kept out too, and root's are not. A
// program that it starts dumps as it always did: a trainer has no keys. Call it
// first, while there are none.
//
// Who hunts a crash sets FROSTLINE_CORE_DUMPS=1, and gets both back.
void ForbidCoreDumps();

}  // namespace frostline

#endif  // FROSTLINE_BASE_CORE_DUMPS_H_
