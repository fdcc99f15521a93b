// reconcile run, report: a stopped or restored store against the provider's ledger. What the store
// lacks is recorded; only then, and with a reason, may a restored store bill again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include <unistd.h>

#include <boost/json.hpp>

#include <onceward/core/check.hpp>
#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/journal/store_backup.hpp>
#include <onceward/platform/system_clock.hpp>
#include <onceward/provider/stripe_provider.hpp>
#include <onceward/recovery/restored.hpp>

#include "app/config/config_load.hpp"
#include "app/config/secrets.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {
namespace {

namespace json = boost::json;
using provider::StripeProvider;

constexpr std::int64_t day_s = 86'400;

Timestamp now() {
  const auto clock = platform::SystemClock::open({});
  ONCEWARD_CHECK(clock.has_value(), "a machine with a boot id");
  return (*clock)->now().wall;
}

Result<Config> config_of(const Source& source) {
  ConfigSources sources;
  sources.file = source.config_file;
  sources.environment = config_environment();
  auto loaded = load_config(sources);
  if (!loaded) return Unexpected{std::move(loaded).error()};
  return std::move(loaded->config);
}

Result<std::unique_ptr<StripeProvider>> provider_of(const Config& config) {
  if (config.provider.kind == ProviderKind::simulator) {
    return fail(ErrorCode::invalid_config,
                "the built-in simulator ends with its node: there is no ledger to compare with");
  }
  auto key = read_provider_key(config);
  if (!key) return Unexpected{std::move(key).error()};
  provider::StripeProviderOptions options;
  options.base_url = config.provider.base_url;
  options.secret_key = platform::Secret{std::move(*key)};
  options.timeout = config.provider.timeout;
  options.rate_per_second = config.provider.rate_per_second;
  return StripeProvider::create(std::move(options));
}

ExternalAnswer ask(StripeProvider& provider, Operation operation, std::int64_t from_s,
                   std::int64_t to_s) {
  ExternalRequest request;
  request.key = IdempotencyKey("reconcile");
  request.operation = operation;
  request.params = {{"created[gte]", std::to_string(from_s)},
                    {"created[lt]", std::to_string(to_s)}};
  request.not_after_boottime_ms = std::numeric_limits<std::int64_t>::max();
  std::promise<void> granted;
  provider.acquire([&] { granted.set_value(); });
  granted.get_future().wait();
  std::promise<ExternalAnswer> answered;
  provider.call(std::move(request),
                [&](ExternalAnswer&& got) { answered.set_value(std::move(got)); });
  return answered.get_future().get();
}

/// All objects created in [from, to). A range that is too long for one list is halved.
Result<Unit> list(StripeProvider& provider, Operation operation, std::int64_t from_s,
                  std::int64_t to_s, std::vector<ProviderObject>& objects) {
  ExternalAnswer answer = ask(provider, operation, from_s, to_s);
  if (answer.observation == Observation::object) {
    std::move(answer.objects.begin(), answer.objects.end(), std::back_inserter(objects));
    return ok();
  }
  if (answer.code == "too_many_pages" && to_s - from_s > 1) {
    const std::int64_t middle = from_s + (to_s - from_s) / 2;
    auto first = list(provider, operation, from_s, middle, objects);
    return first ? list(provider, operation, middle, to_s, objects) : first;
  }
  return fail(ErrorCode::unreachable,
              "the provider's ledger cannot be read: " + std::string(to_text(answer.observation)) +
                  " " + answer.code + " " + answer.message +
                  "; nothing was accepted, run it again");
}

Result<std::vector<ProviderObject>> ledger(const Config& config, std::int64_t from_s) {
  auto provider = provider_of(config);
  if (!provider) return Unexpected{std::move(provider).error()};
  std::vector<ProviderObject> objects;
  const std::int64_t to_s = now().ms / 1000 + day_s;
  for (const Operation operation : {Operation::list_intents, Operation::list_charges}) {
    if (operation == Operation::list_charges && config.provider.flow != billing::Flow::charges) {
      continue;
    }
    if (auto read = list(**provider, operation, from_s, to_s, objects); !read) {
      return Unexpected{std::move(read).error()};
    }
  }
  return objects;
}

/// Seconds of the newest event, from which the provider is read backwards and forwards.
Result<std::int64_t> newest_event_s(journal::JournalReader& reader) {
  const auto stats = reader.stats();
  if (!stats) return Unexpected{stats.error()};
  std::int64_t at_ms = now().ms;
  auto read = reader.scan(stats->events == 0 ? 0 : stats->events - 1,
                          [&](std::uint64_t, const PersistenceId&, StoredEvent&& event) {
                            at_ms = std::min(at_ms, event.at.ms);
                            return true;
                          });
  if (!read) return Unexpected{std::move(read).error()};
  return at_ms / 1000;
}

void print(const char* title, const std::vector<recovery::Difference>& found) {
  for (const auto& one : found) {
    std::printf("%s  %s: %s\n", title, one.where.c_str(), one.what.c_str());
  }
}

json::array array_of(const std::vector<recovery::Difference>& found) {
  json::array rows;
  for (const auto& one : found) {
    rows.push_back(json::object{{"where", one.where}, {"what", one.what}});
  }
  return rows;
}

void print(const Source& source, const recovery::RestoredReport& found, bool is_written) {
  if (source.json) {
    std::printf("%s\n", json::serialize(json::object{{"ours", found.ours},
                                                     {"known", found.known},
                                                     {"missing", array_of(found.recordings)},
                                                     {"recorded", is_written},
                                                     {"blocking", array_of(found.blocking)},
                                                     {"twins", array_of(found.twins)}})
                            .c_str());
    return;
  }
  print(is_written ? "recorded" : "missing", found.recordings);
  print("twin", found.twins);
  print("blocking", found.blocking);
  std::printf("%llu objects of ours, %llu charges known, %llu %s, %zu twins, %zu blocking\n",
              static_cast<unsigned long long>(found.ours),
              static_cast<unsigned long long>(found.known),
              static_cast<unsigned long long>(found.recorded), is_written ? "recorded" : "missing",
              found.twins.size(), found.blocking.size());
}

journal::SqliteJournalOptions journal_options(const Config& config) {
  journal::SqliteJournalOptions options;
  options.path = config.store.path.string();
  options.identity = {config.keys.ns, config.provider.account, config.provider.mode,
                      config.keys.scheme == billing::KeyScheme::colon ? "colon" : "v1",
                      config.cluster.shards};
  options.is_reconciling = true;
  return options;
}

recovery::RestoredOptions restored_options(const Config& config) {
  return {config.keys.ns, config.cluster.shards, WriterId(config.node.name + "/reconcile"), now()};
}

Result<recovery::RestoredReport> compare(const Config& config, const ReconcileOptions& options,
                                         journal::JournalReader& reader,
                                         journal::Journal* journal) {
  const auto newest = newest_event_s(reader);
  if (!newest) return Unexpected{newest.error()};
  const auto objects =
      ledger(config, std::max<std::int64_t>(0, *newest - std::int64_t{options.days} * day_s));
  if (!objects) return Unexpected{objects.error()};
  return recovery::compare_restored(reader, journal, *objects, restored_options(config));
}

bool differs(const recovery::RestoredReport& found) {
  return found.recorded > 0 || !found.blocking.empty() || !found.twins.empty();
}

std::string who_of(const ReconcileOptions& options) {
  if (!options.who.empty()) return options.who;
  const char* user = std::getenv("USER");
  return user != nullptr && *user != '\0' ? user : "uid " + std::to_string(::getuid());
}

/// Ends the refusal of a restored store. A store that was not refused needs nothing.
ExitCode accept(const Config& config, const ReconcileOptions& options) {
  const auto accepted = journal::accept_restored(
      {.path = config.store.path.string()},
      who_of(options) + " at " + std::to_string(now().ms) + ": " + options.reason);
  if (accepted) {
    std::fputs("accepted: the node may bill again\n", stderr);
    return ExitCode::ok;
  }
  return accepted.error().code == ErrorCode::conflict ? ExitCode::ok : report(accepted.error());
}

}  // namespace

ExitCode reconcile_report(const Source& source, const ReconcileOptions& options) {
  const auto config = config_of(source);
  if (!config) return report(config.error());
  const auto store = journal::open_read_only({.path = config->store.path.string()});
  if (!store) return report(store.error());
  const auto found = compare(*config, options, *store->reader, nullptr);
  if (!found) return report(found.error());
  print(source, *found, false);
  return differs(*found) ? ExitCode::partial : ExitCode::ok;
}

ExitCode reconcile_run(const Source& source, const ReconcileOptions& options) {
  const auto config = config_of(source);
  if (!config) return report(config.error());
  {
    const auto opened = journal::SqliteJournal::open(journal_options(*config));
    if (!opened) return report(opened.error());
    const auto reader = (*opened)->reader();
    if (!reader) return report(reader.error());
    const auto found = compare(*config, options, **reader, opened->get());
    if (!found) return report(found.error());
    print(source, *found, true);
    if (!found->blocking.empty()) {
      std::fputs("not accepted: settle what is blocking, then run it again\n", stderr);
      return ExitCode::partial;
    }
  }
  return accept(*config, options);
}

}  // namespace onceward::app
