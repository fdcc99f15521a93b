// How an Operation is spelled on the wire: method, path, form. Pure; used by StripeProvider.
#pragma once

#include <onceward/core/external_call.hpp>

#include <string>
#include <string_view>

namespace onceward::provider::stripe {

/// One row per Operation.
struct OperationRow {
  Operation operation;
  bool is_post;
  std::string_view path;    ///< "/v1/charges"
  bool takes_target;        ///< the object id follows the path
  std::string_view suffix;  ///< "/confirm"
  std::string_view object;  ///< what the answer (or each element of a list) says it is
  bool is_list;
};
[[nodiscard]] const OperationRow& row_of(Operation operation) noexcept;

/// `a[b]=c&d=e`, in the order given. Names keep their brackets; everything else that is not
/// unreserved (RFC 3986) is percent-encoded as UTF-8. Equal parameters give equal bytes.
[[nodiscard]] std::string form_encode(const Params& params);

/// Path of the request; the target is percent-encoded, so that no id can name another path.
[[nodiscard]] std::string path_of(const OperationRow& row, std::string_view target);

/// An idempotency key that can be a header value: 1-255 visible ASCII characters.
[[nodiscard]] bool is_sendable_key(std::string_view key) noexcept;

}  // namespace onceward::provider::stripe
