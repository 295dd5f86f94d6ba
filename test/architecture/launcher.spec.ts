import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LAUNCHER, ROOT, SERVING_FLAGS } from '../support/service.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1));

describe(`${LAUNCHER}, which starts what serves`, () => {
  it('becomes Node itself, with the flags of V8, and hands on its arguments', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ags-launcher-'));
    try {
      const fakeNode = join(folder, 'node');
      writeFileSync(fakeNode, '#!/bin/sh\nprintf "%s\\n" "$$" "$@"\n');
      chmodSync(fakeNode, 0o755);
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      // The shell says its own pid, and then becomes the launcher.
      const script = 'echo "$$"; exec sh "$0" api "an argument"';
      const said = execFileSync('sh', ['-c', script, join(ROOT, LAUNCHER)], { env, encoding: 'utf8' });
      const [before, pid, ...args] = said.trimEnd().split('\n');
      expect(pid).toBe(before);
      expect(SERVING_FLAGS.length).toBeGreaterThan(0);
      expect(args).toEqual([...SERVING_FLAGS, join(ROOT, 'scripts', 'run.mjs'), 'api', 'an argument']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('starts each of them: by npm, in the image, in a deployment of several processes', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const started = Object.entries(scripts).filter(([name]) => name.startsWith('start'));
    expect(started).toEqual([
      ['start', 'exec sh scripts/serve.sh standalone'],
      ...['api', 'worker', 'projector'].map((name) => [`start:${name}`, `exec sh scripts/serve.sh ${name}`]),
    ]);
    expect(text('Dockerfile')).toMatch(/^CMD \["sh", "scripts\/serve\.sh", "standalone"\]$/m);
    const commands = [
      ...text('docker-compose.distributed.yml').matchAll(/^ {4}command: \[sh, scripts\/serve\.sh, (\w+)\]$/gm),
    ];
    expect(commands.map(([, name]) => name)).toEqual(['api', 'worker', 'projector']);
  });

  it('gives the flags that docs/performance.md explains, and no other', () => {
    const section = /^## The flags of V8\n([^]*?)\n## /m.exec(text('docs/performance.md'))?.[1] ?? '';
    expect(SERVING_FLAGS).toEqual([...section.matchAll(/^\| `(--\S+)` \|/gm)].map(([, flag]) => flag));
  });

  it('is the one place where a flag of V8 stands', () => {
    const flags = SERVING_FLAGS.map((flag) => flag.split('=', 1)[0] as string);
    const files = [
      ...['package.json', 'Dockerfile', 'docker-compose.yml', 'docker-compose.distributed.yml'],
      ...['docs/operations.md', 'docs/deployment.md', 'README.md'],
      ...['scripts', 'apps', 'libs', 'test'].flatMap(below).filter((path) => /\.([cm]?[jt]sx?|sh)$/.test(path)),
    ];
    const elsewhere = files.filter((path) => flags.some((flag) => text(path).includes(flag)));
    expect(elsewhere, `Flags of V8 belong into ${LAUNCHER}: whatever serves is started by it`).toEqual([LAUNCHER]);
  });
});
