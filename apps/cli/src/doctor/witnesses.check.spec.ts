import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ed25519Cosigner, encodeVkey, SigningKey } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { WITNESS_LAG_MAX_MS } from '#libs/domain/ledger';
import { parseConfig } from '#libs/infra/config';
import { type CheckpointProcess, CheckpointScene } from '../../../../test/support/checkpoint-scene.js';
import { LyingWitness } from '../../../../test/support/lying-witness.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { Examination } from './examination.js';
import type { Finding } from './finding.js';
import { checkWitnesses, judgeWitnesses } from './witnesses.check.js';

describe('the check of witnesses', () => {
  let scene: CheckpointScene;
  let service: CheckpointProcess;
  let witness: LyingWitness;
  let org: OrgId;
  const vkey = encodeVkey(ed25519Cosigner('slow', SigningKey.generate(), 1).vkey);

  beforeAll(async () => {
    scene = await CheckpointScene.start();
    service = scene.process();
    witness = await LyingWitness.start();
  });
  afterAll(async () => {
    await witness.close();
    await scene.close();
  });
  beforeEach(async () => {
    scene.bench.clock.ms = Date.now() - 2 * WITNESS_LAG_MAX_MS;
    org = await scene.organization(3);
    // By its keys an organization is found.
    await scene.pool.query('insert into agents.key_prefixes (prefix, org) values (right($1, 8), $1)', [org]);
    await service.make(org);
  });
  const asked = (agoMs: number): Promise<unknown> => {
    scene.bench.clock.ms = Date.now() - agoMs;
    const witnesses = [{ name: 'slow', vkey, url: witness.url }];
    return service.policies.replace(org, { quorum: 1, witnesses }, scene.metadata(org));
  };
  const check = async (): Promise<Finding> => {
    const examination = new Examination(parseConfig({ DATABASE_URL: scene.connectionString }), null, silentLogger);
    try {
      return await checkWitnesses(examination);
    } finally {
      await examination.close();
    }
  };

  it('finds nothing where nobody is asked', async () => {
    expect(await check()).toMatchObject({ status: 'ok' });
  });

  it('waits for an hour from when a quorum was asked for, as the overview does', async () => {
    await asked(WITNESS_LAG_MAX_MS - 60_000);
    expect(await check()).toMatchObject({ status: 'ok' });
    await service.policies.replace(org, { quorum: 0, witnesses: [] }, scene.metadata(org));
    await asked(WITNESS_LAG_MAX_MS + 60_000);
    const { status, message, next } = await check();
    expect([status, message]).toEqual(['warning', expect.stringContaining(`the ledger of ${org}: 0 of its `)]);
    expect(next).toContain('Start a worker');
    expect(await service.watch.overdue(org)).toBeNull();
    scene.bench.clock.ms = Date.now();
    expect(await service.watch.overdue(org)).toMatchObject({ size: 0 });
  });
});

describe('what witnesses lag by', () => {
  const org = `org_${'0'.repeat(26)}` as OrgId;
  const lag = { size: 3, sealed: 1_200, since: '2026-10-01T12:00:00.000Z' as never };
  const state = { late: [{ org, lag }], isComplete: true, unknownTo: [], isWorkerThere: true };

  it('is told with what to do, which depends on who could do it', () => {
    expect(judgeWitnesses(state)).toEqual({
      status: 'warning',
      message:
        `Too few witnesses have cosigned the ledger of ${org}: 3 of its 1,200 deeds are witnessed, ` +
        'and the next one waits since 2026-10-01T12:00:00.000Z.',
      next: `\`npm run ags -- ledger witnesses get --org ${org}\` says how each stands. Tell who runs one that fails, or ask another one.`,
    });
    expect(judgeWitnesses({ ...state, unknownTo: ['anna', 'ben'] }).next).toContain(
      'Give whoever runs anna, ben the key',
    );
    expect(judgeWitnesses({ ...state, isWorkerThere: false }).next).toContain('Start a worker');
    expect(judgeWitnesses({ ...state, late: [...state.late, ...state.late] }).message).toContain('(and of 1 more)');
  });

  it('is not known where there was no time to look at all ledgers', () => {
    expect(judgeWitnesses({ ...state, late: [], isComplete: false })).toMatchObject({ status: 'warning' });
    expect(judgeWitnesses({ ...state, late: [] })).toMatchObject({ status: 'ok' });
  });
});
