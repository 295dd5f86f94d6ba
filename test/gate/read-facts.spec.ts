import { StopAgent } from '#libs/domain/agents/handlers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FactsQuestion, ReadFacts, ToolDescription } from '#libs/domain/connectors';
import type { LivingAction } from '#libs/domain/gate';
import type { ErrorCode } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'pay', method: 'POST', path: '/v1/refunds', args: {} }];

/** Lets through what was read, and nothing else. */
const POLICY = `version: 1
default: deny
rules:
  - id: read
    match:
      tools:
        - crm.pay
    when: has(request.http) && request.http.host == "read"
    decision: allow
`;
const READ: ReadFacts = {
  facts: { http: { host: 'read', method: 'POST', path: '/' }, cost: { amount: 7, currency: 'eur' } },
};

let upstream: Upstream;
let bench: GateBench;
let asked: FactsQuestion[];
let spends: boolean;
let answer: (question: FactsQuestion) => Promise<ReadFacts> | ReadFacts;

/** A REST driver as one whose system has to be asked for facts. */
const reading = (): void => {
  const driver = bench.gate.registry.driverOf('rest');
  if (driver === null) throw new Error('there is no REST driver');
  const toolOf = driver.toolOf.bind(driver);
  Object.assign(driver, {
    toolOf: (...of: Parameters<typeof toolOf>): ToolDescription | null => {
      const tool = toolOf(...of);
      return tool && { ...tool, readsFacts: true, namesCost: spends };
    },
    readFacts: async (question: FactsQuestion) => {
      asked.push(question);
      return answer(question);
    },
  });
};

beforeEach(async () => {
  [upstream, asked, spends, answer] = [await startUpstream(), [], false, () => READ];
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  await bench.enforce(POLICY);
  reading();
});
afterEach(async () => {
  bench.close();
  await upstream.close();
});

const ended = async (request: object = {}): Promise<LivingAction> => {
  const { action } = await bench.submit({ tool: 'crm.pay', ...request });
  return (await bench.action(action, ({ state }) => state === 'recorded')) as LivingAction;
};
const denied = { decision: { outcome: 'deny', code: 'policy_denied' } };

describe('a tool whose facts have to be read', () => {
  it('is judged by what was read, which is recorded with the decision', async () => {
    const action = await ended();
    expect(action).toMatchObject({ decision: { outcome: 'allow', rule_id: 'read' }, outcome: { status: 'succeeded' } });
    const { submission } = action;
    const input = await bench.payloads.get(submission.action, 'policy_input', submission.input_digest);
    expect(JSON.parse(input ?? '{}')).toMatchObject({ request: READ.facts });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ toolName: 'pay', args: {}, recorded: null });
  });

  it('is read once, not again for a key that is used', async () => {
    const first = await ended({ idempotencyKey: 'once' });
    const again = await bench.submit({ tool: 'crm.pay', idempotencyKey: 'once' });
    expect(again).toMatchObject({ action: first.submission.action, isReplay: true });
    expect(asked).toHaveLength(1);
  });

  it('is not read where the gate refuses by itself', async () => {
    await bench.commands.execute(new StopAgent(bench.org, bench.agent, 'why', bench.metadata()));
    expect(await ended()).toMatchObject({ decision: { code: 'agent_stopped' } });
    expect(asked).toHaveLength(0);
  });

  it('may be read no more once its agent is stopped, and is refused although it was', async () => {
    let code: ErrorCode | null = null;
    answer = async ({ mayStillSend }) => {
      expect(await mayStillSend()).toBeNull();
      await bench.elsewhere().commands.execute(new StopAgent(bench.org, bench.agent, 'why', bench.metadata()));
      code = await mayStillSend();
      return READ;
    };
    expect(await ended()).toMatchObject({ decision: { code: 'agent_stopped' } });
    expect(code).toBe('agent_stopped');
    expect(upstream.seen).toHaveLength(0);
  });

  it('is judged by the facts of the request alone where its connector has changed meanwhile', async () => {
    answer = async ({ mayStillSend }) => {
      await bench.changeElsewhere({ headers: { 'X-Team': 'two' } });
      expect(await mayStillSend()).toBe('connector_unavailable');
      return READ;
    };
    expect(await ended()).toMatchObject(denied);
  });

  it('is refused, and its connector disabled, where the facts trip a breaker', async () => {
    answer = () => ({ ...READ, breaker: { reason: 'livemode_detected', upstreamRequestId: null } });
    expect(await ended()).toMatchObject({
      decision: {
        ...{ outcome: 'deny', code: 'tool_unknown' },
        message: expect.stringContaining('The service disabled the connector crm (livemode_detected)') as string,
      },
    });
    expect(upstream.seen).toHaveLength(0);
  });

  it('is refused by what was read a moment ago, and allowed by what is read for itself alone', async () => {
    const remembered = (host: string): ReadFacts => ({
      facts: { http: { host, method: 'POST', path: '/' } },
      isRemembered: true,
    });
    answer = ({ mayBeRemembered }) => (mayBeRemembered ? remembered('other') : READ);
    expect(await ended()).toMatchObject(denied);
    expect(asked).toHaveLength(1);
    answer = ({ mayBeRemembered }) => (mayBeRemembered ? remembered('read') : { facts: {} });
    expect(await ended()).toMatchObject(denied);
    expect(asked.map(({ mayBeRemembered }) => mayBeRemembered)).toEqual([true, true, false]);
    answer = ({ mayBeRemembered }) => (mayBeRemembered ? remembered('read') : READ);
    expect(await ended()).toMatchObject({ decision: { outcome: 'allow' } });
  });

  it('is refused where a budget of money bounds it and nobody could say what it spends', async () => {
    spends = true;
    await bench.enforce(
      `${POLICY}budgets:\n  - id: daily\n    match:\n      tools:\n        - crm.pay\n    period: day\n    max_spend:\n      amount: 10\n      currency: eur\n`,
    );
    expect(await ended()).toMatchObject({ decision: { outcome: 'allow' } });
    answer = () => ({ facts: { http: { host: 'read', method: 'POST', path: '/' } } });
    expect(await ended()).toMatchObject({
      decision: { outcome: 'deny', code: 'policy_denied', source: 'budget', reason: 'budget daily' },
    });
    expect(upstream.seen).toHaveLength(1);
  });

  it('is read anew for whoever is asked about a call, with the facts of the decision at hand', async () => {
    const scene = new ApprovalScene(bench);
    await scene.enforce();
    const { action } = await bench.submit({ tool: 'crm.pay' });
    const first = await scene.review(action);
    expect(first.context?.request).toEqual(READ.facts);
    expect(asked.map(({ recorded, mayBeRemembered }) => [recorded, mayBeRemembered])).toEqual([
      [null, true],
      [READ.facts, false],
    ]);
    answer = () => ({ facts: { ...READ.facts, cost: { amount: 8, currency: 'eur' } } });
    const second = await scene.review(action);
    expect(second.context?.request.cost).toEqual({ amount: 8, currency: 'eur' });
    expect(second.digest).not.toBe(first.digest);
  });
});
