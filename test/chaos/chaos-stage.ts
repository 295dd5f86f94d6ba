import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { connectCrm } from '../support/crm.js';
import { silentLogger } from '../support/silent-logger.js';
import { startService, type RunningService, type ServiceOptions } from '../support/service.js';
import { CHAOS_SETTINGS, ChaosScene } from './chaos-scene.js';
import { startOracle } from './oracle.js';

export interface ChaosStage {
  readonly scene: ChaosScene<RunningService>;
  /** Of the service's database; stays good across restarts. */
  readonly connectionString: string;
  close(): Promise<void>;
}

export interface StageOptions extends ServiceOptions {
  /** How long the service may take to come to rest. */
  readonly restLimitMs: number;
  readonly toolTimeoutMs?: number;
}

/** A service of its own with an upstream that counts, ready to be made to fail. */
export const setStage = async ({ restLimitMs, toolTimeoutMs, ...options }: StageOptions): Promise<ChaosStage> => {
  const oracle = await startOracle();
  const service = await startService({ ...options, env: { ...CHAOS_SETTINGS, ...options.env } });
  await connectCrm(service, oracle.baseUrl, toolTimeoutMs === undefined ? {} : { timeoutMs: toolTimeoutMs });
  // Held here too, so that the database outlives every process that is killed.
  const server = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
  const connectionString = server.connectionString('service');
  const place = { connectionString, eventStoreUrl: null };
  return {
    scene: new ChaosScene(service, oracle, { place, folders: [service.stateDir], restLimitMs }),
    connectionString,
    close: async () => {
      await server.release();
      await service.stop();
      await oracle.close();
    },
  };
};
