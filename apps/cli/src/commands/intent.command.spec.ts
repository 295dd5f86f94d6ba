import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkArguments, checkSignedIntent, parsePublicKeyText, SigningKey } from '#libs/crypto';
import { testId } from '../../../../test/support/given-log.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { runProgram } from '../program.js';

const [ORG, AGENT] = [testId('org', 1), testId('agt', 1)];

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-intent-'));
});
afterAll(() => rm(folder, { recursive: true }));

const ags = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  const { terminal, out, err } = writtenTerminal({ isTTY: false });
  const code = await runProgram(['intent', ...args], terminal);
  return { code, out: out(), err: err() };
};
const file = (name: string): string => join(folder, name);
const written = async (name: string, text: string): Promise<string> => {
  await writeFile(file(name), text);
  return file(name);
};

describe('ags intent keygen', () => {
  it('writes a private key that nobody else may read, and prints the public one in the form of its registration', async () => {
    const { code, out, err } = await ags('keygen', file('new.pem'), '--json');
    expect([code, err]).toEqual([0, '']);
    const { publicKey } = SigningKey.fromPkcs8Pem(await readFile(file('new.pem'), 'utf8'));
    const { kid, text: public_key } = publicKey;
    const said = { object: 'intent_key_pair', kid, public_key, private_key_file: file('new.pem') };
    expect(JSON.parse(out)).toEqual(said);
    expect(parsePublicKeyText(public_key).kid).toBe(kid);
    expect((await stat(file('new.pem'))).mode & 0o777).toBe(0o600);
  });

  it('leaves a file that is there as it is', async () => {
    const taken = await written('taken.pem', 'mine');
    expect(await ags('keygen', taken)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('is there already'),
    });
    expect(await readFile(taken, 'utf8')).toBe('mine');
  });

  it('prints nothing of the private key', async () => {
    const { out } = await ags('keygen', file('quiet.pem'));
    const [, secret] = (await readFile(file('quiet.pem'), 'utf8')).split('\n');
    expect(out).toMatch(/public key +ed25519:/);
    expect(out).not.toContain(secret);
  });
});

describe('ags intent sign', () => {
  const sign = async (name: string, args: string, ...more: string[]) => {
    const rest = ['--key', file(name), '--org', ORG, '--agent', AGENT, '--args', await written('args.json', args)];
    return ags('sign', ...rest, ...(more.includes('--tool') ? [] : ['--tool', 'crm.get_customer']), ...more);
  };
  const facts = async (name: string) => ({
    org: ORG,
    agent: AGENT,
    keys: [SigningKey.fromPkcs8Pem(await readFile(file(name), 'utf8')).publicKey],
    now: Date.now(),
    tool: 'crm.get_customer',
    args: { id: '42' },
    onBehalfOf: null,
    session: null,
  });
  beforeAll(async () => {
    await ags('keygen', file('signer.pem'));
  });

  it('prints a header value that the service accepts', async () => {
    const { code, out } = await sign('signer.pem', ' {"id": "42"}\n');
    expect(code).toBe(0);
    expect(checkSignedIntent([out.trimEnd()], await facts('signer.pem'))).toMatchObject({ ok: true, onBehalfOf: null });
  });

  it('signs for whom and in which session, for as long as is said', async () => {
    const more = ['--on-behalf-of', 'user:4711', '--session', 's-1', '--lifetime', '5m', '--json'];
    const { out } = await sign('signer.pem', '{"id":"42"}', ...more);
    const said = JSON.parse(out) as { value: string; exp: number; iat: number };
    expect(said).toMatchObject({
      object: 'signed_intent',
      header: 'Service-Intent',
      args_digest: checkArguments({ id: '42' }).digest,
    });
    expect(said.exp - said.iat).toBe(300_000);
    const judged = checkSignedIntent([said.value], await facts('signer.pem'));
    expect(judged).toMatchObject({ ok: true, onBehalfOf: 'user:4711', session: 's-1' });
  });

  it('asks for the id of an agent that is named where no deployment knows names', async () => {
    vi.stubEnv('SERVICE_STATE_DIR', file('no-deployment'));
    vi.stubEnv('DATABASE_URL', undefined);
    const { code, out, err } = await sign('signer.pem', '{}', '--agent', 'support');
    vi.unstubAllEnvs();
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('named "support" is here. Give its agt_ id instead.');
    expect(await sign('signer.pem', '{}', '--agent', testId('pol', 1))).toMatchObject({
      code: 2,
      err: expect.stringContaining('begins with agt_') as string,
    });
  });

  it('never signs two alike', async () => {
    const [one, other] = [await sign('signer.pem', '{}'), await sign('signer.pem', '{}')];
    expect(one.out).not.toBe(other.out);
  });

  it.each([
    ['arguments that are no JSON', '{', [], /not JSON/],
    ['arguments that are no object', '[]', [], /one JSON object/],
    ['an integer that no double holds', '{"n":9007199254740993}', [], /2\^53-1/],
    ['a member twice', '{"a":1,"a":2}', [], /same member twice/],
    ['a tool without a connector', '{}', ['--tool', 'get'], /<connector>\.<tool>/],
    ['a lifetime of more than 5 minutes', '{}', ['--lifetime', '6m'], /1s to 5m/],
    ['a reference with a space', '{}', ['--on-behalf-of', 'Ann Lee'], /1 to 256/],
  ])('refuses %s', async (_what, args, more, said) => {
    const { code, out, err } = await sign('signer.pem', args, ...more);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(said);
  });

  it('says of a file that is no private key what to name instead, and nothing of it', async () => {
    await written('wrong.pem', 'a secret of another kind');
    const { code, err } = await sign('wrong.pem', '{}');
    expect(code).toBe(2);
    expect(err).toMatch(
      /not an Ed25519 private key in PKCS#8 PEM form\. Name the file that `npm run ags -- intent keygen`/,
    );
    expect(err).not.toContain('a secret');
    expect(await sign('absent.pem', '{}')).toMatchObject({ code: 2, err: expect.stringContaining('absent.pem') });
  });
});
