// SPDX-License-Identifier: Apache-2.0
//
// File: host_facts.h
//
// Writes on a page of metrics what is known of the machine and of files.
#ifndef FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_
#define FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_

#include <string>

#include "server/metrics/page.h"
#include "spans/exporter.h"

namespace frostline::server {

// The files to look at.
struct HostFiles {
  std::string data_folder;  // empty: all is in memory
  std::string certificate;  // PEM; empty: none
  std::string authority;
};

// Looks at the files at each call, since they change while the coordinator
// runs. What cannot be read is left out.
void WriteHost(const HostFiles& files, const char* version, MetricsPage& page);

// Writes the counts of a coordinator that sends spans.
void WriteSpans(const spans::SpanCounts& counts, MetricsPage& page);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OVERVIEW_HOST_FACTS_H_
