// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/self_check.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

constexpr std::int64_t kRows = 48;
constexpr std::int64_t kInner = 32;
constexpr std::int64_t kColumns = 40;

// Small whole numbers: every product and sum is exact in float, so that any
// kernel, in any order of summation, must give the same answer.
std::int64_t LeftAt(std::int64_t row, std::int64_t k) { return row - 2 * k; }
std::int64_t RightAt(std::int64_t k, std::int64_t column) {
  return 3 * k - column;
}

template <typename At>
std::vector<float> Fill(std::int64_t rows, std::int64_t columns, At at) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      values.push_back(static_cast<float>(at(i, j)));
    }
  }
  return values;
}

float ProductAt(std::int64_t row, std::int64_t column) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < kInner; ++k) {
    sum += LeftAt(row, k) * RightAt(k, column);
  }
  return static_cast<float>(sum);
}

// Adds up what LibTorch computed; an entry that differs ends the check.
void Compare(const at::Tensor& product, SelfCheck& check) {
  const float* entry = product.const_data_ptr<float>();
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j, ++entry) {
      check.matmul_sum += *entry;
      if (*entry == ProductAt(i, j)) continue;
      std::ostringstream line;
      line << "matmul entry " << i << "," << j << " is " << *entry << ", not "
           << ProductAt(i, j);
      check.error = line.str();
      return;
    }
  }
  check.ok = true;
}

// What at::show_config() says behind `label`, up to `end`.
std::string Behind(const std::string& config, const std::string& label,
                   const char* end) {
  const std::size_t at = config.find(label);
  if (at == std::string::npos) return "";
  const std::size_t start = at + label.size();
  return config.substr(start, config.find_first_of(end, start) - start);
}

void Describe(const Device& device, SelfCheck& check) {
  const std::string config = at::show_config();
  check.device = device.name();
  check.threads = at::get_num_threads();
  check.simd = at::get_cpu_capability();
  check.blas = Behind(config, "BLAS_INFO=", ",\n");
  check.mkl = Behind(config, "Math Kernel Library Version ", " -\n");
  check.onednn = Behind(config, "MKL-DNN v", " \n");
  check.openmp = OpenMpRuntimes();
  check.does_bf16_well = device.does_bf16_well();
  check.expected_gflops = device.PeakGflops(check.threads);
  if (!device.note().empty()) check.warnings.push_back(device.note());
}

void Multiply(const Device& device, SelfCheck& check) {
  std::vector<float> left = Fill(kRows, kInner, LeftAt);
  std::vector<float> right = Fill(kInner, kColumns, RightAt);
  const at::Tensor a = at::from_blob(left.data(), {kRows, kInner});
  const at::Tensor b = at::from_blob(right.data(), {kInner, kColumns});
  const at::Tensor product =
      at::matmul(a.to(device.torch()), b.to(device.torch()));
  Compare(product.to(at::kCPU).contiguous(), check);  // [rows, columns]
}

void Measure(const Device& device, SelfCheck& check) {
  using std::chrono_literals::operator""ms;
  check.fp32_gflops = MeasureGflops(device, Precision::kFp32, 120ms);
  if (!check.does_bf16_well) return;
  check.bf16_gflops = MeasureGflops(device, Precision::kBf16, 60ms);
}

std::string Rounded(double number) {
  return std::to_string(std::llround(number));
}

// What JSON asks for and an error message can contain.
std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

std::string Quote(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ", ";
    list += Quote(text);
  }
  return list + "]";
}

}  // namespace

std::string TorchVersion() { return TORCH_VERSION; }

SelfCheck RunSelfCheck(const std::string& name) {
  SelfCheck check;
  check.torch_version = TorchVersion();
  Expected<Done> done = CatchTorch([&]() -> Expected<Done> {
    ASSIGN_OR_FAULT(Device device, Device::Open(name));
    Describe(device, check);
    Multiply(device, check);
    if (check.ok) Measure(device, check);
    return Done{};
  });
  if (!done.ok()) {
    check.ok = false;
    check.error = done.fault().cause;
  }
  const std::vector<std::string> more = WarningsOf(check);
  check.warnings.insert(check.warnings.end(), more.begin(), more.end());
  return check;
}

std::vector<std::string> WarningsOf(const SelfCheck& check) {
  constexpr double kSlowBelow = 0.5;
  std::vector<std::string> warnings;
  if (check.fp32_gflops > 0.0 &&
      check.fp32_gflops < kSlowBelow * check.expected_gflops) {
    warnings.push_back(
        "fp32 products reach " + Rounded(check.fp32_gflops) + " of about " +
        Rounded(check.expected_gflops) +
        " GFLOP/s: is the machine busy, or the BLAS of LibTorch a slow one?");
  }
  if (check.bf16_gflops > 0.0 && check.bf16_gflops < check.fp32_gflops) {
    warnings.push_back("bf16 products are slower than fp32: ask for fp32");
  }
  if (check.openmp.size() > 1) {
    warnings.push_back(
        "there are several OpenMP runtimes in this process, "
        "which slow each other down: " +
        check.openmp[0] + " and " + check.openmp[1]);
  }
  return warnings;
}

std::string ToJson(const SelfCheck& check) {
  std::ostringstream json;
  json.precision(15);
  json << std::boolalpha << "{\"ok\": " << check.ok
       << ", \"torch\": " << Quote(check.torch_version)
       << ", \"matmul_sum\": " << check.matmul_sum
       << ", \"device\": " << Quote(check.device)
       << ", \"threads\": " << check.threads
       << ", \"simd\": " << Quote(check.simd)
       << ", \"blas\": " << Quote(check.blas)
       << ", \"mkl\": " << Quote(check.mkl)
       << ", \"onednn\": " << Quote(check.onednn)
       << ", \"openmp\": " << Quote(check.openmp)
       << ", \"does_bf16_well\": " << check.does_bf16_well
       << ", \"fp32_gflops\": " << Rounded(check.fp32_gflops)
       << ", \"bf16_gflops\": " << Rounded(check.bf16_gflops)
       << ", \"expected_gflops\": " << Rounded(check.expected_gflops)
       << ", \"warnings\": " << Quote(check.warnings);
  if (!check.ok) json << ", \"error\": " << Quote(check.error);
  json << "}";
  return json.str();
}

std::vector<std::string> ToLines(const SelfCheck& check) {
  const auto or_none = [](const std::string& text) {
    return text.empty() ? "none" : text;
  };
  std::string figures = Rounded(check.fp32_gflops) + " GFLOP/s in fp32";
  if (check.expected_gflops > 0.0) {
    figures += " (should be about " + Rounded(check.expected_gflops) + ")";
  }
  if (check.bf16_gflops > 0.0) {
    figures += ", " + Rounded(check.bf16_gflops) + " in bf16";
  }
  std::vector<std::string> lines = {
      "LibTorch " + check.torch_version + " on " + or_none(check.device) +
          ", threads: " + std::to_string(check.threads) +
          ", kernels: " + or_none(check.simd),
      "BLAS " + or_none(check.blas) + ", MKL " + or_none(check.mkl) +
          ", oneDNN " + or_none(check.onednn) + ", OpenMP " +
          (check.openmp.empty() ? "none" : check.openmp.front()),
      figures};
  for (const std::string& each : check.warnings) {
    lines.push_back("warning: " + each);
  }
  if (!check.ok) lines.push_back("error: " + check.error);
  return lines;
}

}  // namespace frostline::trainer
