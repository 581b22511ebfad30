// SPDX-License-Identifier: Apache-2.0
//
// File: self_check.h
//
// Tells whether this binary and the LibTorch found at run time fit together,
// and what is slow here: a wrong BLAS, a second OpenMP or an idle GPU cost
// hours, with the right numbers all the while.
#ifndef FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
#define FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_

#include <string>
#include <vector>

namespace frostline::trainer {

struct SelfCheck {
  bool ok = false;
  std::string torch_version;
  double matmul_sum = 0.0;  // what LibTorch computed
  std::string error;

  std::string device;
  int threads = 0;
  std::string simd;  // of LibTorch's own kernels: "AVX512"
  std::string blas;  // "mkl"; below its version and oneDNN's, if any
  std::string mkl;
  std::string onednn;
  std::vector<std::string> openmp;  // paths of the runtimes loaded
  bool does_bf16_well = false;
  // They count 1e9 operations by second: measured, bf16 only where it is done
  // well, and what the machine should reach in fp32 (0 when unknown).
  double fp32_gflops = 0.0;
  double bf16_gflops = 0.0;
  double expected_gflops = 0.0;
  std::vector<std::string> warnings;  // for people; none makes it not ok
};

std::string TorchVersion();  // of our headers: "2.11.0"

// Compares a product of two small matrices on Device::Open(device) with the
// known one, then measures for about 0.2 s. A slow machine is ok. Never throws.
SelfCheck RunSelfCheck(const std::string& device = "auto");

std::vector<std::string> WarningsOf(const SelfCheck& check);

std::string ToJson(const SelfCheck& check);  // one line, without its end

std::vector<std::string> ToLines(const SelfCheck& check);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
