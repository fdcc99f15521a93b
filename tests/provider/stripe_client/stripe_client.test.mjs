// The provider's official client for Node against the simulator: what it creates, what it accepts
// as signed, and how often it sends a request when an answer fails.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import http from 'node:http';
import test from 'node:test';
import Stripe from 'stripe';

const base = new URL(process.env.SIMULATOR_URL);
let keys = 0;
const newKey = () => `node-${process.pid}-${++keys}`;

function client(options = {}) {
  return new Stripe('sk_test_node', {
    host: base.hostname, port: base.port, protocol: 'http', telemetry: false,
    // A timer of its default 80 s would outlive a connection that was cut, and hold up the process.
    timeout: 5000, ...options,
  });
}
const stripe = client();

async function control(method, path, body) {
  const answer = await fetch(new URL(path, base), {
    method, body: body === undefined ? undefined : JSON.stringify(body),
  });
  const json = await answer.json();
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}
const faults = (...rules) => control('POST', '/_sim/faults', {rules});
const wire = (key) => control('GET', `/_sim/requests?key=${key}`);

test.beforeEach(() => control('POST', '/_sim/reset'));

test('customers', async () => {
  const made = await stripe.customers.create({name: 'Ann', metadata: {a: 'b & c'}});
  assert.equal((await stripe.customers.retrieve(made.id)).metadata.a, 'b & c');
  const changed = await stripe.customers.update(made.id, {email: 'a@b.c', metadata: {a: ''}});
  assert.equal(changed.email, 'a@b.c');
  assert.deepEqual(changed.metadata, {});
  for (let nr = 0; nr < 4; ++nr) await stripe.customers.create({name: `c${nr}`});
  const names = [];
  for await (const customer of stripe.customers.list({limit: 2})) names.push(customer.name);
  assert.deepEqual(names, ['c3', 'c2', 'c1', 'c0', 'Ann']);
  await assert.rejects(stripe.customers.retrieve('cus_1'),
    (error) => error.type === 'StripeInvalidRequestError' && error.statusCode === 404);
});

test('payment intents in two steps', async () => {
  const made = await stripe.paymentIntents.create({
    amount: 4990, currency: 'usd', customer: 'cus_9', payment_method: 'pm_card_visa',
    payment_method_types: ['card'], metadata: {onceward_customer: 'cust_1'},
  });
  assert.equal(made.status, 'requires_confirmation');
  const paid = await stripe.paymentIntents.confirm(made.id, {off_session: true});
  assert.equal(paid.status, 'succeeded');
  assert.equal(paid.amount_received, 4990);
  const read = await stripe.paymentIntents.retrieve(made.id, {expand: ['latest_charge']});
  assert.equal(read.latest_charge.id, paid.latest_charge);
  const list = await stripe.paymentIntents.list({customer: 'cus_9', created: {gte: 1}});
  assert.equal(list.data[0].id, made.id);
  await assert.rejects(stripe.paymentIntents.confirm(made.id),
    (error) => error.code === 'payment_intent_unexpected_state');
  const other = await stripe.paymentIntents.create({amount: 100, currency: 'usd'});
  assert.equal((await stripe.paymentIntents.update(other.id, {amount: 200})).amount, 200);
  assert.equal((await stripe.paymentIntents.cancel(other.id)).status, 'canceled');
  assert.equal((await control('GET', '/_sim/ledger')).length, 1);
});

test('an intent that is declined stays payable', async () => {
  const made = await stripe.paymentIntents.create({
    amount: 500, currency: 'eur', payment_method: 'pm_card_chargeDeclinedInsufficientFunds',
  });
  await assert.rejects(stripe.paymentIntents.confirm(made.id, {off_session: true}), (error) => {
    assert.ok(error instanceof Stripe.errors.StripeCardError);
    assert.equal(error.decline_code, 'insufficient_funds');
    assert.equal(error.payment_intent.status, 'requires_payment_method');
    return true;
  });
  const paid = await stripe.paymentIntents.confirm(made.id, {payment_method: 'pm_card_visa'});
  assert.equal(paid.status, 'succeeded');
});

test('charges', async () => {
  const paid = await stripe.charges.create({amount: 700, currency: 'usd', source: 'tok_visa'});
  assert.equal(paid.status, 'succeeded');
  assert.equal((await stripe.charges.retrieve(paid.id)).amount, 700);
  assert.equal((await stripe.charges.list()).data.length, 1);
});

test('refunds', async () => {
  const paid = await stripe.charges.create({amount: 700, currency: 'usd', source: 'tok_visa'});
  const part = await stripe.refunds.create({charge: paid.id, amount: 300, metadata: {a: 'b'}});
  assert.equal(part.status, 'succeeded');
  await assert.rejects(stripe.refunds.create({charge: paid.id, amount: 401}),
    (error) => error.type === 'StripeInvalidRequestError' && error.param === 'amount');
  await stripe.refunds.create({charge: paid.id});
  await assert.rejects(stripe.refunds.create({charge: paid.id}),
    (error) => error.code === 'charge_already_refunded');
  assert.equal((await stripe.refunds.retrieve(part.id)).amount, 300);
  assert.equal((await stripe.refunds.list({charge: paid.id})).data.length, 2);
  assert.equal((await stripe.charges.retrieve(paid.id)).refunded, true);
});

