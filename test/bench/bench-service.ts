import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { DeploymentFolder } from '../support/deployment-folder.js';
import { FleetProcess } from '../support/fleet-process.js';
import { freePort } from '../support/free-port.js';
import { postmasterPidIn } from '../support/own-server.js';
import { callAt, startService, type Answer, type Call } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { openBenchStores } from './bench-stores.js';
import type { Profile } from './profile.js';

/** A process whose memory and processor time are counted. */
export interface BenchProcess {
  readonly name: string;
  readonly role: 'service' | 'database' | 'stores';
  readonly pid: number;
}

/** Held for as long as its connections are used. */
interface BenchDatabase {
  connectionString(database: string): string;
  release(): Promise<void>;
}

/** A prepared deployment that runs, with nothing in it but its first organization. */
export interface BenchService {
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly org: string;
  readonly adminKey: string;
  readonly agentKey: string;
  /** Of the database, the server alone: its own processes are not named. */
  readonly processes: readonly BenchProcess[];
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Ends what it was started with, and starts it again on what it left; stores that others run stay. */
  restart(): Promise<void>;
  /** The PostgreSQL that holds its rows: the same server, the same disk. */
  database(): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

/** As operators do: no line for each request. */
const SETTINGS = { LOG_LEVEL: 'warn' } as const;

export const startBenchService = (profile: Profile): Promise<BenchService> =>
  profile === 'embedded' ? startEmbedded() : BenchFleet.start();

/** One process, and a PostgreSQL of its own. */
const startEmbedded = async (): Promise<BenchService> => {
  const service = await startService({ env: SETTINGS });
  return {
    profile: 'embedded',
    get baseUrl() {
      return service.baseUrl;
    },
    org: service.org,
    adminKey: service.adminKey,
    agentKey: service.agentKey,
    get processes(): readonly BenchProcess[] {
      return [
        { name: 'standalone', role: 'service', pid: service.pid },
        { name: 'PostgreSQL', role: 'database', pid: postmasterPidIn(service.stateDir) },
      ];
    },
    call: (...call) => service.call(...call),
    restart: () => service.restart(),
    database: () => startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger }),
    stop: () => service.stop(),
  };
};

const PROGRAMS = ['projector', 'worker', 'api'] as const;

/** One process of each program, on stores that others run. */
class BenchFleet implements BenchService {
  readonly profile = 'distributed';
  private running: readonly FleetProcess[] = [];

  private constructor(
    private readonly stores: Awaited<ReturnType<typeof openBenchStores>>,
    private readonly folder: DeploymentFolder,
    private readonly port: number,
  ) {}

  static async start(): Promise<BenchService> {
    const stores = await openBenchStores('distributed');
    try {
      const folder = await DeploymentFolder.prepare({ ...SETTINGS, ...stores.settings });
      const fleet = new BenchFleet(stores, folder, await freePort());
      await fleet.launch().catch(async (error: unknown) => {
        await fleet.end();
        await folder.remove();
        throw error;
      });
      return fleet;
    } catch (error) {
      await stores.close();
      throw error;
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  get org(): string {
    return this.folder.org;
  }
  get adminKey(): string {
    return this.folder.adminKey;
  }
  get agentKey(): string {
    return this.folder.agentKey;
  }
  get processes(): readonly BenchProcess[] {
    const { stateDir, beside } = this.stores;
    return [
      ...this.running.map(({ program, pid }) => ({ name: program, role: 'service' as const, pid })),
      { name: 'PostgreSQL', role: 'database', pid: postmasterPidIn(stateDir) },
      ...beside.map(({ name, pid }) => ({ name, role: 'stores' as const, pid })),
    ];
  }

  call(method: string, path: string, call?: Call): Promise<Answer> {
    return callAt(this.baseUrl, method, path, call);
  }

  async restart(): Promise<void> {
    await this.end();
    await this.launch();
  }

  database(): Promise<BenchDatabase> {
    const connectionString = (database: string): string => this.stores.connectionStringOf(database);
    return Promise.resolve({ connectionString, release: () => Promise.resolve() });
  }

  async stop(): Promise<void> {
    await this.end();
    await this.folder.remove();
    await this.stores.close();
  }

  /** Resolves when the deployment is well: its api says so. */
  private async launch(): Promise<void> {
    this.running = await Promise.all(
      PROGRAMS.map(async (program) => {
        const env = await this.folder.environmentOf(program);
        return FleetProcess.launch(program, { ...env, SERVICE_PORT: String(this.port) }, this.baseUrl);
      }),
    );
    while (!(await this.isWell())) {
      const ended = this.running.find(({ isRunning }) => !isRunning);
      if (ended) throw new Error(`${ended.program} ended:\n${ended.output}`);
    }
  }

  private async isWell(): Promise<boolean> {
    try {
      return (await this.call('GET', '/v1/health')).status === 200;
    } catch {
      // Nobody listens yet.
      return false;
    }
  }

  private async end(): Promise<void> {
    await Promise.all(this.running.map((process) => process.end('SIGTERM')));
  }
}
