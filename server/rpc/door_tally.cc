// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/door_tally.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace frostline::server {
namespace {

constexpr Duration kBetweenLines = std::chrono::seconds(10);

}  // namespace

void DoorTally::NoteTurnedAway(DoorVerdict why) {
  switch (why) {
    case DoorVerdict::kWelcome:
      return;
    case DoorVerdict::kFull:
      ++counts_.full;
      total_.full.Add();
      return;
    case DoorVerdict::kAddressFull:
      ++counts_.address_full;
      total_.address_full.Add();
      return;
    case DoorVerdict::kTooFast:
      ++counts_.too_fast;
      total_.too_fast.Add();
      return;
    case DoorVerdict::kBarred:
      ++counts_.barred;
      total_.barred.Add();
      return;
  }
}

void DoorTally::NoteNoDescriptor() {
  ++counts_.no_descriptor;
  total_.no_descriptor.Add();
}

void DoorTally::NoteCut(FrameVerdict why) {
  if (why == FrameVerdict::kResets) {
    ++counts_.cut;
    total_.cut.Add();
    return;
  }
  frames_ = why;
  ++counts_.cut_for_frames;
  total_.cut_for_frames.Add();
}

void DoorTally::NoteEvicted() {
  ++counts_.evicted;
  total_.evicted.Add();
}

void DoorTally::LogIfDue(SteadyTime now, bool at_last) {
  const bool is_due =
      at_last || !logged_.has_value() || now >= *logged_ + kBetweenLines;
  if (!is_due || counts_ == Counts()) return;
  Log(LogLevel::kWarning, "turned_away",
      {{"door", door_},
       {"full", absl::StrCat(counts_.full)},
       {"address_full", absl::StrCat(counts_.address_full)},
       {"too_fast", absl::StrCat(counts_.too_fast)},
       {"barred", absl::StrCat(counts_.barred)},
       {"no_descriptor", absl::StrCat(counts_.no_descriptor)},
       {"cut_for_resets", absl::StrCat(counts_.cut)},
       {"cut_for_frames", absl::StrCat(counts_.cut_for_frames)},
       {"last_frames", NameOf(frames_)},
       {"evicted_idle", absl::StrCat(counts_.evicted)}});
  counts_ = Counts();
  logged_ = now;
}

}  // namespace frostline::server
