import type pg from 'pg';
import { answered } from '#libs/infra/postgres';
import { Liveness, type Beats } from '#libs/domain/gate';

/**
 * The table is unlogged: after a crash of the database server all rows are gone. That counts as a change of every row,
 * so silence is measured from then on.
 */
export class PostgresLiveness extends Liveness {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async beat(executor: string): Promise<void> {
    await answered(
      this.pool.query(
        `insert into gate.liveness (executor, beat) values ($1, 1)
       on conflict (executor) do update set beat = gate.liveness.beat + 1, beaten_at = now()`,
        [executor],
      ),
    );
  }

  override async read(): Promise<Beats> {
    const { rows } = await answered(
      this.pool.query<{ executor: string; beat: string }>(`select executor, beat from gate.liveness`),
    );
    return new Map(rows.map(({ executor, beat }) => [executor, Number(beat)]));
  }

  override async isAnyBeating(withinMs: number): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(`select from gate.liveness where beaten_at > now() - $1 * interval '1 millisecond' limit 1`, [
        withinMs,
      ]),
    );
    return rowCount === 1;
  }

  override async remove(executor: string): Promise<void> {
    await answered(this.pool.query(`delete from gate.liveness where executor = $1`, [executor]));
  }

  override async removeForgotten(silentForMs: number): Promise<number> {
    const { rowCount } = await answered(
      this.pool.query(`delete from gate.liveness where beaten_at < now() - $1 * interval '1 millisecond'`, [
        silentForMs,
      ]),
    );
    return rowCount ?? 0;
  }
}
