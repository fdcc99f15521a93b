// PaymentProvider: a provider model of card payments, as small as its rules that matter can be
// said: saved keys, intents and charges, declines, requests that arrive late, a ledger.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <onceward/harness/provider_model.hpp>

namespace onceward::harness {

struct PaymentProviderOptions {
  /// How long a key and its answer are remembered.
  std::chrono::milliseconds retention = std::chrono::hours{24};
  /// A late request arrives this long after it was sent. To be set below the bound that the entity
  /// allows for requests that still run after their not_after.
  std::chrono::milliseconds late_by = std::chrono::minutes{10};
  /// What a charge was for, from the metadata of its object; by default
  /// `<onceward_customer>/<onceward_period>/<onceward_purpose>`.
  std::function<std::string(const Params& metadata)> subject_of;
};

class PaymentProvider final : public ProviderModel {
 public:
  explicit PaymentProvider(PaymentProviderOptions options = {});

  [[nodiscard]] std::unique_ptr<ProviderModel> clone() const override;
  ExternalAnswer handle(const ExternalRequest& request, Fate fate, Timestamp now) override;
  void pass(Timestamp now) override;
  void heal() override { finish_processing(true); }
  [[nodiscard]] const std::vector<LedgerRow>& ledger() const override { return ledger_; }
  [[nodiscard]] int forgotten_keys_used() const override { return forgotten_keys_used_; }
  [[nodiscard]] std::uint64_t state_hash() const override;

  /// Everything that is processing or waits for its customer is paid, or refused.
  void finish_processing(bool paid);
  /// Somebody else cancels every intent that is payable.
  void cancel_open_intents();
  [[nodiscard]] int open_intents() const;

 private:
  struct Saved {
    std::string digest;
    ExternalAnswer answer;
    Timestamp at;
  };
  struct Late {
    ExternalRequest request;
    Timestamp at;
  };
  ExternalAnswer arrive(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer execute(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer charge(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer create(const ExternalRequest& request, Timestamp now);
  ExternalAnswer confirm(const ExternalRequest& request, const std::string& id, Fate fate);
  [[nodiscard]] ExternalAnswer look_up(const ExternalRequest& request) const;
  void refuse(ProviderObject& object);
  void book(const ProviderObject& object, const std::string& charge, const std::string& key);

  PaymentProviderOptions options_;
  std::map<std::string, Saved> keys_;
  std::map<std::string, ProviderObject> objects_;
  std::vector<LedgerRow> ledger_;
  std::vector<Late> late_;
  int next_id_ = 1;
  int forgotten_keys_used_ = 0;
};

/// The value of one parameter or metadata member; empty if absent.
[[nodiscard]] std::string value_of(const Params& params, const std::string& name);

}  // namespace onceward::harness
