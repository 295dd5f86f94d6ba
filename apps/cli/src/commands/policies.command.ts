import { Option, type Command } from 'commander';
import { type ActionId, DECISION_OUTCOMES, type DecisionOutcome } from '#libs/domain/kernel';
import { fileArgument, idArgument, STANDARD_INPUT, urlArgument } from '../arguments.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { readInput } from '../input-file.js';
import { callService, type ServiceError, type ServiceOptions } from '../service-call.js';
import { present } from '../terminal.js';
import { registerReplayCommand } from './policies-replay.command.js';
import { casesText, countsText, dryRunText, findingsText, type Finding } from './policy-text.js';

interface PolicyOptions extends ServiceOptions, JsonOption {}

/** Of what is sent; the service has limits of its own, which its answer names. */
const SOURCE_MAX_BYTES = 1024 * 1024;
const CASES_MAX_BYTES = 2 * 1024 * 1024;
const INPUT_MAX_BYTES = 512 * 1024;

const KEY_EXIT = '  3  the service refused the API key';
const NEEDS_KEY =
  'Asks a running service, with an admin key in the variable AGS_API_KEY or in --key-file. Changes nothing.';

/** `ags policies`: for whoever keeps policies in a repository, and checks them before they are saved. */
export const registerPoliciesCommands = (program: Command, context: CommandContext): void => {
  const policies = program
    .command('policies')
    .description(
      'Checks the text of a policy against a running service: what is wrong with it, what it says of a file of cases, and ' +
        `why it decides one call as it does. ${NEEDS_KEY} Of a policy that is saved, says what it would have decided of past ` +
        'actions: that needs no service and no key.',
    )
    .summary('check a policy before it is saved or activated');
  withExamples(
    policies,
    'npm run ags -- policies lint support.yaml',
    'npm run ags -- policies test support.yaml --cases support.cases.yaml',
  ).addHelpText('after', KEY_EXIT);
  registerLint(policies, context);
  registerTest(policies, context);
  registerDryRun(policies, context);
  registerReplayCommand(policies, context);
};

/** What all of them take: a source, a service, and a form of the answer. */
const checking = (policies: Command, name: string): Command =>
  policies
    .command(name)
    .argument('<file>', `the policy, or ${STANDARD_INPUT} for standard input`, fileArgument)
    .option('--key-file <file>', 'a file that holds an admin key, which the service is asked with', fileArgument)
    .option('--url <url>', 'where the service is; default: what the settings say', urlArgument)
    .option('--json', 'the answer as one JSON object');

interface LintOptions extends PolicyOptions {
  readonly allowWarnings?: true;
}

const registerLint = (policies: Command, context: CommandContext): void => {
  withExamples(
    checking(policies, 'lint')
      .description(
        `Says what saving the policy would say, and what the tools of the organization say of it. ${NEEDS_KEY} Ends with 1 when ` +
          'anything was found.',
      )
      .summary('what is wrong with a policy')
      .option('--allow-warnings', 'end with 0 when there are warnings alone')
      .action(async (file: string, options: LintOptions) => {
        const source = await textIn(file, SOURCE_MAX_BYTES);
        const answer = await callService(options, '/v1/policies/lint', { source });
        if (!answer.isOk) throw refused(answer.error);
        const findings = answer.body['diagnostics'] as readonly Finding[];
        const counted = options.allowWarnings ? findings.filter(({ severity }) => severity === 'error') : findings;
        if (counted.length > 0) context.exitCode = EXIT.refused;
        const text = `${findingsText(file, findings)}${countsText(findings)}`;
        present(context.terminal, options.json === true, { objects: [answer.body], text });
      }),
    'npm run ags -- policies lint support.yaml',
    'AGS_API_KEY=$(cat admin.key) npm run --silent ags -- policies lint support.yaml --url https://ags.example.com --json',
  ).addHelpText('after', KEY_EXIT);
};

interface TestOptions extends PolicyOptions {
  readonly cases: string;
}

const registerTest = (policies: Command, context: CommandContext): void => {
  withExamples(
    checking(policies, 'test')
      .description(
        `Says of each case of a file what the policy decides, beside what it should. ${NEEDS_KEY} Ends with 1 when a case fails.`,
      )
      .summary('hold a policy against a file of cases')
      .requiredOption('--cases <file>', 'the cases: a YAML list, each with name, input and expect', fileArgument)
      .action(async (file: string, options: TestOptions) => {
        requireOneOfStandardInput(file, options.cases);
        const [source, cases] = [await textIn(file, SOURCE_MAX_BYTES), await textIn(options.cases, CASES_MAX_BYTES)];
        const answer = await callService(options, '/v1/policies/test', { source, cases });
        if (!answer.isOk) return showRefused(context, options, answer.error, { source: file, cases: options.cases });
        if (answer.body['failed'] !== 0) context.exitCode = EXIT.refused;
        present(context.terminal, options.json === true, {
          objects: [answer.body],
          text: casesText(options.cases, answer.body),
        });
      }),
    'npm run ags -- policies test support.yaml --cases support.cases.yaml',
    'npm run --silent ags -- policies test support.yaml --cases support.cases.yaml --json',
  ).addHelpText('after', KEY_EXIT);
};

