// The conformance suite of the journal port: every backend passes all of it. A backend is a class
// as JournalFixture describes it; ONCEWARD_INSTANTIATE_JOURNAL_CONFORMANCE runs all parts over it.
#pragma once

#include <onceward/harness/conformance/journal_barrier.hpp>
#include <onceward/harness/conformance/journal_caps.hpp>
#include <onceward/harness/conformance/journal_commit.hpp>
#include <onceward/harness/conformance/journal_read.hpp>
#include <onceward/harness/conformance/journal_refunds.hpp>
#include <onceward/harness/conformance/journal_rows.hpp>
#include <onceward/harness/conformance/journal_shape.hpp>

/// `prefix` names the instance, `Backend` is the class under test. Use once per program and
/// backend, in namespace onceward::journal::testing.
#define ONCEWARD_INSTANTIATE_JOURNAL_CONFORMANCE(prefix, Backend)            \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalCommitConformance, Backend); \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalShapeConformance, Backend);  \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalRowConformance, Backend);    \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalRefundConformance, Backend); \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalCapConformance, Backend);    \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalReadConformance, Backend);   \
  INSTANTIATE_TYPED_TEST_SUITE_P(prefix, JournalBarrierConformance, Backend)
