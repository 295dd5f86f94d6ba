import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids and codes are bytes (COLLATE "C"). The projection fills the table from the start of the log. */
const UP = [
  `CREATE TABLE read_models.security_events (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    via text COLLATE "C",
    why text COLLATE "C",
    created_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX security_events_by_time ON read_models.security_events (org, created_at, id)`,
];

export class AddSecurityEvents1795800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE read_models.security_events`);
  }
}
