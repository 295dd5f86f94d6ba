import { Module } from '@nestjs/common';
import { ApiModule, ApiServer } from '../../api/src/api.module.js';
import { Projector, ProjectorModule } from '../../projector/src/projector.module.js';
import { Worker, WorkerModule } from '../../worker/src/worker.module.js';
import {
  firstWords,
  hasSecrets,
  InfraModule,
  keepFirstSecrets,
  KEYS_STAY,
  linkLines,
  prepareDeployment,
  runProgram,
  secretLines,
  welcome,
  type Deployment,
  type Leftovers,
} from '#libs/infra/deployment';
import { Demo } from '#libs/infra/demo-database';

/** api, projector and worker in one process, on a database of its own: what `npm start` runs. */
class Standalone {
  private readonly server: ApiServer;
  private readonly worker: Worker;
  private readonly projector: Projector;

  constructor(
    private readonly deployment: Deployment,
    private readonly demo: Demo,
  ) {
    this.server = new ApiServer(deployment);
    this.worker = new Worker(deployment);
    this.projector = new Projector(deployment);
  }

  async start(): Promise<string> {
    await this.worker.start();
    await this.projector.start();
    @Module({
      imports: [
        // Accept and claim are one append: this process also executes.
        InfraModule.forRoot(this.deployment, this.worker.inlineStarter),
        WorkerModule.forRoot(this.worker),
        ProjectorModule.forRoot(this.projector),
        ApiModule.forRoot(this.deployment, this.server.edge),
      ],
    })
    class StandaloneModule {}
    return this.server.listen(StandaloneModule);
  }

  /** New work is refused, work in flight ends or is left for recovery, then everything closes. */
  async stop(): Promise<Leftovers> {
    const { clock, config } = this.deployment;
    await this.server.announceStop();
    const overAtMs = clock.monotonicMs() + config.drainTimeoutMs;
    this.worker.takeUpNothingMore();
    // Requests wait for their seals, so the sealer goes on until they are answered.
    const requests = await this.server.drain(config.drainTimeoutMs);
    const executions = await this.worker.stop(Math.max(0, overAtMs - clock.monotonicMs()));
    await this.projector.stop();
    await this.server.close();
    await this.demo.close();
    await this.deployment.close();
    return { requests, executions };
  }
}

runProgram(async (config, logger, metrics) => {
  process.stderr.write('Preparing the database and the keys ...\n');
  const { deployment, prepared } = await prepareDeployment(config, 'ags standalone', logger, () => undefined, metrics);
  const demo = new Demo(config, logger);
  const standalone = new Standalone(deployment, demo);
  try {
    // What is not a terminal may be collected and kept.
    const isKept = !process.stdout.isTTY && hasSecrets(prepared);
    const keep = (lines: readonly string[]): Promise<string> => keepFirstSecrets(config.stateDir, lines);
    const secretsFile = isKept ? await keep(secretLines(prepared)) : null;
    process.stdout.write(firstWords(prepared, secretsFile));
    const baseUrl = await standalone.start();
    if (secretsFile !== null) await keep(linkLines(baseUrl, prepared));
    const offered = await demo.offer(deployment.ownEndpoints[0], prepared.adminKey);
    process.stdout.write(welcome({ baseUrl, env: config.env, prepared, secretsFile, demo: offered }));
  } catch (error) {
    // Half a start is let go of too: nobody would stop the database that it has started.
    await standalone.stop();
    if (prepared.adminKey !== null || prepared.agentKey !== null) process.stderr.write(KEYS_STAY);
    throw error;
  }
  return standalone;
});
