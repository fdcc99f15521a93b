// The anchor: a store that is older than it, or went another way, is refused; a crash never is.
#include <fstream>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/child_process.hpp"
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

class SqliteAnchorTest : public JournalFixture<SqliteBackend> {
 protected:
  [[nodiscard]] std::string anchor() { return backend().path() + ".anchor"; }

  /// Stores `count` events in commits of their own.
  void store_some(const std::string& name, int count) {
    for (int n = 0; n < count; ++n) store(unit(entity(name), {"1"}));
  }
  /// The files of the store as they are now. Only of a closed store.
  void copy_to(const std::string& name) {
    const std::string target = backend().directory().file(name);
    std::filesystem::create_directories(target);
    for (const std::string suffix : {"", "-wal", ".anchor"}) {
      if (!std::filesystem::exists(backend().path() + suffix)) continue;
      std::filesystem::copy_file(backend().path() + suffix, target + "/billing.db" + suffix);
    }
  }
  void put_back(const std::string& name, const std::vector<std::string>& suffixes) {
    for (const std::string& suffix : suffixes) {
      std::filesystem::copy_file(backend().directory().file(name) + "/billing.db" + suffix,
                                 backend().path() + suffix,
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
  void expect_restored(const std::string& text) {
    const std::string anchor_before = content(anchor());
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto opened = SqliteJournal::open(backend().options());
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().code, ErrorCode::store_restored) << opened.error().context;
      EXPECT_NE(opened.error().context.find(text), std::string::npos) << opened.error().context;
      EXPECT_NE(opened.error().context.find("reconcile"), std::string::npos);
    }
    EXPECT_EQ(content(anchor()), anchor_before) << "a refused open must not heal the evidence";
    const auto findings = verify_store({.path = backend().path()}, {});
    ASSERT_TRUE(findings.has_value());
    EXPECT_FALSE(findings->empty()) << "verify finds what the open refuses";
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_F(SqliteAnchorTest, IsWrittenAtOpenEverySoManyCommitsAndAtClose) {
  EXPECT_NE(content(anchor()).find("commits 0\n"), std::string::npos) << content(anchor());
  store_some("a", 2);
  EXPECT_NE(content(anchor()).find("commits 0\n"), std::string::npos);
  store_some("a", 1);  // anchor_every is 3 here
  EXPECT_NE(content(anchor()).find("commits 3\nposition 3\n"), std::string::npos);
  store_some("a", 2);
  EXPECT_NE(content(anchor()).find("commits 3\n"), std::string::npos);
  backend().close();
  EXPECT_NE(content(anchor()).find("commits 5\nposition 5\n"), std::string::npos);
}

TEST_F(SqliteAnchorTest, RefusesAnOlderCopyOfTheStore) {
  store_some("a", 2);
  backend().close();
  copy_to("old");
  backend().open();
  store_some("a", 1);
  backend().close();
  put_back("old", {""});
  expect_restored("it has 2 commits, its anchor knows of 3");
}

TEST_F(SqliteAnchorTest, RefusesAnOlderCopyThatWentOnElsewhere) {
  store_some("a", 2);
  backend().close();
  copy_to("old");
  backend().open();
  store_some("a", 1);
  backend().close();
  copy_to("newest");
  put_back("old", {"", ".anchor"});
  backend().open();
  follow(entity("a"));
  store_some("b", 5);  // more commits than the anchor knows of, but others
  backend().close();
  put_back("newest", {".anchor"});
  expect_restored("at commit 3 it holds something else");
}

TEST_F(SqliteAnchorTest, RefusesAMissingOrUnreadableAnchor) {
  store_some("a", 1);
  backend().close();
  copy_to("good");
  std::filesystem::remove(anchor());
  expect_restored("anchor is missing");
  for (const std::string& text :
       {std::string(), std::string("onceward-anchor 2\n"),
        content(backend().directory().file("good") + "/billing.db.anchor") + "x",
        std::string(200, 'x')}) {
    std::ofstream(anchor(), std::ios::trunc) << text;
    expect_restored("cannot be read");
  }
  put_back("good", {".anchor"});
  backend().open();
  EXPECT_EQ(payloads(entity("a")).size(), 1U);
}

TEST_F(SqliteAnchorTest, RefusesANewStoreBesideTheAnchorOfALostOne) {
  store_some("a", 1);
  backend().close();
  std::filesystem::remove(backend().path());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto opened = SqliteJournal::open(backend().options());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::store_restored) << opened.error().context;
    EXPECT_FALSE(std::filesystem::exists(backend().path())) << "nothing is created";
  }
}

TEST_F(SqliteAnchorTest, RefusesAStoreThatLostTheLogOfItsNewestCommits) {
  store_some("a", 1);
  backend().close();
  ChildProcess child([&](int descriptor) -> int {
    auto opened = SqliteJournal::open(backend().options());
    if (!opened.has_value()) return 1;
    const auto end =
        (*opened)->reader().value()->replay(entity("b"), {}, [](auto&&...) { return true; });
    CommitUnit next = unit_of(entity("b"), end.value().epoch);
    for (int n = 0; n < 4; ++n) {
      const auto answer = (*opened)->commit(std::span(&next, 1)).at(0);
      next.expected = std::get<Stored>(answer).last;
      next.head = std::get<Stored>(answer).head;
    }
    tell(descriptor, 1);
    for (;;) ::pause();
  });
  ASSERT_EQ(child.read(4).size(), 4U);
  child.kill();
  ASSERT_GT(std::filesystem::file_size(backend().path() + "-wal"), 0U);
  std::filesystem::remove(backend().path() + "-wal");
  expect_restored("its anchor knows of 4");
}

// Kill -9 right after the creation, between any two commits, before and after an anchor.
TEST_F(SqliteAnchorTest, NeverRefusesAfterAKill) {
  backend().close();
  std::filesystem::remove(backend().path());
  std::filesystem::remove(anchor());
  for (int commits = 0; commits < 8; ++commits) {
    ChildProcess child([&](int descriptor) -> int {
      auto opened = SqliteJournal::open(backend().options());
      if (!opened.has_value()) return 1;
      const PersistenceId id = entity("k" + std::to_string(commits));
      CommitUnit next = unit_of(id, (*opened)->epoch_of(shard_of(id, SqliteBackend::shards)));
      for (int n = 0; n < commits; ++n) {
        const auto answer = (*opened)->commit(std::span(&next, 1)).at(0);
        next.expected = std::get<Stored>(answer).last;
        next.head = std::get<Stored>(answer).head;
      }
      tell(descriptor, 1);
      for (;;) ::pause();
    });
    ASSERT_EQ(child.read(4).size(), 4U) << "the store was refused after " << commits << " commits";
    child.kill();
  }
  backend().open();
  EXPECT_EQ(reader()->stats().value().commit_count, 28U);
}

}  // namespace
}  // namespace onceward::journal::testing
