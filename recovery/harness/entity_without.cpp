// Which switch of billing belongs to which guard of the command line.
#include "recovery/harness/entity_without.hpp"

namespace onceward::harness {

EntityType entity_without(const billing::BillingPolicy& policy, std::string_view /*guard*/) {
  return billing::billing_entity_type(policy);
}

}  // namespace onceward::harness
