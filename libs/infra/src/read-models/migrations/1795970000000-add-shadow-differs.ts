import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The default is for an older projector, which leaves the column out; the newer one makes its rows anew. */
const UP = [
  `ALTER TABLE read_models.actions ADD COLUMN shadow_differs boolean NOT NULL DEFAULT false`,
  `CREATE INDEX actions_shadow_differs ON read_models.actions (org, created_at, id) WHERE shadow_differs`,
];

export class AddShadowDiffers1795970000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_models.actions DROP COLUMN shadow_differs');
  }
}
