import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids and references are bytes (COLLATE "C"). An older projector leaves the columns out; the newer one makes its rows anew. */
const UP = [
  `ALTER TABLE read_models.actions
    ADD COLUMN rule_id text COLLATE "C",
    ADD COLUMN session text COLLATE "C",
    ADD COLUMN execution text COLLATE "C"`,
  `CREATE INDEX actions_by_rule ON read_models.actions (org, rule_id, created_at, id) WHERE rule_id IS NOT NULL`,
  `CREATE INDEX actions_by_session ON read_models.actions (org, session, created_at, id) WHERE session IS NOT NULL`,
  `CREATE INDEX actions_by_execution ON read_models.actions (org, execution, created_at, id)
    WHERE execution <> 'succeeded'`,
];

export class AddActionFilters1795920000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE read_models.actions DROP COLUMN rule_id, DROP COLUMN session, DROP COLUMN execution',
    );
  }
}
