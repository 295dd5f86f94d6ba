import { Injectable } from '@nestjs/common';
import { ConnectorHealth, healthOf } from '#libs/domain/connectors';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { ConnectorRow, ReadModels } from '#libs/infra/read-models';

/** A connector that fails its test, as it is now. */
export interface FailingConnector {
  readonly id: string;
  readonly name: string;
  readonly testedAt: Timestamp;
}

/** Active connectors whose last test failed, and which have not changed since. */
@Injectable()
export class FailingConnectors {
  constructor(
    private readonly readModels: ReadModels,
    private readonly health: ConnectorHealth,
  ) {}

  /** The one that was tested last on top. */
  async of(org: OrgId): Promise<readonly FailingConnector[]> {
    const tests = await this.health.failingIn(org);
    if (tests.length === 0) return [];
    const ids = tests.map(({ connector }) => connector);
    const { rows } = await this.readModels
      .of(org, ConnectorRow)
      .where('row.id IN (:...ids)', { ids })
      .orderBy('id', 'ASC')
      .page(ids.length);
    const connectors = new Map(rows.map((row) => [row.id, row.folded]));
    return tests.flatMap((test) => {
      const connector = connectors.get(test.connector);
      if (connector?.status !== 'active' || healthOf(connector, test) !== 'failing') return [];
      return [{ id: connector.id, name: connector.name, testedAt: test.testedAt }];
    });
  }
}
