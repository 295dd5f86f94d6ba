import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeCheckpoint, NO_QUORUM, parseVkey } from '#libs/crypto';
import { runAgsHere, type AgsRun } from '../support/run-ags.js';
import { startService, type RunningService } from '../support/service.js';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ env: { LOG_LEVEL: 'warn' } });
});
afterAll(() => service?.stop());

/** Beside the running service, on its state directory. */
const ags = (...args: string[]): Promise<AgsRun> => runAgsHere([...args, '--json'], { env: service.environment });

describe('ags ledger and checkpoint-keys', () => {
  const newest = async (): Promise<string> => {
    const response = await fetch(`${service.baseUrl}/v1/ledger/checkpoint`, {
      headers: { Authorization: `Bearer ${service.adminKey}` },
    });
    return response.text();
  };

  it('sign the root now, with the key that the service publishes, and beside the next one while keys are rotated', async () => {
    const first = await ags('ledger', 'checkpoint');
    expect(first).toMatchObject({ code: 0, stderr: '', object: { object: 'checkpoint', org: service.org } });
    expect(await newest()).toBe(first.object['note']);
    expect(await ags('ledger', 'verify-hashes')).toMatchObject({ code: 0, object: { result: 'same' } });
    const rotated = await ags('checkpoint-keys', 'rotate', '--overlap', '1h');
    expect(rotated.objects.map(({ status }) => status)).toEqual(['retiring', 'active']);
    const { json } = await service.call('GET', '/.well-known/service/checkpoint-keys.json');
    expect((json['keys'] as { public_key: string }[]).map((key) => key.public_key)).toEqual(
      rotated.objects.map((key) => key['public_key']),
    );
    await ags('keys', 'create', '--agent', service.agent);
    const { json: made } = await service.call('POST', '/v1/ledger/checkpoint', { key: service.adminKey });
    expect(String(made['note']).match(/^— /gm)).toHaveLength(2);
    expect(await ags('ledger', 'rebuild-hashes')).toMatchObject({ code: 0 });
    // Each deed is what the log asks for, also those about the keys.
    expect(await ags('audit')).toMatchObject({ code: 0 });
  });

  it('print the key by which auditors know the tree, made of the deployment or of what it publishes', async () => {
    const signed = await ags('ledger', 'checkpoint');
    const { origin, note, vkeys } = signed.object as { origin: string; note: string; vkeys: string[] };
    const known = await ags('ledger', 'vkey');
    expect(known.objects.map(({ vkey }) => vkey)).toEqual(vkeys);
    const policy = { logs: [], witnesses: [], groups: [], quorum: NO_QUORUM };
    expect(judgeCheckpoint(Buffer.from(note), policy, vkeys.map(parseVkey))).toMatchObject({ result: 'signed' });
    const { json } = await service.call('GET', '/.well-known/service/checkpoint-keys.json');
    const published = (json['keys'] as { public_key: string }[]).flatMap((key) => ['--public-key', key.public_key]);
    const made = await ags('ledger', 'vkey', '--origin', origin, ...published);
    expect(made.objects.map(({ vkey }) => vkey)).toEqual(vkeys);
    expect(await ags('ledger', 'vkey', '--origin', origin)).toMatchObject({ code: 2, error: { code: 'usage' } });
  });

  it('accept no break where there is none', async () => {
    const looked = await ags('ledger', 'checkpoint', '--accept-break', 'By mistake');
    expect(looked.stderr).toContain('nothing was accepted');
    expect(looked).toMatchObject({ code: 0, object: { origin: expect.stringMatching(/org_[^/]+$/) as string } });
  });

  it('say who cosigns the checkpoints, as a policy file both ways', async () => {
    const key = 'witness.example/w1+eb762cc2+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';
    const policy = `witness partner ${key} http://127.0.0.1:9\ngroup witnesses all partner\nquorum witnesses\n`;
    const folder = await mkdtemp(join(tmpdir(), 'policy-'));
    const file = join(folder, 'policy.txt');
    await writeFile(file, policy);
    expect(await ags('ledger', 'witnesses', 'set', file)).toMatchObject({
      code: 0,
      object: { object: 'witness_policy', org: service.org, quorum: 1, witnesses: [{ name: 'partner', vkey: key }] },
    });
    const { stdout } = await runAgsHere(['ledger', 'witnesses', 'get'], { env: service.environment });
    expect(stdout.replace(/^#.*\n/gm, '')).toBe(policy);
    await writeFile(file, 'quorum any\n');
    expect(await ags('ledger', 'witnesses', 'set', file)).toMatchObject({
      code: 2,
      error: { code: 'validation_failed' },
    });
    await rm(folder, { recursive: true });
  });
});
