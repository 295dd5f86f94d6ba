import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { asStranger } from '../../../test/support/as-stranger.js';
import { commandsBelow, objectsIn, runInProcess } from '../../../test/support/run-program.js';

const COMMANDS = await commandsBelow();

/** One command line, under these settings. */
const run = async (
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): ReturnType<typeof runInProcess> => {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  return runInProcess(args);
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('ags --help', () => {
  it('lists every command', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const command of [
      'init',
      'config',
      'keys',
      'agents',
      'org',
      'people',
      'mail',
      'seal-keys',
      'projections',
      'events',
      'migrate',
      'backup',
      'restore',
      'doctor',
      'verify',
      'intent',
      'policies',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    }
  });

  it('names the exit code that one command has to itself', async () => {
    for (const args of [['--help'], ['doctor', '--help'], ['policies', 'lint', '--help']]) {
      expect((await run(args)).stdout, args.join(' ')).toMatch(/\n {2}2 .*\n {2}3 .*the service refused the API key\n/);
    }
    expect((await run(['audit', '--help'])).stdout).not.toMatch(/^ {2}3 /m);
  });

  it.each(COMMANDS.map((command) => [command.join(' '), command] as const))(
    'of %s says what it does, with an example and the exit codes',
    async (name, command) => {
      const { code, stdout } = await run([...command, '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: npm run ags -- ${name}`);
      expect(stdout).toMatch(/\n\n[A-Z][^]{30,}?\.\n/);
      expect(stdout).toMatch(new RegExp(`Examples:\\n {2}\\$ .*npm run (--silent )?ags -- ${command[0] ?? ''}`));
      expect(stdout).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
    },
  );

  it('of keys create says to whom deeds:read is given, and what it shows', async () => {
    const { stdout } = await run(['keys', 'create', '--help']);
    const words = stdout.replace(/\s+/g, ' ');
    expect(words).toContain('Give deeds:read only to an agent that audits');
    expect(words).toContain('it may export the whole chain');
  });

  it('is what a call without a command gets, on standard error and with 2', async () => {
    const { code, stdout, stderr } = await run([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: npm run ags --');
  });
});

describe('ags help', () => {
  it.each([
    [['help'], 'Usage: npm run ags -- [options]'],
    [['help', 'keys'], 'Usage: npm run ags -- keys [options]'],
    [['keys', 'help', 'create'], 'Usage: npm run ags -- keys create '],
    [['help', 'audit'], 'Usage: npm run ags -- audit '],
  ])('%j shows that part', async (args, said) => {
    expect(await run(args)).toMatchObject({ code: 0, stdout: expect.stringContaining(said), stderr: '' });
  });

  it.each([
    [['help', 'nope'], ['nope']],
    [['help', 'keyz'], ['keyz']],
    [
      ['help', 'keys', 'nope'],
      ['keys', 'nope'],
    ],
    [
      ['keys', 'help', 'nope'],
      ['keys', 'nope'],
    ],
    [
      ['help', 'nope', '--json'],
      ['nope', '--json'],
    ],
    [['nope', '--help'], ['nope']],
    [
      ['keys', 'nope', '-h'],
      ['keys', 'nope'],
    ],
    [['help', 'nope', '--help'], ['nope']],
  ])('%j says that there is no such command, as %j does', async (args, plain) => {
    const said = await run(args);
    expect(said).toEqual(await run(plain));
    expect(said).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/Unknown command '(nope|keyz)'/) });
  });

  it('is a word like any other behind a command', async () => {
    const { stderr } = await run(['agents', 'create', 'help', 'me']);
    expect(stderr).toMatch(/too many arguments/i);
  });
});

describe('a command that cannot be understood', () => {
  it.each([
    ['an unknown command, with the one that was meant', ['keyz'], /Did you mean keys/],
    ['a missing argument', ['keys', 'revoke'], /key/],
    ['one argument too many', ['keys', 'list', 'all'], /too many arguments/i],
    ['an unknown option', ['org', 'stop', '--because', 'x'], /--because/],
    ['an id of another kind', ['agents', 'stop', 'key_1evn4bssm6fs5f1q8e6zep4ap0'], /agt_/],
    ['an overlap without a unit', ['keys', 'roll', 'key_1evn4bssm6fs5f1q8e6zep4ap0', '--overlap', '24'], /24h/],
    ['a scope that does not exist', ['keys', 'create', '--scopes', 'actions:write'], /actions:execute/],
    ['a key for nobody', ['keys', 'create'], /--agent/],
    ['a key for two', ['keys', 'create', '--admin', '--agent', 'agt_1evn4bssm6fs5f1q8e6zep4ap0'], /not both/],
    ['an admin key with scopes', ['keys', 'create', '--admin', '--scopes', 'deeds:read'], /--scopes/],
    ['a stretch that ends before it begins', ['events', 'export', '--from', '5', '--to', '3'], /--from 5 .* --to 3/],
    ['a label without a value', ['agents', 'create', 'x', '--label', 'team'], /name=value/],
    ['a kid that is none', ['seal-keys', 'revoke', 'abc'], /32 lowercase hex/],
    ['a bundle of nobody', ['verify', 'x'], /--org/],
    ['an intent of no tool', ['intent', 'sign', '--key', 'x'], /--org/],
  ])('%s ends with 2 and says what to do', async (_title, args, said) => {
    const asText = await run(args);
    expect(asText).toMatchObject({ code: 2, stdout: '' });
    expect(asText.stderr).toMatch(said);
    const asJson = await run([...args, '--json']);
    expect(asJson).toMatchObject({ code: 2, stdout: '' });
    const [error] = objectsIn(asJson.stderr);
    expect(error).toEqual({ object: 'error', code: 'usage', message: expect.stringMatching(said) });
  });
});

describe('a state directory of another user', () => {
  it('is called that, and not an empty one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ags-state-'));
    const settings = { SERVICE_STATE_DIR: folder };
    const { code, stderr } = await asStranger(folder, () => run(['keys', 'list', '--json'], settings));
    await rm(folder, { recursive: true });
    expect(code).toBe(2);
    expect(objectsIn(stderr)).toEqual([
      { object: 'error', code: 'file_unusable', message: expect.stringContaining('access is denied') },
    ]);
  });
});

