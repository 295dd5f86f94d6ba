import { randomInt } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ChaosProgress, ChaosResult } from './chaos-run.js';
import { chaosOfFleet, foundForFleet } from './chaos-distributed.js';
import { chaosOfKills } from './chaos-service.js';
import type { Violation } from './checker.js';
import { PLANTED_BUGS } from './planted/bugs.js';
import { PlantedRuns } from './planted/planted-runs.js';
import { blindnessOf, verdictOn, verdictText, type ChaosVerdict } from './verdict.js';

const USAGE = `usage: npm run chaos -- [--profile distributed] [--kills 200] [--seed N] [--keep] [--json]
       npm run chaos -- --planted [--json]

Kills a service of its own, and its PostgreSQL, again and again under traffic, lets it come to rest, and checks
from outside what must hold always. Exit code 0: all of it held. 1: something did not. 2: the run itself failed,
or saw too little to prove anything.

  --profile  embedded, which is the default: one process. distributed: two of each program, and PostgreSQL, KurrentDB
             and Redis to kill beside them; KurrentDB is the program that KURRENTDB_PROGRAM names, or else a server of
             the tests that speaks its protocol, and Redis the redis-server of this machine
  --kills    how many kills; 200 unless said, about a second each, five to ten of a fleet
  --seed     where all chance comes from; printed, so that a run can be repeated. One of its own unless said
  --keep     leave the evidence in a folder, and name it
  --json     one JSON object on standard output
  --planted  instead: does the checker see it when the service is wrong? Runs services with a bug planted in each
  --help     this text

`;

const EXIT = { intact: 0, violated: 1, failed: 2 } as const;
const DEFAULT_KILLS = 200;
const LARGEST_SEED = 2 ** 32 - 1;

const PROFILES = { embedded: chaosOfKills, distributed: chaosOfFleet } as const;
type Profile = keyof typeof PROFILES;

interface Asked {
  readonly profile: Profile;
  readonly kills: number;
  readonly seed: number;
  readonly isJson: boolean;
  readonly isKept: boolean;
  readonly isPlanted: boolean;
}

interface PlantedJudgement {
  readonly object: 'planted_bug';
  readonly name: string;
  /** Null: there is no bug, and nothing may be named. */
  readonly breaks: string | null;
  readonly named: readonly string[];
  readonly is_caught: boolean;
}

class UsageError extends Error {
  override readonly name = 'UsageError';
}

