// What survives of pending writes and names. Random choices come from the seed of the loss alone.
#include <onceward/harness/disk_model.hpp>

#include <algorithm>
#include <limits>

#include <onceward/core/check.hpp>

namespace onceward::harness {
namespace {

/// SplitMix64: small, and the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }
  bool heads() { return (next() & 1) != 0; }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

std::size_t sectors_of(std::size_t bytes) {
  return (bytes + sector_bytes - 1) / sector_bytes;
}

}  // namespace

std::vector<Loss> loss_variants(const LossSample& sample) {
  using W = Loss::Writes;
  using N = Loss::Names;
  std::vector<Loss> all = {
      {W::none, N::none, 0},        {W::none, N::all, 0},         {W::all, N::all, 0},
      {W::all, N::none, 0},         {W::all_but_last, N::all, 0}, {W::only_last, N::all, 0},
      {W::head_of_last, N::all, 0}, {W::tail_of_last, N::all, 0}, {W::files, N::some, 0},
      {W::prefix, N::some, 0},      {W::writes, N::some, 0},      {W::sectors, N::some, 0},
      {W::garbage, N::some, 0}};
  constexpr W random[] = {W::sectors, W::writes, W::files, W::garbage, W::prefix};
  ONCEWARD_CHECK(sample.count >= 12, "a disk fails in at least twelve ways");
  while (all.size() < sample.count) {
    all.push_back({random[all.size() % std::size(random)], N::some, all.size()});
  }
  all.resize(sample.count);
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at].seed = Dice(sample.seed * 1'000'003 + at).next();
    all[at].names = sample.only_names.value_or(all[at].names);
    all[at].writes = sample.only_writes.value_or(all[at].writes);
  }
  return all;
}

DiskModel::DiskModel(DiskImage image, Kind kind) : kind_(kind) {
  for (auto& [name, content] : image) {
    names_[name] = files_.size();
    files_.push_back({std::move(content), {}, {}});
  }
  synced_names_ = names_;
}

