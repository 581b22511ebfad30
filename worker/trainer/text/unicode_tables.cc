// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/unicode_tables.h"

#include <iterator>

namespace frostline::trainer {

#include "worker/trainer/text/unicode_tables.inc"

}  // namespace frostline::trainer
