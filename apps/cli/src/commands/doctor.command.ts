import type { Command } from 'commander';
import { untilInterrupted } from '#libs/infra/runtime';
import { fileArgument, urlArgument } from '../arguments.js';
import { EXIT, type ExitCode } from '../cli-error.js';
import { loggerOf, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { refuseInterrupted } from '../interruption.js';
import { titleOf, type CheckName, type Finding, type FindingStatus } from '../doctor/finding.js';

interface DoctorOptions extends JsonOption {
  readonly keyFile?: string;
  readonly url?: string;
}

/** `ags doctor`: what keeps this deployment from working, and what to do about it. */
export const registerDoctorCommand = (program: Command, context: CommandContext, version: string): void => {
  withExamples(
    program
      .command('doctor')
      .description(
        'Looks at everything that the service needs and says of each part whether it is well, and if not, what to do: ' +
          'settings, state directory, disk, database, keys, a running service, clocks, the last 1,000 deeds of every ' +
          'ledger, what waits to be executed, sealed or to be shown in lists, policies, connectors and the change logs of databases. Changes nothing, may run beside a service or without one, and gives each check 3 seconds. ' +
          'With an API key in the variable AGS_API_KEY or in --key-file the service itself is asked for the check of ' +
          'its ledger.',
      )
      .summary('look for what is wrong, and say what to do')
      .option('--key-file <file>', 'a file that holds an API key, which the service is asked with', fileArgument)
      .option('--url <url>', 'where the service is; default: what the settings say', urlArgument)
      .option('--json', 'one JSON object a line: a check each, at last the result')
      .action(async (options: DoctorOptions) => examine(context, version, options)),
    'npm run ags -- doctor',
    'AGS_API_KEY=$(cat admin.key) npm run --silent ags -- doctor --json',
  ).addHelpText('after', '  3  the service refused the API key\n\nA warning does not change the exit code.');
};

const examine = async (
  context: CommandContext,
  ownVersion: string,
  { keyFile, url, json }: DoctorOptions,
): Promise<void> => {
  const { terminal } = context;
  // What it looks at is loaded only here: every other command would wait for it.
  const { readApiKey } = await import('../doctor/api-key.js');
  const { diagnose } = await import('../doctor/doctor.js');
  const show = json === true ? jsonLine : textLine;
  const options = {
    apiKey: await readApiKey(keyFile),
    url,
    ownVersion,
    logger: loggerOf(terminal),
    onFinding: (check: CheckName, finding: Finding) => terminal.out(show(check, finding)),
  };
  const { findings, isKeyRefused } = await untilInterrupted((interrupted) =>
    diagnose({
      ...options,
      mayGoOn: () => refuseInterrupted(interrupted, 'It was interrupted before it had looked at everything.'),
    }),
  );
  const counts = countsOf([...findings.values()]);
  terminal.out(json === true ? `${JSON.stringify({ object: 'doctor', ...counts })}\n` : `\n${summaryOf(counts)}\n`);
  context.exitCode = exitCodeOf(counts, isKeyRefused);
};

type Counts = Readonly<Record<FindingStatus, number>>;

const countsOf = (findings: readonly Finding[]): Counts => {
  const count = (wanted: FindingStatus): number => findings.filter(({ status }) => status === wanted).length;
  return { ok: count('ok'), warning: count('warning'), problem: count('problem'), skipped: count('skipped') };
};

const exitCodeOf = ({ problem }: Counts, isKeyRefused: boolean): ExitCode => {
  if (isKeyRefused) return EXIT.keyRefused;
  return problem > 0 ? EXIT.refused : EXIT.fine;
};

const jsonLine = (check: CheckName, finding: Finding): string =>
  `${JSON.stringify({ object: 'doctor_check', check, ...finding })}\n`;

const STATUS_CHARACTERS = 9;
const CHECK_CHARACTERS = 21;

const textLine = (check: CheckName, { status, message, next }: Finding): string => {
  const shown = status === 'ok' ? 'OK' : status;
  const head = `${shown.padEnd(STATUS_CHARACTERS)}${titleOf(check).padEnd(CHECK_CHARACTERS)}`;
  return `${head}${message}\n${next === null ? '' : `${' '.repeat(head.length)}${next}\n`}`;
};

const summaryOf = ({ warning, problem, skipped }: Counts): string => {
  const parts = [
    `${problem === 0 ? 'No' : problem} ${problem === 1 ? 'problem' : 'problems'}`,
    ...(warning > 0 ? [`${warning} ${warning === 1 ? 'warning' : 'warnings'}`] : []),
    ...(skipped > 0 ? [`${skipped} not checked`] : []),
  ];
  return `${parts.join(', ')}.`;
};