const read = (args: readonly string[]): Asked | null => {
  const options = {
    profile: { type: 'string', default: 'embedded' },
    kills: { type: 'string', default: String(DEFAULT_KILLS) },
    seed: { type: 'string', default: String(randomInt(LARGEST_SEED)) },
    keep: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parse(args, options);
  if (values.help) return null;
  return {
    profile: profileNamed(values.profile),
    kills: wholeNumber('--kills', values.kills, 1, 100_000),
    seed: wholeNumber('--seed', values.seed, 0, LARGEST_SEED),
    isJson: values.json,
    isKept: values.keep,
    isPlanted: values.planted,
  };
};

const parse = <Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: readonly string[],
  options: Options,
) => {
  try {
    return parseArgs({ args: [...args], options: options as Options & object });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
};

const profileNamed = (text: string): Profile => {
  if (!Object.hasOwn(PROFILES, text))
    throw new UsageError(`--profile is ${Object.keys(PROFILES).join(' or ')}, not "${text}"`);
  return text as Profile;
};

const wholeNumber = (option: string, text: string, least: number, most: number): number => {
  const isWhole = /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most;
  if (!isWhole) throw new UsageError(`${option} is a whole number from ${least} to ${most}, not "${text}"`);
  return Number(text);
};

/** One line that is rewritten on a terminal; elsewhere a line for every tenth kill. */
const showProgress = ({ kills, of, submitted, doing }: ChaosProgress): void => {
  const text = `${kills}/${of} kills, ${submitted} actions asked for; ${doing}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (kills % 10 === 0 || kills === of) process.stderr.write(`${text}\n`);
};

const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
};

const keepEvidence = async ({ evidence, output }: ChaosResult, verdict: ChaosVerdict): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-chaos-'));
  const lines = (items: readonly unknown[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('');
  await writeFile(join(folder, 'verdict.json'), `${JSON.stringify(verdict, null, 2)}\n`);
  await writeFile(join(folder, 'calls.jsonl'), lines(evidence.calls));
  await writeFile(join(folder, 'upstream.jsonl'), lines(evidence.upstream));
  await writeFile(join(folder, 'events.jsonl'), lines(evidence.events));
  await writeFile(join(folder, 'rows.json'), JSON.stringify(evidence.rows));
  await writeFile(join(folder, 'service.log'), output);
  const last = evidence.exports.at(-1);
  if (last) await writeFile(join(folder, 'last-export.tar.gz'), last.bytes);
  return folder;
};

const runKills = async ({ profile, kills, seed, isJson, isKept }: Asked): Promise<number> => {
  process.stderr.write(`seed ${seed}; ${kills} kills\n`);
  if (profile === 'distributed') process.stderr.write(`${foundForFleet().join('\n')}\n`);
  const result = await PROFILES[profile](seed, kills, showProgress);
  endProgress();
  const verdict = verdictOn(seed, result);
  process.stdout.write(`${isJson ? JSON.stringify(verdict) : verdictText(verdict)}\n`);
  if (isKept) process.stderr.write(`The evidence is in ${await keepEvidence(result, verdict)}\n`);
  process.stderr.write(`The same plan again: npm run chaos -- --profile ${profile} --kills ${kills} --seed ${seed}\n`);
  const blindness = blindnessOf(verdict);
  if (verdict.result === 'violated') return EXIT.violated;
  if (blindness === null) return EXIT.intact;
  process.stderr.write(`The run saw too little: ${blindness}.\n`);
  return EXIT.failed;
};

/** The checker is put to the test: each bug by its own invariant, and nothing where there is no bug. */
const runPlanted = async ({ isJson }: Asked): Promise<number> => {
  const runs = await PlantedRuns.start();
  const judged: PlantedJudgement[] = [];
  const judge = async (
    name: string,
    breaks: string | null,
    violations: Promise<readonly Violation[]>,
  ): Promise<void> => {
    const named = [...new Set((await violations).map(({ invariant }) => invariant))];
    const isCaught = breaks === null ? named.length === 0 : named.some((invariant) => invariant === breaks);
    judged.push({ object: 'planted_bug', name, breaks, named, is_caught: isCaught });
    process.stderr.write(
      `${isCaught ? 'caught' : 'MISSED'}: ${name} (${breaks ?? 'clean'}): ${named.join(', ') || 'nothing'}\n`,
    );
  };
  try {
    const plans = PLANTED_BUGS.find((bug) => bug.plans !== undefined)?.plans ?? [];
    await Promise.all([
      judge('no bug, and no fault', null, runs.ofNone([])),
      judge('no bug, under a kill', null, runs.ofNone(plans)),
      ...PLANTED_BUGS.map((bug) => judge(bug.name, bug.breaks, runs.ofBug(bug))),
    ]);
  } finally {
    await runs.stop();
  }
  const missed = judged.filter(({ is_caught }) => !is_caught);
  for (const judgement of isJson ? judged : []) process.stdout.write(`${JSON.stringify(judgement)}\n`);
  if (!isJson) process.stdout.write(`${judged.length - missed.length} of ${judged.length} judged rightly.\n`);
  return missed.length === 0 ? EXIT.intact : EXIT.violated;
};

/** As the command line says errors: one sentence with the next step, or one object with `--json`. */
const failureText = (error: unknown, isJson: boolean): string => {
  const [code, message] =
    error instanceof UsageError
      ? ['usage', `${error.message}. Add --help to see how it is used.`]
      : ['run_failed', `The run failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  return isJson ? JSON.stringify({ object: 'error', code, message }) : message;
};

const main = async (): Promise<number> => {
  try {
    const asked = read(process.argv.slice(2));
    if (asked === null) {
      process.stdout.write(USAGE);
      return EXIT.intact;
    }
    return await (asked.isPlanted ? runPlanted(asked) : runKills(asked));
  } catch (error) {
    endProgress();
    process.stderr.write(`${failureText(error, process.argv.includes('--json'))}\n`);
    return EXIT.failed;
  }
};

process.exitCode = await main();
