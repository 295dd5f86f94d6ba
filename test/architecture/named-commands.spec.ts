import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsBelow } from '../support/run-program.js';
import { ROOT } from '../support/service.js';

const commands = await commandsBelow();
const names = commands.filter(({ length }) => length === 1).join('|');
const BARE = new RegExp(`(?<!run |--silent )\\bags (?=(?:${names})\\b)`);
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

  it('the command itself hears the signal that ends npm', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const programs = Object.values(scripts).filter((script) => /scripts\/(run\.mjs|serve\.sh)/.test(script));
    expect(programs.length).toBeGreaterThan(7);
    // A shell between the two would end alone, and leave the command running.
    expect(programs.filter((script) => !script.startsWith('exec '))).toEqual([]);
  });

  it('there is such a command', () => {
    const known = new Set(commands.map((command) => command.join(' ')));
    const named = lines.flatMap(({ text, place }) =>
      [...text.matchAll(NAMED)].map(([, command = '', under = '']) => ({ command, under, place })),
    );
    const isGroup = (name: string): boolean => commands.some(([group, under]) => group === name && under !== undefined);
    const called = named.map(({ command, under }) => (isGroup(command) && under ? `${command} ${under}` : command));
    expect(called.filter((command) => !known.has(command))).toEqual([]);
    expect(called).toContain('keys create');
  });
});
