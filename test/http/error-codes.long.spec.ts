import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import { ROOT } from '../support/service.js';
import { AGENTS } from './error-codes/agents.refusals.js';
import { APPROVAL_LINKS, LINKS_AFTER_TOO_MANY } from './error-codes/approval-links.refusals.js';
import { APPROVALS } from './error-codes/approvals.refusals.js';
import { NOT_YET_RAISED, PROMISED, PROVEN_BELOW } from './error-codes/catalogue.js';
import { CONNECTORS, POLICIES, REPEATS } from './error-codes/control-plane.refusals.js';
import { beginShutdown, type Shutdown, WHILE_DRAINING } from './error-codes/draining.js';
import { EDGE } from './error-codes/edge.refusals.js';
import { FAULTS, TOO_MANY_FAILURES } from './error-codes/faults.refusals.js';
import { GATE, SEALED_AGAIN, UNGOVERNED, UNSEALED } from './error-codes/gate.refusals.js';
import { KEYS, spent, STOPS } from './error-codes/keys.refusals.js';
import { pathOf, type Probe, PROBES } from './error-codes/operations.js';
import { INSIGHTS } from './error-codes/insights.refusals.js';
import { LEDGER, WITNESS_POLICY } from './error-codes/ledger.refusals.js';
import { INTENTS } from './error-codes/intents.refusals.js';
import { MCP } from './error-codes/mcp.refusals.js';
import { expectOutcome, OUTCOMES } from './error-codes/outcomes.js';
import { expectRefusal, type Refusal, type RefusalGroup } from './error-codes/refusal.js';
import { Stage } from './error-codes/stage.js';
import { POLICY_TRIALS } from './error-codes/policy-trials.refusals.js';
import { PASSKEYS } from './error-codes/passkeys.refusals.js';
import { PEOPLE } from './error-codes/people.refusals.js';
import { EVENTS } from './error-codes/events.refusals.js';
import { REPLAYS } from './error-codes/replays.refusals.js';
import { WEBHOOKS } from './error-codes/webhooks.refusals.js';
import { BODIES_AND_QUERIES, TRANSPORT } from './error-codes/transport.refusals.js';
import { allowedAt, type DescribedOperation, operationFor, OPERATIONS } from './described-answer.js';

let stage: Stage;
/** Codes that a test below has seen, in an envelope or in the execution of an action. */
const produced = new Set<string>();

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage?.close());

const titled = (refusal: Refusal): [string, Refusal] => {
  const [status, , code] = refusal.verdict;
  return [`${refusal.rule}: ${status} ${code}`, refusal];
};

const describeRefusals = ({ title, enter, leave, refusals }: RefusalGroup): void => {
  describe(title, () => {
    beforeAll(() => enter?.(stage));
    afterAll(() => leave?.(stage));
    it.each(refusals.map(titled))('refuses %s', async (_title, refusal) => {
      expectRefusal(await refusal.provoke(stage), refusal);
      produced.add(refusal.verdict[2]);
    });
  });
};

for (const group of [TRANSPORT, BODIES_AND_QUERIES, KEYS, ...STOPS, GATE, EDGE, INTENTS]) describeRefusals(group);

describe('an action that was allowed and then meets', () => {
  it.each(OUTCOMES.map((each) => [each.rule, each.execution.join(' '), each] as const))('%s: %s', async (...row) => {
    const [, , outcome] = row;
    expectOutcome(stage, await outcome.provoke(stage), outcome);
    produced.add(outcome.execution[1]);
  });
});

