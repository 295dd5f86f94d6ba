import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTORS, POLICIES, REPEATS } from './error-codes/control-plane.refusals.js';
import { beginShutdown, type Shutdown, WHILE_DRAINING } from './error-codes/draining.js';
import { FAULTS, TOO_MANY_FAILURES } from './error-codes/faults.refusals.js';
import { GATE, SEALED_AGAIN, UNGOVERNED, UNSEALED } from './error-codes/gate.refusals.js';
import { KEYS, STOPS } from './error-codes/keys.refusals.js';
import { expectOutcome, OUTCOMES } from './error-codes/outcomes.js';
import { expectRefusal, type Refusal, type RefusalGroup } from './error-codes/refusal.js';
import { Stage } from './error-codes/stage.js';
import { BODIES_AND_QUERIES, TRANSPORT } from './error-codes/transport.refusals.js';

let stage: Stage;

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
    });
  });
};

for (const group of [TRANSPORT, BODIES_AND_QUERIES, KEYS, ...STOPS, GATE]) describeRefusals(group);

describe('an action that was allowed and then meets', () => {
  it.each(OUTCOMES.map((each) => [each.rule, each.execution.join(' '), each] as const))('%s: %s', async (...row) => {
    const [, , outcome] = row;
    expectOutcome(stage, await outcome.provoke(stage), outcome);
  });
});

describe('a wait for an action', () => {
  it('ends at once when the agent is stopped', async () => {
    stage.lab.hold();
    const { json } = await stage.act('held.write', 'held', { wait: 0 });
    const waiting = stage.agent('GET', `/v1/actions/${String(json['id'])}?wait=25`);
    await stage.ags('agents', 'stop', stage.service.agent);
    expectRefusal(await waiting, { verdict: [403, 'permission_error', 'agent_stopped', null] });
    await stage.ags('agents', 'resume', stage.service.agent);
    stage.lab.release();
  });
});

for (const group of [CONNECTORS, POLICIES, REPEATS, UNSEALED, SEALED_AGAIN, FAULTS]) describeRefusals(group);

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
