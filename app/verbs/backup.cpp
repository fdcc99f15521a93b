// The verbs that copy a store: backup of a live or stopped one, restore in the place of a lost one.
#include <onceward/journal/store_backup.hpp>

#include <boost/json.hpp>
#include <cstdio>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/store_verbs.hpp"

namespace onceward::app {
namespace {

namespace json = boost::json;

void print(const Source& source, const journal::BackupReport& copied, const std::string& file,
           const char* sentence) {
  if (source.json) {
    std::printf("%s\n", json::serialize(json::object{{"file", file},
                                                     {"commits", copied.commit_count},
                                                     {"events", copied.events},
                                                     {"bytes", copied.bytes}})
                            .c_str());
    return;
  }
  std::printf("%s: %llu commits, %llu events, %llu bytes, verified\n%s", file.c_str(),
              static_cast<unsigned long long>(copied.commit_count),
              static_cast<unsigned long long>(copied.events),
              static_cast<unsigned long long>(copied.bytes), sentence);
}

}  // namespace

ExitCode backup(const Source& source, const std::string& file) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  const auto copied = journal::backup_store({.path = path->string()}, file);
  if (!copied) return report(copied.error());
  print(source, *copied, file, "");
  return ExitCode::ok;
}

ExitCode restore(const Source& source, const std::string& file) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  const auto copied = journal::restore_store(file, {.path = path->string()});
  if (!copied) return report(copied.error());
  print(source, *copied, path->string(),
        "It refuses to bill until it was reconciled: the provider may hold charges that are newer "
        "than the backup.\n");
  return ExitCode::ok;
}

}  // namespace onceward::app
