import { describe, expect, it } from 'vitest';
import { compilePolicy } from './compile-policy.js';
import { POLICY_LANGUAGE } from './policy-language.js';

interface Named {
  readonly name: string;
  readonly values: readonly (string | number)[] | null;
}
interface Fact {
  readonly path: string;
  readonly type: string;
  readonly values: readonly string[] | null;
  readonly presence: string;
  readonly connector_types: readonly string[] | null;
}
interface Signature {
  readonly target: string | null;
  readonly arguments: readonly string[];
}
interface Language {
  readonly policy: readonly Named[];
  readonly rule: readonly Named[];
  readonly match: readonly Named[];
  readonly approval: readonly Named[];
  readonly budget: readonly Named[];
  readonly facts: readonly Fact[];
  readonly functions: readonly { readonly name: string; readonly signatures: readonly Signature[] }[];
  readonly macros: readonly { readonly name: string; readonly example: string }[];
  readonly operators: readonly string[];
  readonly type_names: readonly string[];
}

const language = POLICY_LANGUAGE as unknown as Language;

const namesOf = (fields: readonly { readonly name: string }[]): readonly string[] => fields.map(({ name }) => name);

/** What is wrong with a source; nothing where it may be saved. */
const faultsOf = (source: string): readonly string[] => {
  const result = compilePolicy(source);
  return result.ok ? [] : result.diagnostics.map(({ message }) => message);
};

const policyWith = (rule: readonly string[], head = 'default: deny'): string =>
  ['version: 1', head, 'rules:', '  - id: one', ...rule.map((line) => `    ${line}`)].join('\n');

const conditional = (condition: string): string => policyWith(['when: |', `  ${condition}`, 'decision: allow']);

