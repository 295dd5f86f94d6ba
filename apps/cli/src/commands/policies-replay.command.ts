import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { operatorMetadata, parseTimestamp, timestampOf, type OrgId, type PolicyId } from '#libs/domain/kernel';
import type { Replay, ReplayResult, Replays } from '#libs/domain/replays';
import type { Deployment } from '#libs/infra/deployment';
import { fileArgument, idArgument, policyArgument, urlArgument } from '../arguments.js';
import { Census } from '../census.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import {
  withDeployment,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import type { ServiceOptions } from '../service-call.js';
import { policyOf, policyOfService } from '../policy-named.js';
import { replayOfService, type ShownReplay } from './replay-of-service.js';
import { barText, facts, present, ProgressLine, table, type Terminal } from '../terminal.js';

const LOOK_EVERY_MS = 300;

interface ReplayOptions extends OrgOption, JsonOption, ServiceOptions {
  readonly failIfChanged?: true;
  readonly from?: string;
  readonly to?: string;
}

/** `ags policies replay`: what a version would have said of the actions of the past. */
export const registerReplayCommand = (policies: Command, context: CommandContext): void => {
  withExamples(
    policies
      .command('replay')
      .description(
        'Asks a version of a policy about the actions of the past, each with what was judged then, and says what it decides ' +
          'otherwise than the version in force; where none is in force, otherwise than what was decided then. Nothing is ' +
          'run, decided or sealed. Without --url it works on the deployment that the settings name, whether the service ' +
          'runs or not; with it a running service does the work, asked with an admin key in the variable AGS_API_KEY or in ' +
          '--key-file. Ends with 0 when the replay has succeeded, whatever it found, unless --fail-if-changed is there.',
      )
      .summary('what a version would have said of past actions')
      .argument('<policy>', 'its pol_ id or its name', policyArgument)
      .argument('[version]', 'its number or its pv_ id; the newest when left out')
      .option('--from <instant>', 'actions created then or later; default: 14 days before --to', instantArgument)
      .option('--to <instant>', 'actions created before; default: now', instantArgument)
      .option('--org <id>', 'which organization; needed when there are several', idArgument('org'))
      .option('--url <url>', 'a running service that does it', urlArgument)
      .option('--key-file <file>', 'with --url: a file that holds an admin key', fileArgument)
      .option('--fail-if-changed', 'end with 1 when anything would be decided otherwise')
      .option('--json', 'the replay as one JSON object, as GET /v1/replays/{id} has it')
      .action(async (named: string, version: string | undefined, options: ReplayOptions) => {
        const { url, from, to } = options;
        const window = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
        if (url !== undefined) {
          const policy = await policyOfService(options, named);
          report(context, options, await replayOfService(options, context.terminal, { policy, version, window }));
          return;
        }
        if (options.keyFile !== undefined) throw usage('--key-file goes with --url.');
        await withDeployment(context, async (deployment, interrupted) => {
          const replay = await replayed(deployment, context.terminal, interrupted, { named, version, ...options });
          const { shownReplay } = await import('#libs/domain/replays');
          report(context, options, shownReplay(replay) as unknown as ShownReplay);
        });
      }),
    'npm run ags -- policies replay "Support policy"',
    'npm run --silent ags -- policies replay pol_... 3 --from 2026-10-01T00:00:00Z --json',
    'npm run --silent ags -- policies replay pol_... 3 --url https://ags.example.com --fail-if-changed',
  );
};

const report = (context: CommandContext, { json, failIfChanged }: ReplayOptions, replay: ShownReplay): void => {
  present(context.terminal, json === true, { objects: [replay], text: textOf(replay) });
  const isChanged = failIfChanged === true && (replay.result?.changes.length ?? 0) > 0;
  if (replay.status !== 'succeeded' || isChanged) context.exitCode = EXIT.refused;
};

const instantArgument = (text: string): string => {
  const epochMs = parseTimestamp(text);
  if (epochMs === null) throw new InvalidArgumentError('An instant such as 2026-10-01T00:00:00Z is expected.');
  return timestampOf(epochMs);
};

type Asked = ReplayOptions & { readonly named: string; readonly version: string | undefined };

