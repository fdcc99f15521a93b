// What a run of the harness leaves behind: lines on stdout, JSON, JUnit and HTML files.
#pragma once

#include <string>
#include <vector>

#include <onceward/harness/explain.hpp>

namespace onceward::app {

/// The line of one run, and, if it failed, the schedule, its replay command and its diagram.
void print_entry(const harness::ReportEntry& entry);
/// NDJSON, one object per run.
[[nodiscard]] std::string to_json(const std::vector<harness::ReportEntry>& entries);
[[nodiscard]] std::string to_junit(const std::vector<harness::ReportEntry>& entries);
/// `-` is stdout. ErrorCode::io names the file.
[[nodiscard]] Result<Unit> write_text(const std::string& file, const std::string& text);

}  // namespace onceward::app
