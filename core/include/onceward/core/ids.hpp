// Identifiers: who is billed, under which namespace and account, by which request. Parse functions
// are the only way from foreign text to an id; the Strong constructor is for values that were
// parsed before (stored data, literals in tests).
#pragma once

#include <string>
#include <string_view>

#include <onceward/core/result.hpp>
#include <onceward/core/strong.hpp>

namespace onceward {

/// 1-128 ASCII graphic characters (0x21-0x7e), compared byte by byte, never normalised.
using CustomerId = Strong<struct CustomerIdTag, std::string>;
/// Id of the customer at the provider; same alphabet as CustomerId.
using ProviderCustomer = Strong<struct ProviderCustomerTag, std::string>;
/// `[a-z][a-z0-9_-]{0,39}`; empty text means `subscription`.
using Purpose = Strong<struct PurposeTag, std::string>;
/// Stable name of an entity's history: `customer/<id>`, `scheduler/<cycle>`, `inbox/<object>`.
using PersistenceId = Strong<struct PersistenceIdTag, std::string>;
/// Deployment namespace, `[a-z0-9][a-z0-9_.-]{0,63}`; recorded in the store and part of every key.
using Namespace = Strong<struct NamespaceTag, std::string>;
/// Label of the provider account, same alphabet as Namespace; not a secret, recorded in the store.
using AccountLabel = Strong<struct AccountLabelTag, std::string>;
/// Chosen by the sender of a command, 1-255 visible characters; for deduplication and tracing only.
using RequestId = Strong<struct RequestIdTag, std::string>;
/// Payment method at the provider, 1-255 visible characters.
using PaymentMethod = Strong<struct PaymentMethodTag, std::string>;
/// Key sent to the provider, at most 255 characters. Only idempotency_key.hpp makes one.
using IdempotencyKey = Strong<struct IdempotencyKeyTag, std::string>;
/// Identity of one incarnation of an entity, for the diagnosis of double writers.
using WriterId = Strong<struct WriterIdTag, std::string>;

/// Whether money is real. Recorded in the store; part of every key.
enum class Mode { test, live };
/// `test` or `live`.
[[nodiscard]] std::string_view to_text(Mode mode) noexcept;
/// Exactly what to_text gives; anything else is invalid_argument.
[[nodiscard]] Result<Mode> parse_mode(std::string_view text);

/// Each parser takes the whole text as it is: nothing is trimmed, lowered or normalised, and words
/// like `None` or `null` are ids like any other. Illegal or empty text is invalid_argument; the
/// message names the rule and the first illegal byte, never the text.
[[nodiscard]] Result<CustomerId> parse_customer_id(std::string_view text);
[[nodiscard]] Result<ProviderCustomer> parse_provider_customer(std::string_view text);
/// Empty text gives `subscription`.
[[nodiscard]] Result<Purpose> parse_purpose(std::string_view text);
[[nodiscard]] Result<Namespace> parse_namespace(std::string_view text);
[[nodiscard]] Result<AccountLabel> parse_account_label(std::string_view text);
[[nodiscard]] Result<RequestId> parse_request_id(std::string_view text);
[[nodiscard]] Result<PaymentMethod> parse_payment_method(std::string_view text);

/// `customer/<id>`: injective, since the prefix is fixed.
[[nodiscard]] PersistenceId customer_persistence_id(const CustomerId& customer);
/// `scheduler/<cycle>`.
[[nodiscard]] PersistenceId scheduler_persistence_id(std::string_view cycle);
/// `inbox/<object>`: what hints said of an object at the provider that belongs to no obligation of
/// ours. invalid_argument unless the object's id is 1-128 visible ASCII characters.
[[nodiscard]] Result<PersistenceId> inbox_persistence_id(std::string_view object);
/// The object of an `inbox/<object>` persistence id; not_found for any other kind.
[[nodiscard]] Result<std::string> inbox_object_of(const PersistenceId& id);
/// The customer of a `customer/<id>` persistence id; not_found for any other kind, and for an id
/// that is no legal customer id.
[[nodiscard]] Result<CustomerId> customer_of(const PersistenceId& id);

}  // namespace onceward
