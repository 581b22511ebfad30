// SPDX-License-Identifier: Apache-2.0
//
// File: host_facts.h
//
// What a page of metrics says of the machine and of files.
#ifndef FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_
#define FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_

#include <string>

#include "server/metrics/page.h"
#include "spans/exporter.h"

namespace frostline::server {

struct HostFiles {
  std::string data_folder;  // empty: all is in memory
  std::string certificate;  // PEM; empty: none
  std::string authority;
};

// Files are looked at anew, as they change under a coordinator that runs. What
// cannot be read is left out.
void WriteHost(const HostFiles& files, const char* version, MetricsPage& page);

// Of a coordinator that sends spans.
void WriteSpans(const spans::SpanCounts& counts, MetricsPage& page);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_
