import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { idPattern } from '#libs/crypto';
import { CHANGE_LOG_REASONS } from '#libs/domain/gate';
import { REASON_WORDS } from '../../apps/console/src/gate/reasons.js';
import { HIDDEN_CHARACTERS as SHOWN_AS_HIDDEN } from '../../apps/console/src/kernel/said.js';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';
import { HIDDEN_CHARACTERS } from '../../libs/crypto/src/hidden-characters.js';
import { OWNED_LIMITS, OWNED_PATTERNS, OWNED_SETS, TOLD_SETS } from './owned-facts.js';
import { secondSpellings } from './second-spellings.js';

interface Schema {
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
}

const ROOT = join(import.meta.dirname, '..', '..');
const document = parse(readOpenApiDocument()) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
const { schemas } = document.components;

/** Made from the document, so that what they spell is not written by hand. */
const MADE = [
  'apps/console/src/kernel/contract.ts',
  'apps/console/src/kernel/api.d.ts',
  'apps/api/src/lists/list-filters.ts',
];
/** The line of a bundle's file of deeds, byte by byte: one literal of the format that an auditor reads alone. */
const FORMATS = ['libs/crypto/src/bundle-format.ts'];
/** The Console knows the service by the document alone, which does not tell these. They are compared below. */
const COMPARED = ['apps/console/src/kernel/said.ts', 'apps/console/src/gate/reasons.ts'];

const sources = ['apps', 'libs'].flatMap((tree) =>
  readdirSync(join(ROOT, tree), { recursive: true, encoding: 'utf8' })
    .map((name) => `${tree}/${name}`)
    .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && !/\.spec\.ts$|\/testing\//.test(path))
    .filter((path) => ![...MADE, ...FORMATS, ...COMPARED].includes(path)),
);

/** Every enum and pattern of the document that is not a named schema's own, and the names of those that are. */
const spelledIn = (node: unknown, place = ''): readonly (readonly [fact: string, place: string])[] => {
  if (node === null || typeof node !== 'object') return [];
  const { enum: values, pattern } = node as { enum?: unknown; pattern?: unknown };
  const members = Array.isArray(values) ? values.filter((value) => value !== null) : [];
  const own = [
    ...(members.length > 1 ? [[members.toSorted().join(' '), place] as const] : []),
    ...(typeof pattern === 'string' ? [[pattern, place] as const] : []),
  ];
  return [...own, ...Object.entries(node).flatMap(([name, child]) => spelledIn(child, `${place}/${name}`))];
};
const NAMED = /^\/components\/schemas\/\w+$/;

describe('the OpenAPI document', () => {
  it.each(OWNED_SETS)('lists the values of $schema as their owner, $name, does', ({ schema, values }) => {
    expect(schemas[schema as string]?.enum).toEqual(values);
  });

  it('has no closed set with a name that the code does not own, but for those that it tells alone', () => {
    const named = Object.entries(schemas).filter(([, schema]) => schema.enum !== undefined);
    const owned = [...OWNED_SETS.map(({ schema }) => schema), ...TOLD_SETS];
    expect(named.map(([name]) => name).toSorted()).toEqual(owned.toSorted());
  });

  it('gives the patterns of their owners', () => {
    const told = OWNED_PATTERNS.flatMap(({ schema, pattern }) => (schema === null ? [] : [[schema, pattern] as const]));
    for (const [schema, pattern] of told) {
      expect([schema, new RegExp(schemas[schema]?.pattern as string).source]).toEqual([schema, pattern.source]);
    }
    const ids = Object.entries(schemas).filter(
      ([name]) => name.endsWith('Id') && !['RuleId', 'TraceId'].includes(name),
    );
    expect(ids.length).toBeGreaterThan(15);
    for (const [name, { pattern = '' }] of ids) {
      const [, prefix = ''] = /^\^([a-z]+)_/.exec(pattern) ?? [];
      expect([name, pattern]).toEqual([name, idPattern(prefix).source.replace(/\(\?:([a-z]+)\)/, '$1')]);
    }
  });

  it.each(OWNED_LIMITS)('gives the limits of the owner at %s', (path, limits) => {
    const told = path
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document.components);
    expect(told).toMatchObject(limits);
  });

  it('spells no closed set and no pattern twice, except where two names have the same', () => {
    const spelled = spelledIn(document);
    const places = [...new Set(spelled.map(([fact]) => fact))].map((fact) =>
      spelled.filter(([other]) => other === fact),
    );
    const again = places.filter((all) => all.length > 1 && !all.every(([, place]) => NAMED.test(place)));
    const next = 'name it once below components/schemas, and refer to it with $ref';
    expect(again.map((all) => `${all.map(([, place]) => place).join(' and ')}: ${next}`)).toEqual([]);
  });
});

