import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess, ProgramName } from '../support/fleet-process.js';
import { runAgs } from '../support/run-ags.js';

const DEADLINE_MS = 180_000;
const PATIENCE = { timeout: 60_000, interval: 50 };

describe('the standby of a lease', () => {
  let fleet: Fleet;
  const frozen: FleetProcess[] = [];

  beforeAll(async () => {
    fleet = await Fleet.prepare({ LOG_LEVEL: 'info' });
    // Who comes first has the lease.
    await fleet.start('projector', 2);
    await fleet.start('worker', 2);
    await fleet.start('api', 1);
    await sealedAndListed();
  }, DEADLINE_MS);
  afterAll(async () => {
    // One that stands still hears of no SIGTERM.
    for (const process of frozen) process.signal('SIGCONT');
    await Promise.all(frozen.map((process) => process.end('SIGTERM')));
    await fleet?.stop();
  }, DEADLINE_MS);

  /** A refusal is sealed by the one, and its deed listed by the other. */
  const sealedAndListed = async (): Promise<void> => {
    // Answered with 503 where it is not sealed in its time; asked for again, it is the same one.
    const headers = { 'Idempotency-Key': randomUUID() };
    const ask = () => fleet.call('POST', '/v1/actions', { key: fleet.agentKey, body: { tool: 'x.y' }, headers });
    const { id } = await vi.waitFor(async () => {
      const { error } = await ask();
      expect(error).toMatchObject({ action: { state: 'sealed' } });
      return error['action'] as { readonly id: string };
    }, PATIENCE);
    await vi.waitFor(async () => {
      const list = await fleet.call('GET', '/v1/deeds?kind=action&limit=100', { key: fleet.adminKey });
      const deeds = list.json['data'] as readonly { readonly action: string }[];
      expect(deeds.map(({ action }) => action)).toContain(id);
    }, PATIENCE);
  };

  it.each<[string, ProgramName, 'SIGKILL' | 'SIGSTOP']>([
    ['seals when the sealer is killed', 'worker', 'SIGKILL'],
    ['projects when the projector is killed', 'projector', 'SIGKILL'],
    ['seals when the machine of the sealer is gone', 'worker', 'SIGSTOP'],
    ['projects when the machine of the projector is gone', 'projector', 'SIGSTOP'],
  ])(
    '%s',
    async (_, program, signal) => {
      const active = fleet.running(program)[0]!;
      active.signal(signal);
      if (signal === 'SIGSTOP') frozen.push(active);
      const begun = performance.now();
      await sealedAndListed();
      console.info(
        `${program}, ${signal}: sealed and listed after ${((performance.now() - begun) / 1_000).toFixed(1)} s`,
      );
      fleet.takeOut(active);
      await fleet.start(program, 1);
    },
    DEADLINE_MS,
  );

  it(
    'has sealed each outcome once, also when who stood still wakes',
    async () => {
      for (const process of frozen) process.signal('SIGCONT');
      await sealedAndListed();
      await Promise.all(frozen.map((process) => process.end('SIGTERM')));
      const audit = await runAgs(['audit', '--json'], { env: fleet.environment });
      expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
    },
    DEADLINE_MS,
  );
});
