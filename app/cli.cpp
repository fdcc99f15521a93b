// Verbs and options as the parser knows them. What a verb does is in verbs/.
#include "app/cli.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/harness.hpp"
#include "app/verbs/harness_real.hpp"
#include "app/verbs/signals.hpp"
#include "app/verbs/verbs.hpp"

namespace onceward::app {

namespace {

/// Registers all verbs; parsing stores the values here and chooses what to run. It runs after the
/// parser is through, so that nothing of ours throws through it.
class CommandLine {
 public:
  CommandLine()
      : app_("Bills every customer exactly once per period, and can prove it.", "onceward") {
    app_.require_subcommand(1);
    app_.set_help_all_flag("--help-all", "Show the help of all verbs");
    app_.footer(
        "Exit codes: 0 ok, 1 failed or declined, 2 usage or configuration, 3 not found,\n"
        "4 conflict or in progress, 5 outcome unknown or an operator is needed,\n"
        "6 spend cap, 7 node or store unreachable, 8 some customers not billed,\n"
        "9 harness: incomplete, 10 harness: not deterministic.");
    add_daemons();
    add_bill();
    add_commands();
    add_runs();
    add_attention();
    add_customers();
    add_journal();
    add_migrate();
    add_copies();
    add_reconcile();
    add_harness();
    add_config();
    add_small_verbs();
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      std::fputs(innermost()->help().c_str(), stdout);
      return 0;
    } catch (const CLI::CallForAllHelp&) {
      std::fputs(app_.help("", CLI::AppFormatMode::All).c_str(), stdout);
      return 0;
    } catch (const CLI::ParseError& error) {
      std::string name;
      for (const auto* verb = innermost(); verb != nullptr; verb = verb->get_parent()) {
        name = verb->get_name() + (name.empty() ? "" : " " + name);
      }
      std::fprintf(stderr, "onceward: %s\nsee: %s --help\n", usage_text(error).c_str(),
                   name.c_str());
      return static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(chosen_());
  }

 private:
  /// The verb that was named last, for its help.
  [[nodiscard]] const CLI::App* innermost() const {
    const CLI::App* verb = &app_;
    while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
    return verb;
  }

  /// The parser says that a verb is missing when one is unknown.
  [[nodiscard]] std::string usage_text(const CLI::ParseError& error) const {
    const auto left = innermost()->remaining();
    const bool names_a_verb = !left.empty() && !left.front().empty() && left.front().front() != '-';
    if (error.get_name() == "RequiredError" && names_a_verb &&
        !innermost()->get_subcommands({}).empty()) {
      return "there is no verb " + left.front();
    }
    return error.what();
  }

  CLI::App* verb(CLI::App* parent, const std::string& name, const std::string& help,
                 std::function<ExitCode()> run) {
    auto* sub = parent->add_subcommand(name, help);
    sub->callback([this, run = std::move(run)] { chosen_ = run; });
    return sub;
  }
  CLI::App* group(const std::string& name, const std::string& help) {
    auto* sub = app_.add_subcommand(name, help);
    sub->require_subcommand(1);
    return sub;
  }
  CLI::Option* add_config_file(CLI::App* sub) {
    return sub->add_option("-c,--config", source_.config_file, "Configuration file (TOML)");
  }
  void add_json(CLI::App* sub) { sub->add_flag("--json", source_.json, "Print JSON"); }
  void add_node(CLI::App* sub) {
    sub->add_option("--node", source_.node_url,
                    "URL of the node (default: the configuration's listen address, else "
                    "http://127.0.0.1:8080)");
    sub->add_option("--token-file", source_.token_file, "File that holds the bearer token");
    add_config_file(sub);
    add_json(sub);
  }

