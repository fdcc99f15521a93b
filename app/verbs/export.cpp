// journal export and import: a store as lines of JSON, and back.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include <boost/json.hpp>

#include <onceward/journal/store_export.hpp>
#include <onceward/recovery/verify.hpp>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/store_verbs.hpp"

namespace onceward::app {
namespace {

namespace json = boost::json;

/// Obligation rows, refunds and caps must be what the events say: they guard the money.
Result<Unit> rows_equal_events(const std::string& path) {
  auto store = journal::open_read_only({.path = path});
  if (!store) return Unexpected{std::move(store).error()};
  auto derived = recovery::verify(*store->reader, {});
  if (!derived) return Unexpected{std::move(derived).error()};
  if (derived->differences.empty()) return ok();
  const auto& first = derived->differences.front();
  return fail(ErrorCode::store_corrupt,
              "the export's rows are not what its events say: " + first.where + ": " + first.what +
                  "; nothing was imported");
}

}  // namespace

ExitCode journal_export(const Source& source) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  const auto done =
      journal::export_store({.path = path->string()}, [](std::string_view line) -> Result<Unit> {
        if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() &&
            std::fputc('\n', stdout) != EOF) {
          return ok();
        }
        return fail(ErrorCode::io, std::string("stdout: ") + std::strerror(errno));
      });
  if (!done) return report(done.error());
  // A full disk behind the redirection may show only here; half an export must not end in 0.
  if (std::fflush(stdout) != 0) {
    return report({ErrorCode::io, std::string("stdout: ") + std::strerror(errno)});
  }
  return ExitCode::ok;
}

ExitCode journal_import(const Source& source, const std::string& file) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) return report({ErrorCode::not_found, file + ": " + std::strerror(errno)});
  }
  std::istream& lines = file == "-" ? std::cin : opened;
  const auto done = journal::import_store(lines, {.path = path->string()}, rows_equal_events);
  if (!done) return report(done.error());
  if (source.json) {
    std::printf("%s\n", json::serialize(json::object{{"file", path->string()},
                                                     {"events", done->events},
                                                     {"added_events", done->added_events}})
                            .c_str());
    return ExitCode::ok;
  }
  std::printf(
      "%s: %llu events, %llu of them new, verified\n"
      "A store that had no events before refuses to bill until it was reconciled: the provider may "
      "hold charges that are newer than the export.\n",
      path->c_str(), static_cast<unsigned long long>(done->events),
      static_cast<unsigned long long>(done->added_events));
  return ExitCode::ok;
}

}  // namespace onceward::app
