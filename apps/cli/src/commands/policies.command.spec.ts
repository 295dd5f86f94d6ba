import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PeopleBench } from '../../../../test/support/people-bench.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { runProgram } from '../program.js';

const SOURCE = `version: 1
default: deny
rules:
  - id: small
    when: args.amount <= 50
    decision: allow
`;
const MISSPELT = SOURCE.replace('default', 'defualt');
const CONSTANT = SOURCE.replace('args.amount <= 50', '1 < 2');
const CASES = `- name: small goes through
  input:
    tool: pay.refund
    args:
      amount: 10
  expect:
    decision: allow
`;
const RULED = `${CASES}    rule: small\n`;
const CALL = '{"tool": "pay.refund", "args": {"amount": 70}}';

let folder = '';
let bench: PeopleBench;
beforeAll(async () => {
  [folder, bench] = [await mkdtemp(join(tmpdir(), 'ags-policies-')), await PeopleBench.start()];
});
afterAll(async () => {
  await bench?.close();
  await rm(folder, { recursive: true });
});
afterEach(() => vi.unstubAllEnvs());

const written = async (name: string, text: string | Buffer): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text, { mode: 0o600 });
  return file;
};
const ags = async (args: readonly string[], { key = bench.prepared.adminKey ?? '', url = bench.url } = {}) => {
  vi.stubEnv('AGS_API_KEY', key);
  const { terminal, out, err } = writtenTerminal({ isTTY: false });
  const code = await runProgram(['policies', ...args, '--url', url], terminal);
  return { code, out: out(), err: err() };
};

describe('ags policies lint', () => {
  it('ends with 0 where nothing is found, and with 1 at each finding, by its place', async () => {
    const sound = await written('sound.yaml', SOURCE);
    expect(await ags(['lint', sound])).toEqual({ code: 0, out: 'No findings.\n', err: '' });
    const misspelt = await written('misspelt.yaml', MISSPELT);
    const { code, out } = await ags(['lint', misspelt]);
    expect([code, out]).toEqual([1, expect.stringContaining(`${misspelt}:2:1 error unknown_field: `)]);
    expect(out).toContain('Did you mean default?');
    expect(out).toMatch(/\n2 errors, 0 warnings\.\n$/);
  });

  it('lets warnings pass where it is told to', async () => {
    const file = await written('constant.yaml', CONSTANT);
    expect(await ags(['lint', file])).toMatchObject({ code: 1, out: expect.stringContaining('0 errors, 1 warning.') });
    expect(await ags(['lint', file, '--allow-warnings'])).toMatchObject({ code: 0 });
  });

  it('prints the answer of the service as one JSON object', async () => {
    const { code, out } = await ags(['lint', await written('json.yaml', MISSPELT), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ object: 'policy_lint', valid: false });
  });
});

describe('ags policies test', () => {
  it('ends with 0 where every case passes, and with 1 where one fails, by its place', async () => {
    const [source, cases] = [await written('policy.yaml', SOURCE), await written('cases.yaml', CASES)];
    expect(await ags(['test', source, '--cases', cases])).toEqual({
      code: 0,
      out: '1 case passed, 0 failed.\n',
      err: '',
    });
    const failing = await written('failing.yaml', CASES + CASES.replace('amount: 10', 'amount: 70'));
    const { code, out } = await ags(['test', source, '--cases', failing]);
    expect([code, out]).toEqual([
      1,
      `${failing}:8 failed: small goes through\n    expected allow, decided deny (default deny)\n1 case passed, 1 failed.\n`,
    ]);
    const { out: json } = await ags(['test', source, '--cases', failing, '--json']);
    expect(JSON.parse(json)).toMatchObject({ object: 'policy_test', passed: 1, failed: 1 });
  });

  it('tells what is wrong with the cases, or with the policy, by the file', async () => {
    const cases = await written('misread.yaml', CASES.replace('allow', 'alow'));
    const misspelt = await written('wrong.yaml', MISSPELT);
    const source = await written('right.yaml', SOURCE);
    expect(await ags(['test', source, '--cases', cases])).toMatchObject({
      code: 1,
      out: expect.stringContaining(`${cases}:7:15 error invalid_value`),
    });
    const { code, out } = await ags(['test', misspelt, '--cases', cases, '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([1, { object: 'policy_findings', file: misspelt }]);
  });
});

describe('ags policies dry-run', () => {
  it('says what is decided and why, and ends with 1 where something else was expected', async () => {
    const [source, input] = [await written('dry.yaml', SOURCE), await written('call.json', CALL)];
    expect(await ags(['dry-run', source, '--input', input])).toEqual({
      code: 0,
      out: 'deny (default deny)\n  small: its condition is false\n',
      err: '',
    });
    expect(await ags(['dry-run', source, '--input', input, '--expect', 'deny'])).toMatchObject({ code: 0 });
    const other = await ags(['dry-run', source, '--input', input, '--expect', 'allow', '--json']);
    expect([other.code, JSON.parse(other.out), other.err]).toMatchObject([
      1,
      { object: 'policy_dry_run' },
      'Expected allow, decided deny.\n',
    ]);
  });

  it('says which rule a case asked for, and what a condition could not read', async () => {
    const source = await written('unread.yaml', SOURCE.replace('args.amount', 'args.amont'));
    const { code, out } = await ags(['test', source, '--cases', await written('ruled.yaml', RULED)]);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('expected allow (rule small), decided deny (evaluation error'),
    ]);
    expect(out).toContain('amont');
    const input = await written('small.json', JSON.stringify({ tool: 'pay.refund', args: { amount: 10 } }));
    expect((await ags(['dry-run', source, '--input', input])).out).toContain('amont');
  });

  it('ends with 1 where there is no such action, and with 2 where no call is named', async () => {
    const source = await written('none.yaml', SOURCE);
    const action = `act_${'0'.repeat(26)}`;
    expect(await ags(['dry-run', source, '--action', action, '--json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`has no action ${action}`),
    });
    expect(await ags(['dry-run', source])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--action or --input'),
    });
  });
});

