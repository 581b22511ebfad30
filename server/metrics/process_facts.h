// SPDX-License-Identifier: Apache-2.0
//
// File: process_facts.h
#ifndef FROSTLINE_SERVER_METRICS_PROCESS_FACTS_H_
#define FROSTLINE_SERVER_METRICS_PROCESS_FACTS_H_

#include "server/metrics/page.h"

namespace frostline::server {

// Writes what /proc says of this process. What cannot be read is left out.
void WriteProcess(MetricsPage& page);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_PROCESS_FACTS_H_
