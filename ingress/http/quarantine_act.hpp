// Lifting the quarantine of an entity on an operator's word.
#pragma once

#include <string>

#include <onceward/core/ids.hpp>

#include "ingress/http/services.hpp"

namespace onceward::ingress {

struct LiftAct {
  PersistenceId entity;
  std::string who;
  std::string why;
  RequestId request_id;
};

/// Checks that everything stored for the entity follows from its events, records who and why, and
/// only then has the entity run again. 200 once that is durable; 409 with what is wrong if the
/// entity could bill a period twice; 404 if it is not quarantined.
void lift_quarantine(Services& services, LiftAct act, Answer answer);

}  // namespace onceward::ingress
