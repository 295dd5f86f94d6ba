import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONNECTOR_CATALOGUE } from '#libs/domain/connectors';
import { timestampOf } from '#libs/domain/kernel';
import {
  compilePolicy,
  completedInput,
  evaluatePolicy,
  isFault,
  readCasesInTurns,
  readTrialInput,
  testPolicyInTurns,
} from '#libs/domain/policies';
import type { JsonObject } from '#libs/crypto';

const STARTERS = CONNECTOR_CATALOGUE.flatMap(({ type, starter_policy: text, tools }) =>
  text === null ? [] : [{ type, text, tools: tools.map(({ name }) => name) }],
);
const blocksOf = (language: string, text: string): readonly string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, block]) => block ?? '');
const guideOf = (type: string): string =>
  readFileSync(new URL(`../../docs/connectors-${type.replaceAll('_', '-')}.md`, import.meta.url), 'utf8');

describe('a policy to begin with', () => {
  it('is there for each type that names its tools', () => {
    const naming = CONNECTOR_CATALOGUE.filter(({ tools_from: from }) => from === 'type').map(({ type }) => type);
    expect(STARTERS.map(({ type }) => type)).toEqual(naming);
  });

  it.each(STARTERS)('of $type compiles without a finding, and names tools that there are', ({ text, tools }) => {
    expect(compilePolicy(text.replaceAll('{name}', 'mine'))).toMatchObject({ ok: true, warnings: [] });
    for (const [, tool] of text.matchAll(/\{name\}\.([a-z_]+)$/gm)) expect(tools).toContain(tool);
    expect(text).toContain('default: deny');
  });

  it.each(STARTERS)('of $type stands in its guide', ({ type, text }) => {
    const blocks = blocksOf('yaml', guideOf(type));
    const named = /"name": "([a-z]+)"/.exec(guideOf(type))?.[1] ?? '';
    expect(blocks).toContain(text.replaceAll('{name}', named));
  });
});

describe('the policy to begin with of payments', () => {
  const compiled = compilePolicy(
    STARTERS.find(({ type }) => type === 'payments')?.text.replaceAll('{name}', 'pay') ?? '',
  );
  const outcomeOf = (trial: JsonObject): unknown => {
    const input = readTrialInput(trial);
    if (!compiled.ok || isFault(input)) throw new Error('neither is wrong');
    return evaluatePolicy(compiled.policy, completedInput(input, null, timestampOf(0)), { limitMs: 5_000 }).outcome;
  };
  const decide = (payments: JsonObject, amount = 2_000): unknown => {
    const trial = { tool: 'pay.create_refund', args: { charge: 'ch_1', amount }, side_effect: 'write' };
    return outcomeOf({ ...trial, request: { payments } });
  };
  const charge = { enriched: true, currency: 'eur', refundable: 9_000, disputed: false, charge_age_days: 3 };

  it('lets a small refund of a recent charge through', () => expect(decide(charge)).toBe('allow'));
  it.each<[string, JsonObject, number]>([
    ['large', charge, 5_001],
    ['disputed', { ...charge, disputed: true }, 1],
    ['old', { ...charge, charge_age_days: 91 }, 1],
    ['of a charge without a date', { ...charge, charge_age_days: null }, 1],
    ['of a charge that could not be read', { enriched: false }, 1],
  ])('asks a person where it is %s', (_, payments, amount) =>
    expect(decide(payments, amount)).toBe('require_approval'),
  );

  it('passes every case of its guide', async () => {
    const [cases = ''] = blocksOf('yaml', guideOf('payments')).filter((block) => block.startsWith('- name: '));
    const read = await readCasesInTurns(cases);
    if (!compiled.ok || !read.ok) throw new Error('neither is wrong');
    const given = ({ input }: (typeof read.cases)[number]) => completedInput(input, null, timestampOf(0));
    const results = await testPolicyInTurns(compiled.policy, read.cases, given, () => true);
    expect(results.map(({ case: { name }, isOk }) => [name, isOk])).toEqual(read.cases.map(({ name }) => [name, true]));
    expect(results.length).toBeGreaterThan(2);
  });

  it('allows the call of its guide’s dry run', () => {
    const [input] = blocksOf('json', guideOf('payments'))
      .map((block) => JSON.parse(block) as JsonObject)
      .slice(1);
    expect(outcomeOf(input ?? {})).toBe('allow');
  });
});
