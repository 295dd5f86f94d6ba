import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localPeriodAt, type PeriodKind } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

// PostgreSQL has its own rules of time zones and its own arithmetic. If both agree, probably neither is wrong.

const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
const [FROM_MS, TO_MS] = [Date.UTC(2024, 0, 1), Date.UTC(2026, 11, 31)];
const HOUR_MS = 3_600_000;
/** No zone changes its clocks twice within this time, except for Ramadan in Morocco, which lasts longer. */
const STEP_MS = 14 * 24 * HOUR_MS;

let database: TestDatabase;
let client: pg.Client;
let zones: readonly string[];
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  zones = await agreedZones();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const offsetReader = (timeZone: string): ((ms: number) => string) => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset', hour: 'numeric' });
  return (ms) => format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
};

/** The first instant after each change of the clocks. */
const changesOf = (timeZone: string): readonly number[] => {
  const offsetAt = offsetReader(timeZone);
  const changes: number[] = [];
  for (let since = FROM_MS; since < TO_MS; since += STEP_MS) {
    let [before, after] = [since, since + STEP_MS];
    if (offsetAt(before) === offsetAt(after)) continue;
    const offset = offsetAt(before);
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === offset) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
};

/** Instants around every change of a zone's clocks; for a zone that never changes them, one instant. */
const instantsAround = (timeZone: string): readonly number[] => {
  const changes = changesOf(timeZone);
  if (changes.length === 0) return [FROM_MS + 5 * HOUR_MS];
  const around = [-26, -12, -0.5, 0, 0.5, 12, 26].map((hours) => hours * HOUR_MS);
  return changes.flatMap((change) => [change - 1, ...around.map((ms) => change + ms)]);
};

const INSTANTS = new Map(ZONES.map((zone) => [zone, instantsAround(zone)]));
const instantsOf = (zone: string): readonly number[] => INSTANTS.get(zone) ?? [];

/** Selects the instants for which PostgreSQL's rules of the zone show the same local time. */
const SAME_WALL = `
  select a.place from unnest($1::text[], $2::float8[], $3::text[]) with ordinality as a (zone, ms, wall, place)
   where to_char(to_timestamp(a.ms / 1000.0) at time zone a.zone, 'YYYY-MM-DD HH24:MI:SS') = a.wall`;

/**
 * The most zones that may differ: the law of a zone may have changed so lately that only one of the two has the new
 * rules.
 */
const MAY_DIFFER = 5;

const agreedZones = async (): Promise<readonly string[]> => {
  const asked = ZONES.flatMap((zone) => {
    const wall = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    return instantsOf(zone).map((ms) => ({ zone, ms, wall: wall.format(ms) }));
  });
  const values = [asked.map(({ zone }) => zone), asked.map(({ ms }) => ms), asked.map(({ wall }) => wall)];
  const { rows } = await client.query<{ place: string }>(SAME_WALL, values);
  const same = new Set(rows.map(({ place }) => Number(place)));
  const different = new Set(asked.filter((_, index) => !same.has(index + 1)).map(({ zone }) => zone));
  expect(different.size).toBeLessThanOrEqual(MAY_DIFFER);
  return ZONES.filter((zone) => !different.has(zone));
};

/** Selects the periods that do not begin and end where `at time zone` and `date_trunc` do. */
const WRONG = `
  with asked as (
    select zone, label, to_timestamp(now_ms / 1000.0) as now, to_timestamp(starts_ms / 1000.0) as starts,
           to_timestamp(ends_ms / 1000.0) as ends
      from unnest($2::text[], $3::text[], $4::float8[], $5::float8[], $6::float8[])
           as a (zone, label, now_ms, starts_ms, ends_ms)
  ), told as (
    select *, date_trunc($1, now at time zone zone) as unit,
           date_trunc($1, starts at time zone zone) as first,
           date_trunc($1, (starts - interval '1 millisecond') at time zone zone) as before,
           date_trunc($1, (ends - interval '1 millisecond') at time zone zone) as last,
           date_trunc($1, ends at time zone zone) as after
      from asked
  )
  select zone, label, now, starts, ends from told
   where not (starts <= now and now < ends and first = unit and before < unit and last = unit and after > unit)
      or label <> $1 || ':' || to_char(unit, $7)`;

const FORMATS: Readonly<Record<Exclude<PeriodKind, 'hour'>, string>> = {
  day: 'YYYY-MM-DD',
  week: 'IYYY-"W"IW',
  month: 'YYYY-MM',
};

describe.each(Object.entries(FORMATS))('a %s', (kind, format) => {
  it('of every time zone begins and ends as in PostgreSQL, on all days of clock changes', async () => {
    const asked = zones.flatMap((zone) =>
      instantsOf(zone).map((nowMs) => ({ zone, nowMs, period: localPeriodAt(kind as PeriodKind, zone, nowMs) })),
    );
    expect(asked.length).toBeGreaterThan(5_000);
    const { rows } = await client.query(WRONG, [
      kind,
      asked.map(({ zone }) => zone),
      asked.map(({ period }) => period.label),
      asked.map(({ nowMs }) => nowMs),
      asked.map(({ period }) => period.startsMs),
      asked.map(({ period }) => period.endsMs),
      format,
    ]);
    expect(rows).toEqual([]);
  });
});