describe('the code', () => {
  it('spells nothing that has an owner a second time', () => {
    expect(sources.length).toBeGreaterThan(800);
    expect(sources.flatMap((path) => secondSpellings(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it.each([
    [
      'apps/cli/src/commands/planted.ts',
      "const ALL = [\n  'allow',\n  'require_approval',\n  'deny',\n];",
      'apps/cli/src/commands/planted.ts:1 spells allow, require_approval, deny again: import DECISION_OUTCOMES of libs/domain/src/kernel/closed-sets.ts.',
    ],
    [
      'apps/console/src/gate/planted.ts',
      "\ntype Verdict = 'VERIFIED' | 'MISMATCH' | 'UNVERIFIABLE';",
      'apps/console/src/gate/planted.ts:2 spells VERIFIED, MISMATCH, UNVERIFIABLE again: import VERDICT_VALUES of apps/console/src/kernel/contract.ts.',
    ],
    [
      'apps/api/src/gate/planted.ts',
      'const REFERENCE = /^[A-Za-z0-9._~:@\\/+=-]{1,256}$/;',
      'apps/api/src/gate/planted.ts spells the pattern [A-Za-z0-9._~:@/+=-]{1,256} again: import REFERENCE_PATTERN of libs/crypto/src/deed-schema.ts.',
    ],
    [
      'apps/api/src/gate/planted.dto.ts',
      "@MaxLength(280, { message: 'too long' })",
      'apps/api/src/gate/planted.dto.ts:1 spells the limit of a reason again: import REASON_MAX_CHARACTERS of libs/domain/src/kernel/checked-reason.ts.',
    ],
    [
      'apps/console/src/shell/planted.tsx',
      '<textarea maxLength={280} />',
      'apps/console/src/shell/planted.tsx:1 spells the limit of a reason again: import REASON_TEXT_MAX_LENGTH of apps/console/src/kernel/contract.ts.',
    ],
  ])('is told so in %s', (path, planted, message) => {
    expect(secondSpellings(path, planted)).toEqual([message]);
  });

  it('takes what the document tells from it: `npm run console:api` makes the files anew', async () => {
    const facts = (await import(pathToFileURL(join(ROOT, 'scripts', 'contract-facts.mjs')).href)) as {
      consoleFacts: (document: unknown) => string;
      edgeFilters: (document: unknown) => string;
    };
    for (const [name, text] of [
      [MADE[0] as string, facts.consoleFacts(document)],
      [MADE[2] as string, facts.edgeFilters(document)],
    ] as const) {
      const file = join(ROOT, name);
      const made = await format(text, { ...(await resolveConfig(file)), parser: 'typescript' });
      expect([name, readFileSync(file, 'utf8') === made]).toEqual([name, true]);
    }
  });

  it('shows as hidden in the Console what the gate finds hidden', () => {
    expect(SHOWN_AS_HIDDEN).toEqual(HIDDEN_CHARACTERS);
  });

  it('has words in the Console for each reason of a change log', () => {
    expect(Object.keys(REASON_WORDS).toSorted()).toEqual(CHANGE_LOG_REASONS.toSorted());
  });
});
