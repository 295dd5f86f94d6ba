import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids and codes are bytes (COLLATE "C"). The projection fills the table from the start of the log. */
const UP = [
  `CREATE TABLE read_models.approvals (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    deed text COLLATE "C",
    folded text NOT NULL
  )`,
  `CREATE INDEX approvals_by_expiry ON read_models.approvals (org, expires_at, id)`,
  `CREATE INDEX approvals_by_status ON read_models.approvals (org, status, expires_at, id)`,
  `CREATE INDEX approvals_by_agent ON read_models.approvals (org, agent, expires_at, id)`,
  `CREATE INDEX approvals_by_tool ON read_models.approvals (org, tool, expires_at, id)`,
];

export class AddApprovals1795930000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE read_models.approvals`);
  }
}
