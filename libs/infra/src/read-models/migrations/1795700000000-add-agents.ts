import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids, names and codes are bytes (COLLATE "C"). The projection fills the table from the start of the log. */
const UP = [
  `CREATE TABLE read_models.agents (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at timestamptz(3) NOT NULL,
    folded text NOT NULL
  )`,
  `CREATE INDEX agents_by_time ON read_models.agents (org, created_at, id)`,
];

export class AddAgents1795700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE read_models.agents`);
  }
}
