import { Command } from 'commander';
import { readBuildFacts } from '#libs/infra/runtime';
import { EXIT, type ExitCode } from './cli-error.js';
import { withExamples, type CommandContext } from './command-context.js';
import { registerAgentsCommands } from './commands/agents.command.js';
import { registerAuditCommand } from './commands/audit.command.js';
import { registerBackupCommands } from './commands/backup.command.js';
import { registerBundleCommands } from './commands/bundle.command.js';
import { registerCheckpointKeysCommands } from './commands/checkpoint-keys.command.js';
import { registerConfigCommand } from './commands/config.command.js';
import { registerConnectorsCommands } from './commands/connectors.command.js';
import { registerDatabaseCommands } from './commands/database.command.js';
import { registerDoctorCommand } from './commands/doctor.command.js';
import { registerEventsCommands } from './commands/events.command.js';
import { registerInitCommand } from './commands/init.command.js';
import { registerIntentCommands } from './commands/intent.command.js';
import { registerKeysCommands } from './commands/keys.command.js';
import { registerLedgerCommands } from './commands/ledger.command.js';
import { registerMailCommands } from './commands/mail.command.js';
import { registerMigrateCommands } from './commands/migrate.command.js';
import { registerOrgCommands } from './commands/org.command.js';
import { registerPeopleCommands } from './commands/people.command.js';
import { registerPoliciesCommands } from './commands/policies.command.js';
import { registerProjectionsCommands } from './commands/projections.command.js';
import { registerSealKeysCommands } from './commands/seal-keys.command.js';
import { registerVerifyCommand } from './commands/verify.command.js';
import { registerWitnessCommands } from './commands/witness.command.js';
import { reportError } from './report.js';
import type { Terminal } from './terminal.js';

/** As it is called: in a checkout and in the image, from any folder of them. */
const PROGRAM = 'npm run ags --';

/** Runs one command line, without the program's own name. Never throws: what went wrong is said on the terminal. */
export const runProgram = async (args: readonly string[], terminal: Terminal): Promise<ExitCode> => {
  const context: CommandContext = { terminal, exitCode: EXIT.fine };
  try {
    const program = buildProgram(context);
    await program.parseAsync(withoutVainHelp(program, args), { from: 'user' });
    return context.exitCode;
  } catch (error) {
    return reportError(terminal, args.includes('--json'), error);
  }
};

const HELP_OPTIONS: ReadonlySet<string> = new Set(['--help', '-h']);

/**
 * `help nope` and `nope --help` as `nope`, of which it is said that there is no such command: all the help there is would
 * not say so.
 */
const withoutVainHelp = (group: Command, args: readonly string[]): string[] => {
  const [name, ...rest] = args;
  if (name === 'help') return isVain(group, rest) ? withoutVainHelp(group, rest) : [...args];
  const inner = name === undefined ? undefined : subcommandOf(group, name);
  if (name !== undefined && inner) return [name, ...withoutVainHelp(inner, rest)];
  return args.filter((arg) => !isVain(group, args) || !HELP_OPTIONS.has(arg));
};

/** Whether these words lead from a group to no command of it. */
const isVain = (group: Command, [name, ...rest]: readonly string[]): boolean => {
  if (name === undefined || name === 'help' || name.startsWith('-') || group.commands.length === 0) return false;
  const inner = subcommandOf(group, name);
  return inner === undefined || isVain(inner, rest);
};

const subcommandOf = (group: Command, name: string): Command | undefined =>
  group.commands.find((command) => command.name() === name);

const buildProgram = (context: CommandContext): Command => {
  const { terminal } = context;
  const { version } = readBuildFacts();
  const program = new Command(PROGRAM)
    .description(
      'Operates an Agent Governance Service: prepares it, makes and ends keys, stops agents, and verifies what it ' +
        'sealed. Works on the state directory or database that the settings name (`npm run ags -- config`), whether ' +
        'the service runs or not; a change holds for every call that starts after the command answered. npm prints a ' +
        'line of its own first: where a program reads the output, run `npm run --silent ags -- ... --json`.',
    )
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      // Said once, by whoever catches the error.
      outputError: () => undefined,
    });
  registerInitCommand(program, context);
  registerConfigCommand(program, context);
  registerKeysCommands(program, context);
  registerAgentsCommands(program, context);
  registerOrgCommands(program, context);
  registerPeopleCommands(program, context);
  registerMailCommands(program, context);
  registerSealKeysCommands(program, context);
  registerCheckpointKeysCommands(program, context);
  registerLedgerCommands(program, context);
  registerProjectionsCommands(program, context);
  registerAuditCommand(program, context);
  registerEventsCommands(program, context);
  registerMigrateCommands(program, context);
  registerBackupCommands(program, context, version);
  registerDoctorCommand(program, context, version);
  registerVerifyCommand(program, context);
  registerBundleCommands(program, context);
  registerIntentCommands(program, context);
  registerPoliciesCommands(program, context);
  registerConnectorsCommands(program, context);
  registerDatabaseCommands(program, context);
  registerWitnessCommands(program, context);
  return withExamples(
    program,
    'npm run ags -- init',
    'npm run ags -- agents stop agt_... --reason "Wrong refunds"',
    'npm run ags -- keys revoke key_...',
  ).addHelpText('after', '  3  `doctor`, `policies`, `connectors` and `database`: the service refused the API key');
};
