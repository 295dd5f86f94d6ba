import type { Command } from 'commander';
import { baseUrlOf, type Config, parseConfig, signInLink } from '#libs/infra/config';
import type { Prepared } from '#libs/infra/deployment';
import { untilInterrupted } from '#libs/infra/runtime';
import { EXIT } from '../cli-error.js';
import type { DemoSetUp } from '../init/demo-setup.js';
import {
  loggerOf,
  requireConfirmedRestore,
  withExamples,
  type CommandContext,
  type JsonOption,
} from '../command-context.js';
import { refuseInterrupted } from '../interruption.js';
import { reportError } from '../report.js';
import { facts } from '../terminal.js';

/** `ags init`: what a first `npm start` does, without serving. */
export const registerInitCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('init')
      .description(
        'Prepares the state directory: keys, database, seal key, an organization with an owner and an admin key, one ' +
          'agent with a test key, and a starter policy; where nobody has turned it off (SERVICE_DEMO), a demo database ' +
          'with a connector, and three calls of the agent that show what becomes of them. What is there already is ' +
          'left as it is, so it may be run again at any time, also after it was interrupted. Secrets are shown once, ' +
          'when they are made.',
      )
      .summary('prepare a state directory, once')
      .option('--json', 'one JSON object a line: a step each, at last the result')
      .action(async ({ json }: JsonOption) =>
        untilInterrupted((interrupted) => init(context, json === true, interrupted)),
      ),
    'npm run ags -- init',
    'SERVICE_STATE_DIR=/var/lib/ags npm run --silent ags -- init --json',
  );
};

const init = async (context: CommandContext, isJson: boolean, interrupted: AbortSignal): Promise<void> => {
  const { terminal } = context;
  const config = parseConfig();
  await requireConfirmedRestore(config);
  const { hasSecrets, keepFirstSecrets, prepareDeployment } = await import('#libs/infra/deployment');
  let hasFailed = false;
  const onStep = (step: string, status: string, said: string | null = null): void => {
    hasFailed ||= status === 'failed';
    terminal.out(isJson ? jsonStep(step, status, said) : textStep(step, status, said));
    // The last moment: what comes next takes no time, and shows each secret this once.
    if (step === 'database' && !hasFailed) {
      refuseInterrupted(interrupted, 'It was interrupted. Run it again: it goes on where it ended.');
    }
  };
  try {
    const logger = loggerOf(terminal);
    const { deployment, prepared } = await prepareDeployment(config, 'ags cli', logger, onStep);
    try {
      await withDemo({ config, deployment, prepared, logger, interrupted, onStep });
    } finally {
      await deployment.close();
    }
    // A program that asks for JSON takes the answer in; other output that is no terminal may be a log that is kept.
    const isHidden = !isJson && !terminal.isShown && hasSecrets(prepared);
    const secretsFile = isHidden ? await keepFirstSecrets(config.stateDir, secretLines(config, prepared)) : null;
    terminal.out(isJson ? `${JSON.stringify(resultOf(config, prepared))}\n` : summaryOf(config, prepared, secretsFile));
    // What could not be tried takes nothing back: the secrets above are good.
    if (hasFailed) context.exitCode = EXIT.refused;
  } catch (error) {
    const exitCode = reportError(terminal, isJson, error);
    context.exitCode = hasFailed ? EXIT.refused : exitCode;
  }
};

const withDemo = async (setUp: DemoSetUp): Promise<void> => {
  const { isDemoWanted } = await import('#libs/infra/demo-database');
  if (!isDemoWanted(setUp.config)) return;
  const { setUpDemo } = await import('../init/demo-setup.js');
  await setUpDemo(setUp);
};

const jsonStep = (step: string, status: string, said: string | null): string =>
  `${JSON.stringify({ step, status, ...(said === null ? {} : { said }) })}\n`;

const textStep = (step: string, status: string, said: string | null): string =>
  `  ${status.padEnd(8)} ${step.replaceAll('_', ' ')}${said === null ? '' : `: ${said}`}\n`;

const resultOf = ({ stateDir, ...config }: Config, prepared: Prepared) => ({
  object: 'init',
  state_dir: stateDir,
  org: prepared.org,
  owner: prepared.owner,
  admin_key: prepared.adminKey,
  sign_in_link: linkOf(config, prepared),
  agent: prepared.agent,
  agent_key: prepared.agentKey,
  seal_key_fingerprint: prepared.sealKeyFingerprint,
});

const linkOf = (config: Pick<Config, 'baseUrl' | 'host' | 'port'>, { signInToken }: Prepared): string | null =>
  signInToken === null ? null : signInLink(baseUrlOf(config, config.port), signInToken);

/** As a terminal would show them. */
const secretLines = (config: Config, prepared: Prepared): readonly string[] => {
  const { adminKey, agentKey } = prepared;
  const link = linkOf(config, prepared);
  return [
    ...(adminKey === null ? [] : [`  admin key         ${adminKey}`]),
    ...(agentKey === null ? [] : [`  agent key         ${agentKey}`]),
    ...(link === null ? [] : [`  sign-in link      ${link}`]),
  ];
};

const IN_FILE = '(in the file below)';

const summaryOf = (
  { stateDir, redisUrl, ...config }: Config,
  prepared: Prepared,
  secretsFile: string | null,
): string => {
  const shown = (secret: string | null): string | null => (secret === null || secretsFile === null ? secret : IN_FILE);
  const once = (secret: string | null): string =>
    shown(secret) ?? '(shown when it was made; `npm run ags -- keys create --help` says how to make another)';
  const lines = facts([
    ['state directory', stateDir],
    ['organization', prepared.org],
    ['owner', prepared.owner],
    ['admin key', once(prepared.adminKey)],
    ['sign-in link', shown(linkOf(config, prepared)) ?? '(`npm run ags -- people login-link` makes another)'],
    ['agent', prepared.agent],
    ['agent key', once(prepared.agentKey)],
    ['seal key (--pin)', prepared.sealKeyFingerprint],
  ]);
  const programs = '`npm run start:api`, `start:worker` and `start:projector` serve it';
  const kept =
    secretsFile === null
      ? ''
      : `  This is no terminal, so the secrets are not printed. They are, this once, in a file that you alone can read:\n` +
        `  ${secretsFile}\n  Note them and remove the file.\n\n`;
  const serving = `  ${redisUrl === null ? '`npm start` serves it' : programs}.`;
  const bearer = `"Authorization: Bearer ${secretsFile === null ? (prepared.agentKey ?? '<agent key>') : '<agent key>'}"`;
  const client = `claude mcp add --transport http ags ${baseUrlOf(config, config.port)}/mcp --header ${bearer}`;
  return `\n${lines}\n\n${kept}${serving} MCP clients connect to it (docs/mcp.md), Claude Code for example:\n\n  ${client}\n`;
};
