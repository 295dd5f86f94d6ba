import type { Command } from 'commander';
import type { ConnectorTest } from '#libs/domain/connectors';
import { fileArgument, urlArgument } from '../arguments.js';
import { EXIT } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { foundConnector, requireConnector } from '../connector-named.js';
import { callService, type ServiceOptions } from '../service-call.js';
import { present, table } from '../terminal.js';

interface TestOptions extends ServiceOptions, JsonOption {}

/** The service gives a test so long; then it answers by itself. */
const TEST_TIMEOUT_MS = 95_000;

interface ShownTest {
  readonly status: ConnectorTest['status'];
  readonly checks: readonly {
    readonly check: string;
    readonly status: string;
    readonly detail: string;
    readonly fix: string | null;
  }[];
}

/** `ags connectors`: whether the systems that agents act on can be reached. */
export const registerConnectorsCommands = (program: Command, context: CommandContext): void => {
  const connectors = program
    .command('connectors')
    .description('Connectors of a running service, which is asked with an admin key.')
    .summary('test a connector');
  withExamples(connectors, 'npm run ags -- connectors test crm');
  withExamples(
    connectors
      .command('test')
      .description(
        'Has a running service test a connector: its config, its credential, the way to the system and its certificate, and the ' +
          'test request where the config names one. It changes nothing but the health that is shown of the connector. Asked ' +
          'with an admin key in the variable AGS_API_KEY or in --key-file. Ends with 1 when the connector is failing.',
      )
      .summary('find out whether a connector works')
      .argument('<connector>', 'its name, or con_... of it')
      .option('--key-file <file>', 'a file that holds an admin key, which the service is asked with', fileArgument)
      .option('--url <url>', 'where the service is; default: what the settings say', urlArgument)
      .option('--json', 'the result as one JSON object')
      .action(async (connector: string, options: TestOptions) => {
        await requireConnector(connector);
        const answer = await callService(options, `/v1/connectors/${connector}/test`, {}, TEST_TIMEOUT_MS);
        const body = foundConnector(connector, answer);
        const test = body as unknown as ShownTest;
        if (test.status === 'failing') context.exitCode = EXIT.refused;
        present(context.terminal, options.json === true, { objects: [body], text: textOf(connector, test) });
      }),
    'npm run ags -- connectors test crm',
    'npm run --silent ags -- connectors test crm --url https://ags.example.com --json',
  ).addHelpText('after', '  3  the service refused the API key');
};

const SUMMARIES: Readonly<Record<ShownTest['status'], string>> = {
  passing: 'passes its test',
  warnings: 'has warnings',
  failing: 'is failing',
};

const textOf = (connector: string, { status, checks }: ShownTest): string => {
  const rows = checks.map(({ check, status: found, detail }) => [check, found, detail]);
  const fixes = checks.flatMap(({ check, fix }) => (fix === null ? [] : [`${check}: ${fix}`]));
  return [
    table(['check', 'status', 'detail'], rows),
    ...(fixes.length === 0 ? [] : ['', 'What to do:', ...fixes.map((fix) => `  ${fix.replaceAll('\n', '\n    ')}`)]),
    '',
    `The connector ${connector} ${SUMMARIES[status]}.`,
  ].join('\n');
};
