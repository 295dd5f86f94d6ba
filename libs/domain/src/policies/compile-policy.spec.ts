import { describe, expect, it } from 'vitest';

import { digestOf, digestOfJson } from '#libs/crypto';
import { compilePolicy, compilePolicyInTurns } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { STARTER_POLICY, STARTER_POLICY_WITH_DEMO } from './starter-policy.js';

const compiled = (source: string): CompiledPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(result.diagnostics.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return result.policy;
};

const PERSON = 'usr_01j9z3k4m5n6p7q8r9s0t1v2w3';

const EVERY_FIELD = `version: 1
default: deny
rules:
  - id: everything
    description: >-
      All that a rule of this version
      can say.
    match:
      tools:
        - crm.get_*
        - "crm.list_*"
      agents:
        - support-*
      labels:
        team: 'support'
        tier: "*"
      mode: gateway
      side_effect:
        - write
        - read
    when: |
      has(request.http) &&
      request.http.method == "GET"
    decision: allow
    verify: L0
  - id: closed
    decision: deny
    message: "Closed: ask again tomorrow."
`;

describe('policy source: every field of the language', () => {
  it('is read into one normal form, lists sorted, layout and quotes gone', () =>
    expect(compiled(EVERY_FIELD).normalised).toEqual({
      version: 1,
      default: 'deny',
      rules: [
        {
          id: 'everything',
          description: 'All that a rule of this version can say.',
          match: {
            tools: ['crm.get_*', 'crm.list_*'],
            agents: ['support-*'],
            labels: { team: 'support', tier: '*' },
            mode: ['gateway'],
            side_effect: ['read', 'write'],
          },
          when: 'has(request.http) &&\nrequest.http.method == "GET"',
          decision: 'allow',
          verify: 'L0',
        },
        { id: 'closed', match: {}, decision: 'deny', message: 'Closed: ask again tomorrow.' },
      ],
      budgets: [],
    }));

  it('budgets too, and the version is another one where one of them is', () => {
    const source = (fields: string): string =>
      `version: 1\ndefault: deny\nbudgets:\n  - id: daily\n    period: day\n${fields}`;
    const money = '    max_spend:\n      currency: eur\n      amount: 500\n';
    const match = '    match:\n      tools:\n        - crm.b\n        - crm.a\n      mode: gateway\n';
    const whole = compiled(source(`${match}    max_calls: 5\n${money}`));
    expect(whole.normalised['budgets']).toEqual([
      {
        id: 'daily',
        match: { tools: ['crm.a', 'crm.b'], mode: ['gateway'] },
        period: 'day',
        max_calls: 5,
        max_spend: { amount: 500, currency: 'eur' },
      },
    ]);
    const hashes = ['    max_calls: 5\n', '    max_calls: 6\n', money].map(
      (fields) => compiled(source(fields)).versionHash,
    );
    expect(new Set([...hashes, whole.versionHash]).size).toBe(4);
  });

  it('the hash of a version is the digest of its normal form in RFC 8785', () => {
    const policy = compiled(EVERY_FIELD);
    expect(policy.versionHash).toBe(digestOfJson(policy.normalised));
    expect(policy.sourceHash).toBe(digestOf(EVERY_FIELD));
  });

  it('the versions of before approvals keep their hash', () =>
    expect([EVERY_FIELD, STARTER_POLICY].map((source) => compiled(source).versionHash)).toEqual([
      'sha256:1eb5f91def65d4b2751de59f6b1aa28d4cd86954a930c85683e1ff894ea5bae7',
      'sha256:319c497df9fd47beded766dba2d97e74c6762a144b5272161951894960db483c',
    ]));

  it('comments, order of fields and layout change the source hash and not the version hash', () => {
    const one = compiled('version: 1\ndefault: deny\nrules:\n  - id: a\n    decision: allow\n');
    const other = compiled('# why\ndefault: "deny"\nversion: 1\nrules:\n- decision: allow # sure\n  id: a\n');
    expect(other.versionHash).toBe(one.versionHash);
    expect(other.sourceHash).not.toBe(one.sourceHash);
  });

  it('another rule order is another meaning', () => {
    const rule = (id: string) => `  - id: ${id}\n    match:\n      tools:\n        - ${id}.*\n    decision: allow\n`;
    const head = 'version: 1\ndefault: deny\nrules:\n';
    expect(compiled(head + rule('a') + rule('b')).versionHash).not.toBe(
      compiled(head + rule('b') + rule('a')).versionHash,
    );
  });

  it('CRLF throughout is accepted and means the same as LF (rule POLICY-4)', () =>
    expect(compiled(EVERY_FIELD.replaceAll('\n', '\r\n')).versionHash).toBe(compiled(EVERY_FIELD).versionHash));

  it('one document may be marked by --- and ended by ...', () =>
    expect(compiled('---\nversion: 1\ndefault: deny\n...\n').rules).toEqual([]));

  it('labels named like members of every object are only labels', () =>
    expect(
      compiled(
        'version: 1\ndefault: deny\nrules:\n  - id: a\n    match:\n      labels:\n        __proto__: x\n        constructor: "*"\n    decision: allow\n',
      ).rules[0]?.match.labels,
    ).toEqual(
      Object.fromEntries([
        ['__proto__', 'x'],
        ['constructor', '*'],
      ]),
    ));
});

