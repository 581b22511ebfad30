// SPDX-License-Identifier: Apache-2.0
//
// File: base64.h
//
// RFC 4648 with its padding, strict. Pure.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace frostline::trainer {

// Nothing when `text` is not base64.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_
