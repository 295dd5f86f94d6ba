import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTINGS_HELP } from '#libs/infra/config';
import { commandsBelow, runInProcess } from '../support/run-program.js';
import { ROOT } from '../support/service.js';

/**
 * What readers of the project do not have, and what nothing here may therefore cite: neither pages and helps, nor
 * comments, titles and decision records. What must hold stands in docs/rules.md, by ids that `npm run docs:links`
 * resolves.
 */
const CITATIONS: readonly RegExp[] = [
  /\bdocuments? [123]\b|\bdoc [123]\b|\bthe specification\b|\brulings? \d/i,
  /\breliability(?:\.md\b|,? (?:ruling|finding|part|\d))/i,
  /\(architecture[,)]|\barchitecture, (?:step|choices|')|\barchitecture step \d/i,
  // A letter and two digits: a numbering of attacks. That of the faults of a fleet, F-01 to F-26, is our own.
  /\b[A-EG-Z]-\d\d\b/,
];

const isCitation = (text: string): boolean => CITATIONS.some((citation) => citation.test(text));

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const documents = ['docs', 'docs/adr'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** Every line of a file that cites what is not there, with its place. */
const citationsIn = (name: string): readonly string[] =>
  read(name)
    .split('\n')
    .flatMap((line, index) => (isCitation(line) ? [`${name}:${index + 1}: ${line.trim()}`] : []));

const SOURCE = /\.(?:cjs|css|html|js|md|mjs|py|sql|ts|tsx|yaml|yml)$/;
const NOT_OURS = /(?:^|[\\/])(?:dist|node_modules)(?:[\\/]|$)/;

const sourcesOf = (tree: string): readonly string[] =>
  readdirSync(join(ROOT, tree), { recursive: true })
    .map(String)
    .filter((name) => SOURCE.test(name) && !NOT_OURS.test(name))
    .map((name) => join(tree, name));

const commands = (await commandsBelow()).map((command) => command.join(' '));

describe('what users read', () => {
  it.each(['README.md', ...documents])('%s stands on its own', (name) => {
    expect(citationsIn(name)).toEqual([]);
  });

  it.each(commands)('the help of %s stands on its own', async (command) => {
    const { stdout } = await runInProcess([...command.split(' '), '--help']);
    expect(stdout).toContain('Usage:');
    expect(isCitation(stdout)).toBe(false);
  });

  it('the help of every setting stands on its own', () => {
    expect(SETTINGS_HELP.filter(({ description }) => isCitation(description))).toEqual([]);
  });
});

describe('what those who change it read', () => {
  it.each(['apps', 'libs', 'test', 'scripts'])('the sources of %s stand on their own', (tree) => {
    expect(sourcesOf(tree).flatMap(citationsIn)).toEqual([]);
  });
});