describe('a log place that is not usable', () => {
  const said = async (place: string, settings = {}): Promise<string> => {
    const { code, stderr } = await run(['migrate', 'events', '--to', place], settings);
    expect(code).toBe(2);
    return stderr;
  };

  it('is named with what is wrong, and without its password', async () => {
    expect(await said('http://log')).toContain('--to must be a URL such as esdb://');
    expect(await said('env:LOG_URL')).toContain('The variable that env:LOG_URL names is not set.');
    const typed = await said('esdb://admin:hunter22@[::1]:2113');
    expect(typed).toContain('must name its hosts as host:port');
    expect(typed).not.toContain('hunter22');
    expect(await said('env:LOG_URL', { LOG_URL: 'esdb://admin:hunter22@[::1]:2113' })).not.toContain('hunter22');
  });

  it.each(['esdb://admin:12?hunter22', 'esdb://admin:hunter22', 'admin:hunter22@log:2113', "esdb://a:1'?hunter22@log"])(
    'is not quoted where nobody can tell what of it is the password: %s',
    async (typed) => {
      expect(await said(typed)).not.toContain('hunter22');
      expect(await said('env:LOG_URL', { LOG_URL: typed })).not.toContain('hunter22');
    },
  );

  it.each([
    ['migrate', "esdb://admin:1'2?hunter22"],
    ['migrate', 'events', '--too=esdb://admin:12?hunter22'],
    ['migrate', 'events', '--to', 'database', 'esdb://admin:12?hunter22'],
    ['doctor', '--url', 'esdb://admin:12?hunter22'],
  ])('is not quoted either where it is no argument of an option for places: %s %s', async (...args) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).not.toContain('hunter22');
  });
});

