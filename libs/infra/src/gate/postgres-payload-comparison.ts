import type pg from 'pg';
import { answered, textArray } from '#libs/infra/postgres';
import { PayloadComparison, type NamedPayload, type PayloadFault } from '#libs/domain/gate';

/**
 * The server computes each digest as `digestOf` does: SHA-256 of the text in UTF-8. The lateral join looks up each row
 * by the primary key, one body at a time.
 */
const COMPARE = `
  select asked.place, stored.fits is null as is_missing
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (owner, kind, digest, place)
    left join lateral (
      select 'sha256:' || encode(sha256(convert_to(payload.body, 'UTF8')), 'hex') = asked.digest as fits
        from gate.payloads payload
       where (payload.owner, payload.kind, payload.digest) = (asked.owner, asked.kind, asked.digest) limit 1) stored on true
   where stored.fits is not true`;

export class PostgresPayloadComparison extends PayloadComparison {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async compare(named: readonly NamedPayload[]): Promise<readonly (PayloadFault | null)[]> {
    const { rows } = await answered(
      this.pool.query<{ place: string; is_missing: boolean }>(COMPARE, [
        textArray(named.map(({ owner }) => owner)),
        textArray(named.map(({ kind }) => kind)),
        textArray(named.map(({ digest }) => digest)),
      ]),
    );
    const faults = new Map<number, PayloadFault>(
      rows.map(({ place, is_missing }) => [Number(place), is_missing ? 'missing' : 'differs']),
    );
    return named.map((_, index) => faults.get(index + 1) ?? null);
  }
}