describe('ags policies replay --url', () => {
  it('has a running service do it, and ends with 1 where --fail-if-changed finds something', async () => {
    const call = { tool: 'files.write', args: {}, mode: 'proxy', connector_type: 'mcp' };
    expect((await bench.browser().post('/v1/actions', call, bench.agentKey)).status).toBe(403);
    const source = SOURCE.replace('args.amount <= 50', 'tool == "files.write"');
    const made = await bench.browser().post('/v1/policies', { name: 'Replayed', source }, bench.adminKey);
    const policy = String(made.json['id']);
    const { code, out } = await ags(['replay', policy, '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      {
        object: 'replay',
        policy,
        version: 1,
        status: 'succeeded',
        result: { judged: 1, changes: [{ from: 'deny', to: 'allow', rule_id: 'small', count: 1 }] },
      },
    ]);
    expect(await ags(['replay', policy, '1', '--fail-if-changed'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/deny +allow +small +1/) as string,
    });
    expect(await ags(['replay', policy, '9'])).toMatchObject({ code: 1 });
    expect(await ags(['replay', policy, '--from', '2020-01-01T00:00:00Z'])).toMatchObject({ code: 2 });
  });

  it('finds a policy by its name, where no other has the same', async () => {
    const make = async (name: string): Promise<string> =>
      String((await bench.browser().post('/v1/policies', { name, source: SOURCE }, bench.adminKey)).json['id']);
    const [policy, ...twins] = [await make('Only one'), await make('Twin'), await make('Twin')];
    const { code, out } = await ags(['replay', 'Only one', '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([0, { object: 'replay', policy, status: 'succeeded' }]);
    const several = await ags(['replay', 'Twin']);
    expect([several.code, several.err]).toEqual([2, expect.stringContaining('Several policies are named "Twin"')]);
    for (const id of twins) expect(several.err).toContain(id);
    expect(await ags(['replay', 'only one'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no policy "only one".') as string,
    });
    expect(await ags(['replay', `agt_${'0'.repeat(26)}`])).toMatchObject({
      code: 2,
      err: expect.stringContaining('begins with pol_') as string,
    });
  });

  it('tells a key without its service', async () => {
    vi.stubEnv('AGS_API_KEY', '');
    const { terminal, err } = writtenTerminal({ isTTY: false });
    const file = await written('admin.key', 'svc_live_nobody');
    expect(await runProgram(['policies', 'replay', `pol_${'0'.repeat(26)}`, '--key-file', file], terminal)).toBe(2);
    expect(err()).toContain('--key-file goes with --url.');
  });
});

describe('ags policies', () => {
  it('ends with 3 where the service refuses the key', async () => {
    const source = await written('key.yaml', SOURCE);
    for (const key of ['svc_live_nobody', bench.agentKey['Authorization']?.slice('Bearer '.length) ?? '']) {
      expect(await ags(['lint', source], { key })).toMatchObject({ code: 3, out: '' });
    }
  });

  it.each<[string, (source: string) => Promise<{ code: number; err: string }>, string]>([
    ['no key', (source) => ags(['lint', source], { key: '' }), 'AGS_API_KEY'],
    ['no service', (source) => ags(['lint', source], { url: 'http://127.0.0.1:1' }), 'does not answer'],
    ['no such file', () => ags(['lint', join(folder, 'absent.yaml')]), 'absent.yaml'],
    ['a file that is no text', async () => ags(['lint', await written('bytes.yaml', Buffer.from([0xff]))]), 'UTF-8'],
    ['a call that is no JSON', async (source) => ags(['dry-run', source, '--input', source]), 'no JSON'],
    ['two files on one standard input', () => ags(['test', '-', '--cases', '-']), 'read once'],
    [
      'a call without a tool',
      async (source) => ags(['dry-run', source, '--input', await written('no.json', '{}')]),
      'input.tool',
    ],
  ])('ends with 2 where it cannot run: %s', async (_what, run, said) => {
    const { code, err } = await run(await written('any.yaml', SOURCE));
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });
});
