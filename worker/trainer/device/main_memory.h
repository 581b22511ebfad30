// SPDX-License-Identifier: Apache-2.0
//
// File: main_memory.h
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_MAIN_MEMORY_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_MAIN_MEMORY_H_

#include <cstdint>

namespace frostline::trainer {

// Returns the largest resident set since the start or the last reset, or 0.
std::int64_t PeakResidentBytes();

// Where the system forbids it, the peak stays that since the start.
void ResetPeakResident();

// Lets malloc keep what is freed, blocks of up to 32 MiB, for the next step: a
// step frees its gradients and takes them again, and the kernel would clear
// each of their pages anew. Device::ReleaseCachedMemory gives back what is
// kept. For the whole process; returns false where malloc has no such settings.
bool KeepFreedMemory();

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_MAIN_MEMORY_H_
