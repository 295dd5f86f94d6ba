import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids and codes are bytes (COLLATE "C"). The projection fills the table from the start of the log. */
const UP = [
  `CREATE TABLE read_models.hourly_counts (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    hour timestamptz(3) NOT NULL,
    agent text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    decision text COLLATE "C",
    source text COLLATE "C",
    rule_id text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    execution text COLLATE "C",
    verdict text COLLATE "C",
    level text COLLATE "C",
    actions bigint NOT NULL
  )`,
  `CREATE INDEX hourly_counts_by_hour ON read_models.hourly_counts (org, hour)`,
];

export class AddHourlyCounts1795950000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE read_models.hourly_counts`);
  }
}