/** How each field that has no few values is written. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  description: ['description: For people', 'decision: allow'],
  id: ['decision: allow'],
  match: ['match:', '  tools:', '    - crm.get', 'decision: allow'],
  message: ['message: No', 'decision: deny'],
  when: ['when: tool == "crm.get"', 'decision: allow'],
  approval: ['approval:', '  required: 1', 'decision: require_approval'],
  approvers: ['approval:', '  approvers:', '    - role:owner', 'decision: require_approval'],
  required: ['approval:', '  required: 2', 'decision: require_approval'],
  signed: ['approval:', '  signed: true', 'decision: require_approval'],
  expires_in: ['approval:', '  expires_in: 4h', 'decision: require_approval'],
  tools: ['match:', '  tools:', '    - crm.get', 'decision: allow'],
  agents: ['match:', '  agents:', '    - support-*', 'decision: allow'],
  labels: ['match:', '  labels:', '    team: support', 'decision: allow'],
};

const written = (name: string): readonly string[] => {
  const lines = WRITTEN[name];
  return lines ?? expect.fail(`nobody says how ${name} is written`);
};

describe('every name of the language can be saved:', () => {
  it('the fields of a policy, and what they can be', () => {
    expect(namesOf(language.policy)).toEqual(['version', 'default', 'rules', 'budgets']);
    const [version, byDefault] = language.policy;
    for (const value of version?.values ?? []) expect(faultsOf(`version: ${value}\ndefault: deny\n`)).toEqual([]);
    for (const value of byDefault?.values ?? []) expect(faultsOf(`version: 1\ndefault: ${value}\n`)).toEqual([]);
  });

  it.each(language.rule.filter(({ values }) => values === null))('the field $name of a rule', ({ name }) => {
    expect(faultsOf(policyWith(written(name)))).toEqual([]);
  });

  it.each(language.match.filter(({ values }) => values === null))('the field $name of a match', ({ name }) => {
    expect(faultsOf(policyWith(written(name)))).toEqual([]);
  });

  it.each(language.approval)('the field $name of an approval', ({ name }) => {
    expect(faultsOf(policyWith(written(name)))).toEqual([]);
  });

  it('the fields of a budget, and what they can be', () => {
    expect(namesOf(language.budget)).toEqual(['id', 'match', 'period', 'max_calls', 'max_spend']);
    const period = language.budget.find(({ name }) => name === 'period');
    for (const value of period?.values ?? []) {
      const fields = [`id: daily`, `match:`, `  tools:`, `    - crm.*`, `period: ${value}`, `max_calls: 5`];
      const spend = [`max_spend:`, `  amount: 100`, `  currency: eur`];
      const [first, ...rest] = [...fields, ...spend].map((line) => `    ${line}\n`);
      const budget = `  - ${first?.trimStart()}${rest.join('')}`;
      expect(faultsOf(`version: 1\ndefault: deny\nbudgets:\n${budget}`)).toEqual([]);
    }
  });

  it.each(language.rule.flatMap(({ name, values }) => (values ?? []).map((value) => [name, value])))(
    'in a rule %s: %s',
    (name, value) => {
      const decision = name === 'decision' ? [] : ['decision: allow'];
      expect(faultsOf(policyWith([`${name}: ${value}`, ...decision]))).toEqual([]);
    },
  );

  it.each(language.match.flatMap(({ name, values }) => (values ?? []).map((value) => [name, value])))(
    'in a match %s: %s',
    (name, value) => {
      expect(faultsOf(policyWith(['match:', `  ${name}: ${value}`, 'decision: allow']))).toEqual([]);
    },
  );

  it.each(language.facts)('the fact $path', ({ path, type, values }) => {
    expect(faultsOf(conditional(type === 'group' ? `has(${path})` : `type(${path}) == string`))).toEqual([]);
    for (const value of values ?? []) expect(faultsOf(conditional(`${path} == "${value}"`))).toEqual([]);
  });

  it.each(
    language.functions.flatMap(({ name, signatures }) => signatures.map((signature) => [callOf(name, signature)])),
  )('the function as in %s', (call) => expect(faultsOf(conditional(`type(${call}) == string`))).toEqual([]));

  it.each(language.macros)('the macro $name', ({ example }) =>
    expect(faultsOf(conditional(`type(${example}) == bool`))).toEqual([]),
  );

  it.each(language.operators)('the operator %s', (operator) => {
    const example = OPERATOR_USES[operator] ?? `1 ${operator} 2`;
    expect(faultsOf(conditional(`type(${example}) == int`))).toEqual([]);
  });

  it.each(language.type_names)('the type %s', (name) => {
    expect(faultsOf(conditional(`type(args.note) == ${name}`))).toEqual([]);
  });
});

describe('the language', () => {
  it('says which connectors supply what is not always there', () => {
    const optional = language.facts.filter(({ presence }) => presence === 'optional');
    expect(optional.map(({ path, connector_types: types }) => [path, types])).toEqual([
      ...['', '.method', '.path', '.host'].map((member): unknown[] => [
        `request.http${member}`,
        ['rest', 'code_host', 'payments'],
      ]),
      ...['', '.protocol', '.definition', '.read_only', '.destructive', '.idempotent', '.open_world'].map(
        (member): unknown[] => [`request.mcp${member}`, ['mcp_http']],
      ),
      ...['', '.kind', '.tables', '.statement_count', '.has_where', '.is_parameterized', '.functions'].map(
        (member): unknown[] => [`request.sql${member}`, ['database']],
      ),
      ...['', ...PAYMENTS.map((name) => `.${name}`)].map((member): unknown[] => [
        `request.payments${member}`,
        ['payments'],
      ]),
    ]);
  });

  it('holds no fact that no connector supplies yet', () => {
    expect(faultsOf(conditional('has(request.mail)'))).not.toEqual([]);
    expect(language.facts.map(({ path }) => path)).not.toContain('request.mail');
  });
});

const PAYMENTS = [
  ...['enriched', 'charge', 'payment_intent', 'customer', 'currency', 'charge_amount', 'amount_refunded', 'refundable'],
  ...['disputed', 'charge_age_days', 'amount_display', 'subscription', 'status', 'current_period_end'],
  ...['amount_per_period', 'interval'],
];

const OPERATOR_USES: Readonly<Record<string, string>> = {
  '!': '!intent.signed',
  '&&': 'intent.signed && intent.signed',
  '||': 'intent.signed || intent.signed',
  in: '"a" in args.list',
  '? :': 'intent.signed ? 1 : 2',
};

function callOf(name: string, { target, arguments: types }: Signature): string {
  const values = types.map((type) => (type === 'string' ? textFor(name) : valueOf(type)));
  const call = `${name}(${values.join(', ')})`;
  return target === null ? call : `${valueOf(target)}.${call}`;
}

/** Patterns, zones and what is read as another type must be texts of their kind. */
function textFor(name: string): string {
  if (name === 'matches') return '"a+"';
  return name.startsWith('get') ? '"UTC"' : 'tool';
}

function valueOf(type: string): string {
  const values: Readonly<Record<string, string>> = {
    any: 'args.note',
    bool: 'intent.signed',
    int: '1',
    double: '1.5',
    string: 'tool',
    timestamp: 'now',
    duration: 'duration("1h")',
    'list(any)': '[1, 2]',
    'map(string, any)': 'agent.labels',
  };
  return values[type] ?? expect.fail(`nobody says what a ${type} is`);
}
