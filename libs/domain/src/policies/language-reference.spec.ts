import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { COST_MAX } from './cel/cost.js';
import { EXPRESSION_MAX_CHARACTERS, EXPRESSION_MAX_DEPTH, EXPRESSION_MAX_TOKENS } from './cel/expression-text.js';
import { FACTS } from './cel/facts.js';
import { ITEMS_MAX, MATCHED_MAX_CHARACTERS } from './cel/limits.js';
import { PATTERN_MAX_CHARACTERS } from './cel/patterns.js';
import { SIGNATURES, TYPE_NAMES } from './cel/signatures.js';
import type { Field } from './cel/types.js';
import { compilePolicy, POLICY_EXPRESSION_TOKENS_MAX } from './compile-policy.js';
import { DIAGNOSTICS_MAX, POLICY_DIAGNOSTICS } from './diagnostics.js';
import { POLICY_EVALUATION_LIMIT_MS } from './evaluate-policy.js';
import { POLICY_LIMITS } from './policy-source.js';
import { POLICY_SOURCE_MAX_BYTES, POLICY_SOURCE_MAX_LINES } from './source-text.js';

const REFERENCE = readFileSync(new URL('../../../../docs/policy-language.md', import.meta.url), 'utf8');

/** Other pages with policies that a reader copies. */
const PAGES = ['mcp.md', 'connectors-mcp-http.md', 'connectors-payments.md'].map((page) => ({
  page,
  text: readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8'),
}));

const blocks = (language: string, text = REFERENCE): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, body]) => body ?? '');
const number = (value: number): string => value.toLocaleString('en-US');

describe('policy language reference: its examples are real', () => {
  it.each(
    blocks('yaml').map((source) => [
      source
        .split('\n')
        .find((line) => line.includes('id:'))
        ?.trim(),
      source,
    ]),
  )('policy with %s compiles without a warning', (_, source) =>
    expect(compilePolicy(source ?? '')).toMatchObject({ ok: true, warnings: [] }),
  );

  it.each(PAGES)('the policies of $page compile without a warning, too', ({ text }) => {
    // The others are files of cases.
    const sources = blocks('yaml', text).filter((block) => !block.startsWith('- name: '));
    expect(sources).not.toEqual([]);
    for (const source of sources) expect(compilePolicy(source)).toMatchObject({ ok: true, warnings: [] });
  });

  it.each(blocks('cel').flatMap((body) => body.trim().split('\n')))('%s', (expression) => {
    const source = `version: 1\ndefault: deny\nrules:\n  - id: example\n    when: |\n      ${expression}\n    decision: allow\n`;
    expect(compilePolicy(source)).toMatchObject({ ok: true, warnings: [] });
  });

  it('there are examples of both kinds', () => {
    expect(blocks('yaml').length).toBeGreaterThan(2);
    expect(blocks('cel').join('').split('\n').length).toBeGreaterThan(10);
  });
});

describe('policy language reference: it lists what there is', () => {
  it('every diagnostic with its severity and hint, in the order of the code', () => {
    const rows = [...REFERENCE.matchAll(/^\| `(\w+)` \| (error|warning) \| .+? \| (.+) \|$/gm)];
    const listed = rows.map(([, code, severity, hint]) => [code, severity, hint]);
    expect(listed).toEqual(
      Object.entries(POLICY_DIAGNOSTICS).map(([code, { severity, hint }]) => [code, severity, hint]),
    );
  });

  it('every fact that a call can have, with its meaning, and no other', () => {
    const [section = ''] = REFERENCE.split('### What a condition reads\n').slice(1);
    const [table = ''] = section.split('\n\n`mode` is');
    const documented = [...table.matchAll(/^\| `([a-z_.]+)` \| [a-z ]+ \| (.+) \|$/gm)].map(([, path, meaning]) => [
      path,
      meaning,
    ]);
    expect(documented).toEqual(factsOf(FACTS));
  });

  it('every function and type name', () => {
    const named = [...REFERENCE.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const functions = Object.keys(SIGNATURES).filter((name) => /^[a-z]/i.test(name));
    expect(named).toEqual(expect.arrayContaining([...functions, ...TYPE_NAMES]));
  });

  it.each([
    ['source size', `${POLICY_SOURCE_MAX_BYTES / 1_024} KiB`],
    ['source lines', `${number(POLICY_SOURCE_MAX_LINES)}\nlines`],
    ['rules', `${POLICY_LIMITS.rules} rules`],
    ['globs', `${POLICY_LIMITS.globsPerList} globs`],
    ['glob length', `at most ${POLICY_LIMITS.globCharacters} characters`],
    ['labels', `at most ${POLICY_LIMITS.labelsPerMatch}.`],
    ['approvers', `a list of 1 to ${POLICY_LIMITS.approversPerRule}:`],
    ['approvals of one call', `must approve, 1 to ${POLICY_LIMITS.requiredApprovals} |`],
    ['message length', `one line of at most ${POLICY_LIMITS.messageCharacters} characters`],
    ['description length', `at most ${POLICY_LIMITS.descriptionCharacters} characters, for people`],
    ['condition length', `${number(EXPRESSION_MAX_CHARACTERS)} characters`],
    ['condition tokens', `${EXPRESSION_MAX_TOKENS} names, values and operators`],
    ['condition depth', `${EXPRESSION_MAX_DEPTH} brackets deep`],
    ['tokens of all conditions', `${number(POLICY_EXPRESSION_TOKENS_MAX)} names, values and operators`],
    ['items', `| ${number(ITEMS_MAX)} |`],
    ['matched text', `${number(MATCHED_MAX_CHARACTERS)} characters`],
    ['pattern', `at most ${PATTERN_MAX_CHARACTERS} characters`],
    ['cost', `${number(COST_MAX)} steps`],
    ['time', `${POLICY_EVALUATION_LIMIT_MS} ms, then`],
    ['diagnostics', `at most ${DIAGNOSTICS_MAX}.`],
  ])('the limit of %s', (_, text) => expect(REFERENCE).toContain(text));
});

/** Leaves by their path, and groups that may be absent. */
const factsOf = (fields: Readonly<Record<string, Field>>, prefix = ''): readonly (readonly [string, string])[] =>
  Object.entries(fields).flatMap(([name, { type, presence, meaning }]) => {
    const path = `${prefix}${name}`;
    if (presence === 'unavailable') return [];
    if (type.kind !== 'record') return [[path, meaning] as const];
    return [...(presence === 'optional' ? [[path, meaning] as const] : []), ...factsOf(type.fields, `${path}.`)];
  });
