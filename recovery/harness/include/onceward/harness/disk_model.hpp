// DiskModel: what a disk may hold after the power failed. It knows which writes and which names
// were synced; for the rest, a Loss says what survived. No I/O; used by CrashDisk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::harness {

/// Files by name with their content.
using DiskImage = std::map<std::string, std::string>;

/// Bytes that reach the medium together or not at all.
inline constexpr std::size_t sector_bytes = 512;

/// One way in which the power may fail. What was synced always survives. Sector by sector, a file
/// never holds a newer write without the older one under it, unless `Writes::writes` says so.
struct Loss {
  enum class Writes : std::uint8_t {
    none,          ///< nothing that was not synced is there
    all,           ///< everything is there: the process died, not the machine
    all_but_last,  ///< the newest write of each file is missing
    only_last,     ///< only the newest write of each file is there
    head_of_last,  ///< the newest write of each file stops at a sector border
    tail_of_last,  ///< of the newest write of each file the first sectors are missing
    files,         ///< each file has lost everything or nothing
    prefix,        ///< each file has lost its newest writes, from a random one on
    writes,        ///< any subset of the writes
    sectors,       ///< any subset of the sectors
    garbage,       ///< the same, and where a file grew, lost sectors hold something else than zeros
  };
  enum class Names : std::uint8_t {
    none,  ///< no creation, removal or renaming that was not synced is there
    all,
    some,  ///< the oldest of them, up to a random one
  };
  Writes writes = Writes::none;
  Names names = Names::none;
  std::uint64_t seed = 0;  ///< for the random kinds
};

/// The named kinds once and then random ones, `count` in all, at least 12. `seed` makes another
/// point of time another sample.
struct LossSample {
  std::size_t count = 16;
  std::uint64_t seed = 1;
  /// Names::all: no name is ever lost, as on a file system that keeps names in order with the data.
  std::optional<Loss::Names> only_names{};
  std::optional<Loss::Writes> only_writes{};
};
[[nodiscard]] std::vector<Loss> loss_variants(const LossSample& sample);

/// Files have numbers, so that one without a name can go on being written.
class DiskModel {
 public:
  using FileNr = std::size_t;

  /// `safe`: every change is synced at once, which costs less.
  enum class Kind : std::uint8_t { losing, safe };

  DiskModel() = default;
  /// Everything in the image is synced.
  explicit DiskModel(DiskImage image, Kind kind = Kind::losing);

  [[nodiscard]] std::optional<FileNr> find(std::string_view name) const;
  [[nodiscard]] const std::string& content(FileNr file) const { return files_.at(file).now; }

  FileNr create(const std::string& name);
  void write(FileNr file, std::size_t at, std::string_view bytes);
  void truncate(FileNr file, std::size_t size);
  void sync(FileNr file);
  void remove(const std::string& name);
  /// `to` is replaced if it exists.
  void rename(const std::string& from, const std::string& to);
  void sync_names();

  /// Whether a loss can change anything now.
  [[nodiscard]] bool is_synced() const;
  /// The bytes of all named files.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] DiskImage image() const;
  [[nodiscard]] DiskImage image_after(const Loss& loss) const;

 private:
  struct Write {
    std::optional<std::size_t> truncated_to;
    std::size_t at = 0;
    std::string bytes;
  };
  struct File {
    std::string now;
    std::string synced;  // only if something is pending
    std::vector<Write> pending;
  };
  struct NameChange {
    std::string name;                 // gets or loses its file
    std::optional<FileNr> file;       // absent: the name is removed
    std::optional<std::string> from;  // a renaming: this name is removed in the same step
  };
  class Remains;
  using Names = std::map<std::string, FileNr, std::less<>>;

  static void apply(const NameChange& change, Names& names);
  static void apply(const Write& write, std::string& content);
  static void put(std::string_view bytes, std::size_t at, std::string& content);
  void change(FileNr file, Write write);
  void change_names(NameChange change);
  [[nodiscard]] static std::string content_after(const File& file, const Loss& loss,
                                                 std::uint64_t seed);

  Kind kind_ = Kind::losing;
  std::vector<File> files_;
  Names synced_names_;
  Names names_;
  std::vector<NameChange> pending_names_;
};

}  // namespace onceward::harness
