// SPDX-License-Identifier: Apache-2.0
//
// File: gradients.h
//
// fp16 knows nothing below 6e-8, where many gradients are. So the loss is
// multiplied by a power of two before it goes backwards, and its gradients are
// divided by it again, in fp32. Where they overflow the step is skipped and the
// scale halved; after many good steps it is doubled: as torch.amp.GradScaler.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace frostline::trainer {

struct LossScaleOptions {
  int exponent = 16;  // of the first scale
  std::int64_t double_after = 2000;
};

// It looks at one step after another and answers. One thread uses it.
class LossScale {
 public:
  enum class Verdict : std::uint8_t {
    kMove,
    kSkip,      // the scale was too large: it is halved
    kHopeless,  // nor would a smaller one help: it is 1
  };

  explicit LossScale(const LossScaleOptions& options = {});

  double value() const;
  // Of all steps so far.
  std::int64_t skipped() const { return skipped_; }
  // Takes whether the gradients of a step under this scale are finite.
  Verdict Judge(bool finite);

  // Text of three whole numbers, that Restore takes back. False for another:
  // then nothing changes.
  std::string Print() const;
  bool Restore(std::string_view text);

 private:
  std::int64_t double_after_;
  std::int64_t exponent_;
  std::int64_t good_ = 0;  // steps since it changed
  std::int64_t skipped_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_