describe('a wait for an action', () => {
  it('ends within 2 s of a stop of the agent, in whichever process (rule KEY-4)', async () => {
    stage.lab.hold();
    const { json } = await stage.act('held.write', 'held', { wait: 0 });
    const waits = Array.from({ length: 21 }, () => stage.agent('GET', `/v1/actions/${String(json['id'])}?wait=25`));
    // One more than may wait: when it is refused, the other 20 do.
    expect(await Promise.race(waits)).toMatchObject({ status: 429 });
    let answered = 0;
    for (const wait of waits) void wait.then(() => (answered += 1));
    await stage.service.call('GET', '/v1/health');
    expect(answered).toBe(1);
    await stage.ags('agents', 'stop', stage.service.agent);
    const stoppedAtMs = performance.now();
    const ended = (await Promise.all(waits)).filter(({ status }) => status !== 429);
    expect(performance.now() - stoppedAtMs).toBeLessThan(2_000);
    expect(ended).toHaveLength(20);
    for (const answer of ended) {
      expectRefusal(answer, { verdict: [403, 'permission_error', 'agent_stopped', null] });
    }
    await stage.ags('agents', 'resume', stage.service.agent);
    stage.lab.release();
  });
});

for (const group of [
  APPROVALS,
  APPROVAL_LINKS,
  INSIGHTS,
  PASSKEYS,
  ...PEOPLE,
  LEDGER,
  WITNESS_POLICY,
  LINKS_AFTER_TOO_MANY,
  CONNECTORS,
  AGENTS,
  POLICIES,
  POLICY_TRIALS,
  REPLAYS,
  EVENTS,
  MCP,
  WEBHOOKS,
  REPEATS,
  UNSEALED,
  SEALED_AGAIN,
  FAULTS,
])
  describeRefusals(group);

/** Refusals of pages are pages: apps/api/src/console/console.spec.ts. */
const IN_JSON = OPERATIONS.filter(({ isPage }) => !isPage);

/** Of the resource that an MCP client asks for (RFC 9728, section 5.1). */
const metadataOf = (operation: DescribedOperation): string => {
  if (!operation.template.startsWith('/mcp')) return '';
  const address = `${stage.service.baseUrl}/.well-known/oauth-protected-resource${pathOf(operation, stage)}`;
  return `, resource_metadata="${address}", scope="${operation.scopes.join(' ')}"`;
};

describe('every operation of the interface description', () => {
  const claims = OPERATIONS.flatMap((operation) =>
    operation.ownErrors.map((code) => [operation.name, code as ErrorCode, operation] as const),
  );

  it.each(claims.filter(([, code]) => PROBES[code]))('%s answers %s', async (_name, code, operation) => {
    const { verdict, headers = {}, send } = PROBES[code] as Probe;
    expectRefusal(await send(operation, stage), { verdict: verdict(operation), headers });
  });

  it.each(IN_JSON.map((each) => [each.name, each.auth, each] as const))('%s is %s', async (...row) => {
    const [, auth, operation] = row;
    const { method, isAdmin, scopes } = operation;
    const path = pathOf(operation, stage);
    const bare = await stage.send(method, path);
    // Where a body is asked for, it is the only thing that is missed.
    if (auth === 'public') return expect(bare.status).toBe(operation.takesBody ? 400 : (operation.successes[0] ?? 302));
    expectRefusal(bare, {
      verdict: [401, 'authentication_error', 'authentication_required', null],
      headers: { 'www-authenticate': `Bearer realm="service"${metadataOf(operation)}` },
    });
    // Every key is let in, to be told that only people decide: a row of its own.
    if (auth === 'session_or_key' && !isAdmin && scopes.length === 0) return;
    const key =
      auth === 'agent_key' || auth === 'session'
        ? stage.service.adminKey
        : isAdmin
          ? stage.service.agentKey
          : scopes.includes('actions:execute')
            ? spent.readOnly
            : spent.executeOnly;
    const { status, headers } = await stage.send(method, path, { key });
    const scope = isAdmin || auth === 'session' ? 'admin' : scopes.join(' ');
    expect([status, headers.get('www-authenticate')]).toEqual([403, expect.stringContaining(`scope="${scope}"`)]);
  });

  const paths = new Map(IN_JSON.map((operation) => [operation.template, operation]));

  it.each([...paths])('%s takes no other method', async (_template, operation) => {
    const path = pathOf(operation, stage);
    const other = ['PUT', 'PATCH', 'DELETE'].find((method) => operationFor(method, path) === null) as string;
    expectRefusal(await stage.send(other, path), {
      verdict: [405, 'invalid_request_error', 'method_not_allowed', null],
      headers: { allow: allowedAt(path) },
    });
  });

  it('says 503 and nothing else while the log does not answer', async () => {
    const keyed = IN_JSON.filter(({ auth }) => auth !== 'public');
    const answers = await stage.whileLocked('lock table event_store.events in access exclusive mode', () =>
      Promise.all(keyed.map((each) => stage.admin(each.method, pathOf(each, stage)))),
    );
    for (const answer of answers) {
      expectRefusal(answer, {
        verdict: [503, 'api_error', 'service_unavailable', null],
        headers: { 'retry-after': '1' },
      });
    }
  });

  it('answers every code that the description claims of it, and no other', () => {
    // That there is no other was checked with every answer that came by the stage.
    const claimed = claims.map(([name, code]) => `${name} ${code}`);
    expect(claimed.filter((claim) => !stage.answered.has(claim))).toEqual([]);
  });
});

