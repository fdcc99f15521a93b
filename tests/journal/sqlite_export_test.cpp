// Exports are complete and stable; imports take a whole, unchanged export and nothing else.
#include <onceward/journal/store_export.hpp>

#include <set>
#include <sstream>

#include <onceward/journal/store_backup.hpp>
#include <onceward/platform/sqlite.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "journal/sqlite/export_tables.hpp"
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

class SqliteExportTest : public JournalFixture<SqliteBackend> {
 protected:
  /// A customer with row, mark and cap use, then `more` further events.
  void store_some(int more = 2) {
    CommitUnit made = unit(entity("a"), {"{\"text\":\"\\u00e9 \\\" \\\\ \xc3\xa9\"}"});
    made.rows.push_back(claim(open_row(key("a"))));
    made.marks.push_back(Mark{"bill", "request-1", "print", std::nullopt});
    made.caps.push_back(cap(CapOp::Kind::reserve, key("a"), usd(4990)));
    store(std::move(made));
    for (int n = 0; n < more; ++n) store(unit(entity("b"), {"1"}));
  }
  [[nodiscard]] std::string exported() {
    std::string text;
    const auto report = export_store({.path = backend().path()}, [&](std::string_view line) {
      text += std::string(line) + "\n";
      return Result<Unit>(ok());
    });
    EXPECT_TRUE(report.has_value()) << report.error().context;
    return text;
  }
  [[nodiscard]] StoreFiles other() { return {.path = backend().directory().file("other.db")}; }
  static Result<ImportReport> import(const std::string& text, const StoreFiles& to) {
    std::istringstream lines(text);
    return import_store(lines, to, {});
  }
  static ErrorCode code_of(const Result<ImportReport>& report) {
    return report.has_value() ? ErrorCode{} : report.error().code;
  }
  void lose_store() {
    backend().close();
    for (const char* suffix : {"", "-wal", "-shm", ".anchor"}) {
      std::filesystem::remove(backend().path() + suffix);
    }
  }
};

TEST_F(SqliteExportTest, EveryTableIsCarriedOrLeftOutOnPurpose) {
  std::set<std::string> known = {"events", "entities", "store_values", "snapshots"};
  for (const auto& table : sqlite::export_tables) known.insert(table.name);
  auto connection = platform::SqliteConnection::open({.path = backend().path(), .vfs = {}});
  ASSERT_TRUE(connection.has_value());
  auto tables = connection->prepare("SELECT name FROM sqlite_schema WHERE type = 'table'");
  ASSERT_TRUE(tables.has_value());
  while (tables->step() == platform::SqliteStatement::Step::row) {
    EXPECT_EQ(known.count(std::string(tables->text(0))), 1U) << tables->text(0);
  }
}

TEST_F(SqliteExportTest, EqualStatesGiveEqualBytesAndTheImportExportsTheSame) {
  store_some();
  const std::string text = exported();
  EXPECT_EQ(text, exported());
  const auto report = import(text, other());
  ASSERT_TRUE(report.has_value()) << report.error().context;
  EXPECT_EQ(report->events, 3U);
  std::string again;
  ASSERT_TRUE(export_store(other(), [&](std::string_view line) {
                again += std::string(line) + "\n";
                return Result<Unit>(ok());
              }).has_value());
  EXPECT_EQ(again, text);
}

TEST_F(SqliteExportTest, AnImportRefusesToBillUntilItIsAcceptedAndThenGoesOn) {
  store_some();
  const std::string text = exported();
  lose_store();
  ASSERT_TRUE(import(text, {.path = backend().path()}).has_value());
  EXPECT_EQ(SqliteJournal::open(backend().options()).error().code, ErrorCode::store_restored);
  ASSERT_TRUE(accept_restored({.path = backend().path()}, "test").has_value());
  backend().open();
  follow(entity("a"));
  CommitUnit again = unit(entity("a"), {"2"});
  again.rows.push_back(claim(open_row(key("a"))));
  const auto answers = backend().journal().commit({&again, 1});
  EXPECT_TRUE(std::holds_alternative<ClaimRefused>(answers.at(0))) << "billed already";
  store(unit(entity("a"), {"3"}));
  EXPECT_EQ(payloads(entity("a")).size(), 2U);
  EXPECT_TRUE(verify_store({.path = backend().path()}, {}).value().empty());
}

TEST_F(SqliteExportTest, ContinuesAStoreWhoseEventsAreTheFirstOfTheExport) {
  store_some();
  const std::string older = exported();
  for (int n = 0; n < 4; ++n) store(unit(entity("c"), {"1"}));
  const std::string newer = exported();
  ASSERT_TRUE(import(older, other()).has_value());
  const auto report = import(newer, other());
  ASSERT_TRUE(report.has_value()) << report.error().context;
  EXPECT_EQ(report->added_events, 4U);
  EXPECT_EQ(report->events, 7U);
  const auto nothing = import(newer, other());
  ASSERT_TRUE(nothing.has_value()) << nothing.error().context;
  EXPECT_EQ(nothing->added_events, 0U);
  EXPECT_EQ(code_of(import(older, other())), ErrorCode::conflict) << "the store is newer";
}

TEST_F(SqliteExportTest, RefusesAStoreThatHoldsSomethingElseAndOneThatRuns) {
  store_some();
  const std::string text = exported();
  EXPECT_EQ(code_of(import(text, {.path = backend().path()})), ErrorCode::store_locked);
  backend().close();
  SqliteBackend second;  // another store with one event of its own
  CommitUnit foreign = unit_of(entity("z"), Epoch{1});
  foreign.epoch = second.journal().epoch_of(foreign.shard);
  ASSERT_TRUE(std::holds_alternative<Stored>(second.journal().commit({&foreign, 1}).at(0)));
  second.close();
  EXPECT_EQ(code_of(import(text, {.path = second.path()})), ErrorCode::conflict);
  EXPECT_EQ(open_read_only({.path = second.path()})->reader->stats()->events, 1U) << "unharmed";
  EXPECT_FALSE(std::filesystem::exists(second.path() + ".importing"));
}

TEST_F(SqliteExportTest, RefusesAnExportThatWasCutOrChangedAnywhere) {
  store_some();
  const std::string text = exported();
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  const auto joined = [](const std::vector<std::string>& some) {
    std::string out;
    for (const auto& line : some) out += line + "\n";
    return out;
  };
  for (std::size_t without = 0; without < lines.size(); ++without) {
    auto fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(without));
    EXPECT_FALSE(import(joined(fewer), other()).has_value()) << lines[without];
    EXPECT_FALSE(std::filesystem::exists(other().path));
  }
  auto edited = text;
  const auto place = edited.find("\"payload\":\"1\"");
  ASSERT_NE(place, std::string::npos);
  edited.replace(place, 13, "\"payload\":\"2\"");
  EXPECT_EQ(code_of(import(edited, other())), ErrorCode::store_corrupt);
  EXPECT_EQ(code_of(import("no json\n", other())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(import("", other())), ErrorCode::invalid_argument);
}

TEST_F(SqliteExportTest, LeavesTheStoreAsItWasIfTheCheckRefuses) {
  store_some();
  std::istringstream lines(exported());
  const auto report = import_store(lines, other(), [](const std::string&) -> Result<Unit> {
    return fail(ErrorCode::store_corrupt, "rows differ");
  });
  EXPECT_EQ(code_of(report), ErrorCode::store_corrupt);
  EXPECT_FALSE(std::filesystem::exists(other().path));
}

}  // namespace
}  // namespace onceward::journal::testing
