import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInProcess } from '../support/run-program.js';
import { ROOT } from '../support/service.js';

const GROUPS = ['keys', 'agents', 'org', 'seal-keys'];
const BARE = /(?<!run |--silent )\bags (?=(?:init|config|verify|keys|agents|org|seal-keys)\b)/;
const NAMED = /npm run (?:--silent )?ags -- ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g;

const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

/** Where people read: documents, and what programs print. A comment may call the command line by its short name. */
const lines = ['README.md', ...['docs', 'apps', 'libs'].flatMap(below)]
  .filter((name) => /\.(?:md|ts|yaml)$/.test(name) && !name.endsWith('.spec.ts'))
  .flatMap((name) =>
    readFileSync(join(ROOT, name), 'utf8')
      .split('\n')
      .map((text, index) => ({ place: `${name}:${index + 1}`, text })),
  )
  .filter(({ text }) => !/^\s*(?:\/?\*|\/\/)/.test(text));

describe('where people are told to run a command', () => {
  it('it is called as it works where they stand', () => {
    expect(lines.filter(({ text }) => BARE.test(text)).map(({ place }) => place)).toEqual([]);
    expect(BARE.test('Make one with `ags init`.')).toBe(true);
  });

  it('there is such a command', async () => {
    const named = lines.flatMap(({ text }) =>
      [...text.matchAll(NAMED)].map(([, command = '', under = '']) =>
        (GROUPS.includes(command) && under !== '' ? [command, under] : [command]).join(' '),
      ),
    );
    const commands = [...new Set(named)].filter((command) => !command.startsWith('--'));
    expect(commands).toContain('keys create');
    for (const command of commands) {
      const { code, stdout } = await runInProcess([...command.split(' '), '--help']);
      expect([command, code]).toEqual([command, 0]);
      expect(stdout).toContain(`Usage: npm run ags -- ${command}`);
    }
  });
});