test('search and events', async () => {
  await control('POST', '/_sim/search', {lag_s: 0});
  const key = newKey();
  const made = await stripe.paymentIntents.create(
    {amount: 100, currency: 'usd', metadata: {obligation: 'o1'}}, {idempotencyKey: key});
  const hits = await stripe.paymentIntents.search({query: "metadata['obligation']:'o1'"});
  assert.equal(hits.data[0].id, made.id);
  const events = await stripe.events.list({type: 'payment_intent.created'});
  assert.equal(events.data[0].request.idempotency_key, key);
  assert.equal((await stripe.events.retrieve(events.data[0].id)).data.object.id, made.id);
});

/// Calls `use` with a receiver: its URL, and next(), which waits for one delivery.
async function withReceiver(use) {
  const got = [];
  const waiting = [];
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const call = {body: Buffer.concat(chunks), signature: request.headers['stripe-signature']};
      response.end();
      if (waiting.length > 0) waiting.shift()(call);
      else got.push(call);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const next = () => got.length > 0 ? Promise.resolve(got.shift())
    : new Promise((done) => waiting.push(done));
  try {
    await use(`http://127.0.0.1:${server.address().port}/hook`, next);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

test('webhooks are accepted by constructEvent', async () => {
  await withReceiver(async (url, next) => {
    const endpoint = await stripe.webhookEndpoints.create(
      {url, enabled_events: ['charge.succeeded']});
    const paid = await stripe.charges.create({amount: 700, currency: 'usd', source: 'tok_visa'});
    const call = await next();
    const event = stripe.webhooks.constructEvent(call.body, call.signature, endpoint.secret);
    assert.equal(event.type, 'charge.succeeded');
    assert.equal(event.data.object.id, paid.id);
    // Ours and the client's own signature of the same text are the same.
    const stamp = Number(/t=(\d+)/.exec(call.signature)[1]);
    const theirs = stripe.webhooks.generateTestHeaderString(
      {payload: call.body.toString(), secret: endpoint.secret, timestamp: stamp});
    assert.ok(call.signature.startsWith(theirs), `${call.signature} does not begin ${theirs}`);
    assert.throws(() => stripe.webhooks.constructEvent(call.body, call.signature, 'whsec_other'),
      Stripe.errors.StripeSignatureVerificationError);

    const rolled = await control('POST', '/_sim/webhook_endpoints/roll', {endpoint: endpoint.id});
    await stripe.charges.create({amount: 800, currency: 'usd', source: 'tok_visa'});
    const both = await next();
    for (const secret of [endpoint.secret, rolled.secret]) {
      assert.equal(stripe.webhooks.constructEvent(both.body, both.signature, secret).type,
        'charge.succeeded');
    }
    await stripe.webhookEndpoints.del(endpoint.id);
    assert.equal((await stripe.webhookEndpoints.list()).data.length, 0);
  });
});

test('spoiled webhooks are refused by constructEvent', async () => {
  await withReceiver(async (url, next) => {
    const endpoint = await control('POST', '/_sim/webhook_endpoints',
      {url, secret: 'whsec_1', enabled_events: ['charge.succeeded']});
    for (const kind of ['wh_bad_sig', 'wh_old_ts', 'wh_truncated']) {
      await faults({kind, count: 1});
      await stripe.charges.create({amount: 700, currency: 'usd', source: 'tok_visa'});
      const call = await next();
      assert.throws(
        () => stripe.webhooks.constructEvent(call.body, call.signature, endpoint.secret), kind);
    }
  });
});

test('our verifier accepts what the client signs', {
  skip: process.env.VERIFY_WEBHOOK ? false : 'skipped: no verifier in this build',
}, () => {
  const secret = 'whsec_test_secret';
  const body = JSON.stringify({id: 'evt_1', object: 'event', note: 'äöü \u{1F4B0} "x"'}, null, 2);
  const stamp = 1788220800;
  const header = stripe.webhooks.generateTestHeaderString({payload: body, secret, timestamp: stamp});
  const other = stripe.webhooks.generateTestHeaderString(
    {payload: body, secret: 'whsec_other', timestamp: stamp});
  const verify = (signature, text, now) => spawnSync(process.env.VERIFY_WEBHOOK, [String(now)],
    {input: `${secret}\n${signature}\n${text}`}).status;
  assert.equal(verify(header, body, stamp), 0);
  assert.equal(verify(header, body, stamp + 300), 0);
  assert.equal(verify(`${other},${header.split(',')[1]}`, body, stamp), 0);
  assert.equal(verify(header, body, stamp + 301), 1);
  assert.equal(verify(header, `${body} `, stamp), 1);
  assert.equal(verify(other, body, stamp), 1);
});

/// One charge under one key: how often it was on the wire, and what came of it.
async function charge(options = {}, key = newKey(), params = {}) {
  let result;
  let error;
  try {
    result = await client(options).charges.create(
      {amount: 700, currency: 'usd', source: 'tok_visa', ...params}, {idempotencyKey: key});
  } catch (thrown) {
    error = thrown;
  }
  return {result, error, posts: (await wire(key)).length};
}

const noHeader = {kind: 'should_retry', value: 'absent', match: {method: 'POST'}};
const headerTrue = {kind: 'should_retry', value: 'true'};

test('a 500 without advice is sent three times under one key', async () => {
  await faults({kind: 'fail_500'}, noHeader);
  const {error, posts} = await charge();
  assert.equal(posts, 3);
  assert.equal(error.statusCode, 500);
});

test('Stripe-Should-Retry: false is obeyed', async () => {
  await faults({kind: 'fail_500'});
  assert.equal((await charge()).posts, 1);
});

test('a 409 is sent again', async () => {
  await faults({kind: 'inuse_409', for_ms: 100});
  const {result, posts} = await charge();
  assert.equal(posts, 2);
  assert.equal(result.status, 'succeeded');
});

test('a 429 of the rate limiter is not sent again', async () => {
  await faults({kind: 'rl_429', count: 1});
  const {error, posts} = await charge();
  assert.equal(posts, 1);
  assert.ok(error instanceof Stripe.errors.StripeRateLimitError);
});

test('a 429 lock_timeout is sent again only when the header says so', async () => {
  await faults({kind: 'lock_429', count: 1});
  assert.equal((await charge()).posts, 1);
  await faults({kind: 'lock_429', count: 1}, {...headerTrue, count: 1});
  assert.equal((await charge()).posts, 2);
});

test('a decline is sent once', async () => {
  const {error, posts} = await charge({}, newKey(), {source: 'tok_chargeDeclined'});
  assert.equal(posts, 1);
  assert.ok(error instanceof Stripe.errors.StripeCardError);
});

test('a key with other parameters is sent once', async () => {
  const key = newKey();
  await charge({}, key);
  const {error, posts} = await charge({}, key, {amount: 701});
  assert.equal(posts, 2);
  assert.ok(error instanceof Stripe.errors.StripeIdempotencyError);
});

test('a connection that ends without an answer is tried again even with no retries', async () => {
  for (const end of ['rst', 'fin']) {
    await faults({kind: 'drop_before', end, count: 1});
    const {result, posts} = await charge({maxNetworkRetries: 0});
    assert.equal(posts, 2, end);
    assert.equal(result.status, 'succeeded');
  }
});

test('a charge whose answer is lost is not taken twice', async () => {
  await faults({kind: 'commit_drop', end: 'rst', count: 1});
  const {result, posts} = await charge();
  assert.equal(posts, 2);
  const ledger = await control('GET', '/_sim/ledger');
  assert.equal(ledger.length, 1);
  assert.equal(ledger[0].charge, result.id);
});

test('a reset within the body is not sent again', async () => {
  await faults({kind: 'commit_rst_mid', bytes: 30, count: 1});
  const {error, posts} = await charge();
  assert.equal(posts, 1);
  assert.ok(error instanceof Stripe.errors.StripeConnectionError, String(error));
});

test('a timeout is sent again under the same key', async () => {
  await faults({kind: 'slow', delay_ms: 1500, count: 1});
  const {result, posts} = await charge({timeout: 700, maxNetworkRetries: 3});
  assert.ok(posts >= 2, `${posts} posts`);
  assert.equal(result.status, 'succeeded');
  assert.equal((await control('GET', '/_sim/ledger')).length, 1);
});

test('a 200 that does not parse is not sent again', async () => {
  await faults({kind: 'bad_json_200', count: 1});
  const {error, posts} = await charge();
  assert.equal(posts, 1);
  assert.match(error.message, /Invalid JSON/i);
});

test('a 502 of a proxy is sent again', async () => {
  await faults({kind: 'gw_502', count: 1});
  const {result, posts} = await charge();
  assert.equal(posts, 2);
  assert.equal(result.status, 'succeeded');
});

test('a restricted key is refused by permission', async () => {
  const secret = 'rk_test_restricted1';
  await control('POST', '/_sim/api_keys', {key: secret, permissions: {charges: 'read'}});
  const limited = new Stripe(secret,
    {host: base.hostname, port: base.port, protocol: 'http', timeout: 5000});
  assert.equal((await limited.charges.list()).data.length, 0);
  await assert.rejects(
    limited.charges.create({amount: 700, currency: 'usd', source: 'tok_visa'}),
    (error) => error instanceof Stripe.errors.StripePermissionError);
});
