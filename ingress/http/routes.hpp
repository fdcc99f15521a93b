// The routes of the API: each takes one call and answers it. Who may call is checked before.
#pragma once

#include "ingress/http/services.hpp"

namespace onceward::ingress {

// billing_routes.cpp
void post_billing(Services& services, Call call);
void get_obligation(Services& services, Call call);
void list_period(Services& services, Call call);

// customer_routes.cpp
void get_customer(Services& services, Call call);
void get_timeline(Services& services, Call call);

// run_routes.cpp
void post_run(Services& services, Call call);
void get_plan(Services& services, Call call);
void list_runs(Services& services, Call call);
void get_run(Services& services, Call call);
void report_run(Services& services, Call call);
void pause_run(Services& services, Call call);
void resume_run(Services& services, Call call);
void cancel_run(Services& services, Call call);

// command_routes.cpp
void post_refund(Services& services, Call call);
void post_cancel(Services& services, Call call);
void post_payment_method(Services& services, Call call);

// attention_routes.cpp
void list_attention(Services& services, Call call);
void get_attention(Services& services, Call call);

// attention_acts.cpp
void retry_attention(Services& services, Call call);
void resolve_attention(Services& services, Call call);

// webhook_routes.cpp
void post_webhook(Services& services, Call call);

}  // namespace onceward::ingress
