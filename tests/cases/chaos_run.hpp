// ChaosRun: a whole bill run against the provider in chaos mode, with kills in between; then the
// provider is healthy for two days and everything must have come to rest. Same seed, same run.
#pragma once

#include <map>
#include <random>
#include <string>

#include "tests/cases/webhook_edge.hpp"

namespace onceward::cases {

struct ChaosOptions {
  std::uint64_t seed = 1;
  Flow flow = Flow::payment_intents;
  int customers = 200;
  std::uint32_t percent = 30;
  std::chrono::minutes lasts{6 * 60};
  int kills = 30;
};

class ChaosRun {
 public:
  explicit ChaosRun(const ChaosOptions& options);

  void run();
  /// Empty if all held; else everything that did not.
  [[nodiscard]] std::string verdict();

  struct Figures {
    std::map<Status, int> statuses;
    std::map<RefundStatus, int> refunds;
    std::map<std::string, std::uint64_t> faults;  ///< by kind
    int obligations = 0;
    int charges = 0;
    int kills = 0;
    int posts = 0;
    int posts_most = 0;  ///< of one obligation
    int posts_with_key_most = 0;

    void add(const Figures& other);
    [[nodiscard]] std::string text() const;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  int roll(int sides) { return static_cast<int>(random_() % static_cast<std::uint64_t>(sides)); }
  Timestamp within(std::chrono::minutes time);
  void ask(const ObligationKey& key);
  void refund(const ObligationKey& key);
  void plan_kills();
  void judge_rows(std::string& found);
  void judge_charges(std::string& found);
  void judge_refunds(std::string& found);
  void count_posts();

  ChaosOptions options_;
  std::mt19937_64 random_;
  CaseWorld world_;
  WebhookEdge edge_;
  Figures figures_;
};

}  // namespace onceward::cases
