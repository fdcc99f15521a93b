// The verbs that ask a node or read a store, one function each: options in, exit code out. Same
// rules as verbs.hpp: results on stdout, messages on stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/verbs/verbs.hpp"

namespace onceward::app {

struct BillOptions {
  std::string customer;
  std::string period;
  std::int64_t amount_minor = 0;
  std::string currency;
  std::string purpose;
  std::string payment_method;
  std::string provider_customer;
  std::string request_id;  ///< empty: one is made and told
  std::string wait = "30s";
};
/// Through the node, or, with a configuration file and no --node, directly on the store.
[[nodiscard]] ExitCode bill(const Source& source, const BillOptions& options);

struct PlanOptions {
  std::string period;
  std::string customers;  ///< CSV to upload; empty: the node's configured source
};
[[nodiscard]] ExitCode runs_plan(const Source& source, const PlanOptions& options);
struct StartOptions {
  std::string period;
  std::string plan;
  bool is_confirmed = false;
  bool watch = false;
};
[[nodiscard]] ExitCode runs_start(const Source& source, const StartOptions& options);
/// Until the run ends: a progress line on a terminal, otherwise one line every ten seconds. 0 if
/// everybody was billed, 8 if some were not, 4 if it was paused or cancelled.
[[nodiscard]] ExitCode runs_watch(const Source& source, const std::string& run);
[[nodiscard]] ExitCode runs_list(const Source& source);
/// The run, and everybody in it who was not billed.
[[nodiscard]] ExitCode runs_show(const Source& source, const std::string& run);
struct SteerOptions {
  std::string action;  ///< pause, resume or cancel
  std::string run;
  std::string reason;
  bool is_confirmed = false;
};
[[nodiscard]] ExitCode runs_steer(const Source& source, const SteerOptions& options);

/// refund, cancel and payment-method, each named by a request id.
struct CommandOptions {
  std::string customer;
  std::string period;
  std::string purpose;
  std::optional<std::int64_t> amount_minor;  ///< refund; absent: all that is left
  std::string payment_method;
  std::string request_id;  ///< empty: one is made and told
  std::string reason;
  std::string wait = "30s";
  bool is_confirmed = false;
};
[[nodiscard]] ExitCode refund(const Source& source, const CommandOptions& options);
[[nodiscard]] ExitCode cancel(const Source& source, const CommandOptions& options);
[[nodiscard]] ExitCode payment_method(const Source& source, const CommandOptions& options);

struct AttentionOptions {
  std::string id;  ///< empty: all that match the filters
  bool is_all = false;
  std::string kind;
  std::string status;
  std::string customer;
  std::string period;
  std::string purpose;
  std::string reason_part;  ///< filter: part of the reason
  std::string action;       ///< retry or resolve
  std::string reason;       ///< of the person; stored with the action
  std::string resolution;
  std::string reference;
  bool is_confirmed = false;
};
[[nodiscard]] ExitCode attention_list(const Source& source, const AttentionOptions& options);
[[nodiscard]] ExitCode attention_show(const Source& source, const AttentionOptions& options);
/// One item, or all that match: count and sum first. 8 if some were not accepted, 3 if nothing
/// matches.
[[nodiscard]] ExitCode attention_act(const Source& source, const AttentionOptions& options);

/// With a configuration file and no --node: from the store, which may be live or stopped.
[[nodiscard]] ExitCode customers_show(const Source& source, const std::string& customer,
                                      const std::string& period);
[[nodiscard]] ExitCode customers_timeline(const Source& source, const std::string& customer,
                                          const std::string& period);

[[nodiscard]] ExitCode journal_verify(const Source& source);
[[nodiscard]] ExitCode journal_stats(const Source& source);
[[nodiscard]] ExitCode journal_show(const Source& source, const std::string& persistence_id);
/// The last `count` events of the store; `follow`: then each new one, until a signal ends it or
/// nobody reads the output any more.
[[nodiscard]] ExitCode journal_tail(const Source& source, std::uint64_t count, bool follow);
/// One state of the store as lines of JSON on stdout.
[[nodiscard]] ExitCode journal_export(const Source& source);
/// An export (- is stdin) into the configured store, which must be empty or be continued by it.
[[nodiscard]] ExitCode journal_import(const Source& source, const std::string& file);

/// What `migrate up` would do to the store; reads only.
[[nodiscard]] ExitCode migrate_plan(const Source& source);
struct MigrateOptions {
  bool is_dry_run = false;
  bool is_confirmed = false;
};
[[nodiscard]] ExitCode migrate_up(const Source& source, const MigrateOptions& options);

/// Copies the configured store, live or stopped, into a new file.
[[nodiscard]] ExitCode backup(const Source& source, const std::string& file);
/// Puts a backup in the place of the configured store, which must not be there any more.
[[nodiscard]] ExitCode restore(const Source& source, const std::string& file);

struct ReconcileOptions {
  std::uint32_t days = 35;  ///< the provider is read from so long before the store's newest event
  std::string who;          ///< empty: the user of the environment
  std::string reason = "compared with the provider's ledger";
};
/// Compares the store with the provider's ledger; writes nothing. Exit 8 if anything differs.
[[nodiscard]] ExitCode reconcile_report(const Source& source, const ReconcileOptions& options);
/// Records in a store without a node what it lacks, and then ends the refusal of a restored one.
/// Exit 8 if something keeps it from billing.
[[nodiscard]] ExitCode reconcile_run(const Source& source, const ReconcileOptions& options);

/// Asks the admin listener whether the node is ready: 0, or 7 with the reasons.
[[nodiscard]] ExitCode healthcheck(const Source& source);

}  // namespace onceward::app
