// journal_bench: what the SQLite journal costs: bills of two units (claim, two events and a
// reservation; then update, one event and settlement) in groups of 64, beside a hand-written loop
// that writes the same rows into the same tables with the same grouping; then replay, and what a
// single event waits for its commit while 5,000 come in every second.
// Usage: journal_bench [directory] [bills]; writes to the directory and removes what it wrote.
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <onceward/journal/sqlite_journal.hpp>

namespace {

using namespace onceward;
using journal::SqliteJournal;

constexpr std::size_t units_per_group = 64;
constexpr std::uint32_t shards = 256;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "journal_bench: %s\n", why.c_str());
  std::exit(1);
}

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Work>
Cost measure(Work work) {
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), cpu_seconds() - cpu};
}

std::string payload(const char* what, std::size_t n) {
  char text[320];
  std::snprintf(
      text, sizeof(text),
      "{\"period\":\"2026-08\",\"purpose\":\"subscription\",\"what\":\"%s\",\"step\":"
      "\"charge\",\"attempt\":1,\"generation\":0,\"key\":\"%032zx\",\"amount_minor\":4990,"
      "\"currency\":\"usd\",\"payment_method\":\"pm_card_visa\",\"sent_at\":"
      "\"2026-08-01T00:00:00.000Z\"}",
      what, n);
  return text;
}

/// Everything one bill stores, made before the clock starts.
struct Bill {
  CommitUnit first;
  CommitUnit second;
};

std::vector<Bill> make_bills(std::size_t count, bool in_order) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t n = 0; n < count; ++n) numbers[n] = n;
  if (!in_order) std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(7));
  const BillingPeriod period = BillingPeriod::parse("2026-08").value();
  const Currency usd = Currency::parse("usd").value();
  std::vector<Bill> bills(count);
  for (std::size_t at = 0; at < count; ++at) {
    char name[32];
    std::snprintf(name, sizeof(name), "cust_%08zu", numbers[at]);
    Bill& bill = bills[at];
    ObligationRow row;
    row.key = {CustomerId(name), period, Purpose("subscription")};
    row.amount = Money{4990, usd};
    row.attempt = 1;
    row.request_id = RequestId("run-2026-08-" + std::string(name));
    row.next_action_at = Timestamp{1'786'060'800'000};
    bill.first.persistence_id = customer_persistence_id(row.key.customer);
    bill.first.shard = journal::shard_of(bill.first.persistence_id, shards);
    bill.first.writer = WriterId("bill-1/4711/" + std::to_string(at));
    bill.first.at = Timestamp{1'786'060'800'000};
    bill.second = bill.first;
    bill.first.events = {{{"BillingInitiated", 1}, payload("initiated", at)},
                         {{"RequestStarted", 1}, payload("started", at)}};
    bill.second.events = {{{"BillingCompleted", 1}, payload("completed", at)}};
    bill.first.rows = {{RowWrite::Kind::claim, row}};
    bill.first.caps = {{CapOp::Kind::reserve, row.key, 1, row.amount, true}};
    row.status = ObligationStatus::completed;
    row.charge_id = "ch_3PxQ2eLkdIwHu7ix0a1b2c3d";
    row.next_action_at.reset();
    bill.second.rows = {{RowWrite::Kind::update, row}};
    bill.second.caps = {{CapOp::Kind::settle, row.key, 1, row.amount, true}};
  }
  return bills;
}

std::unique_ptr<SqliteJournal> open_journal(const std::string& path) {
  auto opened = SqliteJournal::open(
      {.path = path,
       .identity = {Namespace("bench"), AccountLabel("default"), Mode::test, "v1", shards},
       .anchor_every = 1000,
       .vfs = {}});
  if (!opened.has_value()) stop(opened.error().context);
  return std::move(opened).value();
}

/// Commits all bills, 64 in flight: the first units of 64 bills, then their second units.
void commit_bills(SqliteJournal& store, std::vector<Bill>& bills) {
  std::vector<CommitUnit> group;
  for (std::size_t from = 0; from < bills.size(); from += units_per_group) {
    const std::size_t to = std::min(bills.size(), from + units_per_group);
    for (const auto unit : {&Bill::first, &Bill::second}) {
      group.clear();
      for (std::size_t at = from; at < to; ++at) group.push_back(std::move(bills[at].*unit));
      for (CommitUnit& one : group) one.epoch = store.epoch_of(one.shard);
      const auto answers = store.commit(group);
      for (std::size_t at = from; at < to; ++at) {
        const auto* stored = std::get_if<Stored>(&answers[at - from]);
        if (stored == nullptr) stop("a unit was not stored");
        bills[at].second.expected = stored->last;
        bills[at].second.head = stored->head;
      }
    }
  }
}

