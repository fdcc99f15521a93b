// Feeding the CSV reader into a plan, and merging plans in their common order.
#include "ingress/run_plans.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "ingress/customer_csv.hpp"

namespace onceward::ingress {

namespace {

constexpr std::size_t file_piece_bytes = 64UL * 1024;
constexpr std::size_t merge_page_rows = 1'000;

CustomerSink sink_into(journal::PlanWriter& writer) {
  return [&writer](journal::PlanRow&& row) -> Result<Unit> {
    auto added = writer.add(row);
    if (added || added.error().code != ErrorCode::conflict) return added;
    return fail(ErrorCode::invalid_argument,
                "customer " + row.customer.value() + " with purpose " + row.purpose.value() +
                    " comes a second time; keep one of them or give them different purposes");
  };
}

// What tells that a file was changed: a plan of half an old and half a new file is nobody's.
struct FileState {
  std::uintmax_t bytes = 0;
  std::filesystem::file_time_type written;
  friend bool operator==(const FileState&, const FileState&) = default;
};

Result<FileState> state_of(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path file(path);
  if (!std::filesystem::is_regular_file(file, failed)) {
    return fail(ErrorCode::invalid_config,
                "[schedule] customers: " + path + " is not there or no regular file");
  }
  FileState state;
  state.bytes = std::filesystem::file_size(file, failed);
  if (!failed) state.written = std::filesystem::last_write_time(file, failed);
  if (!failed) return state;
  return fail(ErrorCode::invalid_config,
              "[schedule] customers: " + path + " cannot be read: " + failed.message());
}

/// The rows of one plan in order, a page at a time.
class PlanPages {
 public:
  PlanPages(journal::PlanStore& store, std::string hash) : store_(store), hash_(std::move(hash)) {}

  /// Null at the end.
  Result<const journal::PlanRow*> row() {
    if (next_ == page_.size() && !is_last_) {
      auto page = store_.read(hash_, after_, merge_page_rows);
      if (!page) return Unexpected{std::move(page).error()};
      page_ = std::move(*page);
      next_ = 0;
      is_last_ = page_.size() < merge_page_rows;
      if (!page_.empty()) after_ = {page_.back().customer, page_.back().purpose};
    }
    const journal::PlanRow* row = next_ < page_.size() ? &page_[next_] : nullptr;
    return row;
  }
  void pass() { ++next_; }

 private:
  journal::PlanStore& store_;
  const std::string hash_;
  journal::PlanCursor after_;
  std::vector<journal::PlanRow> page_;
  std::size_t next_ = 0;
  bool is_last_ = false;
};

journal::PlanCursor key_of(const journal::PlanRow& row) {
  return {row.customer, row.purpose};
}

// The least key that any of the plans holds next; absent at the end of all.
Result<std::optional<journal::PlanCursor>> least_key(std::vector<PlanPages>& plans) {
  std::optional<journal::PlanCursor> least;
  for (PlanPages& plan : plans) {
    const auto row = plan.row();
    if (!row) return Unexpected{row.error()};
    if (*row != nullptr && (!least || key_of(**row) < *least)) least = key_of(**row);
  }
  return least;
}

Result<Unit> add_to(std::map<Currency, Money>& totals, const Money& amount) {
  auto& total = totals.try_emplace(amount.currency, Money{0, amount.currency}).first->second;
  auto sum = add(total, amount);
  if (!sum) return Unexpected{std::move(sum).error()};
  total = *sum;
  return ok();
}

}  // namespace

Result<journal::PlanSummary> plan_text(journal::PlanStore& store, const BillingPeriod& period,
                                       Timestamp now, std::string_view csv,
                                       std::string_view source) {
  auto writer = store.begin(period, now);
  if (!writer) return Unexpected{std::move(writer).error()};
  CustomerCsv reader(std::string(source), sink_into(**writer));
  if (auto fed = reader.feed(csv); !fed) return Unexpected{std::move(fed).error()};
  if (auto ended = reader.finish(); !ended) return Unexpected{std::move(ended).error()};
  return (*writer)->finish();
}

Result<journal::PlanSummary> plan_file(journal::PlanStore& store, const BillingPeriod& period,
                                       Timestamp now, const std::string& path) {
  const auto before = state_of(path);
  if (!before) return Unexpected{before.error()};
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::invalid_config,
                "[schedule] customers: " + path + " cannot be opened; may the node read it?");
  }
  auto writer = store.begin(period, now);
  if (!writer) return Unexpected{std::move(writer).error()};
  CustomerCsv reader(path, sink_into(**writer));
  std::string piece(file_piece_bytes, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto bytes = static_cast<std::size_t>(file.gcount());
    if (auto fed = reader.feed({piece.data(), bytes}); !fed) {
      return Unexpected{std::move(fed).error()};
    }
  }
  if (file.bad())
    return fail(ErrorCode::io, "customer file " + path + " cannot be read to its end");
  if (auto ended = reader.finish(); !ended) return Unexpected{std::move(ended).error()};
  const auto after = state_of(path);
  if (!after) return Unexpected{after.error()};
  if (*after != *before) {
    return fail(ErrorCode::conflict,
                "customer file " + path + " was changed while it was read; plan again");
  }
  return (*writer)->finish();
}

billing::ApprovedPlan to_approved(const journal::PlanSummary& plan) {
  billing::ApprovedPlan approved;
  approved.plan = billing::PlanHash{plan.hash};
  approved.period = plan.period;
  approved.customers = plan.customers;
  approved.to_bill = plan.to_bill;
  approved.skipped = plan.skipped;
  for (const auto& total : plan.totals) {
    approved.totals.push_back(Money{total.amount_minor, total.currency});
  }
  return approved;
}

Result<std::vector<Money>> union_totals(journal::PlanStore& store,
                                        const std::vector<billing::PlanHash>& plans) {
  std::vector<PlanPages> pages;
  for (const auto& plan : plans) pages.emplace_back(store, plan.value());
  std::map<Currency, Money> totals;
  while (true) {
    const auto least = least_key(pages);
    if (!least) return Unexpected{least.error()};
    if (!*least) break;
    std::map<Currency, Money> largest;
    for (PlanPages& plan : pages) {
      const auto row = plan.row();
      if (!row) return Unexpected{row.error()};
      if (*row == nullptr || key_of(**row) != **least) continue;
      const Money& amount = (*row)->amount;
      if ((*row)->skip_reason.empty()) {
        Money& of_currency = largest.try_emplace(amount.currency, amount).first->second;
        of_currency.minor = std::max(of_currency.minor, amount.minor);
      }
      plan.pass();
    }
    for (const auto& [currency, amount] : largest) {
      if (auto added = add_to(totals, amount); !added) return Unexpected{std::move(added).error()};
    }
  }
  std::vector<Money> sums;
  for (const auto& [currency, total] : totals) sums.push_back(total);
  return sums;
}

}  // namespace onceward::ingress
