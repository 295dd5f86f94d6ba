import type { Logger } from '#libs/domain/kernel';
import type { Config } from '../config/index.js';
import { type CallAsAdmin, ensureDemoConnector, untilDemoIsReady } from './demo-connector.js';
import { type DemoDatabase, isDemoWanted, startDemoDatabase } from './demo-database.js';

/**
 * `offered`: this start has made the connector that leads to it. `as_it_was`: nothing was made now, also where there is no
 * demo.
 */
export type DemoStatus = 'offered' | 'as_it_was';

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** The demo database beside the service. Nothing that befalls it keeps the service from starting or from serving. */
export class Demo {
  private readonly database: Promise<DemoDatabase | null>;

  constructor(
    config: Pick<Config, 'demo' | 'databaseUrl' | 'env' | 'stateDir'>,
    private readonly logger: Logger,
  ) {
    this.database = isDemoWanted(config) ? this.start(config.stateDir) : Promise.resolve(null);
  }

  /**
   * Makes the connector by the service's own API, at the first start, which alone has a key to show. What has moved since is
   * for `ags init` to mend.
   */
  async offer(service: Endpoint | undefined, adminKey: string | null): Promise<DemoStatus> {
    if (service === undefined || adminKey === null) return 'as_it_was';
    const demo = await this.database;
    if (demo === null) return 'as_it_was';
    try {
      const call = callsAt(service, adminKey);
      const status = await ensureDemoConnector(call, demo);
      if (status === 'taken') return 'as_it_was';
      // A person reads what follows meanwhile.
      void untilDemoIsReady(call).catch((error: unknown) => this.logger.warn('the demo is not ready yet', { error }));
      return 'offered';
    } catch (error) {
      this.logger.warn('the connector of the demo database was not made; `npm run ags -- init` tries again', { error });
      return 'as_it_was';
    }
  }

  async close(): Promise<void> {
    await (await this.database)?.release();
  }

  private async start(stateDir: string): Promise<DemoDatabase | null> {
    try {
      return await startDemoDatabase({ stateDir, log: this.logger });
    } catch (error) {
      this.logger.warn('the demo database does not run; SERVICE_DEMO=off leaves it out', { error });
      return null;
    }
  }
}

/** What a server that listens everywhere is reached at. */
const OWN_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

const callsAt = ({ host, port }: Endpoint, key: string): CallAsAdmin => {
  const name = OWN_ADDRESS[host] ?? (host.includes(':') ? `[${host}]` : host);
  return async (method, path, body) => {
    const response = await fetch(`http://${name}:${port}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, json: (await response.json()) as Readonly<Record<string, unknown>> };
  };
};
