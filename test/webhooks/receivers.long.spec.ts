/** The receivers of docs/webhooks.md, run as they stand there (rule HOOK-3). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureHeader } from '../../libs/domain/src/webhooks/signature.js';
import { ROOT } from '../support/service.js';

const [OLD, NEW] = ['whsec_old', 'whsec_new'];
const REGISTER = join(ROOT, 'test', 'support', 'register-typescript.mjs');

const codeIn = (language: string): string => {
  const text = readFileSync(join(ROOT, 'docs', 'webhooks.md'), 'utf8');
  return new RegExp('```' + language + '\\n([^]*?)```').exec(text)?.[1] ?? '';
};
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const RECEIVERS = [
  ['TypeScript', 'ts', 'receiver.ts', [process.execPath, '--import', REGISTER]],
  ['Python', 'python', 'receiver.py', ['python3']],
] as const;

describe.each(RECEIVERS)('the receiver in %s', (_name, language, file, [program, ...options]) => {
  const isThere = spawnSync(program, ['--version']).status === 0;
  let folder: string;
  let receiver: ChildProcess;
  let lines: Interface;
  let url: string;
  const handled: string[] = [];

  beforeAll(async () => {
    if (!isThere) return;
    folder = mkdtempSync(join(tmpdir(), 'ags-receiver-'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, file), codeIn(language));
    receiver = spawn(program, [...options, join(folder, file)], {
      env: { ...process.env, WEBHOOK_SECRETS: `${OLD},${NEW},`, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    lines = createInterface({ input: receiver.stdout as NodeJS.ReadableStream });
    const gone = once(receiver, 'exit').then(() => Promise.reject(new Error('the receiver ended')));
    const [first] = (await Promise.race([once(lines, 'line'), gone])) as [string];
    gone.catch(() => undefined);
    const { port } = JSON.parse(first.replace('listening ', '')) as { port: number };
    url = `http://127.0.0.1:${port}/hooks`;
    lines.on('line', (line: string) => handled.push(line));
  });
  afterAll(async () => {
    if (!isThere) return;
    const ended = once(receiver, 'exit');
    receiver.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const event = (id: string): Buffer =>
    Buffer.from(JSON.stringify({ object: 'event', id, type: 'webhook.test', text: 'Grüße' }));
  const sign = (body: Buffer, secrets: readonly string[] = [NEW], seconds = nowSeconds()): string =>
    signatureHeader(
      body,
      seconds,
      secrets.map((secret) => Buffer.from(secret)),
    );
  const send = async (body: Buffer, signature: string | null): Promise<number> => {
    const headers = signature === null ? {} : { 'Service-Signature': signature };
    return (await fetch(url, { method: 'POST', body: new Uint8Array(body), headers })).status;
  };
  /** What it has handled, once it has answered something after it. */
  const handledOf = async (id: string): Promise<number> => {
    await send(event('evt_last'), sign(event('evt_last')));
    return handled.filter((line) => line.startsWith(`handled ${id} `)).length;
  };

  it.skipIf(!isThere)('takes what is signed under any of its secrets, also beside other signatures', async () => {
    const body = event('evt_1');
    expect(await send(body, sign(body, [OLD]))).toBe(204);
    expect(await send(body, sign(body, ['whsec_unknown', NEW]))).toBe(204);
    expect(await send(body, sign(body).replace('v1=', `v0=00,v1=${'0'.repeat(64)},v1=`))).toBe(204);
  });

  it.skipIf(!isThere)('handles an event once, however often it arrives', async () => {
    const body = event('evt_2');
    for (const secrets of [[OLD], [NEW], [NEW]]) expect(await send(body, sign(body, secrets))).toBe(204);
    expect(await handledOf('evt_2')).toBe(1);
  });

  it.skipIf(!isThere)('handles an event once, however often it arrives at the same time', async () => {
    for (const id of Array.from({ length: 12 }, (_, round) => `evt_round_${round}`)) {
      const body = event(id);
      const answers = await Promise.all(Array.from({ length: 6 }, () => send(body, sign(body))));
      expect(new Set(answers)).toEqual(new Set([204]));
      expect(await handledOf(id)).toBe(1);
    }
  });

  it.skipIf(!isThere).each<[string, (body: Buffer) => [Buffer, string | null]]>([
    ['no signature', (body) => [body, null]],
    ['another secret', (body) => [body, sign(body, ['whsec_unknown'])]],
    ['a secret without its prefix', (body) => [body, sign(body, ['new'])]],
    ['an empty secret', (body) => [body, sign(body, [''])]],
    ['another body', (body) => [Buffer.concat([body, Buffer.from(' ')]), sign(body)]],
    ['another time', (body) => [body, sign(body, [NEW], nowSeconds() - 2).replace(/^t=\d+/, `t=${nowSeconds() - 1}`)]],
    ['a time of 301 seconds ago', (body) => [body, sign(body, [NEW], nowSeconds() - 301)]],
    ['a time of 310 seconds ahead', (body) => [body, sign(body, [NEW], nowSeconds() + 310)]],
    ['no time', (body) => [body, sign(body).replace(/^t=\d+,/, '')]],
    ['half a signature', (body) => [body, sign(body).slice(0, -2)]],
    ['words', (body) => [body, 'bearer of good news']],
  ])('refuses %s, and handles nothing', async (_what, attack) => {
    const [body, signature] = attack(event('evt_3'));
    expect(await send(body, signature)).toBe(400);
    expect(await handledOf('evt_3')).toBe(0);
  });
});