  void add_daemons() {
    auto* s = verb(&app_, "serve", "Run a node (daemon)", [this] {
      block_end_signals();
      return serve(source_);
    });
    add_config_file(s)->required();
    auto* d = verb(&app_, "dev", "Run a node and a provider simulator in one process", [this] {
      block_end_signals();
      return dev(dev_);
    });
    d->add_option("--db", dev_.db, "Database file")->capture_default_str();
    d->add_option("--port", dev_.port, "Port of the API; the admin listener takes the next one")
        ->capture_default_str();
    auto* m = verb(&app_, "sim", "Run the provider simulator alone", [this] {
      block_end_signals();
      return sim(sim_);
    });
    m->add_option("--listen", sim_.listen, "HOST:PORT")->capture_default_str();
    m->add_option("--seed", sim_.seed, "Seed of ids and probabilities")->capture_default_str();
    m->add_option("--latency", sim_.latency_ms, "Delay of every answer in ms")
        ->check(CLI::Range(0, 600'000))
        ->capture_default_str();
    m->add_option("--db", sim_.db, "File that makes the ledger survive restarts");
  }

  void add_bill() {
    auto* b = verb(&app_, "bill", "Bill one customer for one period, once",
                   [this] { return bill(source_, bill_); });
    b->add_option("customer", bill_.customer, "Customer id")->required();
    b->add_option("period", bill_.period, "2026, 2026-Q3, 2026-08, 2026-W33 or 2026-08-14")
        ->required();
    b->add_option("--amount-minor", bill_.amount_minor, "Amount in minor units, e.g. cents")
        ->required();
    b->add_option("--currency", bill_.currency, "Three letters, e.g. usd")->required();
    b->add_option("--purpose", bill_.purpose, "What is billed (default: subscription)");
    b->add_option("--payment-method", bill_.payment_method,
                  "Payment method at the provider (default, for test mode: a test card)");
    b->add_option("--provider-customer", bill_.provider_customer,
                  "Customer id at the provider (default: the customer id)");
    b->add_option("--request-id", bill_.request_id,
                  "Name of this request; repeat it to ask again (default: a new one)");
    b->add_option("--wait", bill_.wait, "How long to wait for the outcome, e.g. 30s")
        ->capture_default_str();
    add_node(b);
  }

  void add_commands() {
    auto* r = verb(&app_, "refund", "Give money of a billed obligation back, all or a part",
                   [this] { return refund(source_, command_); });
    r->add_option("--amount-minor", command_.amount_minor,
                  "Part to give back, in minor units (default: all that is left)")
        ->check(CLI::PositiveNumber);
    auto* c = verb(&app_, "cancel", "Call an obligation off before it is charged",
                   [this] { return cancel(source_, command_); });
    for (auto* sub : {r, c}) {
      sub->add_option("customer", command_.customer, "Customer id")->required();
      sub->add_option("period", command_.period, "Period, e.g. 2026-08")->required();
      sub->add_option("--purpose", command_.purpose, "What was billed (default: subscription)");
      sub->add_flag("-y,--yes", command_.is_confirmed, "Do not ask");
    }
    auto* p =
        verb(&app_, "payment-method", "Set another payment method for all that a customer owes",
             [this] { return payment_method(source_, command_); });
    p->add_option("customer", command_.customer, "Customer id")->required();
    p->add_option("payment_method", command_.payment_method, "Payment method at the provider")
        ->required();
    for (auto* sub : {r, c, p}) {
      sub->add_option("--request-id", command_.request_id,
                      "Name of this request; repeat it to ask again (default: a new one)");
      sub->add_option("--reason", command_.reason, "Why; stored with it");
      sub->add_option("--wait", command_.wait, "How long to wait for the outcome, e.g. 30s")
          ->capture_default_str();
      add_node(sub);
    }
  }

  void add_attention() {
    auto* attention = group("attention", "What a person has to look at");
    auto* list = verb(attention, "list", "All of it, with count and sum",
                      [this] { return attention_list(source_, attention_); });
    auto* show = verb(attention, "show", "One item: its history and the next step",
                      [this] { return attention_show(source_, attention_); });
    show->add_option("id", attention_.id, "Id, as `attention list` shows it")->required();
    auto* retry = verb(attention, "retry", "Have the node look again; sends nothing blindly",
                       [this] { return act("retry"); });
    auto* resolve = verb(attention, "resolve", "Give a verdict on one item, or on all that match",
                         [this] { return act("resolve"); });
    resolve->add_option("--as", attention_.resolution,
                        "Required for obligations: paid_by_charge, paid_outside, written_off or "
                        "not_charged; and for refunds: given or not_given");
    resolve->add_option(
        "--reference", attention_.reference,
        "The charge (paid_by_charge), how it was paid (paid_outside), or the refund's id "
        "(given)");
    for (auto* sub : {retry, resolve}) {
      sub->add_option("id", attention_.id, "Id; leave it out to act on all that match");
      sub->add_flag("--all", attention_.is_all, "Act on everything that matches the filters");
      sub->add_option("--reason", attention_.reason, "Why; stored with it")->required();
      sub->add_flag("-y,--yes", attention_.is_confirmed, "Do not ask");
    }
    for (auto* sub : {list, retry, resolve}) {
      sub->add_option("--kind", attention_.kind, "obligation, alarm, refund, quarantine or inbox");
      sub->add_option("--status", attention_.status, "E.g. parked, rejected, capped, quarantined");
      sub->add_option("--customer", attention_.customer, "Only this customer");
      sub->add_option("--period", attention_.period, "Only this period");
      sub->add_option("--purpose", attention_.purpose, "Only this purpose");
      sub->add_option("--reason-contains", attention_.reason_part, "Part of the item's reason");
    }
    for (auto* sub : {list, show, retry, resolve}) add_node(sub);
  }

  ExitCode act(const char* action) {
    attention_.action = action;
    return attention_act(source_, attention_);
  }

  void add_runs() {
    auto* runs = group("runs", "Billing runs");
    auto* plan = verb(runs, "plan", "Show who would be billed; starts nothing",
                      [this] { return runs_plan(source_, plan_); });
    plan->add_option("--period", plan_.period, "Period, e.g. 2026-08")->required();
    plan->add_option("--customers", plan_.customers,
                     "CSV file to upload (default: the node's configured file)");
    add_node(plan);
    auto* start = verb(runs, "start", "Start the run of a plan",
                       [this] { return runs_start(source_, start_); });
    start->add_option("--period", start_.period, "Period, e.g. 2026-08")->required();
    start->add_option("--plan", start_.plan, "Hash shown by `runs plan`")->required();
    start->add_flag("--watch", start_.watch, "Follow it to its end");
    start->add_flag("-y,--yes", start_.is_confirmed, "Do not ask");
    add_node(start);
    auto* watch = verb(runs, "watch", "Follow a run to its end",
                       [this] { return runs_watch(source_, run_); });
    watch->add_option("run", run_, "Id of the run, or its beginning")->required();
    add_node(watch);
    add_node(verb(runs, "list", "All runs", [this] { return runs_list(source_); }));
    auto* show = verb(runs, "show", "A run, and who was not billed",
                      [this] { return runs_show(source_, run_); });
    show->add_option("run", run_, "Id of the run, or its beginning")->required();
    add_node(show);
    add_steering(runs, "pause", "Ask no further customer");
    add_steering(runs, "resume", "Go on with a paused or cancelled run");
    add_steering(runs, "cancel", "Ask no further customer; another run of the period may start");
  }

  void add_steering(CLI::App* runs, const std::string& action, const std::string& help) {
    auto* sub = verb(runs, action, help, [this, action] {
      steer_.action = action;
      return runs_steer(source_, steer_);
    });
    sub->add_option("run", steer_.run, "Id of the run, or its beginning")->required();
    sub->add_option("--reason", steer_.reason, "Why; stored with the action");
    sub->add_flag("-y,--yes", steer_.is_confirmed, "Do not ask");
    add_node(sub);
  }

  void add_customers() {
    auto* customers = group("customers", "State and history of customers");
    auto* show = verb(customers, "show", "All obligations of a customer",
                      [this] { return customers_show(source_, customer_, period_); });
    auto* timeline = verb(customers, "timeline", "The full history of a customer",
                          [this] { return customers_timeline(source_, customer_, period_); });
    for (auto* sub : {show, timeline}) {
      sub->add_option("customer", customer_, "Customer id")->required();
      sub->add_option("--period", period_, "Only this period");
      add_node(sub);
    }
  }

  void add_journal() {
    auto* journal = group("journal", "The journal of a store, live or stopped");
    auto* verify = verb(journal, "verify", "Check gaps, epochs, digests, rows and caps",
                        [this] { return journal_verify(source_); });
    auto* stats = verb(journal, "stats", "Counts", [this] { return journal_stats(source_); });
    auto* show = verb(journal, "show", "The events of one entity",
                      [this] { return journal_show(source_, persistence_id_); });
    show->add_option("entity", persistence_id_, "Persistence id, e.g. customer/cust_1")->required();
    auto* tail = verb(journal, "tail", "The newest events",
                      [this] { return journal_tail(source_, count_, is_following_); });
    tail->add_flag("-f,--follow", is_following_, "Then each new event, until a signal ends it");
    tail->add_option("-n,--count", count_, "How many")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    auto* out = verb(journal, "export", "One state of the store as lines of JSON on stdout",
                     [this] { return journal_export(source_); });
    auto* in = verb(journal, "import", "An export into an empty store, or one that it continues",
                    [this] { return journal_import(source_, file_); });
    in->add_option("file", file_, "The export; - is stdin")->required();
    for (auto* sub : {verify, stats, show, tail, out, in}) {
      add_config_file(sub)->required();
      add_json(sub);
    }
  }

  void add_migrate() {
    auto* migrate = group("migrate", "The schema of a stopped store");
    auto* plan = verb(migrate, "plan", "Show the steps to the newest schema, change nothing",
                      [this] { return migrate_plan(source_); });
    auto* up = verb(migrate, "up", "Bring the store to the newest schema, whole or not at all",
                    [this] { return migrate_up(source_, migrate_); });
    up->add_flag("--dry-run", migrate_.is_dry_run, "Do all steps, then roll back");
    up->add_flag("--yes", migrate_.is_confirmed, "Do not ask");
    for (auto* sub : {plan, up}) {
      add_config_file(sub)->required();
      add_json(sub);
    }
  }

  void add_copies() {
    auto* copy = verb(&app_, "backup", "Copy the store, live or stopped, into a new file, verified",
                      [this] { return backup(source_, file_); });
    auto* back = verb(&app_, "restore", "Put a backup in the place of a store that is gone",
                      [this] { return restore(source_, file_); });
    for (auto* sub : {copy, back}) {
      sub->add_option("file", file_, "The backup")->required();
      add_config_file(sub)->required();
      add_json(sub);
    }
  }

  void add_reconcile() {
    auto* reconcile = group("reconcile", "Compare the store with the provider's ledger");
    auto* run = verb(reconcile, "run",
                     "Record what a store without a node lacks; then a restored one may bill again",
                     [this] { return reconcile_run(source_, reconcile_); });
    run->add_option("--who", reconcile_.who, "Who answers for it; stored (default: $USER)");
    run->add_option("--reason", reconcile_.reason, "Why the store was restored; stored")
        ->capture_default_str();
    auto* show = verb(reconcile, "report", "Show what differs; writes nothing",
                      [this] { return reconcile_report(source_, reconcile_); });
    for (auto* sub : {run, show}) {
      sub->add_option("--days", reconcile_.days,
                      "Read the provider from so many days before the store's newest event")
          ->check(CLI::Range(1, 3650))
          ->capture_default_str();
      add_config_file(sub)->required();
      add_json(sub);
    }
  }

  void add_harness() {
    auto* harness = group("harness", "Recovery testing in simulated worlds");
    const auto common = [this](CLI::App* sub) {
      sub->add_option("--scenario", harness_.scenario, "Name, or all")->capture_default_str();
      sub->add_option("--without", harness_.without, "Take one guard out: the run must turn red");
      sub->add_flag("--long", harness_.deep, "Larger bounds");
    };
    auto* run =
        verb(harness, "run", "Every schedule within the bounds, then random worlds",
             [this] { return harness_.real ? harness_real(harness_) : harness_run(harness_); });
    auto* real = run->add_flag("--real", harness_.real, "Processes, SIGKILL and SIGSTOP instead");
    run->add_option("--kills", harness_.kills, "How often the node is killed or stopped")
        ->needs(real)
        ->check(CLI::Range(1, 100'000));
    run->add_option("--seed", harness_.seed, "Of the kills")
        ->needs(real)
        ->check(CLI::NonNegativeNumber);
    run->add_flag("--exhaustive", harness_.exhaustive, "Only the exhaustive scenarios");
    run->add_option("--seeds", harness_.seeds, "Only random worlds: a count, or A..B");
    run->add_option("--report", harness_.report_file, "HTML report to write");
    run->add_option("--json", harness_.json_file, "Results as JSON, one line per run; - is stdout");
    run->add_option("--junit", harness_.junit_file, "Results as JUnit XML");
    auto* mutants = verb(harness, "mutants", "Take out each guard in turn; all must be missed",
                         [this] { return harness_mutants(harness_); });
    auto* bench =
        verb(harness, "bench", "Schedules per second", [this] { return harness_bench(harness_); });
    for (auto* sub : {run, mutants, bench}) {
      sub->add_option("--seconds", harness_.seconds, "Longest time per scenario; 0: no limit")
          ->check(CLI::Range(0, 86'400));
    }
    auto* replay = verb(harness, "replay", "Run one schedule again",
                        [this] { return harness_replay(harness_, false); });
    auto* explain = verb(harness, "explain", "Show one schedule step by step",
                         [this] { return harness_replay(harness_, true); });
    auto* shrink = verb(harness, "shrink", "Find the shortest schedule that fails like this one",
                        [this] { return harness_shrink(harness_); });
    for (auto* sub : {replay, explain, shrink}) {
      sub->add_option("--seed", harness_.seed, "The schedule that a seed draws");
      sub->add_option("--choices", harness_.choices, "The schedule as a run printed it, or -");
    }
    auto* list = verb(harness, "list", "All scenarios", [this] { return harness_list(harness_); });
    for (auto* sub : {run, mutants, bench, replay, explain, shrink, list}) common(sub);
    auto* report = verb(harness, "report", "Run everything and write an HTML report", [this] {
      if (harness_.report_file.empty()) harness_.report_file = "harness.html";
      return harness_run(harness_);
    });
    report->add_option("file", harness_.report_file, "File to write (default: harness.html)");
    common(report);
  }

  void add_config() {
    auto* config = group("config", "The configuration");
    auto* check = verb(config, "check", "Read it, check it, start nothing",
                       [this] { return config_check(source_); });
    auto* show = verb(config, "show", "The effective values, secrets masked",
                      [this] { return config_show(source_); });
    for (auto* sub : {check, show}) {
      add_config_file(sub);
      add_json(sub);
    }
  }

  void add_small_verbs() {
    add_json(verb(&app_, "version", "Version of this program",
                  [this] { return version(source_.json); }));
    auto* health = verb(&app_, "healthcheck", "Ask the admin listener whether the node is ready",
                        [this] { return healthcheck(source_); });
    health->add_option("--node", source_.node_url, "URL of the admin listener");
    add_config_file(health);
  }

  CLI::App app_;
  std::function<ExitCode()> chosen_;
  Source source_;
  DevOptions dev_;
  SimOptions sim_;
  BillOptions bill_;
  CommandOptions command_;
  AttentionOptions attention_;
  PlanOptions plan_;
  StartOptions start_;
  SteerOptions steer_;
  HarnessOptions harness_;
  std::string run_;
  std::string customer_;
  std::string period_;
  std::string persistence_id_;
  MigrateOptions migrate_;
  std::string file_;
  ReconcileOptions reconcile_;
  std::uint64_t count_ = 20;
  bool is_following_ = false;
};

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  return CommandLine().run(argc, argv);
}

}  // namespace onceward::app