describe('policy source: what the service ships', () => {
  it.each([
    ['the starter policy', STARTER_POLICY],
    ['the starter policy beside the demo database', STARTER_POLICY_WITH_DEMO],
  ])('%s compiles without a warning', (_, source) =>
    expect(compilePolicy(source)).toMatchObject({ ok: true, warnings: [] }),
  );

  it('the example rule in the starter policy compiles when its comment marks are removed', () => {
    const uncommented = STARTER_POLICY.replace(/^ {2}# ( *- id: small-notes)/m, '  $1').replace(
      /^ {2}# {3}( *(match|tools|when|decision|- notes).*)/gm,
      '    $1',
    );
    expect(compiled(uncommented).rules.map(({ id }) => id)).toContain('small-notes');
  });
});

describe('policy source: rules that ask for an approval', () => {
  const rule = (...lines: readonly string[]) =>
    `version: 1\ndefault: deny\nrules:\n  - id: a\n    decision: require_approval\n${lines.map((line) => `    ${line}\n`).join('')}`;
  const approval = (...lines: readonly string[]) => rule('approval:', ...lines.map((line) => `  ${line}`));
  const terms = (source: string) => compiled(source).rules[0]?.approval;

  it('left to the language: one admin or owner, for as long as the organization lets them wait', () =>
    expect(terms(rule())).toEqual({ approvers: ['role:admin'], required: 1, expiresInS: null }));

  it('in words of its own: approvers sorted and without repetition, the time in seconds', () =>
    expect(
      terms(
        approval('approvers:', `  - ${PERSON}`, '  - role:owner', '  - role:owner', 'required: 2', 'expires_in: 4h'),
      ),
    ).toEqual({ approvers: ['role:owner', PERSON], required: 2, expiresInS: 14_400 }));

  it.each([
    ['1m', 60],
    ['43200m', 2_592_000],
    ['720h', 2_592_000],
    ['30d', 2_592_000],
  ])('expires_in: %s', (written, seconds) =>
    expect(terms(approval(`expires_in: ${written}`))?.expiresInS).toBe(seconds),
  );

  it.each(['43201m', '721h', '31d', '0m', '90s', '1.5h', '60'])('not expires_in: %s', (written) =>
    expect(compilePolicy(approval(`expires_in: "${written}"`)).ok).toBe(false),
  );

  it('signed with a passkey, where it says so; false says nothing, and changes no hash', () => {
    const signed = compiled(approval('signed: true'));
    expect(signed.rules[0]?.approval).toEqual({
      ...{ approvers: ['role:admin'], required: 1, expiresInS: null },
      signed: true,
    });
    expect(signed.normalised).toMatchObject({ rules: [{ approval: { signed: true } }] });
    expect(signed.versionHash).not.toBe(compiled(rule()).versionHash);
    expect(terms(approval('signed: false'))).toEqual({ approvers: ['role:admin'], required: 1, expiresInS: null });
    expect(compiled(approval('signed: false')).versionHash).toBe(compiled(rule()).versionHash);
  });

  it.each(['yes', '"true"', 'TRUE', '1', '[]'])('not signed: %s', (written) =>
    expect(compilePolicy(approval(`signed: ${written}`)).ok).toBe(false),
  );

  it('a role may hold anybody, so it is never too few', () =>
    expect(terms(approval('approvers:', '  - role:owner', 'required: 10'))?.required).toBe(10));

  it('the normal form holds the terms, written out or not', () => {
    const written = compiled(approval('required: 1', 'approvers:', '  - role:admin'));
    expect(written.normalised).toMatchObject({
      rules: [{ decision: 'require_approval', approval: { approvers: ['role:admin'], required: 1 } }],
    });
    expect(written.versionHash).toBe(compiled(rule()).versionHash);
    expect(compiled(approval('required: 2')).versionHash).not.toBe(written.versionHash);
    const hours = compiled(approval('expires_in: 48h'));
    expect(hours.versionHash).toBe(compiled(approval('expires_in: 2d')).versionHash);
    expect(hours.versionHash).not.toBe(written.versionHash);
  });

  it('a rule that decides itself has no terms', () =>
    expect(compiled(EVERY_FIELD).rules.map(({ approval: none }) => none)).toEqual([null, null]));

  it('what such a rule lets through is verified like any other call', () =>
    expect(compiled(rule('verify: L0')).rules[0]?.verify).toBe('L0'));

  it.each(['L1', 'L2'])('a rule may ask for a witness at level %s', (level) =>
    expect(compiled(rule(`verify: ${level}`)).rules[0]?.verify).toBe(level),
  );
});

