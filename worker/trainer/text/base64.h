// SPDX-License-Identifier: Apache-2.0
//
// File: base64.h
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace frostline::trainer {

// Follows RFC 4648 with its padding. Returns nothing for any other text.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_BASE64_H_
