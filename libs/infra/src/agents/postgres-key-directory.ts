import type pg from 'pg';
import { answered, sqlStateOf } from '#libs/infra/postgres';
import { KEY_TOUCH_MS, KeyDirectory, type KeyHolder } from '#libs/domain/agents';
import type { AgentId, OrgId } from '#libs/domain/kernel';

const NO_SUCH_COLUMN = '42703';

/** A prefix never changes hands, so what was found once is remembered. */
export class PostgresKeyDirectory extends KeyDirectory {
  private readonly found = new Map<string, KeyHolder>();
  /** When this process last wrote that a key is used. */
  private readonly noted = new Map<string, number>();
  private readonly writing = new Set<Promise<unknown>>();

  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async find(prefix: string): Promise<KeyHolder | null> {
    const known = this.found.get(prefix);
    if (known) return known;
    const { rows } = await answered(
      this.pool.query<{ org: OrgId; agent: AgentId | null }>({
        name: 'key-prefix-find',
        text: `select org, agent from agents.key_prefixes where prefix = $1`,
        values: [prefix],
      }),
    );
    const row = rows[0];
    if (!row) return null;
    const holder = holderOf(row);
    this.found.set(prefix, holder);
    return holder;
  }

  /** Everyone a key was ever made for. A row without its event counts for nothing: look at the streams. */
  async holders(): Promise<readonly KeyHolder[]> {
    const { rows } = await answered(
      this.pool.query<{ org: OrgId; agent: AgentId | null }>(
        `select distinct org, agent from agents.key_prefixes order by org, agent nulls first`,
      ),
    );
    return rows.map(holderOf);
  }

  /** Of everyone a key was ever made for: no other organization has an action. Which streams to ask, and no more. */
  async organizations(): Promise<readonly OrgId[]> {
    const { rows } = await answered(
      this.pool.query<{ org: OrgId }>(`select distinct org from agents.key_prefixes order by org`),
    );
    return rows.map(({ org }) => org);
  }

  override async claim(prefix: string, holder: KeyHolder): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(
        `insert into agents.key_prefixes (prefix, org, agent) values ($1, $2, $3) on conflict do nothing`,
        [prefix, holder.org, holder.kind === 'agent' ? holder.agent : null],
      ),
    );
    return rowCount === 1;
  }

  override noteUse(prefix: string, nowMs: number): void {
    const notedMs = this.noted.get(prefix);
    if (notedMs !== undefined && nowMs - notedMs < KEY_TOUCH_MS) return;
    // Also where the row cannot be written now: the next use after a while says it.
    this.noted.set(prefix, nowMs);
    // What cannot be written is missing from a list of keys; whoever uses the key is answered all the same.
    const written = this.writeUse(prefix, nowMs)
      .catch(() => undefined)
      .finally(() => this.writing.delete(written));
    this.writing.add(written);
  }

  override async lastUses(prefixes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    await Promise.all(this.writing);
    const { rows } = await answered(
      this.pool
        .query<{ prefix: string; last_used_ms: string }>(
          `select prefix, last_used_ms from agents.key_prefixes where prefix = any($1) and last_used_ms is not null`,
          [prefixes],
        )
        .catch((error: unknown) => {
          // A database that an older service prepared: nothing is known of uses.
          if (sqlStateOf(error) === NO_SUCH_COLUMN) return { rows: [] };
          throw error;
        }),
    );
    return new Map(rows.map(({ prefix, last_used_ms: ms }) => [prefix, Number(ms)]));
  }

  /** Several processes write it: the latest use counts. */
  private async writeUse(prefix: string, nowMs: number): Promise<void> {
    await this.pool.query({
      name: 'key-prefix-use',
      text: `update agents.key_prefixes set last_used_ms = $2
             where prefix = $1 and (last_used_ms is null or last_used_ms < $2)`,
      values: [prefix, nowMs],
    });
  }
}

const holderOf = ({ org, agent }: { org: OrgId; agent: AgentId | null }): KeyHolder =>
  agent === null ? { kind: 'org', org } : { kind: 'agent', org, agent };
