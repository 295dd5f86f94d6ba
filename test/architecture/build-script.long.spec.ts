import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

/** Notes which process bundles, and then does so for as long as a file `hang` is there. */
const BUNDLE = `
  import { appendFileSync, existsSync } from 'node:fs';
  export const bundlePrograms = async () => {
    appendFileSync('bundled', process.pid + '\\n');
    while (existsSync('hang')) await new Promise((resolve) => setTimeout(resolve, 10));
  };`;

let folder: string;

/** Refuses what is marked as wrong; the real one takes a second for each run, and is not what is tried here. */
const COMPILER = `
  const { readFileSync } = require('node:fs');
  process.exit(readFileSync('apps/program.ts', 'utf8').includes('wrong') ? 2 : 0);`;

/** Notes that the Console is built. */
const PAGES = "import { appendFileSync } from 'node:fs'; appendFileSync('pages', 'built\\n');";

/** A tree of one source, with the build script of this one. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-build-'));
  for (const name of ['apps/console', 'apps/verifier/src/platform', 'libs/crypto', 'test', 'scripts'])
    await mkdir(join(folder, name), { recursive: true });
  for (const name of ['run.mjs', 'build.mjs', 'one-at-a-time.mjs']) {
    await copyFile(join(ROOT, 'scripts', name), join(folder, 'scripts', name));
  }
  const compiler = join('node_modules', 'typescript', 'bin');
  await mkdir(join(folder, compiler), { recursive: true });
  await write(join(compiler, 'tsc'), COMPILER);
  await write('tsconfig.json', '{}');
  await write('package.json', '{}');
  await write('package-lock.json', '{}');
  await write('apps/program.ts', 'right\n');
  await write('apps/console/page.ts', 'a page\n');
  await write('scripts/bundle.mjs', BUNDLE);
  await write('scripts/openapi.mjs', 'export const writeOpenApiDocument = () => undefined;');
  await write('scripts/browser-platform.mjs', 'export const PLATFORM = {};');
  await write('scripts/verifier.mjs', 'export const writeVerifier = () => undefined;');
  await write('scripts/console.mjs', PAGES);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, content: string): Promise<void> => writeFile(join(folder, name), content);
const linesOf = async (name: string): Promise<number> =>
  (await readFile(join(folder, name), 'utf8')).split('\n').length - 1;
const bundled = (): Promise<number> => linesOf('bundled');

/** @param first what the shell does that then becomes the build, so under the same process id */
const start = (first = 'true') => {
  const child: ChildProcess & { stderr: NonNullable<ChildProcess['stderr']> } = spawn(
    'sh',
    ['-c', `${first} && exec "$0" scripts/build.mjs`, process.execPath],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stderr)]);
  return { child, ended: ended.then(([[code], said]) => ({ code, said })) };
};

/** Until it bundles, which is while it builds. */
const untilBundling = async (): Promise<void> => {
  while ((await bundled().catch(() => 0)) === 0) await new Promise((resolve) => setImmediate(resolve));
};

describe('scripts/build.mjs', () => {
  it('builds once for processes that are started together, and then not again', async () => {
    const runs = await Promise.all([start(), start(), start(), start()].map(({ ended }) => ended));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const said = runs.map((run) => run.said);
    expect(said.filter((line) => line.startsWith('Building: '))).toHaveLength(1);
    expect(said.join('')).not.toContain('Error');
    expect(await bundled()).toBe(1);
    expect(await start().ended).toEqual({ code: 0, said: '' });
  });

  it('says that it waits for another, and goes on where that one was killed', async () => {
    await write('hang', '');
    const killed = start();
    await untilBundling();
    const waiting = start();
    await once(waiting.child.stderr, 'readable');
    killed.child.kill('SIGKILL');
    await rm(join(folder, 'hang'));
    const { code, said } = await waiting.ended;
    expect(code).toBe(0);
    expect(said).toMatch(/^Another process builds; waiting for it \.\.\.\nBuilding: /);
    expect(await bundled()).toBe(2);
    await killed.ended;
  });

  it.each([
    ['of its own process id, as a container gives it again', 'mkdir dist && printf %s $$ > dist/.building'],
    ['that was never written, as where the disk was full', 'mkdir dist && touch -t 200001010000 dist/.building'],
  ])('takes over a lock %s', async (_title, left) => {
    expect(await start(left).ended).toMatchObject({ code: 0, said: expect.stringMatching(/\nBuilding: /) as string });
    expect(await readdir(join(folder, 'dist'))).not.toContain('.building');
  });

  it('ends with the exit code of the compiler, and leaves nobody waiting', async () => {
    await write('apps/program.ts', 'wrong\n');
    expect((await start().ended).code).toBe(2);
    await write('apps/program.ts', 'right\n');
    expect(await start().ended).toMatchObject({ code: 0, said: expect.stringMatching(/^Building: /) as string });
  });

  it('builds again what is newer than the build', async () => {
    await start().ended;
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, 'apps', 'program.ts'), later, later);
    expect((await start().ended).said).toMatch(/^Building: /);
    expect(await bundled()).toBe(2);
  });

  it('lays the SQL of the schemas beside the code, and takes away what is no longer there', async () => {
    const steps = 'libs/infra/src/one/schema/steps';
    await mkdir(join(folder, steps), { recursive: true });
    for (const name of ['0001-a.sql', '0002-b.sql']) await write(`${steps}/${name}`, `select '${name}';`);
    await start().ended;
    expect(await readdir(join(folder, 'dist', steps))).toEqual(['0001-a.sql', '0002-b.sql']);
    await rm(join(folder, steps, '0002-b.sql'));
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, steps), later, later);
    await start().ended;
    expect(await readdir(join(folder, 'dist', steps))).toEqual(['0001-a.sql']);
    expect(await readFile(join(folder, 'dist', steps, '0001-a.sql'), 'utf8')).toBe("select '0001-a.sql';");
  });

  it('builds the Console beside it, each half alone where only it has changed', async () => {
    const changed = async (path: string): Promise<string> => {
      const later = new Date(Date.now() + 60_000);
      await utimes(join(folder, path), later, later);
      const { said } = await start().ended;
      await utimes(join(folder, path), new Date(0), new Date(0));
      return said;
    };
    expect((await start().ended).said).toMatch(/^Building: .+\nBuilding the Console: .+\n$/);
    expect(await changed('apps/console/page.ts')).toMatch(/^Building the Console: .+\n$/);
    expect([await bundled(), await linesOf('pages')]).toEqual([1, 2]);
    expect(await changed('apps/program.ts')).toMatch(/^Building: .+\n$/);
    expect([await bundled(), await linesOf('pages')]).toEqual([2, 2]);
    expect(await start().ended).toEqual({ code: 0, said: '' });
  });

  it('is run apart by a program that needs it, which keeps none of its memory and ends where it fails', async () => {
    await mkdir(join(folder, 'dist', 'programs'), { recursive: true });
    await write('dist/programs/demo.js', 'process.stdout.write(String(process.pid));');
    const run = () => spawnSync(process.execPath, ['scripts/run.mjs', 'demo'], { cwd: folder, encoding: 'utf8' });
    const { status, stdout, stderr } = run();
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/^\d+$/), expect.stringMatching(/^Building: /)]);
    expect(await bundled()).toBe(1);
    expect(await readFile(join(folder, 'bundled'), 'utf8')).not.toBe(`${stdout}\n`);
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    await write('apps/program.ts', 'wrong\n');
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, 'apps', 'program.ts'), later, later);
    expect(run()).toMatchObject({ status: 2, stdout: '' });
  });
});
