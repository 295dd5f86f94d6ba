import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The projection fills the table from the start of the log. */
const UP = [
  `CREATE TABLE read_models.hourly_totals (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    hour timestamptz(3) NOT NULL,
    decision text COLLATE "C",
    source text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    verdict text COLLATE "C",
    actions bigint NOT NULL
  )`,
  `CREATE INDEX hourly_totals_by_hour ON read_models.hourly_totals (org, hour)`,
];

export class AddHourlyTotals1796030000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE read_models.hourly_totals`);
  }
}
