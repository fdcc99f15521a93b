// Crash, restart, compare. A recovery is a flow like any other: it may crash everywhere, too.
#include <onceward/harness/crash_states.hpp>

#include <onceward/journal/sqlite_journal.hpp>

namespace onceward::harness {

CrashStates::CrashStates(CrashStatesOptions options, CrashDisk& disk)
    : options_(std::move(options)),
      disk_(disk),
      judge_(std::make_shared<StoreJudge>(options_.store)) {
  disk_.on_io([this] { crash_here(); });
}

CrashStates::CrashStates(const CrashStates& outer, CrashDisk& disk, std::uint64_t seed)
    : options_(outer.options_),
      disk_(disk),
      judge_(outer.judge_),
      acknowledged_(outer.acknowledged_),
      epoch_(outer.epoch_),
      is_in_flight_(outer.is_in_flight_),
      rolling_(outer.rolling_) {
  options_.losses.seed = seed;
  options_.recovery_every = 0;
  disk_.on_io([this] { crash_here(); });
}

CrashStates::~CrashStates() {
  disk_.on_io(nullptr);
}

void CrashStates::acknowledged(std::uint64_t commit_count) {
  acknowledged_ = commit_count;
  is_in_flight_ = false;
}

void CrashStates::crash_here() {
  const DiskModel& model = disk_.model();
  ++tally_.io_points;
  LossSample sample = options_.losses;
  sample.seed += disk_.io_count();
  const auto losses = loss_variants(sample);
  // Without anything pending all losses leave the same.
  const std::size_t count = model.is_synced() ? 1 : losses.size();
  for (std::size_t at = 0; at < count; ++at) {
    const DiskImage image = model.image_after(losses[at]);
    ++tally_.states;
    compare(judge_->judge(image), losses[at]);
    if (options_.recovery_every != 0 && tally_.states % options_.recovery_every == 0) {
      crash_in_recovery(image);
    }
  }
}

void CrashStates::report(std::uint64_t& count, const Loss& loss, const std::string& what) {
  ++count;
  if (!tally_.first_problem.empty()) return;
  tally_.first_problem = "change " + std::to_string(disk_.io_count()) + ", loss " +
                         std::to_string(static_cast<int>(loss.writes)) + "/" +
                         std::to_string(static_cast<int>(loss.names)) + "/" +
                         std::to_string(loss.seed) + ", " + std::to_string(acknowledged_) +
                         " acknowledged: " + what;
}

void CrashStates::compare(const Found& found, const Loss& loss) {
  if (found.is_refused_as_restored) return report(tally_.refused, loss, found.error);
  if (!found.error.empty()) return report(tally_.damaged, loss, found.error);
  if (found.commit_count < acknowledged_) {
    return report(tally_.lost_acknowledged, loss,
                  "found " + std::to_string(found.commit_count) + " commits");
  }
  if (found.epoch <= epoch_) {
    return report(tally_.lost_acknowledged, loss,
                  "epoch " + std::to_string(found.epoch) + " was taken before");
  }
  if (found.commit_count > acknowledged_ + (is_in_flight_ ? 1 : 0)) {
    return report(tally_.damaged, loss, "found " + std::to_string(found.commit_count) + " commits");
  }
  if (found.commit_count > acknowledged_) ++tally_.unanswered_kept;
  const auto known = rolling_.try_emplace(found.commit_count, found.rolling).first;
  if (known->second != found.rolling) report(tally_.damaged, loss, "another history was found");
}

void CrashStates::add(const CrashTally& other) {
  tally_.io_points += other.io_points;
  tally_.states += other.states;
  tally_.lost_acknowledged += other.lost_acknowledged;
  tally_.refused += other.refused;
  tally_.damaged += other.damaged;
  tally_.unanswered_kept += other.unanswered_kept;
  if (tally_.first_problem.empty() && !other.first_problem.empty()) {
    tally_.first_problem = "in a recovery, " + other.first_problem;
  }
}

void CrashStates::crash_in_recovery(const DiskImage& image) {
  const Found& first = judge_->judge(image);
  if (!first.error.empty()) return;
  CrashDisk disk(options_.store.settings);
  disk.restart(image);
  CrashStates inner(*this, disk, options_.losses.seed + tally_.states);
  auto opened = journal::SqliteJournal::open({.path = store_path(options_.store, "recovery"),
                                              .identity = options_.store.identity,
                                              .anchor_every = options_.store.anchor_every,
                                              .vfs = disk.vfs(),
                                              .anchors = &disk});
  if (opened.has_value()) {
    // The barrier of the start has decided: from here on only this outcome is right.
    inner.acknowledged(first.commit_count);
    inner.epoch_taken((*opened)->epoch_of(ShardNr{0}).value);
    opened->reset();
  } else {
    inner.report(inner.tally_.damaged, Loss{}, opened.error().context);
  }
  add(inner.tally_);
}

}  // namespace onceward::harness
