import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'apps', 'api', 'src', 'openapi');

type Json = Record<string, unknown>;
type Parts = Readonly<Record<string, string>>;

const { joinedDocument } = (await import(pathToFileURL(join(ROOT, 'scripts', 'openapi.mjs')).href)) as {
  joinedDocument: (parts: Parts) => string;
};

const PARTS: Parts = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]),
);

/** Members that objects have in common are put together; anything else stands in one of the two. */
const together = (one: Json, other: Json): Json => {
  const all = { ...one };
  for (const [name, value] of Object.entries(other)) {
    if (name in all) all[name] = together(all[name] as Json, value as Json);
    else all[name] = value;
  }
  return all;
};

const COMMON = `openapi: 3.1.1
info: { title: A service }
components:
  schemas:
    Id: { type: string }
`;
const AGENTS = `paths:
  /agents:
    get: { schema: { $ref: '#/components/schemas/Agent' } }

components:
  schemas:
    Agent:
      $ref: '#/components/schemas/Id'
`;

describe('the OpenAPI document', () => {
  it('is what stands in the file of each context, and nothing else', () => {
    const whole = Object.values(PARTS)
      .map((text) => parse(text) as Json)
      .reduce(together);
    expect(Object.keys(PARTS).length).toBeGreaterThan(10);
    expect(parse(joinedDocument(PARTS))).toEqual(whole);
  });

  it('begins with what all contexts share, then has the files in the order of their names', () => {
    const text = joinedDocument({
      'keys.yaml': 'paths:\n  /keys: {}\n',
      'agents.yaml': AGENTS,
      'openapi.yaml': COMMON,
    });
    expect(text).toBe(`openapi: 3.1.1
info: { title: A service }

paths:
  /agents:
    get: { schema: { $ref: '#/components/schemas/Agent' } }
  /keys: {}

components:
  schemas:
    Id: { type: string }
    Agent:
      $ref: '#/components/schemas/Id'
`);
  });

  it.each<[string, Parts, string]>([
    [
      'a schema in two files',
      { 'gate.yaml': 'components:\n  schemas:\n    Agent: {}\n' },
      '#/components/schemas/Agent stands in agents.yaml and in gate.yaml: one of them has to go.',
    ],
    [
      'a path in two files',
      { 'gate.yaml': 'paths:\n  /agents: {}\n' },
      'paths /agents stands in agents.yaml and in gate.yaml: one of them has to go.',
    ],
    [
      'a reference to what nobody describes',
      { 'gate.yaml': "paths:\n  /actions: { $ref: '#/components/schemas/Gone' }\n" },
      'gate.yaml refers to #/components/schemas/Gone, which no file describes.',
    ],
    [
      'a context that speaks for the whole',
      { 'gate.yaml': 'tags: []\n' },
      'gate.yaml has tags: only openapi.yaml says it, the others have paths, webhooks, components.',
    ],
    ['a name that stands twice in a file', { 'gate.yaml': 'paths:\n  /a: {}\n  /a: {}\n' }, 'Map keys must be unique'],
    ['an empty file', { 'gate.yaml': '' }, 'gate.yaml is no mapping: it has paths, webhooks, components.'],
  ])('is not put together from %s', (_, planted, message) => {
    const parts = { 'openapi.yaml': COMMON, 'agents.yaml': AGENTS, ...planted };
    expect(() => joinedDocument(parts)).toThrow(message);
  });
});
