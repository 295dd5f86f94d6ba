import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids are bytes (COLLATE "C"). An older projector leaves the column out; the newer one makes its rows anew. */
const UP = [
  `ALTER TABLE read_models.actions ADD COLUMN key text COLLATE "C"`,
  `CREATE INDEX actions_by_key ON read_models.actions (org, key, created_at, id)`,
];

export class AddActionKeys1796040000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.actions DROP COLUMN key');
  }
}
