import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { postmasterPidIn } from '../support/own-server.js';
import { startService } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { runChaos, type ChaosProgress, type ChaosResult } from './chaos-run.js';
import { ORDERED_SETTINGS, REST_LIMIT_MS } from './chaos-scene.js';
import { plansOf } from './faults.js';

const CALLS_PER_ROUND = 12;
const TOOL_TIMEOUT_MS = 5_000;
const MORE_AGENTS = 2;

/** So many kills of a service and a database of the run's own, gone when it ends. */
export const chaosOfKills = async (
  seed: number,
  kills: number,
  onProgress: (progress: ChaosProgress) => void,
): Promise<ChaosResult> => {
  const service = await startService({ env: ORDERED_SETTINGS });
  try {
    // Held here too, so that the database outlives every process that is killed.
    const server = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
    try {
      return await runChaos(service, {
        seed,
        plans: plansOf(seed, kills),
        callsPerRound: CALLS_PER_ROUND,
        toolTimeoutMs: TOOL_TIMEOUT_MS,
        webhooks: ['steady', 'moody'],
        moreAgents: MORE_AGENTS,
        place: { connectionString: server.connectionString('service'), eventStoreUrl: null },
        folders: [service.stateDir],
        killStore: { database: () => killDatabase(service.stateDir) },
        restLimitMs: REST_LIMIT_MS,
        onProgress,
      });
    } finally {
      await server.release();
    }
  } finally {
    await service.stop();
  }
};

/** Whoever holds it starts it again: the service and this process do. */
export const killDatabase = (stateDir: string): Promise<void> => {
  process.kill(postmasterPidIn(stateDir), 'SIGKILL');
  return Promise.resolve();
};
