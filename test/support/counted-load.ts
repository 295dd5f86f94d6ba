import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import { CHANGE_LOG_REASONS } from '#libs/domain/gate';
import type { Answer } from './service.js';
import type { WitnessedShop } from './witnessed-shop.js';

const CALLS_MAX = 20_000;
const SETTLED_WITHIN_MS = 60_000;

/** Tables of which each call changes the rows that have its number: no constraint hides a row that is there twice. */
const TABLES = `
create table ledger (row bigint generated always as identity primary key, call int not null);
create table tallies (call int primary key, hits int not null default 0);
insert into tallies select n from generate_series(0, ${CALLS_MAX}) n`;

interface Write {
  readonly sql: string;
  /** Rows in the ledger, and hits: of a call that was executed once. */
  readonly done: string;
}

const WRITES: readonly [Write, Write, Write] = [
  { sql: 'insert into ledger (call) values ($1)', done: '1 0' },
  { sql: 'update tallies set hits = hits + 1 where call = $1', done: '0 1' },
  {
    sql: 'with hit as (update tallies set hits = hits + 1 where call = $1 returning call) insert into ledger (call) select call from hit',
    done: '1 1',
  },
];
const NOTHING = '0 0';
const writeOf = (call: number): Write => WRITES[call % WRITES.length] as Write;

/** What became of a call, by the service and by the rows. */
export interface Counted {
  readonly call: number;
  readonly action: string;
  readonly outcome: string;
  readonly errorCode: string | null;
  readonly verdict: string | null;
  readonly reasons: readonly string[];
  readonly isDone: boolean;
}

/** Callers that never give up: each call is sent again with its key until it is answered. */
export class CountedLoad {
  readonly actions = new Map<number, string>();
  private calls = 0;
  private executed = 0;
  private isOver = false;
  private callers: Promise<unknown> = Promise.resolve();

  constructor(private readonly shop: WitnessedShop) {}

  static async prepare(shop: WitnessedShop): Promise<CountedLoad> {
    await shop.owner.query(TABLES);
    await shop.owner.query(`grant select, insert, update on ledger, tallies to ${shop.role}`);
    return new CountedLoad(shop);
  }

  publish(): Promise<unknown> {
    return this.shop.owner.query(`alter publication ${this.shop.publication} add table ledger, tallies`);
  }

  begin(callers: number): void {
    this.callers = Promise.all(Array.from({ length: callers }, () => this.goOn()));
  }

  /** Begins nothing more. Resolves when every call has an action. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.callers;
  }

  /** Resolves when so many more calls were executed. */
  async more(count: number): Promise<void> {
    const wanted = this.executed + count;
    const isThere = (): void => {
      if (this.executed < wanted) throw new Error(`${this.executed} of ${wanted} calls were executed`);
    };
    await vi.waitFor(isThere, { timeout: SETTLED_WITHIN_MS, interval: 10 });
  }

  /**
   * Every call, once all of them are sealed.
   * @param owner connected to the database: the rows are counted past the service
   */
  async counted(owner: Pick<WitnessedShop['owner'], 'query'>): Promise<readonly Counted[]> {
    const ended = new Map<number, Answer['json']>();
    for (const [call, action] of this.actions) ended.set(call, await this.sealed(action));
    const { rows } = await owner.query<{ call: number; rows: string; hits: string }>(
      `select call, (select count(*) from ledger where ledger.call = tallies.call)::text as rows, hits::text from tallies`,
    );
    const found = new Map(rows.map((row) => [row.call, `${row.rows} ${row.hits}`]));
    return [...ended].map(([call, answer]) => countedOf(call, answer, found.get(call) ?? ''));
  }

  private async sealed(action: string): Promise<Answer['json']> {
    const ask = async (): Promise<Answer['json']> => {
      const json = await this.shop.asAdmin('GET', `/v1/actions/${action}`);
      if (json['state'] !== 'sealed') throw new Error(`${action} is ${String(json['state'])}`);
      return json;
    };
    return vi.waitFor(ask, { timeout: SETTLED_WITHIN_MS, interval: 50 });
  }

  private async goOn(): Promise<void> {
    while (!this.isOver && this.calls < CALLS_MAX) await this.untilAnswered((this.calls += 1));
  }

  private async untilAnswered(call: number): Promise<void> {
    const body = { tool: 'shop.execute', args: { sql: writeOf(call).sql, params: [call] }, wait: 5 };
    const headers = { 'Idempotency-Key': `call ${call}` };
    for (;;) {
      const { service } = this.shop;
      const sent = service.call('POST', '/v1/actions', { key: service.agentKey, body, headers });
      const answer = await sent.catch(() => null);
      if (answer !== null && answer.status < 300) {
        this.actions.set(call, String(answer.json['id']));
        if (answer.json['status'] === 'executed') this.executed += 1;
        return;
      }
      await delay(25);
    }
  }
}

const countedOf = (call: number, answer: Answer['json'], found: string): Counted => {
  if (found !== NOTHING && found !== writeOf(call).done)
    throw new Error(`call ${call} is in rows and hits as ${found}`);
  const execution = answer['execution'] as { readonly status: string; readonly error_code: string | null };
  const witness = answer['witness'] as { readonly verdict: string; readonly reasons: readonly string[] } | null;
  return {
    ...{ call, action: String(answer['id']), outcome: execution.status, errorCode: execution.error_code ?? null },
    ...{ verdict: witness?.verdict ?? null, reasons: witness?.reasons ?? [], isDone: found !== NOTHING },
  };
};

/** Every way in which what the service says of a call is not what the rows say. */
export const contradictionsIn = (counted: readonly Counted[]): readonly string[] =>
  counted.flatMap(({ call, action, outcome, errorCode, verdict, reasons, isDone }) => {
    const word = `call ${call}, ${action}: ${outcome} ${errorCode ?? ''} ${verdict ?? ''} ${reasons.join()}, ${isDone ? 'done' : 'not done'}`;
    const isClosed = reasons.every((reason) => (CHANGE_LOG_REASONS as readonly string[]).includes(reason));
    const isAsSaid = outcome === 'unknown' || (outcome === 'succeeded') === isDone;
    const isProven = verdict !== 'VERIFIED' || isDone;
    return isAsSaid && isProven && isClosed && verdict !== 'MISMATCH' ? [] : [word];
  });

/** How many calls ended in each way. */
export const endsOf = (counted: readonly Counted[]): Readonly<Record<string, number>> => {
  const ends: Record<string, number> = {};
  for (const { outcome, errorCode, verdict, reasons } of counted) {
    const end = [outcome, errorCode, verdict, ...reasons].filter((word) => word !== null).join(' ');
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return ends;
};
