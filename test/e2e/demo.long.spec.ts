import { spawn, spawnSync } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentWith } from '../support/environment.js';
import { ROOT, temporaryStateDir } from '../support/service.js';

let folder: string;

beforeAll(async () => {
  folder = await temporaryStateDir();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const DEMO = [join(ROOT, 'scripts', 'run.mjs'), 'demo'];

describe('npm run demo', () => {
  it.each([
    ['--help', 0, /^Usage: npm run demo \[-- --console\]\n/, /^$/],
    ['--fast', 2, /^$/, /^--fast: the demo takes --console or no argument\. /],
  ])('%s: says what it is, and plays nothing', (argument, code, printed, said) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...DEMO, argument], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([code, expect.stringMatching(printed), expect.stringMatching(said)]);
  });

  it('shows a person what happens, has every claim checked, and leaves nothing behind', async () => {
    const child = spawn(process.execPath, DEMO, {
      cwd: ROOT,
      // A database of the operator's own must never be touched by a demo.
      env: environmentWith({ TMPDIR: folder, DATABASE_URL: 'postgres://ags:canary@127.0.0.1:9/not-for-demos' }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('✗');
    const claims = stdout.match(/^ {5}✓ /gm) ?? [];
    expect(claims.length).toBeGreaterThanOrEqual(15);
    expect(stdout).toContain(`All ${claims.length} claims were checked and are so.`);
    for (const scene of [
      /policy_denied: Customers are never deleted by an agent\./,
      /tool_unknown/,
      /budget_exceeded: The budget exports of the policy allows 2 calls/,
      /payments_live_key_refused/,
      /pay\.create_refund[^]*→ 200 succeeded, VERIFIED at L1[^]*sent once more, under the same key/,
      /authorized, to be reported by /,
      /→ Ticket 17: /,
      /describes the tool read_ticket otherwise than was/,
      /accepted “Reads a ticket\.”, now /,
      /org_stopped/,
      /succeeded, MISMATCH at L1/,
      /pending_approval, until /,
      /unknown, UNVERIFIABLE/,
      /Intact: \d+ deeds/,
      /crm\.close_account: it was done/,
      /Who allowed it: approved, 2 of 2 signed/,
      /Broken at seq \d+\./,
    ]) {
      expect(stdout).toMatch(scene);
    }
    expect(stdout).not.toContain(folder);
    expect(stdout).not.toMatch(/svc_(live|test)_/);
    expect(await readdir(folder)).toEqual([]);
  });
});
