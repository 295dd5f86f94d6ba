import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nothing is required that an older projector leaves out; the newer one makes its rows anew. */
const UP = [
  `ALTER TABLE read_models.security_events ALTER COLUMN user_id DROP NOT NULL, ALTER COLUMN session DROP NOT NULL`,
  `ALTER TABLE read_models.security_events ADD COLUMN actor text, ADD COLUMN key text`,
];

const DOWN = [
  `DELETE FROM read_models.security_events WHERE user_id IS NULL OR session IS NULL`,
  `ALTER TABLE read_models.security_events DROP COLUMN actor, DROP COLUMN key`,
  `ALTER TABLE read_models.security_events ALTER COLUMN user_id SET NOT NULL, ALTER COLUMN session SET NOT NULL`,
];

export class WidenSecurityEvents1796042000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