/** Starts it, runs it where no worker does, and waits for its end. An interruption cancels it. */
const replayed = async (
  deployment: Deployment,
  terminal: Terminal,
  interrupted: AbortSignal,
  { named, version, from, to, org: wanted }: Asked,
): Promise<Replay> => {
  const { replaysOf } = await import('#libs/infra/deployment');
  const { startReplay } = await import('#libs/infra/replays');
  const census = await censusOf(deployment);
  const { org } = await census.organization(wanted);
  const policy = await policyOf({ census, streams: deployment.streams }, org, named);
  const replays = replaysOf(deployment);
  const asked = {
    policy,
    version: version ?? (await newestOf(deployment, org, policy)),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  const { id } = await replays.start(org, asked, operatorMetadata(deployment, org));
  const { config, database } = deployment;
  // Where a worker has its claim, this one waits for it and finds nothing left to do.
  const child = startReplay({ config, connectionString: database.connectionString }, id);
  try {
    return await ended(replays, { org, id }, terminal, interrupted);
  } catch (error) {
    if (!interrupted.aborted) throw error;
    await replays.cancel(org, id, timestampOf(deployment.clock.nowMs()));
    throw new CliError(
      'interrupted',
      `It was interrupted, and the replay ${id} is cancelled. Run it again.`,
      EXIT.refused,
    );
  } finally {
    child.stop();
    await child.ended;
  }
};

const ended = async (
  replays: Replays,
  { org, id }: Pick<Replay, 'org' | 'id'>,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<Replay> => {
  const progress = new ProgressLine(terminal);
  try {
    for (;;) {
      const replay = await replays.get(org, id);
      if (replay.endedAt !== null) return replay;
      const share = replay.total === 0 ? 0 : Math.min(1, replay.done / replay.total);
      progress.show(barText('replay', share, replay.done, 'actions'));
      await sleep(LOOK_EVERY_MS, undefined, { signal: interrupted });
    }
  } finally {
    progress.clear();
  }
};

const censusOf = async (deployment: Deployment): Promise<Census> => {
  const { PostgresKeyDirectory } = await import('#libs/infra/agents');
  const { store, durable } = deployment.database;
  return new Census(store, deployment.streams, new PostgresKeyDirectory(durable));
};

/** @throws {DomainError} not_found */
const newestOf = async ({ streams }: Deployment, org: OrgId, id: PolicyId): Promise<string> => {
  const { latestVersion, loadPolicy } = await import('#libs/domain/policies');
  return latestVersion(await loadPolicy(streams, org, id)).id;
};

const textOf = (replay: ShownReplay): string => {
  const { id, policy, version, from, to, compared_with: compared, status, error_code: errorCode, result } = replay;
  const about = facts([
    ['replay', id],
    ['policy', `${policy}, version ${version}`],
    ['window', `${from} to ${to}`],
    ['compared with', comparedText(compared)],
    ['status', errorCode === null ? status : `${status} (${errorCode})`],
  ]);
  return result === null ? about : `${about}\n\n${foundText(result, isInForce(compared))}`;
};

type Compared = ShownReplay['compared_with'];

/** An older service compares with what was decided then, and does not say so. */
const isInForce = (compared: Compared): boolean => compared?.basis === 'enforced';

const comparedText = (compared: Compared): string =>
  compared?.basis === 'enforced'
    ? `version ${compared.version} of ${compared.policy}, in force when it was asked for`
    : 'what was decided then';

const foundText = (found: ReplayResult, beside: boolean): string => {
  const { judged, skipped, changes, allows_denied_by_person: denied, allows_never_asked: never } = found;
  const sums = facts([
    ['judged', numberText(judged)],
    ['arguments removed', numberText(skipped.payload_removed)],
    ['arguments damaged', numberText(skipped.payload_damaged)],
    ['policy not asked', numberText(skipped.not_asked)],
    ['policy too slow', numberText(skipped.time_limit)],
    ...(beside ? [['otherwise than decided then', numberText(found.changed_from_recorded)] as const] : []),
    ['would allow what a person denied', numberText(denied)],
    ['would allow what was refused without asking', numberText(never)],
  ]);
  if (changes.length === 0) return `${sums}\n\nNothing would be decided otherwise.`;
  const lines = changes.map(({ from, to, rule_id: rule, source, count, sample }) => [
    from,
    to,
    source === 'builtin' ? `${rule ?? ''} (no answer)`.trim() : (rule ?? '(default)'),
    numberText(count),
    sample[0] ?? '',
  ]);
  return `${sums}\n\n${table([beside ? 'IN FORCE' : 'WAS', 'WOULD BE', 'BY RULE', 'ACTIONS', 'FOR EXAMPLE'], lines)}`;
};

const numberText = (count: number): string => count.toLocaleString('en');
