// SPDX-License-Identifier: Apache-2.0
//
// File: self_check.h
//
// Proves that this binary and the LibTorch it found at run time fit together,
// and says what they make of this machine: a wrong BLAS, a second OpenMP or a
// GPU left alone cost hours and give the right numbers all the while.
#ifndef FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
#define FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_

#include <string>
#include <vector>

namespace frostline::trainer {

struct SelfCheck {
  bool ok = false;
  std::string torch_version;
  double matmul_sum = 0.0;  // what LibTorch computed
  std::string error;        // why not ok, in one line

  std::string device;
  int threads = 0;
  std::string simd;  // of LibTorch's own kernels: "AVX512"
  std::string blas;  // "mkl", and the versions of MKL and oneDNN, if any
  std::string mkl;
  std::string onednn;
  std::vector<std::string> openmp;  // the runtimes loaded, by path
  bool does_bf16_well = false;
  // 1e9 operations by second: measured, bf16 only where it is done well, and
  // what the machine should reach in fp32 (0: unknown).
  double fp32_gflops = 0.0;
  double bf16_gflops = 0.0;
  double expected_gflops = 0.0;
  std::vector<std::string> warnings;  // for people; none makes it not ok
};

// Of the headers this was compiled with, e.g. "2.11.0".
std::string TorchVersion();

// On the device that Device::Open gives for `device`: multiplies two small
// matrices whose product is known and compares all of it, then measures for
// about 0.2 s. A slow machine is ok. Never throws.
SelfCheck RunSelfCheck(const std::string& device = "auto");

// What a person should know of the figures of `check`.
std::vector<std::string> WarningsOf(const SelfCheck& check);

// One JSON object on one line, without the line end.
std::string ToJson(const SelfCheck& check);

// The same for a log, a few lines.
std::vector<std::string> ToLines(const SelfCheck& check);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
