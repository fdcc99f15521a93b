// What a disk may hold after the power failed, for writes and names that were not synced.
#include <onceward/harness/disk_model.hpp>

#include <gtest/gtest.h>

#include <set>

namespace onceward::harness {
namespace {

using W = Loss::Writes;
using N = Loss::Names;

std::string after(const DiskModel& disk, W writes, N names = N::all, std::uint64_t seed = 1) {
  const DiskImage image = disk.image_after({writes, names, seed});
  return image.contains("f") ? image.at("f") : "absent";
}

DiskModel synced(const std::string& content) {
  return DiskModel(DiskImage{{"f", content}});
}

TEST(DiskModel, KeepsWhatWasSyncedAndLosesTheRest) {
  DiskModel disk;
  const auto file = disk.create("f");
  disk.write(file, 0, "old");
  disk.sync(file);
  disk.sync_names();
  disk.write(file, 0, "new");
  EXPECT_FALSE(disk.is_synced());
  EXPECT_EQ(after(disk, W::none), "old");
  EXPECT_EQ(after(disk, W::all), "new");
  disk.sync(file);
  EXPECT_TRUE(disk.is_synced());
  EXPECT_EQ(after(disk, W::none), "new");
}

TEST(DiskModel, LosesANameThatWasNotSynced) {
  DiskModel disk;
  const auto file = disk.create("f");
  disk.write(file, 0, "x");
  disk.sync(file);
  EXPECT_EQ(after(disk, W::all, N::none), "absent");
  EXPECT_EQ(after(disk, W::all, N::all), "x");
  disk.sync_names();
  disk.remove("f");
  EXPECT_EQ(after(disk, W::all, N::none), "x") << "a removal may be undone";
  EXPECT_EQ(after(disk, W::all, N::all), "absent");
}

TEST(DiskModel, ARenamingLeavesTheOldOrTheNewFile) {
  DiskModel disk = synced("old");
  const auto file = disk.create("f.new");
  disk.write(file, 0, "new");
  disk.sync(file);
  disk.rename("f.new", "f");
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) seen.insert(after(disk, W::all, N::some, seed));
  EXPECT_EQ(seen, (std::set<std::string>{"new", "old"}));
}

TEST(DiskModel, TearsWritesAtSectorBordersOnly) {
  DiskModel disk = synced(std::string(2048, 'o'));
  disk.write(*disk.find("f"), 100, std::string(1500, 'n'));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string content = after(disk, W::sectors, N::all, seed);
    ASSERT_EQ(content.substr(0, 100), std::string(100, 'o')) << "bytes beside the write";
    ASSERT_EQ(content.substr(1600), std::string(448, 'o'));
    for (std::size_t at = 101; at < 1600; ++at) {
      ASSERT_TRUE(at % sector_bytes == 0 || content[at] == content[at - 1]) << at;
    }
    seen.insert(content);
  }
  EXPECT_EQ(seen.size(), 16U) << "every subset of four sectors";
  const std::string old(2048, 'o');
  EXPECT_EQ(after(disk, W::head_of_last), std::string(old).replace(100, 924, 924, 'n'));
  EXPECT_EQ(after(disk, W::tail_of_last), std::string(old).replace(1024, 576, 576, 'n'));
}

TEST(DiskModel, ASectorNeverHoldsANewWriteWithoutTheOldOne) {
  DiskModel disk = synced("......");
  disk.write(*disk.find("f"), 0, "aa");
  disk.write(*disk.find("f"), 4, "bb");
  std::set<std::string> by_sector;
  std::set<std::string> by_write;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    by_sector.insert(after(disk, W::sectors, N::all, seed));
    by_write.insert(after(disk, W::writes, N::all, seed));
  }
  EXPECT_EQ(by_sector, (std::set<std::string>{"......", "aa....", "aa..bb"}));
  EXPECT_EQ(by_write, (std::set<std::string>{"......", "aa....", "....bb", "aa..bb"}));
}

TEST(DiskModel, AFileThatGrewMayHoldGarbage) {
  DiskModel disk = synced("x");
  disk.write(*disk.find("f"), 1024, std::string(512, 'n'));
  bool has_garbage = false;
  bool has_hole = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string garbage = after(disk, W::garbage, N::all, seed);
    has_garbage = has_garbage || garbage.at(600) != '\0';
    const std::string sectors = after(disk, W::sectors, N::all, seed);
    has_hole = has_hole || (sectors.size() > 600 && sectors[600] == '\0');
  }
  EXPECT_TRUE(has_garbage && has_hole);
}

TEST(DiskModel, VariantsAreAtLeastTwelveAndDiffer) {
  std::set<std::pair<int, int>> kinds;
  for (const Loss& loss : loss_variants({.count = 16, .seed = 7})) {
    kinds.insert({static_cast<int>(loss.writes), static_cast<int>(loss.names)});
  }
  EXPECT_GE(kinds.size(), 12U);
  for (const Loss& loss : loss_variants({.count = 12, .only_names = N::all}))
    EXPECT_EQ(loss.names, N::all);
}

}  // namespace
}  // namespace onceward::harness