for (const group of [...UNGOVERNED, TOO_MANY_FAILURES]) describeRefusals(group);

describe('after SIGTERM', () => {
  let shutdown: Shutdown;
  beforeAll(async () => {
    shutdown = await beginShutdown(stage);
  });

  it.each(WHILE_DRAINING.map(titled))('refuses %s', async (_title, refusal) => {
    const answer = await refusal.provoke(stage);
    expectRefusal(answer, refusal);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('health says so with 503, in its own form', async () => {
    const health = await stage.send('GET', '/v1/health');
    expect([health.status, health.headers.get('retry-after'), health.json['object']]).toEqual([503, '1', 'health']);
  });

  it('answers what waits with what there is, lets the call end, and ends itself', async () => {
    expect(await shutdown.underWay).toMatchObject({ status: 202, json: { status: 'processing' } });
    stage.lab.release();
    expect(await shutdown.exited).toMatchObject({ code: 0 });
  });
});

describe('the catalogue', () => {
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

  it('is what was promised (rule API-2): every code, its status and its type', () => {
    const printed = PROMISED.flatMap(([status, type, names]) =>
      names.split(/\s+/).map((code) => [code, { status, type }] as const),
    );
    const ours = codes.map((code) => {
      const { status, type } = ERROR_CATALOGUE[code];
      return [code, { status, type }] as const;
    });
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(printed));
    expect(printed).toHaveLength(codes.length);
  });

  it('holds no code that is neither produced above, nor proven below, nor waiting for its capability', () => {
    const accounted = [...produced, ...Object.keys(NOT_YET_RAISED), ...Object.keys(PROVEN_BELOW)];
    expect(accounted.sort()).toEqual([...codes].sort());
  });

  it('holds no waiting code that a source already raises', () => {
    const raised = new Set(sources().flatMap(codesIn));
    expect(Object.keys(NOT_YET_RAISED).filter((code) => raised.has(code))).toEqual([]);
    // The search finds what is there.
    expect(Object.keys(PROVEN_BELOW).filter((code) => !raised.has(code))).toEqual([]);
  });

  it.each(Object.entries(PROVEN_BELOW))('%s is refused by a test of its own', (code, { spec, title }) => {
    const text = readFileSync(join(ROOT, spec), 'utf8');
    expect(text).toContain(title);
    expect(text).toContain(`'${code}'`);
  });
});

/** Files that list every code: the catalogue itself, and what the Console takes from the OpenAPI document. */
const LISTS = ['error-catalogue.ts', 'console/src/kernel/contract.ts'];

/** What is shipped, without such lists. */
const sources = (): readonly string[] =>
  ['apps', 'libs'].flatMap((folder) =>
    (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
      .filter((name) => name.endsWith('.ts') && ![...LISTS, '.spec.ts'].some((end) => name.endsWith(end)))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );

/** Codes that a source names, but for comparisons: who asks for a code raises none. */
const codesIn = (source: string): readonly string[] =>
  [...source.replaceAll(/[=!]== '[a-z_]+'/g, '').matchAll(/'([a-z_]+)'/g)].map(([, code]) => code as string);
