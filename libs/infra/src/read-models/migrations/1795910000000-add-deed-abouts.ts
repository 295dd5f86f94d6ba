import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What each deed is about. An older projector leaves it out; the newer one makes its rows anew. */
export class AddDeedAbouts1795910000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.deeds ADD COLUMN about text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.deeds DROP COLUMN about');
  }
}