describe('policy source: unreachable rules', () => {
  const rules = (...bodies: readonly string[]) =>
    `version: 1\ndefault: deny\nrules:\n${bodies.map((body, index) => `  - id: r${index}\n${body}    decision: allow\n`).join('')}`;
  const tools = (...globs: readonly string[]) =>
    `    match:\n      tools:\n${globs.map((glob) => `        - "${glob}"\n`).join('')}`;
  const unreachable = (source: string) => {
    const result = compilePolicy(source);
    const found = result.ok ? result.warnings : result.diagnostics;
    return found.filter(({ code }) => code === 'unreachable_rule').map(({ rule_id: id }) => id);
  };

  it('a rule after one that matches everything', () =>
    expect(unreachable(rules('', tools('crm.get')))).toEqual(['r1']));
  it('a rule whose every glob is covered', () =>
    expect(unreachable(rules(tools('crm.*', '*.list'), tools('crm.a', 'db.list')))).toEqual(['r1']));
  it('not a rule with one glob more', () =>
    expect(unreachable(rules(tools('crm.*'), tools('crm.a', 'db.list')))).toEqual([]));
  it('not a rule after one with a condition', () =>
    expect(unreachable(rules('    when: args.a == 1\n', tools('crm.get')))).toEqual([]));
  it('a rule with a condition after one that covers it', () =>
    expect(unreachable(rules(tools('crm.*'), `${tools('crm.get')}    when: args.a == 1\n`))).toEqual(['r1']));
  it('not a rule that says less about labels', () =>
    expect(unreachable(rules('    match:\n      labels:\n        team: a\n', tools('crm.get')))).toEqual([]));
  it('a rule with a narrower label, mode and side effect', () =>
    expect(
      unreachable(
        rules(
          '    match:\n      labels:\n        team: s*\n      side_effect:\n        - read\n        - write\n',
          '    match:\n      labels:\n        team: sales\n        tier: gold\n      side_effect: read\n      mode: proxy\n',
        ),
      ),
    ).toEqual(['r1']));
});

describe('what people read of a rule', () => {
  const withText = (field: string): string =>
    `version: 1\ndefault: deny\nrules:\n  - id: spoken\n    decision: deny\n    ${field}: "Ask\\e[2J an admin"\n`;

  it.each(['message', 'description'])('holds no control character in %s, which an escape could bring in', (field) => {
    const result = compilePolicy(withText(field));
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      { code: 'invalid_value', rule_id: 'spoken', message: expect.stringContaining(`The ${field} of the rule`) },
    ]);
  });

  it('is let through in a version that was saved before this was refused', async () => {
    expect((await compilePolicyInTurns(withText('message'), 'stored')).ok).toBe(true);
  });
});

it.each(['1e3', '010', '0x10', '1.5'])('says how a number is written where it stands as %s', (number) => {
  const budget = `budgets:\n  - id: daily\n    period: day\n    max_calls: ${number}\n`;
  const result = compilePolicy(`version: 1\ndefault: deny\n${budget}`);
  expect(JSON.stringify(result)).toContain(`must be a whole number in plain digits, such as 1000, not ${number}.`);
});
