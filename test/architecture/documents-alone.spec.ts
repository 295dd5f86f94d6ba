import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTINGS_HELP } from '#libs/infra/config';
import { commandsBelow, runInProcess } from '../support/run-program.js';
import { ROOT } from '../support/service.js';

/** What readers of the project do not have. Comments in sources and the decision records may cite it. */
const CITATION = /\bdocuments? [123]\b|\bthe specification\b/i;

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const documents = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

const commands = (await commandsBelow()).map((command) => command.join(' '));

describe('what users read', () => {
  it.each(['README.md', ...documents, 'apps/api/src/openapi/openapi.yaml'])('%s stands on its own', (name) => {
    const lines = read(name).split('\n');
    expect(lines.filter((line) => CITATION.test(line))).toEqual([]);
  });

  it.each(commands)('the help of %s stands on its own', async (command) => {
    const { stdout } = await runInProcess([...command.split(' '), '--help']);
    expect(stdout).toContain('Usage:');
    expect(stdout).not.toMatch(CITATION);
  });

  it('the help of every setting stands on its own', () => {
    expect(SETTINGS_HELP.filter(({ description }) => CITATION.test(description))).toEqual([]);
  });
});
