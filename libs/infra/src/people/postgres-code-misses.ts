import type pg from 'pg';
import {
  CodeMisses,
  MISSES_MAX,
  MISSES_PAUSE_MS,
  MISSES_PER_SITE,
  MISSES_WINDOW_MS,
  siteOf,
} from '#libs/domain/people';
import { answered } from '../postgres/index.js';

const MINUTE_MS = 60_000;

/** Rows of `people.code_misses`, one a minute and a site, of the whole deployment. */
export class PostgresCodeMisses extends CodeMisses {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async count(nowMs: number, network: string): Promise<void> {
    await answered(
      this.pool.query({
        name: 'code-miss',
        text: `insert into people.code_misses as known (minute, network, misses) values ($1, $2, 1)
               on conflict (minute, network) do update set misses = known.misses + 1`,
        values: [minuteOf(nowMs), siteOf(network)],
      }),
    );
  }

  override async areTooMany(nowMs: number): Promise<boolean> {
    const { rows } = await answered(
      this.pool.query<{ minute: string; network: string; misses: number }>({
        name: 'code-misses',
        text: `select minute, network, misses from people.code_misses where minute > $1`,
        values: [minuteOf(nowMs - MISSES_PAUSE_MS - MISSES_WINDOW_MS)],
      }),
    );
    const counted = rows.map(({ minute, ...of }) => ({ ...of, minute: Number(minute) }));
    const ends = new Set(counted.map(({ minute }) => minute).filter((end) => end > minuteOf(nowMs - MISSES_PAUSE_MS)));
    // The pause counts from the last minute at whose end too many had come within the window.
    return [...ends].some(
      (end) =>
        missesOf(counted.filter(({ minute }) => minute <= end && minute > end - MISSES_WINDOW_MS / MINUTE_MS)) >=
        MISSES_MAX,
    );
  }
}

const missesOf = (within: readonly { readonly network: string; readonly misses: number }[]): number => {
  const ofSites = new Map<string, number>();
  for (const { network, misses } of within) ofSites.set(network, (ofSites.get(network) ?? 0) + misses);
  return [...ofSites.values()].reduce((sum, misses) => sum + Math.min(misses, MISSES_PER_SITE), 0);
};

const minuteOf = (epochMs: number): number => Math.floor(epochMs / MINUTE_MS);
