import { compilePolicy, type CompiledPolicy, type PolicyInput } from '#libs/domain/policies';

export const RULES = 100;

/** Every rule matches and looks at the arguments; the last one decides. */
export const hundredRules = (): CompiledPolicy => {
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

/** What the policy of {@link hundredRules} judges. */
export const ordinaryCall: PolicyInput = {
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
