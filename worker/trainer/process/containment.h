// SPDX-License-Identifier: Apache-2.0
//
// File: containment.h
//
// What the trainer takes from itself before it reads files that a stranger may
// have made: weights, tokenizers, rows. Whoever gets it to run other code by
// such a file can then write only what the trainer writes anyway, start no
// program, reach no network, and trace or signal no other process. What the
// kernel does not have is left out and said.
//
//   Landlock   files beneath the given folders, no programs, no TCP, no
//              signals to others
//   seccomp    no programs, no sockets of the internet, no tracing, no mounts,
//              no keys
//   limits     no privileges by a program's owner, no core dumps: they would
//              hold the rows
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_CONTAINMENT_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_CONTAINMENT_H_

#include <string>
#include <vector>

namespace frostline::trainer {

// Contains the calling thread and all that it starts from now on, for good;
// seccomp and limits hold for the whole process. Folders that are missing are
// made. Devices, temporary files and the shared memory of the node may be
// written too. Returns a line for the log. Call it once, before other threads
// where that is possible.
std::string Contain(const std::vector<std::string>& writable);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_CONTAINMENT_H_
