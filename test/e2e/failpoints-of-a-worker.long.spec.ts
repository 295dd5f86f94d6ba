import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureDatabase } from '#libs/infra/postgres';
import { ChaosFleet } from '../chaos/chaos-fleet.js';
import { ChaosScene, FLEET_SETTINGS, REST_LIMIT_MS } from '../chaos/chaos-scene.js';
import { violationsIn } from '../chaos/checker.js';
import { membersOf, textOf } from '../chaos/dossier.js';
import { effectOf, startOracle, type Oracle } from '../chaos/oracle.js';
import { connectCrm } from '../support/crm.js';
import { startOwnServer } from '../support/own-server.js';
import { silentLogger } from '../support/silent-logger.js';

const PROCESSES_EACH = 2;
const WAIT_S = 5;
const CASE_DEADLINE_MS = 120_000;

/** Where claiming is a worker's own append. How a write ends whose every worker is killed there, and requests of it. */
const ENDINGS = [
  // Nobody has claimed it: whoever comes next does.
  ['exec.t3', 'succeeded', 1],
  // Claimed by a process that never began: a `once` tool is not begun by another.
  ['exec.t3.ack', 'unknown', 0],
  ['exec.claimed', 'unknown', 0],
] as const;

describe('kill -9 of the workers of a fleet, at the claim', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let oracle: Oracle;
  let scene: ChaosScene;

  beforeAll(async () => {
    const server = await startOwnServer();
    closing.unshift(() => server.dispose());
    const connectionString = server.connectionString('service');
    await ensureDatabase(connectionString, silentLogger);
    oracle = await startOracle();
    closing.unshift(() => oracle.close());
    // One that starts beside others must not be taken for dead.
    const settings = { ...FLEET_SETTINGS, DATABASE_URL: connectionString };
    const fleet = await ChaosFleet.start(settings, PROCESSES_EACH);
    closing.unshift(() => fleet.stop());
    await connectCrm(fleet, oracle.baseUrl);
    const place = { connectionString, eventStoreUrl: null };
    scene = new ChaosScene(fleet, oracle, { place, folders: [fleet.folder], restLimitMs: REST_LIMIT_MS });
  }, CASE_DEADLINE_MS);
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const ended = async (id: string) => {
    const caller = scene.agents[0] ?? null;
    for (;;) {
      const { answer } = await scene.log.call('GET', `/v1/actions/${id}?wait=${WAIT_S}`, { caller });
      if (answer?.json['state'] === 'sealed') return textOf(membersOf(answer.json['execution'])['status']);
    }
  };

  it.each(ENDINGS)(
    'at %s: %s, with %i requests',
    async (point, status, requests) => {
      const effect = effectOf('ok', 0, point.replaceAll('.', ''));
      const body = { tool: 'crm.add_note', args: { id: effect, text: 'a note' }, wait: 0 };
      scene.markFaults(true);
      await scene.arm(`${point}=kill@1`);
      const exited = scene.exited();
      const { answer } = await scene.log.call('POST', '/v1/actions', { caller: scene.agents[0] ?? null, body });
      expect(answer?.status).toBe(202);
      await exited;
      await scene.startAgain(Promise.resolve());
      await scene.arm('none');
      await scene.recovered(performance.now());
      scene.markFaults(false);
      expect(await ended(textOf(answer?.json['id']))).toBe(status);
      expect(oracle.requests.filter((request) => request.effect === effect)).toHaveLength(requests);
    },
    CASE_DEADLINE_MS,
  );

  it(
    'has kept every invariant',
    async () => {
      expect(violationsIn(await scene.gather({ isRebuilt: true }))).toEqual([]);
    },
    CASE_DEADLINE_MS,
  );
});