/// The hand-written loop: no checks, no chain, no totals; the same rows, indexes and syncs.
class Loop {
 public:
  explicit Loop(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) stop("cannot open " + path);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    run("PRAGMA wal_autocheckpoint = 4000");
    run("PRAGMA cache_size = -8000");
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    entity_ = prepare("INSERT INTO entities VALUES (?1, ?2, 0, 2, zeroblob(32))");
    entity_end_ = prepare("UPDATE entities SET last = 3, head = zeroblob(32) WHERE id = ?1");
    event_ = prepare("INSERT INTO events VALUES (?1, ?2, ?3, ?4, 1, ?5, 1, ?6, ?7, zeroblob(32))");
    row_ = prepare(
        "INSERT INTO obligations VALUES ('2026-08', ?1, 'subscription', 'in_progress', 4990, "
        "'usd', "
        "'', 1, '', '', ?2, 0, 0, 1786060800000, NULL, 1)");
    row_end_ = prepare(
        "UPDATE obligations SET status = 'completed', charge_id = 'ch_3PxQ2eLkdIwHu7ix0a1b2c3d', "
        "next_action_at = NULL WHERE period = '2026-08' AND customer = ?1 AND "
        "purpose = 'subscription'");
    cap_ = prepare(
        "INSERT INTO cap_reservations VALUES ('2026-08', ?1, 'subscription', 1, 'reserved', 4990, "
        "'usd', 1234567890123456789)");
    cap_end_ = prepare(
        "UPDATE cap_reservations SET state = 'settled' WHERE period = '2026-08' AND customer = ?1 "
        "AND purpose = 'subscription' AND attempt = 1");
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    for (sqlite3_stmt* one :
         {begin_, commit_, entity_, entity_end_, event_, row_, row_end_, cap_, cap_end_}) {
      sqlite3_finalize(one);
    }
    sqlite3_close(db_);
  }

  void commit_bills(const std::vector<Bill>& bills) {
    for (std::size_t from = 0; from < bills.size(); from += units_per_group) {
      const std::size_t to = std::min(bills.size(), from + units_per_group);
      step(begin_);
      for (std::size_t at = from; at < to; ++at) first(bills[at], static_cast<int>(at) + 1);
      step(commit_);
      step(begin_);
      for (std::size_t at = from; at < to; ++at) second(bills[at], static_cast<int>(at) + 1);
      step(commit_);
    }
  }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) stop(sqlite3_errmsg(db_));
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(db_, sql, -1, &made, nullptr) != SQLITE_OK) stop(sqlite3_errmsg(db_));
    return made;
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) stop(sqlite3_errmsg(db_));
    sqlite3_reset(statement);
  }
  static void text(sqlite3_stmt* statement, int index, const std::string& value) {
    sqlite3_bind_text(statement, index, value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
  }
  void events(const CommitUnit& unit, int entity, int sequence_nr) {
    for (const EncodedEvent& event : unit.events) {
      sqlite3_bind_int64(event_, 1, ++position_);
      sqlite3_bind_int(event_, 2, entity);
      sqlite3_bind_int(event_, 3, sequence_nr++);
      text(event_, 4, event.manifest.name);
      text(event_, 5, event.payload);
      text(event_, 6, unit.writer.value());
      sqlite3_bind_int64(event_, 7, unit.at.ms);
      step(event_);
    }
  }
  void first(const Bill& bill, int entity) {
    const ObligationRow& row = bill.first.rows[0].row;
    sqlite3_bind_int(entity_, 1, entity);
    text(entity_, 2, bill.first.persistence_id.value());
    step(entity_);
    events(bill.first, entity, 1);
    text(row_, 1, row.key.customer.value());
    text(row_, 2, row.request_id.value());
    step(row_);
    text(cap_, 1, row.key.customer.value());
    step(cap_);
  }
  void second(const Bill& bill, int entity) {
    const std::string& customer = bill.second.rows[0].row.key.customer.value();
    sqlite3_bind_int(entity_end_, 1, entity);
    step(entity_end_);
    events(bill.second, entity, 3);
    text(row_end_, 1, customer);
    step(row_end_);
    text(cap_end_, 1, customer);
    step(cap_end_);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt *begin_, *commit_, *entity_, *entity_end_, *event_, *row_, *row_end_, *cap_,
      *cap_end_;
  std::int64_t position_ = 0;
};

void print(const char* what, const Cost& cost, std::size_t bills) {
  const double count = static_cast<double>(bills);
  std::printf("%-22s %8.0f events/s  %6.2f us wall per bill  %6.2f us CPU per bill\n", what,
              3 * count / cost.wall_s, cost.wall_s / count * 1e6, cost.cpu_s / count * 1e6);
}

void bench_writing(const std::string& directory, std::size_t count, bool in_order) {
  const char* const order = in_order ? "in order" : "random";
  const std::string path = directory + "/journal.db";
  const std::string loop_path = directory + "/loop.db";
  { (void)open_journal(loop_path); }  // the same schema
  std::vector<Bill> bills = make_bills(count, in_order);
  std::size_t payload_bytes = 0;
  for (const Bill& bill : bills) {
    for (const CommitUnit* unit : {&bill.first, &bill.second}) {
      for (const EncodedEvent& event : unit->events) payload_bytes += event.payload.size();
    }
  }
  Cost hand;
  {
    Loop loop(loop_path);
    hand = measure([&] { loop.commit_bills(bills); });
  }
  const auto store = open_journal(path);
  const Cost ours = measure([&] { commit_bills(*store, bills); });
  print((std::string("loop, ") + order).c_str(), hand, count);
  print((std::string("journal, ") + order).c_str(), ours, count);
  const auto bytes = static_cast<double>(store->reader().value()->stats().value().bytes);
  std::printf("%-22s %.2fx the loop's speed, %.2fx its CPU; file %.2fx the payload bytes\n", "",
              hand.wall_s / ours.wall_s, ours.cpu_s / hand.cpu_s,
              bytes / static_cast<double>(payload_bytes));
}

void bench_reading(const std::string& directory, std::size_t count) {
  const auto store = open_journal(directory + "/journal.db");
  const auto reader = store->reader().value();
  std::vector<PersistenceId> ids;
  for (std::size_t n = 0; n < count; ++n) {
    char name[32];
    std::snprintf(name, sizeof(name), "cust_%08zu", n);
    ids.push_back(customer_persistence_id(CustomerId(name)));
  }
  std::size_t seen = 0;
  const auto sink = [&](const PersistenceId&, StoredEvent&&) {
    ++seen;
    return true;
  };
  const Cost scan = measure([&] {
    (void)reader->scan(0, [&](std::uint64_t, const PersistenceId& id, StoredEvent&& event) {
      return sink(id, std::move(event));
    });
  });
  const Cost many = measure([&] {
    reader->replay_many(ids, sink,
                        [](const PersistenceId&, const Result<journal::HistoryEnd>& end) {
                          if (!end.has_value()) stop(end.error().context);
                        });
  });
  const Cost single = measure([&] {
    for (const PersistenceId& id : ids) {
      if (!reader->replay(id, {}, sink).has_value()) stop("replay failed");
    }
  });
  if (seen != 9 * count) stop("events are missing");
  print("scan by position", scan, count);
  print("replay of many", many, count);
  print("replay one by one", single, count);
  std::printf("%-22s %.0f entities/s in batches of many\n", "",
              static_cast<double>(count) / many.wall_s);
}

/// Events come in at a fixed rate, whether the journal is done or not; a group is what came in
/// meanwhile. The time counts from when an event was due, so that a stall is not left out.
void bench_append(const std::string& directory, std::size_t seconds) {
  constexpr std::size_t per_second = 5'000;
  const auto store = open_journal(directory + "/append.db");
  std::vector<Bill> bills = make_bills(per_second * seconds, true);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto due_at = [&](std::size_t nr) {
    return start + std::chrono::nanoseconds(1'000'000'000 / per_second * nr);
  };
  std::vector<double> waits_ms;
  std::vector<CommitUnit> group;
  for (std::size_t done = 0; done < bills.size(); done += group.size()) {
    while (Clock::now() < due_at(done)) std::this_thread::yield();
    const auto now = Clock::now();
    group.clear();
    for (std::size_t at = done; at < bills.size() && due_at(at) <= now; ++at) {
      CommitUnit& unit = bills[at].first;
      unit.events.resize(1);
      unit.epoch = store->epoch_of(unit.shard);
      group.push_back(std::move(unit));
    }
    for (const auto& answer : store->commit(group)) {
      if (!std::holds_alternative<Stored>(answer)) stop("a unit was not stored");
    }
    const auto stored = Clock::now();
    for (std::size_t at = done; at < done + group.size(); ++at) {
      waits_ms.push_back(std::chrono::duration<double, std::milli>(stored - due_at(at)).count());
    }
  }
  std::sort(waits_ms.begin(), waits_ms.end());
  std::printf("%-22s p50 %.2f ms, p99 %.2f ms, max %.2f ms at %zu events/s for %zu s\n",
              "append, open loop", waits_ms[waits_ms.size() / 2],
              waits_ms[waits_ms.size() * 99 / 100], waits_ms.back(), per_second, seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = (argc > 1 ? std::string(argv[1]) : std::string("/tmp")) +
                                "/onceward_journal_bench_" + std::to_string(::getpid());
  const std::size_t bills = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 50'000;
  for (const bool in_order : {true, false}) {
    std::filesystem::create_directories(directory);
    bench_writing(directory, bills, in_order);
    bench_reading(directory, bills);
    std::filesystem::remove_all(directory);
  }
  std::filesystem::create_directories(directory);
  bench_append(directory, 10);
  std::filesystem::remove_all(directory);
}
