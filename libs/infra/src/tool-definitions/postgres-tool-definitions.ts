import type pg from 'pg';
import { type Digest, digestOf } from '#libs/crypto';
import {
  type DefinitionsPlace,
  type StoredDefinition,
  type ToolDefinition,
  ToolDefinitions,
} from '#libs/domain/connectors';
import type { ConnectorId, OrgId } from '#libs/domain/kernel';
import { answered } from '../postgres/index.js';

const PAGE_ROWS = 500;

interface PlaceRow {
  readonly connector: ConnectorId;
  readonly digest: Digest;
  readonly org: OrgId;
  readonly name: string;
}

/** Rows of `connectors.tool_definitions`. A column of type `text` holds every body: RFC 8785 escapes U+0000. */
export class PostgresToolDefinitions extends ToolDefinitions {
  /** @param pool commits durably: a definition must outlive the append that names it */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async put(
    { connector, org, name }: DefinitionsPlace,
    definitions: readonly ToolDefinition[],
  ): Promise<void> {
    if (definitions.length === 0) return;
    // Two tools of one list never have one definition, for it holds the name. Rows are written in one order, so that two
    // that write the same list wait for each other and never in a ring.
    const rows = [...definitions].sort((one, other) => (one.digest < other.digest ? -1 : 1));
    await answered(
      this.pool.query(
        `insert into connectors.tool_definitions (connector, org, name, digest, body)
           select $1, $2, $3, digest, body from unnest($4::text[], $5::text[]) as given (digest, body)
         on conflict (connector, digest) do update set body = excluded.body, written_at = now()`,
        [connector, org, name, rows.map(({ digest }) => digest), rows.map(({ body }) => body)],
      ),
    );
  }

  override async get(connector: ConnectorId, digests: readonly Digest[]): Promise<ReadonlyMap<Digest, string>> {
    if (digests.length === 0) return new Map();
    const { rows } = await answered(
      this.pool.query<{ digest: Digest; body: string }>(
        `select digest, body from connectors.tool_definitions where connector = $1 and digest = any($2::text[])`,
        [connector, digests],
      ),
    );
    // A damaged body is as good as none: the server is asked again, and writes it anew.
    return new Map(
      rows.filter(({ digest, body }) => digestOf(body) === digest).map(({ digest, body }) => [digest, body]),
    );
  }

  override async *olderThan(ageMs: number): AsyncIterable<StoredDefinition> {
    let last = { connector: '', digest: '' };
    for (;;) {
      const { rows }: { rows: PlaceRow[] } = await answered(
        this.pool.query<PlaceRow>(
          `select connector, digest, org, name from connectors.tool_definitions
            where (connector, digest) > ($1, $2) and written_at < now() - $3 * interval '1 millisecond'
            order by connector, digest limit ${PAGE_ROWS}`,
          [last.connector, last.digest, ageMs],
        ),
      );
      yield* rows;
      last = rows.at(-1) ?? last;
      if (rows.length < PAGE_ROWS) return;
    }
  }

  override async removeOlder({ connector, digest }: StoredDefinition, ageMs: number): Promise<void> {
    await answered(
      this.pool.query(
        `delete from connectors.tool_definitions where connector = $1 and digest = $2
           and written_at < now() - $3 * interval '1 millisecond'`,
        [connector, digest, ageMs],
      ),
    );
  }
}
