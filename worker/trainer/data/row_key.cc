// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/row_key.h"

#include <charconv>
#include <string>
#include <string_view>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kDigits = 16;  // of 64 bits

std::uint64_t FromHex(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

RowKey RowKeyOf(std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> types) {
  Sha256Sum sum;
  sum.AddField({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  sum.AddField(
      {reinterpret_cast<const char*>(types.data()), types.size_bytes()});
  const std::string digits = sum.Finish();
  const std::string_view all = digits;
  return {FromHex(all.substr(0, kDigits)),
          FromHex(all.substr(kDigits, kDigits))};
}

}  // namespace frostline::trainer
