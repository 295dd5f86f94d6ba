import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { compilePolicy, type CompiledPolicy, evaluatePolicy, type PolicyInput } from '#libs/domain/policies';

const RULES = 100;

/** Every rule matches and looks at the arguments; the last one decides. */
const hundredRules = (): CompiledPolicy => {
  const rules = Array.from(
    { length: RULES },
    (_, index) =>
      `  - id: r${index}\n    match:\n      tools:\n        - crm.*\n        - pay.*\n      agents:\n        - support-*\n` +
      `    when: args.amount > ${RULES - 2 - index} && args.amount <= 5000 && !(args.currency in ["eur", "gbp"]) && has(args.note) && args.amount == ${RULES - 1 - index}\n` +
      `    decision: allow\n`,
  );
  const result = compilePolicy(`version: 1\ndefault: deny\nrules:\n${rules.join('')}`);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics[0]));
  return result.policy;
};

const input: PolicyInput = {
  tool: 'pay.create_refund',
  args: { amount: 0, currency: 'usd', note: 'broken on arrival', charge: 'ch_1', lines: [{ sku: 'a', qty: 1 }] },
  agent: { id: 'agt_00000000000000000000000001', name: 'support-1', labels: { team: 'support' } },
  user: { ref: 'u-17' },
  session: { ref: null },
  intent: { signed: true },
  mode: 'gateway',
  side_effect: 'write',
  now: '2026-10-01T12:00:00.000Z',
  request: { http: { method: 'POST', path: '/v1/refunds', host: 'api.example.com' } },
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

describe('an evaluation of 100 rules', () => {
  it('takes less than 5 ms in 99 of 100 cases', () => {
    const policy = hundredRules();
    const timesMs = Array.from({ length: 2_000 }, () => {
      const before = process.cpuUsage();
      const decision = evaluatePolicy(policy, input);
      expect(decision.ruleId).toBe(`r${RULES - 1}`);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    })
      .slice(500)
      .sort((one, other) => one - other);
    const p50 = quantile(timesMs, 0.5);
    const p99 = quantile(timesMs, 0.99);
    console.log(`evaluation at ${RULES} rules, processor time: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
    expect(p99).toBeLessThan(5);
  });
});

describe('an ordinary evaluation while the machine is busy', () => {
  const burners: ChildProcess[] = [];
  beforeAll(async () => {
    for (let index = 0; index < 4; index += 1) burners.push(spawn(process.execPath, ['-e', 'for (;;);']));
    await Promise.all(burners.map((burner) => once(burner, 'spawn')));
  });
  afterAll(async () => {
    const ended = burners.map((burner) => once(burner, 'exit'));
    for (const burner of burners) burner.kill('SIGKILL');
    await Promise.all(ended);
  });

  it('never trips the limit', () => {
    const policy = hundredRules();
    let trips = 0;
    for (let index = 0; index < 1_000; index += 1) {
      if (evaluatePolicy(policy, input).timeLimitTripped) trips += 1;
    }
    expect(trips).toBe(0);
  });
});
