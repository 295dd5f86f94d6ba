import { Module } from '@nestjs/common';
import { ApiModule, ApiServer } from '../../api/src/api.module.js';
import { Projector, ProjectorModule } from '../../projector/src/projector.module.js';
import { Worker, WorkerModule } from '../../worker/src/worker.module.js';
import { type Config, signInLink } from '#libs/infra/config';
import {
  hasSecrets,
  InfraModule,
  keepFirstSecrets,
  prepareDeployment,
  runProgram,
  type Deployment,
  type Leftovers,
  type Prepared,
} from '#libs/infra/deployment';

/** api, projector and worker in one process, on a database of its own: what `npm start` runs. */
class Standalone {
  private readonly server: ApiServer;
  private readonly worker: Worker;
  private readonly projector: Projector;

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
    await this.deployment.close();
    return { requests, executions };
  }
}

const KEYS_HELP = '(shown once, when it was made; `npm run ags -- keys create --help` says how to make another)';

/** As a terminal shows them, and a file keeps them. */
const secretLines = ({ adminKey, agentKey }: Prepared): readonly string[] => [
  ...(adminKey === null ? [] : [`  admin key         ${adminKey}`]),
  ...(agentKey === null ? [] : [`  agent key         ${agentKey}`]),
];

const linkLines = (baseUrl: string, { signInToken }: Prepared): readonly string[] =>
  signInToken === null ? [] : [`  sign-in link      ${signInLink(baseUrl, signInToken)}`];

/**
 * The ids, and the secrets: shown once, so they are not in the log, and before anything can fail.
 * @param secretsFile where the secrets are, and not here; null where a person reads this
 */
const firstWords = (prepared: Prepared, secretsFile: string | null): string => {
  const { org, owner, agent, adminKey, agentKey, sealKeyFingerprint } = prepared;
  const once = (secret: string | null): string =>
    secret === null ? KEYS_HELP : secretsFile === null ? secret : '(in the file below)';
  return [
    '',
    `  organization      ${org}`,
    `  owner             ${owner}`,
    `  admin key         ${once(adminKey)}`,
    `  agent             ${agent}`,
    `  agent key         ${once(agentKey)}`,
    `  seal key (--pin)  ${sealKeyFingerprint}`,
    '',
    ...(adminKey === null && agentKey === null
      ? ['  Older deeds may need older seal keys pinned too: `npm run ags -- seal-keys list` shows them.']
      : keepLines(secretsFile)),
    ...(agentKey === null
      ? []
      : ['  The agent key is a test key: its calls are marked as test, and their tools run all the same.']),
    '',
    '',
  ].join('\n');
};

const keepLines = (secretsFile: string | null): readonly string[] =>
  secretsFile === null
    ? ['  Keep the two keys now: they are shown this once, and only their hashes are kept.']
    : [
        '  This is no terminal, so the secrets are not printed. They are, this once, in a file that you alone can read:',
        `  ${secretsFile}`,
        '  Note them and remove the file.',
      ];

const KEYS_STAY =
  'The keys are made and stay valid; they are not shown again. Keep them, mend what follows, and run `npm start` again.\n';

const IN_DEVELOPMENT =
  '  SERVICE_ENV is dev: connectors may reach private addresses, every port and plain http (docs/operations.md).';

/** What a person does next. */
const welcome = (baseUrl: string, env: Config['env'], prepared: Prepared, secretsFile: string | null): string => {
  const { agentKey, signInToken } = prepared;
  const keyed = agentKey === null ? '<agent key>' : (secretsFile ?? agentKey);
  const bearer = agentKey === null || secretsFile === null ? `'Authorization: Bearer ${keyed}'` : bearerOf(keyed);
  return [
    `  Agent Governance Service is up at ${baseUrl}`,
    '',
    ...(env === 'dev' ? [IN_DEVELOPMENT, ''] : []),
    ...(signInToken === null
      ? []
      : [
          '  Sign in as the owner, once, within 15 minutes:',
          secretsFile === null ? `  ${signInLink(baseUrl, signInToken)}` : `  by the link in ${secretsFile}`,
          '',
        ]),
    agentKey === null
      ? '  A call, once a connector provides the tool (docs/connectors-rest.md):'
      : '  A first call. No connector provides the tool yet, so it is refused, and the refusal is sealed:',
    '',
    `  curl -s ${baseUrl}/v1/actions \\`,
    `    -H ${bearer} -H 'Content-Type: application/json' \\`,
    `    -d '{"tool": "crm.get_customer", "args": {"id": "42"}}'`,
    '',
    '  The same key asks POST /v1/tools/resolve, with the body {}, which tools there are (docs/proxy-mode.md).',
    '',
    '  MCP clients call the same tools (docs/mcp.md), Claude Code for example:',
    '',
    `  claude mcp add --transport http ags ${baseUrl}/mcp --header ${bearer}`,
    '',
    '',
  ].join('\n');
};

/** The agent's key is read where the call is pasted. */
const bearerOf = (secretsFile: string): string =>
  `"Authorization: Bearer $(sed -n 's/^  agent key *//p' '${secretsFile}')"`;

runProgram(async (config, logger, metrics) => {
  process.stderr.write('Preparing the database and the keys ...\n');
  const { deployment, prepared } = await prepareDeployment(config, 'ags standalone', logger, () => undefined, metrics);
  const standalone = new Standalone(deployment);
  try {
    // What is not a terminal may be collected and kept.
    const isKept = !process.stdout.isTTY && hasSecrets(prepared);
    const keep = (lines: readonly string[]): Promise<string> => keepFirstSecrets(config.stateDir, lines);
    const secretsFile = isKept ? await keep(secretLines(prepared)) : null;
    process.stdout.write(firstWords(prepared, secretsFile));
    const baseUrl = await standalone.start();
    if (secretsFile !== null) await keep(linkLines(baseUrl, prepared));
    process.stdout.write(welcome(baseUrl, config.env, prepared, secretsFile));
  } catch (error) {
    // Half a start is let go of too: nobody would stop the database that it has started.
    await standalone.stop();
    if (prepared.adminKey !== null || prepared.agentKey !== null) process.stderr.write(KEYS_STAY);
    throw error;
  }
  return standalone;
});
