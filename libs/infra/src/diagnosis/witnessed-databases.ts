import type pg from 'pg';
import { type ConnectorTest, healthOf, type LiveConnector } from '#libs/domain/connectors';

/** So many connectors are looked at. */
const LIMIT = 1_000;

/** How the active connectors of type `database` stand, by the word of what is stored. Nobody is asked for it. */
export interface DatabaseState {
  readonly name: string;
  readonly health: ReturnType<typeof healthOf>;
  /** What its last test did not pass. Empty where there was none, or it is of another config or credential. */
  readonly failed: readonly { readonly check: string; readonly detail: string }[];
  readonly isWitnessed: boolean;
  /** Null where no decoder has looked yet. */
  readonly decoder: DecoderState | null;
}

export interface DecoderState {
  /** Null where nothing is wrong. */
  readonly reason: string | null;
  /** What the slot keeps for it; null where nobody could say. */
  readonly lagBytes: number | null;
  /** When it looked last. */
  readonly seenMs: number;
}

interface StoredConnector {
  readonly name: string;
  readonly folded: string;
  readonly test: string | null;
  readonly decoder: {
    readonly reason: string | null;
    readonly lag_bytes: number | null;
    readonly seen_ms: number;
  } | null;
}

/** Active connectors to databases, of all organizations. Reads only. */
export const inspectDatabases = async (pool: pg.Pool): Promise<readonly DatabaseState[]> => {
  // An older schema has none of them yet: the next start makes what is missing.
  const { rows: found } = await pool.query<{ has_connectors: boolean; has_decoders: boolean }>(
    `select to_regclass('read_models.connectors') is not null and to_regclass('connectors.health') is not null
       as has_connectors, to_regclass('connectors.decoders') is not null as has_decoders`,
  );
  if (!found[0]?.has_connectors) return [];
  const decoder = found[0].has_decoders
    ? `(select jsonb_build_object('reason', d.reason, 'lag_bytes', d.lag_bytes, 'seen_ms', d.seen_ms)
          from connectors.decoders d where d.connector = c.id)`
    : 'null::jsonb';
  const { rows } = await pool.query<StoredConnector>(
    `select c.name, c.folded, h.test, ${decoder} as decoder from read_models.connectors c
       left join connectors.health h on h.connector = c.id
      where c.status = 'active' and c.type = 'database'
      order by c.name, c.id limit ${LIMIT}`,
  );
  return rows.map(stateOf);
};

const stateOf = ({ name, folded, test, decoder }: StoredConnector): DatabaseState => {
  const connector = JSON.parse(folded) as LiveConnector;
  const last = test === null ? null : (JSON.parse(test) as ConnectorTest);
  const health = healthOf(connector, last);
  const failed = health === 'not_tested' ? [] : (last?.checks ?? []).filter(({ status }) => status === 'failed');
  return {
    name,
    health,
    failed: failed.map(({ check, detail }) => ({ check, detail })),
    isWitnessed: (connector.config['witness'] as { enabled?: unknown } | undefined)?.enabled === true,
    decoder: decoder && { reason: decoder.reason, lagBytes: decoder.lag_bytes, seenMs: decoder.seen_ms },
  };
};
