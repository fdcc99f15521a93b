// Bills one customer on an SQLite store with the provider simulator in the same process.
#include <cstdio>
#include <future>

#include <onceward/actors/runtime.hpp>
#include <onceward/billing/billing_entity.hpp>
#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/system_clock.hpp>
#include <onceward/provider/simulator/simulator.hpp>
#include <onceward/provider/stripe_provider.hpp>

using namespace onceward;

int main() {
  const billing::BillingPolicy policy{.ns = Namespace{"acme"}, .account = AccountLabel{"default"}};
  auto sim = *provider::simulator::Simulator::start({});
  auto provider = *provider::StripeProvider::create(
      {.base_url = sim->url(), .secret_key = platform::Secret{"sk_test_embed"}});
  auto clock = *platform::SystemClock::open([&] { return provider->provider_now(); });
  auto journal = *journal::SqliteJournal::open(
      {.path = "embed.db", .identity = {.ns = policy.ns, .account = policy.account}});
  auto runtime = *actors::Runtime::start({.shards = 256}, *journal, *provider, *clock,
                                         {{"customer/", billing::billing_entity_type(policy)}});
  const CustomerId customer{"cust_123"};
  billing::BillCustomer bill;
  bill.key = {customer, *BillingPeriod::parse("2026-08"), *parse_purpose("subscription")};
  bill.amount = {4990, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_card_visa"};
  bill.provider_customer = ProviderCustomer{"cus_9"};
  std::promise<billing::BillingReply> done;
  runtime->ask(customer_persistence_id(customer), billing::BillingCommand{bill},
               [&](std::any r) { done.set_value(std::any_cast<billing::BillingReply>(r)); });
  const auto told = std::get<billing::Told>(done.get_future().get());
  std::printf("%s %s\n", to_text(told.row.status).data(), told.row.charge_id.c_str());
  runtime->drain(1000);
}
