import type pg from 'pg';
import { idOf, type AgentId, type OrgId, type Randomness, type UserId } from '#libs/domain/kernel';
import { answered, sqlStateOf } from '../postgres/index.js';
import { installSchemas } from '../schemas/index.js';

const NO_SUCH_TABLE = '42P01';

export interface FirstIds {
  readonly org: OrgId;
  readonly owner: UserId;
  readonly agent: AgentId;
}

/**
 * Which organization, owner and agent the first start makes. The row comes before their events, so a preparation that
 * was interrupted goes on with the same ones, and of two racing preparations both make the same.
 */
export const firstIds = async (pool: pg.Pool, randomness: Randomness): Promise<FirstIds> => {
  await installSchemas(pool, ['first_organization']);
  await pool.query(
    `insert into agents.first_organization (org, owner, agent) values ($1, $2, $3) on conflict do nothing`,
    [idOf('org', randomness.bytes(16)), idOf('usr', randomness.bytes(16)), idOf('agt', randomness.bytes(16))],
  );
  const { rows } = await pool.query<FirstIds>(`select org, owner, agent from agents.first_organization`);
  return rows[0] as FirstIds;
};

/** Whether anything was prepared here. A program that was started before finds every other table, or makes it. */
export const isInitialized = async (pool: pg.Pool): Promise<boolean> => {
  try {
    const { rowCount } = await answered(pool.query(`select from agents.first_organization`));
    return rowCount === 1;
  } catch (error) {
    if (sqlStateOf(error) === NO_SUCH_TABLE) return false;
    throw error;
  }
};