std::optional<DiskModel::FileNr> DiskModel::find(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

DiskModel::FileNr DiskModel::create(const std::string& name) {
  files_.emplace_back();
  change_names({name, files_.size() - 1, std::nullopt});
  return files_.size() - 1;
}

void DiskModel::write(FileNr file, std::size_t at, std::string_view bytes) {
  if (kind_ == Kind::safe) return put(bytes, at, files_.at(file).now);
  change(file, {std::nullopt, at, std::string(bytes)});
}

void DiskModel::truncate(FileNr file, std::size_t size) {
  change(file, {size, 0, {}});
}

void DiskModel::change(FileNr nr, Write write) {
  File& file = files_.at(nr);
  if (kind_ == Kind::losing) {
    if (file.pending.empty()) file.synced = file.now;
    file.pending.push_back(write);
  }
  apply(write, file.now);
}

void DiskModel::sync(FileNr file) {
  File& whole = files_.at(file);
  whole.synced.clear();
  whole.pending.clear();
}

void DiskModel::remove(const std::string& name) {
  change_names({name, std::nullopt, std::nullopt});
}

void DiskModel::rename(const std::string& from, const std::string& to) {
  const auto file = find(from);
  ONCEWARD_CHECK(file.has_value(), "a file that is renamed exists");
  change_names({to, file, from});
}

void DiskModel::sync_names() {
  synced_names_ = names_;
  pending_names_.clear();
}

void DiskModel::change_names(NameChange change) {
  apply(change, names_);
  if (kind_ == Kind::losing) pending_names_.push_back(std::move(change));
}

void DiskModel::apply(const NameChange& change, Names& names) {
  if (change.from) names.erase(*change.from);
  if (change.file) {
    names[change.name] = *change.file;
  } else {
    names.erase(change.name);
  }
}

void DiskModel::apply(const Write& write, std::string& content) {
  if (write.truncated_to) {
    content.resize(*write.truncated_to);
    return;
  }
  put(write.bytes, write.at, content);
}

void DiskModel::put(std::string_view bytes, std::size_t at, std::string& content) {
  if (content.size() < at + bytes.size()) content.resize(at + bytes.size());
  bytes.copy(content.data() + at, bytes.size());
}

bool DiskModel::is_synced() const {
  return pending_names_.empty() && std::all_of(names_.begin(), names_.end(), [&](const auto& one) {
           return files_[one.second].pending.empty();
         });
}

std::size_t DiskModel::size() const {
  std::size_t bytes = 0;
  for (const auto& [name, file] : names_) bytes += files_[file].now.size();
  return bytes;
}

DiskImage DiskModel::image() const {
  DiskImage image;
  for (const auto& [name, file] : names_) image[name] = files_[file].now;
  return image;
}

DiskImage DiskModel::image_after(const Loss& loss) const {
  Dice dice(loss.seed);
  Names names = synced_names_;
  std::size_t kept = 0;
  switch (loss.names) {
    case Loss::Names::none:
      break;
    case Loss::Names::all:
      kept = pending_names_.size();
      break;
    case Loss::Names::some:
      kept = dice.below(pending_names_.size() + 1);
      break;
  }
  for (std::size_t at = 0; at < kept; ++at) apply(pending_names_[at], names);
  DiskImage image;
  for (const auto& [name, file] : names) {
    image[name] = content_after(files_[file], loss, dice.next());
  }
  return image;
}

/// Builds what one file holds afterwards.
class DiskModel::Remains {
 public:
  Remains(const File& file, std::uint64_t seed)
      : pending_(file.pending), now_(file.now), content_(file.synced), dice_(seed) {}

  std::string after(Loss::Writes kind);

 private:
  void keep(std::size_t from, std::size_t to) {
    for (; from < to; ++from) apply(pending_[from], content_);
  }
  template <class Wanted>  // (sector, its number in the write, their count) -> bool
  void keep_sectors(const Write& write, Wanted wanted);
  void keep_half_of_last(bool is_head);
  void keep_some_writes();
  void keep_some_sectors();
  void fill_with_garbage();

  const std::vector<Write>& pending_;
  const std::string& now_;
  std::string content_;
  Dice dice_;
};

/// A truncation is one step, whatever its size.
template <class Wanted>
void DiskModel::Remains::keep_sectors(const Write& write, Wanted wanted) {
  if (write.truncated_to) return apply(write, content_);
  const std::size_t first = write.at / sector_bytes;
  const std::size_t end = write.at + write.bytes.size();
  const std::size_t last = sectors_of(end);
  for (std::size_t sector = first; sector < last; ++sector) {
    if (!wanted(sector, sector - first, last - first)) continue;
    const std::size_t from = std::max(write.at, sector * sector_bytes);
    const std::size_t to = std::min(end, (sector + 1) * sector_bytes);
    put(std::string_view(write.bytes).substr(from - write.at, to - from), from, content_);
  }
}

void DiskModel::Remains::keep_half_of_last(bool is_head) {
  keep(0, pending_.size() - 1);
  keep_sectors(pending_.back(), [&](std::size_t, std::size_t nr, std::size_t count) {
    return (nr < count / 2) == is_head;
  });
}

void DiskModel::Remains::keep_some_writes() {
  for (const Write& write : pending_) {
    if (dice_.heads()) apply(write, content_);
  }
}

/// Each sector stops at a version of its own.
void DiskModel::Remains::keep_some_sectors() {
  constexpr auto absent = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> versions(sectors_of(now_.size()) + 1, absent);
  for (std::size_t at = 0; at < pending_.size(); ++at) {
    keep_sectors(pending_[at], [&](std::size_t sector, std::size_t, std::size_t) {
      if (sector >= versions.size()) versions.resize(sector + 1, absent);
      std::size_t& version = versions[sector];
      if (version == absent) version = dice_.below(pending_.size() + 1);
      return at < version;
    });
  }
}

void DiskModel::Remains::fill_with_garbage() {
  if (now_.size() > content_.size()) {
    content_.resize(now_.size(), static_cast<char>(dice_.next() | 1));
  }
}

std::string DiskModel::Remains::after(Loss::Writes kind) {
  const std::size_t count = pending_.size();
  switch (kind) {
    case Loss::Writes::none:
      break;
    case Loss::Writes::all:
      return now_;
    case Loss::Writes::all_but_last:
      keep(0, count - 1);
      break;
    case Loss::Writes::only_last:
      keep(count - 1, count);
      break;
    case Loss::Writes::head_of_last:
    case Loss::Writes::tail_of_last:
      keep_half_of_last(kind == Loss::Writes::head_of_last);
      break;
    case Loss::Writes::files:
      keep(0, dice_.heads() ? count : 0);
      break;
    case Loss::Writes::prefix:
      keep(0, dice_.below(count + 1));
      break;
    case Loss::Writes::writes:
      keep_some_writes();
      break;
    case Loss::Writes::sectors:
      keep_some_sectors();
      break;
    case Loss::Writes::garbage:
      fill_with_garbage();
      keep_some_sectors();
      break;
  }
  return std::move(content_);
}

std::string DiskModel::content_after(const File& file, const Loss& loss, std::uint64_t seed) {
  if (file.pending.empty()) return file.now;
  return Remains(file, seed).after(loss.writes);
}

}  // namespace onceward::harness