describe('ags config', () => {
  it('shows every setting with its value, default and meaning', async () => {
    const { code, stdout } = await run(['config', '--json'], { SERVICE_PORT: '0', SERVICE_STATE_DIR: 'state' });
    expect(code).toBe(0);
    const objects = objectsIn(stdout);
    const settings = objects.filter(({ object }) => object === 'setting');
    expect(settings.length).toBeGreaterThan(10);
    for (const setting of settings) expect(setting['description']).toMatch(/\.$/);
    const of = (name: string) => settings.find(({ variable }) => variable === name);
    expect(of('SERVICE_PORT')).toMatchObject({ value: '0', is_set: true, default: '8080', problem: null });
    expect(of('SERVICE_STATE_DIR')?.['value']).toMatch(/^\/.*\/state$/);
    expect(of('SERVICE_HOST')).toMatchObject({ value: '127.0.0.1', is_set: false });
    expect(objects.at(-1)).toEqual({ object: 'config', usable: true, problems: [], ignored: [] });
  });

  it('says all problems at once and ends with 1', async () => {
    const wrong = { SERVICE_PORT: '70000', LOG_LEVEL: 'loud', REDIS_URL: 'memcached://x' };
    const asText = await run(['config'], wrong);
    expect(asText.code).toBe(1);
    for (const variable of Object.keys(wrong)) expect(asText.stdout).toMatch(new RegExp(`^  ${variable} `, 'm'));
    const asJson = await run(['config', '--json'], wrong);
    const result = objectsIn(asJson.stdout).at(-1);
    expect(result).toMatchObject({ usable: false });
    expect(result?.['problems']).toHaveLength(3);
  });

  it('refuses the slip of a name, and tells of names that are no settings', async () => {
    const strange = { SERVICE_PROT: '9000', SERVICE_TAGS: 'web' };
    const asJson = await run(['config', '--json'], strange);
    expect(asJson.code).toBe(1);
    expect(objectsIn(asJson.stdout).at(-1)).toEqual({
      object: 'config',
      usable: false,
      problems: ['SERVICE_PROT is not a setting; did you mean SERVICE_PORT?'],
      ignored: ['SERVICE_TAGS'],
    });
    const { stdout } = await run(['config'], strange);
    expect(stdout).toContain('\nNot settings, and without effect: SERVICE_TAGS.\n');
    const { code, stderr } = await run(['agents', 'list'], strange);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean SERVICE_PORT?')]);
  });

  it('names a rule between two settings', async () => {
    const { code, stdout } = await run(['config', '--json'], { SERVICE_ENV: 'production' });
    expect(code).toBe(1);
    expect(objectsIn(stdout).at(-1)?.['problems']).toEqual(['SERVICE_BASE_URL must be an https URL in production']);
  });

  it.each([
    ['a password in the userinfo', 'postgres://ags:canary@db.example/service'],
    ['a password in the query', 'postgres://db.example/service?user=ags&password=canary'],
    ['a password in what is no URL', 'ags:canary@db.example'],
  ])('never shows %s', async (_title, url) => {
    for (const form of [[], ['--json']]) {
      const { stdout, stderr } = await run(['config', ...form], { DATABASE_URL: url });
      expect(stdout).toContain('DATABASE_URL');
      expect(stdout + stderr).not.toContain('canary');
    }
  });

  it.each(['smtp://ags:canary@mail.example', 'smtp://ags:canary@mail.example/x', 'ags:canary@mail.example'])(
    'never shows the password of a mail server, as in %s',
    async (url) => {
      for (const form of [[], ['--json']]) {
        const { stdout, stderr } = await run(['config', ...form], { SMTP_URL: url });
        expect(stdout).toContain('SMTP_URL');
        expect(stdout + stderr).not.toContain('canary');
      }
    },
  );

  it('that is not usable stops every other command with 2, all problems named', async () => {
    const { code, stdout, stderr } = await run(['agents', 'list', '--json'], { SERVICE_PORT: 'x', LOG_LEVEL: 'loud' });
    expect([code, stdout]).toEqual([2, '']);
    expect(objectsIn(stderr)).toEqual([
      { object: 'error', code: 'settings_invalid', message: expect.stringMatching(/SERVICE_PORT[^]*LOG_LEVEL/) },
    ]);
  });
});
