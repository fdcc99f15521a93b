// journal verify, stats, show, tail: on a store that may be live or stopped.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <thread>

#include <boost/json.hpp>

#include <onceward/recovery/verify.hpp>

#include "app/config/config_load.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/store_verbs.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;

/// "entities 1200" rewritten in place on a terminal, silent elsewhere.
class Counter {
 public:
  explicit Counter(const char* what) : what_(what), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Counter() {
    if (has_line_) std::fputs("\r\x1b[K", stderr);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  void operator()(std::uint64_t count) {
    constexpr std::uint64_t step = 1'000;
    if (!is_terminal_ || count < shown_ + step) return;
    std::fprintf(stderr, "\r%s %llu", what_, static_cast<unsigned long long>(count));
    shown_ = count;
    has_line_ = true;
  }

 private:
  const char* what_;
  const bool is_terminal_;
  std::uint64_t shown_ = 0;
  bool has_line_ = false;
};

json::object event_object(std::uint64_t position, const PersistenceId& id,
                          const StoredEvent& event) {
  json::object object{{"persistence_id", id.value()},
                      {"sequence_nr", event.sequence_nr.value},
                      {"at", to_iso(event.at)},
                      {"event", event.event.manifest.name},
                      {"version", event.event.manifest.version},
                      {"epoch", event.epoch.value},
                      {"writer", event.writer.value()},
                      {"head", to_hex(event.head)}};
  if (position != 0) object["position"] = position;
  json::error_code error;
  auto data = json::parse(event.event.payload, error);
  object["data"] = error ? json::value(nullptr) : std::move(data);
  return object;
}

void print_event(const Source& source, std::uint64_t position, const PersistenceId& id,
                 const StoredEvent& event) {
  if (source.json) {
    std::printf("%s\n", json::serialize(event_object(position, id, event)).c_str());
    return;
  }
  std::printf("%-28s %5llu  %s  epoch %-4llu %-22s %s\n", id.value().c_str(),
              static_cast<unsigned long long>(event.sequence_nr.value), to_iso(event.at).c_str(),
              static_cast<unsigned long long>(event.epoch.value), event.event.manifest.name.c_str(),
              event.event.payload.c_str());
}

/// Prints what is committed after `position`, until a signal ends the process or the output is
/// gone. A look at the end of the store costs one query, so that five a second burden nobody.
ExitCode follow_from(const Source& source, journal::JournalReader& reader, std::uint64_t position) {
  constexpr std::chrono::milliseconds pause{200};
  while (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    std::this_thread::sleep_for(pause);
    auto end =
        reader.scan(position, [&](std::uint64_t at, const PersistenceId& id, StoredEvent&& event) {
          print_event(source, at, id, event);
          return true;
        });
    if (!end) return report(end.error());
    position = *end;
  }
  return ExitCode::ok;
}

}  // namespace

Result<std::filesystem::path> store_path_of(const Source& source) {
  ConfigSources sources;
  if (!source.config_file.empty()) sources.file = source.config_file;
  sources.environment = config_environment();
  auto loaded = load_config(sources);
  if (!loaded) return Unexpected{std::move(loaded).error()};
  return loaded->config.store.path;
}

Result<journal::ReadOnlyStore> open_store_of(const Source& source) {
  auto path = store_path_of(source);
  if (!path) return Unexpected{std::move(path).error()};
  return journal::open_read_only({.path = path->string()});
}

ExitCode journal_verify(const Source& source) {
  auto path = store_path_of(source);
  if (!path) return report(path.error());
  json::array findings;
  const auto add = [&findings](const std::string& where, const std::string& what) {
    findings.push_back(json::object{{"where", where}, {"what", what}});
  };
  Counter events("events checked");
  auto stored = journal::verify_store({.path = path->string()}, std::ref(events));
  if (!stored) return report(stored.error());
  for (const auto& finding : *stored) add(finding.where, finding.what);
  auto store = journal::open_read_only({.path = path->string()});
  if (!store) return report(store.error());
  Counter entities("entities checked");
  auto derived = recovery::verify(*store->reader, std::ref(entities));
  if (!derived) return report(derived.error());
  for (const auto& difference : derived->differences) add(difference.where, difference.what);

  const bool is_clean = findings.empty();
  if (source.json) {
    std::printf("%s\n", json::serialize(json::object{{"clean", is_clean},
                                                     {"entities", derived->entities},
                                                     {"events", derived->events},
                                                     {"obligations", derived->rows},
                                                     {"findings", findings}})
                            .c_str());
    return is_clean ? ExitCode::ok : ExitCode::failed;
  }
  for (const auto& finding : findings) {
    std::printf("%s: %s\n", finding.at("where").as_string().c_str(),
                finding.at("what").as_string().c_str());
  }
  std::printf("%s: %llu events, %llu entities, %llu obligations, %zu findings\n",
              is_clean ? "clean" : "NOT CLEAN", static_cast<unsigned long long>(derived->events),
              static_cast<unsigned long long>(derived->entities),
              static_cast<unsigned long long>(derived->rows), findings.size());
  return is_clean ? ExitCode::ok : ExitCode::failed;
}

ExitCode journal_stats(const Source& source) {
  auto store = open_store_of(source);
  if (!store) return report(store.error());
  auto stats = store->reader->stats();
  if (!stats) return report(stats.error());
  const json::object object{{"events", stats->events},
                            {"entities", stats->entities},
                            {"obligations", stats->obligations},
                            {"open_obligations", stats->open_obligations},
                            {"marks", stats->marks},
                            {"quarantined", stats->quarantined},
                            {"commits", stats->commit_count},
                            {"bytes", stats->bytes}};
  if (source.json) {
    std::printf("%s\n", json::serialize(object).c_str());
    return ExitCode::ok;
  }
  for (const auto& member : object) {
    std::printf("%-17s %s\n", std::string(member.key()).c_str(),
                json::serialize(member.value()).c_str());
  }
  return ExitCode::ok;
}

ExitCode journal_show(const Source& source, const std::string& persistence_id) {
  auto store = open_store_of(source);
  if (!store) return report(store.error());
  const PersistenceId id{persistence_id};
  bool any = false;
  auto end = store->reader->replay(id, {}, [&](const PersistenceId& of, StoredEvent&& event) {
    any = true;
    print_event(source, 0, of, event);
    return true;
  });
  if (!end) return report(end.error());
  if (!any) {
    return report({ErrorCode::not_found,
                   "no event is stored for " + persistence_id + "; ids look like customer/cust_1"});
  }
  return ExitCode::ok;
}

ExitCode journal_tail(const Source& source, std::uint64_t count, bool follow) {
  auto store = open_store_of(source);
  if (!store) return report(store.error());
  auto stats = store->reader->stats();
  if (!stats) return report(stats.error());
  struct Line {
    std::uint64_t position;
    PersistenceId id;
    StoredEvent event;
  };
  std::deque<Line> last;
  // Positions count events, so that the scan begins near the end.
  const std::uint64_t after = stats->events > count ? stats->events - count : 0;
  auto end = store->reader->scan(
      after, [&](std::uint64_t position, const PersistenceId& id, StoredEvent&& event) {
        last.push_back({position, id, std::move(event)});
        if (last.size() > count) last.pop_front();
        return true;
      });
  if (!end) return report(end.error());
  for (const auto& line : last) print_event(source, line.position, line.id, line.event);
  return follow ? follow_from(source, *store->reader, *end) : ExitCode::ok;
}

}  // namespace onceward::app
