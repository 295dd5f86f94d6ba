import type pg from 'pg';
import { answered, installSchema } from '#libs/infra/postgres';
import { KeyDirectory, type KeyHolder } from '#libs/domain/agents';
import type { AgentId, OrgId } from '#libs/domain/kernel';

const STATEMENTS = [
  `create schema if not exists agents`,
  `create table if not exists agents.key_prefixes (prefix text primary key, org text not null, agent text)`,
];

export const installKeySchema = (pool: pg.Pool): Promise<void> => installSchema(pool, 'key', STATEMENTS);

/** A prefix never changes hands, so what was found once is remembered. */
export class PostgresKeyDirectory extends KeyDirectory {
  private readonly found = new Map<string, KeyHolder>();

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
}

const holderOf = ({ org, agent }: { org: OrgId; agent: AgentId | null }): KeyHolder =>
  agent === null ? { kind: 'org', org } : { kind: 'agent', org, agent };
