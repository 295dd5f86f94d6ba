import type pg from 'pg';
import { type ConnectorTest, healthOf, type LiveConnector } from '#libs/domain/connectors';

/** So many connectors are looked at. */
const LIMIT = 1_000;

/** Names of active connectors by what their last test found. */
export interface ConnectorsState {
  readonly failing: readonly string[];
  readonly untested: readonly string[];
  readonly total: number;
}

/** How the active connectors of all organizations stand. Reads only. */
export const inspectConnectors = async (pool: pg.Pool): Promise<ConnectorsState> => {
  const { rows } = await pool.query<{ name: string; folded: string; test: string | null }>(
    `select c.name, c.folded, h.test from read_models.connectors c
       left join connectors.health h on h.connector = c.id
      where c.status = 'active' order by c.name, c.id limit ${LIMIT}`,
  );
  const stands = rows.map(({ name, folded, test }) => ({
    name,
    health: healthOf(JSON.parse(folded) as LiveConnector, test === null ? null : (JSON.parse(test) as ConnectorTest)),
  }));
  const namesOf = (wanted: (typeof stands)[number]['health']): readonly string[] =>
    stands.filter(({ health }) => health === wanted).map(({ name }) => name);
  return { failing: namesOf('failing'), untested: namesOf('not_tested'), total: rows.length };
};
