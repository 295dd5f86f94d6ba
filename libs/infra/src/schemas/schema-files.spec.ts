import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSchema, type SchemaName, schemaOf, startedSchemas } from './schema-files.js';

const NAMES: readonly SchemaName[] = [...startedSchemas(true), 'first_organization'];
/** The numbers of the steps of each. */
const STEPS_OF: Readonly<Record<string, readonly number[]>> = Object.fromEntries(
  NAMES.map((name) => [name, schemaOf(name).steps.map(({ number }) => number)]),
);
const RELEASED = join(import.meta.dirname, 'released.txt');

describe('the files of a schema', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ags-schema-files-'));
    for (const name of ['steps', 'functions']) await mkdir(join(folder, name));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

  it('are its steps in order, and its functions', async () => {
    await write('steps/0002-second.sql', '-- oldest-program: 0001\nselect 2;\n');
    await write('steps/0001-first.sql', 'select 1;\r\n');
    await write('functions/do-it.sql', 'create or replace function do_it() …\n');
    const { steps, functions } = readSchema('one', folder);
    expect(steps).toMatchObject([
      { number: 1, name: '0001-first', oldestProgram: 1, text: 'select 1;\n' },
      { number: 2, name: '0002-second', oldestProgram: 1 },
    ]);
    expect(functions).toMatchObject([{ name: 'do-it' }]);
  });

  it.each([
    ['no step', []],
    ['a gap', ['0001-a.sql', '0003-b.sql']],
    ['two steps of one number', ['0001-a.sql', '0001-b.sql']],
    ['a step without a number', ['0001-a.sql', 'b.sql']],
  ])('are refused with %s', async (_title, files) => {
    for (const file of files) await write(`steps/${file}`, 'select 1;');
    expect(() => readSchema('one', folder)).toThrow('numbered from 0001 on without gaps');
  });

  it('are refused with a step that only a later program may meet', async () => {
    await write('steps/0001-a.sql', '-- oldest-program: 0002\n');
    expect(() => readSchema('one', folder)).toThrow('names no later step');
  });
});

describe('the schemas of this program', () => {
  // What ends the transaction of a step, or cannot run in one.
  it.each(NAMES)('%s: every step can be applied in one transaction', (name) => {
    for (const { text } of schemaOf(name).steps) {
      expect(text.replace(/^--.*$/gm, '')).not.toMatch(/\b(commit|rollback|concurrently|vacuum)\b/i);
    }
  });

  /**
   * A database remembers what was applied to it, and refuses other texts under the same number. This list refuses them here.
   * A file of a released step is never edited. A function that changes comes with a new step, which may hold nothing but a
   * comment; then its line says the number of that step.
   */
  it('have the texts that were released, and each function that of its newest step', async () => {
    const released = (await readFile(RELEASED, 'utf8')).trimEnd().split('\n');
    const own = NAMES.flatMap((name) => {
      const { steps, functions } = schemaOf(name);
      return [
        ...steps.map((step) => `${step.sha256} ${name} ${step.name}`),
        ...functions.map((made) => `${made.sha256} ${name} function ${made.name} since step `),
      ];
    });
    const withoutSince = released.map((line) => line.replace(/ since step \d{4}$/, ' since step '));
    expect(own, `${RELEASED}: a new line for a new step, another hash and step for a changed function`).toEqual(
      withoutSince,
    );
    const sinceNoStep = released.filter((line) => {
      const [, name, since] = /^\S+ (\S+) function \S+ since step (\d{4})$/.exec(line) ?? [];
      return line.includes(' function ') && !STEPS_OF[name ?? '']?.includes(Number(since));
    });
    expect(sinceNoStep, `${RELEASED}: the step since which a function has its text is one of its schema`).toEqual([]);
  });

  it('are all that lie in the tree', async () => {
    const infra = join(import.meta.dirname, '..');
    const files = (await readdir(infra, { recursive: true })).filter((file) => file.endsWith('.sql'));
    const known = NAMES.flatMap((name) => [...schemaOf(name).steps, ...schemaOf(name).functions]);
    expect(files).toHaveLength(known.length);
  });
});
