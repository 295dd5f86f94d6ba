import pg from 'pg';
import { canonicalize, digestOf, type Digest } from '#libs/crypto';
import { OPERATOR, type OrgId } from '#libs/domain/kernel';
import { compilePolicy, type CompiledPolicy } from '#libs/domain/policies';
import { type Replay, runReplay, ReplayWork, type ReplayUnderWay } from '#libs/domain/replays';
import { readModelSource, ActionRow } from '#libs/infra/read-models';
import { installSchemas, startedSchemas } from '#libs/infra/schemas';
import { PostgresRecordedCalls } from '#libs/infra/replays';
import { SystemClock } from '#libs/infra/runtime';
import { submission, TEST_ORG, testId, testTime } from '../support/given-log.js';
import { policyInput } from '../support/given-policy-input.js';
import { actionRow, writeRows } from '../support/given-rows.js';
import { openBenchStores } from './bench-stores.js';
import { absolute, print, say } from './figure.js';

const FEW = 20_000;
const MANY = 200_000;
const RULES = 20;
const MIB = 1024 * 1024;

/** Each rule is about another tool; the last one that matches has a condition. */
const SOURCE = [
  'version: 1',
  'default: deny',
  'rules:',
  ...Array.from({ length: RULES }, (_, number) =>
    [
      `  - id: rule-${number}`,
      '    match:',
      '      tools:',
      `        - ${number === RULES - 1 ? 'crm.*' : `tool${number}.*`}`,
      '    when: args.amount < 100 && agent.labels.team == "support"',
      '    decision: allow',
    ].join('\n'),
  ),
  '',
].join('\n');

/** Of some 680 bytes, as an ordinary call has them. */
const INPUT = canonicalize(policyInput({ args: { amount: 10, note: 'n'.repeat(440) } }));

/** Past actions a second that a version with 20 rules is asked about, and how flat the memory is over many of them. */
export const replaySpeed = async (): Promise<void> => {
  const stores = await openBenchStores('embedded');
  const pool = new pg.Pool({ connectionString: stores.connectionString, max: 2 });
  try {
    await installSchemas(stores.connectionString, startedSchemas(false));
    await fill(stores.connectionString, pool);
    const few = await replayed(pool, FEW);
    const many = await replayed(pool, MANY);
    print(absolute('replay_actions_per_second', many.perSecond, 'actions/s'), 'embedded');
    say(
      `resident after ${FEW} actions ${few.residentMib.toFixed(0)} MiB, after ${MANY} ${many.residentMib.toFixed(0)} MiB`,
    );
    print(absolute('replay_memory_growth', many.residentMib / few.residentMib, 'ratio'), 'embedded');
  } finally {
    await pool.end();
    await stores.close();
  }
};

const fill = async (connectionString: string, pool: pg.Pool): Promise<void> => {
  say(`${MANY} actions with their inputs ...`);
  const source = await readModelSource({
    connectionString,
    applicationName: 'ags bench',
    maxConnections: 1,
    statementTimeoutMs: 0,
    isDurable: false,
    onError: ({ message }) => say(`a connection was lost: ${message}`),
  }).initialize();
  const inputDigest = digestOf(INPUT);
  const folded = { ...actionRow(1).folded, submission: submission(1, { input_digest: inputDigest }) };
  await writeRows(source, ActionRow, [{ ...actionRow(1), id: testId('act', 1), folded }]);
  await source.destroy();
  await pool.query(
    `insert into read_models.actions select (jsonb_populate_record(a, jsonb_build_object(
         'id', 'act_' || lpad(n::text, 26, '0'), 'created_at', a.created_at + n * interval '1 millisecond'))).*
       from read_models.actions a, generate_series(2, $1::int) n`,
    [MANY],
  );
  await pool.query(
    `insert into gate.payloads (owner, kind, digest, org, body)
     select id, 'policy_input', $1, org, $2 from read_models.actions`,
    [inputDigest, INPUT],
  );
  await pool.query('vacuum analyze read_models.actions');
  await pool.query('vacuum analyze gate.payloads');
};

const replayed = async (pool: pg.Pool, actions: number) => {
  const work = new UnsavedWork(actions);
  const policy = compiled();
  const parts = {
    calls: new PostgresRecordedCalls(pool),
    policies: { load: () => Promise.resolve({ isUsable: true as const, policy }) },
    clock: new SystemClock(),
    pause: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  const begunMs = performance.now();
  const end = await runReplay(parts, work, new AbortController().signal);
  if (end !== 'succeeded' || work.judged !== actions) throw new Error(`the replay ${end} with ${work.judged} judged`);
  return {
    perSecond: (actions * 1000) / (performance.now() - begunMs),
    residentMib: process.memoryUsage.rss() / MIB,
  };
};

const compiled = (): CompiledPolicy => {
  const result = compilePolicy(SOURCE);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.policy;
};

/** A replay of the first actions, of which nothing is kept. */
class UnsavedWork extends ReplayWork {
  judged = 0;

  constructor(private readonly actions: number) {
    super();
  }

  override takeUp(): Promise<ReplayUnderWay> {
    const replay: Replay = {
      id: testId('rpl', 1),
      org: TEST_ORG satisfies OrgId,
      purpose: 'manual',
      policy: testId('pol', 1),
      versionId: testId('pv', 1),
      version: 1,
      inForce: null,
      from: testTime(0),
      to: testTime(1 + (this.actions + 1) / 1000),
      requestedBy: OPERATOR,
      total: this.actions,
      createdAt: testTime(0),
      status: 'running',
      done: 0,
      result: null,
      digest: null as Digest | null,
      errorCode: null,
      endedAt: null,
    };
    return Promise.resolve({ replay, cursor: null, sums: null, attempts: 1 });
  }

  override save(): Promise<boolean> {
    return Promise.resolve(true);
  }

  override succeed(...[, result]: Parameters<ReplayWork['succeed']>): Promise<boolean> {
    this.judged = result.judged;
    return Promise.resolve(true);
  }

  override fail(): Promise<boolean> {
    return Promise.resolve(true);
  }
}
