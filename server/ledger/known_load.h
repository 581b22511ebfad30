// SPDX-License-Identifier: Apache-2.0
//
// File: known_load.h
//
// What a worker last said of its GPUs, summed by model, so that a look at the
// fleet costs the same however many a node has. It is kept in memory alone: the
// next heartbeat brings it again.
//
// A worker may claim what it likes. What wire/ lets pass is finite and at most
// 64 GPUs; here a worker has at most four models by name, each of printable
// letters, and all others are "other".
#ifndef FROSTLINE_SERVER_LEDGER_KNOWN_LOAD_H_
#define FROSTLINE_SERVER_LEDGER_KNOWN_LOAD_H_

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::server {

inline constexpr char kOtherModel[] = "other";

struct GpuUse {
  double gpus = 0;  // that say how busy they are
  double busy = 0;  // of these, as if the busy ones were wholly so
  double leased = 0;
  double memory_bytes = 0;
  double memory_used_bytes = 0;
  double watts = 0;

  GpuUse& operator+=(const GpuUse& more);
};

using GpuUses = std::map<std::string, GpuUse>;  // by model

struct KnownLoad {
  v1::NodeLoad load;  // with `as_of`
  GpuUses gpus;       // nothing leased
};

// Null stands for a worker that did not say.
using LoadPtr = std::shared_ptr<const KnownLoad>;

// `worker` is as registered; a GPU that it did not name then has no model.
LoadPtr LoadOf(const v1::NodeLoad& load, const v1::Worker& worker,
               WallMicros now);

// As many are leased as slots are: with eight slots on four GPUs, and two
// trials, one.
GpuUse Leased(GpuUse use, std::size_t trials, std::int64_t slots);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_KNOWN_LOAD_H_