interface DryRunOptions extends PolicyOptions {
  readonly action?: ActionId;
  readonly input?: string;
  readonly expect?: DecisionOutcome;
}

const registerDryRun = (policies: Command, context: CommandContext): void => {
  withExamples(
    checking(policies, 'dry-run')
      .description(`Says what the policy decides of one call, and why each rule was passed over. ${NEEDS_KEY}`)
      .summary('put one call to a policy')
      .option('--action <id>', 'a recorded call, by its action', idArgument('act'))
      .option('--input <file>', `a call as a JSON object, or ${STANDARD_INPUT} for standard input`, fileArgument)
      .addOption(new Option('--expect <decision>', 'end with 1 when it decides otherwise').choices(DECISION_OUTCOMES))
      .action(async (file: string, options: DryRunOptions) => {
        requireOneOfStandardInput(file, options.input);
        const call = await callIn(options);
        const source = await textIn(file, SOURCE_MAX_BYTES);
        const answer = await callService(options, '/v1/policies/dry-run', { source, ...call });
        if (!answer.isOk) {
          if (answer.error.code === 'not_found') throw noSuchAction(options.action as ActionId);
          return showRefused(context, options, answer.error, { source: file });
        }
        const { outcome } = answer.body['decision'] as { readonly outcome: string };
        const isOther = options.expect !== undefined && options.expect !== outcome;
        if (isOther) context.exitCode = EXIT.refused;
        present(context.terminal, options.json === true, {
          objects: [answer.body],
          text: dryRunText(file, answer.body),
        });
        if (isOther) context.terminal.err(`Expected ${options.expect}, decided ${outcome}.\n`);
      }),
    'npm run ags -- policies dry-run support.yaml --action act_...',
    'npm run --silent ags -- policies dry-run support.yaml --input call.json --expect deny --json',
  ).addHelpText('after', KEY_EXIT);
};

const noSuchAction = (action: ActionId): CliError =>
  new CliError('not_found', `The organization of this key has no action ${action}.`, EXIT.refused);

const requireOneOfStandardInput = (file: string, other: string | undefined): void => {
  if (file === STANDARD_INPUT && other === STANDARD_INPUT) {
    throw usage('Standard input can be read once. Name a file for one of them.');
  }
};

const callIn = async ({ action, input }: DryRunOptions): Promise<object> => {
  if ((action === undefined) === (input === undefined)) throw usage('Name one call: --action or --input.');
  if (input === undefined) return { action };
  try {
    return { input: JSON.parse(await textIn(input, INPUT_MAX_BYTES)) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const place = input === STANDARD_INPUT ? 'Standard input' : input;
    throw new CliError('file_unusable', `${place} is no JSON. Write one object with the tool and its args.`);
  }
};

const textIn = async (file: string, maxBytes: number): Promise<string> => {
  const bytes = await readInput(file, maxBytes);
  if (bytes.byteLength > maxBytes) {
    throw new CliError('file_unusable', `${file} is larger than ${maxBytes / 1024} KiB. Split it.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError('file_unusable', `${file} is not UTF-8. Save it as UTF-8.`);
  }
};

/** Findings are what was asked for; any other refusal is an error. */
const showRefused = (
  context: CommandContext,
  { json }: JsonOption,
  error: ServiceError,
  files: Readonly<Record<string, string>>,
): void => {
  if (error.code !== 'policy_invalid') throw refused(error);
  const file = files[error.param ?? ''] ?? '';
  const diagnostics = error.diagnostics as readonly Finding[];
  context.exitCode = EXIT.refused;
  present(context.terminal, json === true, {
    objects: [{ object: 'policy_findings', file, diagnostics }],
    text: `${findingsText(file, diagnostics)}${countsText(diagnostics)}`,
  });
};

/** What was sent is a matter of how the command was called; what is not there, or not so, is an answer. */
const refused = ({ code, message }: ServiceError): CliError => {
  if (code === 'not_found' || code === 'conflict') return new CliError(code, message, EXIT.refused);
  return new CliError('usage', message);
};
