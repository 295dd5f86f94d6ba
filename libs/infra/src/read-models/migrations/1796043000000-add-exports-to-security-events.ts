import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An older projector leaves the column out; the newer one makes its rows anew. */
export class AddExportsToSecurityEvents1796043000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.security_events ADD COLUMN export text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.security_events DROP COLUMN export');
  }
}
