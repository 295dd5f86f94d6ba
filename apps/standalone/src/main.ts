import { Module } from '@nestjs/common';
import { ApiModule, ApiServer } from '../../api/src/api.module.js';
import { Projector, ProjectorModule } from '../../projector/src/projector.module.js';
import { Worker, WorkerModule } from '../../worker/src/worker.module.js';
import { ConfigError, parseConfig, type Config } from '#libs/infra/config';
import { InfraModule, prepareDeployment, type Deployment, type Prepared } from '#libs/infra/deployment';
import { PinoLogger } from '#libs/infra/logging';

/** api, projector and worker in one process, on a database of its own: what `npm start` runs. */
class Standalone {
  private readonly server: ApiServer;
  private readonly worker: Worker;
  private readonly projector: Projector;
  private stopping: Promise<void> | null = null;

  constructor(private readonly deployment: Deployment) {
    this.server = new ApiServer(deployment);
    this.worker = new Worker(deployment);
    this.projector = new Projector(deployment);
  }

  async start(): Promise<string> {
    await this.worker.start();
    await this.projector.start();
    @Module({
      imports: [
        InfraModule.forRoot(this.deployment),
        WorkerModule.forRoot(this.worker),
        ProjectorModule.forRoot(this.projector),
        ApiModule.forRoot(this.deployment, this.server.edge),
      ],
    })
    class StandaloneModule {}
    return this.server.listen(StandaloneModule);
  }

  /** New work is refused, work in flight ends or is left for recovery, then everything closes. */
  async stop(): Promise<void> {
    this.stopping ??= this.drainAndClose();
    return this.stopping;
  }

  private async drainAndClose(): Promise<void> {
    const { drainTimeoutMs } = this.deployment.config;
    // Requests wait for their seals, so the sealer goes on until they are answered.
    await this.server.drain(drainTimeoutMs);
    await this.worker.stop(drainTimeoutMs);
    await this.projector.stop();
    await this.server.close();
    await this.deployment.close();
  }
}

const loggerOf = (config: Config): PinoLogger =>
  new PinoLogger({ level: config.logLevel, format: config.env === 'production' ? 'json' : 'text' });

const main = async (): Promise<void> => {
  const config = parseConfig();
  const logger = loggerOf(config);
  process.stderr.write('Preparing the database and the keys ...\n');
  const { deployment, prepared } = await prepareDeployment(config, 'ags standalone', logger, () => undefined);
  const standalone = new Standalone(deployment);
  const stop = (signal: NodeJS.Signals): void => {
    logger.info('stopping', { signal });
    standalone
      .stop()
      .catch((error: unknown) => logger.error('the service did not stop cleanly', { error }))
      .finally(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const baseUrl = await standalone.start();
  process.stdout.write(welcome(baseUrl, prepared));
};

/** What a person needs next, and the secrets: shown once, so they are not in the log. */
const welcome = (baseUrl: string, { org, owner, agent, adminKey, agentKey, sealKeyFingerprint }: Prepared): string => {
  const once = (secret: string | null): string =>
    secret ?? '(shown once, at the first start; `npm run ags -- keys` makes another)';
  const key = agentKey ?? '<agent key>';
  return [
    '',
    `  Agent Governance Service is up at ${baseUrl}`,
    '',
    `  organization      ${org}`,
    `  owner             ${owner}`,
    `  admin key         ${once(adminKey)}`,
    `  agent             ${agent}`,
    `  agent key         ${once(agentKey)}`,
    `  seal key (--pin)  ${sealKeyFingerprint}`,
    '',
    '  A first call. No connector provides the tool yet, so it is refused, and the refusal is sealed:',
    '',
    `  curl -s ${baseUrl}/v1/actions \\`,
    `    -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"tool": "crm.get_customer", "args": {"id": "42"}}'`,
    '',
    '',
  ].join('\n');
};

main().catch((error: unknown) => {
  const isForTheOperator = error instanceof ConfigError || (error instanceof Error && OPERATOR_ERRORS.has(error.name));
  const text =
    error instanceof Error ? (isForTheOperator ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});

/** Their messages say what to do; a stack would only hide it. */
const OPERATOR_ERRORS = new Set([
  'EmbeddedPostgresError',
  'SecretFileError',
  'VaultKeyMismatch',
  'UnfitDatabase',
  'SealKeyNotProven',
]);
