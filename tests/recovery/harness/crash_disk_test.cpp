// SqliteJournal on a disk in memory: it works, and what the disk does not keep is not there.
#include <onceward/harness/crash_disk.hpp>

#include <gtest/gtest.h>

#include <onceward/journal/sqlite_journal.hpp>

#include "tests/journal/sqlite_backend.hpp"
#include "tests/recovery/harness/billing_flow.hpp"

namespace onceward::harness {
namespace {

using journal::SqliteJournal;
using journal::SqliteJournalOptions;
using onceward::testing::BillingFlow;

class CrashDiskTest : public ::testing::Test {
 protected:
  SqliteJournalOptions options() {
    return {.path = directory_.file("billing.db"),
            .identity = journal::testing::test_identity(),
            .anchor_every = 3,
            .vfs = disk_.vfs(),
            .anchors = &disk_};
  }
  void open() {
    auto opened = SqliteJournal::open(options());
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    journal_ = std::move(opened).value();
  }
  void bill(const std::string& customer) {
    ASSERT_TRUE(BillingFlow(*journal_).bill({customer}, "2026-08"));
  }
  std::uint64_t obligations() { return journal_->reader().value()->stats().value().obligations; }

  journal::testing::TemporaryDirectory directory_;
  CrashDisk disk_;
  std::unique_ptr<SqliteJournal> journal_;
};

TEST_F(CrashDiskTest, HoldsAStoreOfTheRealJournal) {
  open();
  bill("a");
  EXPECT_EQ(obligations(), 1U);
  journal_.reset();
  EXPECT_TRUE(disk_.model().find("billing.db") && disk_.model().find("billing.db.anchor"));
  EXPECT_FALSE(disk_.model().find("billing.db-wal")) << "the close moved it into the file";
  EXPECT_FALSE(std::filesystem::exists(directory_.file("billing.db"))) << "nothing real is written";
  const auto findings = journal::verify_store(disk_.files(directory_.file("billing.db")), nullptr);
  ASSERT_TRUE(findings.has_value()) << findings.error().context;
  EXPECT_TRUE(findings->empty());
  open();
  EXPECT_EQ(obligations(), 1U);
}

TEST_F(CrashDiskTest, KeepsWhatWasAnsweredWhenThePowerFails) {
  open();
  bill("a");
  const std::uint64_t before = disk_.io_count();
  disk_.cut_power();
  EXPECT_FALSE(BillingFlow(*journal_).bill({"b"}, "2026-08"));
  journal_.reset();
  EXPECT_EQ(disk_.io_count(), before) << "a dead machine changes nothing";
  disk_.restart(Loss{});
  open();
  EXPECT_EQ(obligations(), 1U);
}

TEST_F(CrashDiskTest, FailsOnDemandAndWhenFull) {
  open();
  bill("a");
  disk_.fail_after(2);
  EXPECT_FALSE(BillingFlow(*journal_).bill({"b"}, "2026-08"));
  EXPECT_TRUE(journal_->barrier_pending());
  ASSERT_TRUE(journal_->barrier().has_value()) << "it fails once";
  EXPECT_EQ(obligations(), 1U);

  disk_.limit_size(disk_.model().size());
  EXPECT_FALSE(BillingFlow(*journal_).bill({"b"}, "2026-08"));
  EXPECT_TRUE(journal_->barrier_pending());
  disk_.limit_size(std::nullopt);
  ASSERT_TRUE(journal_->barrier().has_value()) << "there is space again";
  bill("b");
  EXPECT_EQ(obligations(), 2U);
}

}  // namespace
}  // namespace onceward::harness
