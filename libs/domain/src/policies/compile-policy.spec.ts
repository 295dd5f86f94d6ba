import { describe, expect, it } from 'vitest';

import { digestOf, digestOfJson } from '#libs/crypto';
import { compilePolicy } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { STARTER_POLICY } from './starter-policy.js';

const compiled = (source: string): CompiledPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(result.diagnostics.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return result.policy;
};

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

  it('the hash of a version is the digest of its normal form in RFC 8785', () => {
    const policy = compiled(EVERY_FIELD);
    expect(policy.versionHash).toBe(digestOfJson(policy.normalised));
    expect(policy.sourceHash).toBe(digestOf(EVERY_FIELD));
  });

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

  it('CRLF throughout is accepted and means the same as LF (document 3, Suggestions)', () =>
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
  it('the starter policy compiles without a warning', () =>
    expect(compilePolicy(STARTER_POLICY)).toMatchObject({ ok: true, warnings: [] }));

  it('the example rule in the starter policy compiles when its comment marks are removed', () => {
    const uncommented = STARTER_POLICY.replace(/^ {2}# ( *- id: small-notes)/m, '  $1').replace(
      /^ {2}# {3}( *(match|tools|when|decision|- notes).*)/gm,
      '    $1',
    );
    expect(compiled(uncommented).rules.map(({ id }) => id)).toContain('small-notes');
  });
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
