import { Injectable } from '@nestjs/common';
import { ConnectorHealth, healthOf, heldToolsIn, NAMED_BY_SERVER } from '#libs/domain/connectors';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { ConnectorRow, ReadModels } from '#libs/infra/read-models';

/** A connector that fails its test, as it is now. */
export interface FailingConnector {
  readonly id: string;
  readonly name: string;
  readonly testedAt: Timestamp;
}

/** A connector with tools that wait for an admin, and how many these are. */
export interface HeldConnector {
  readonly id: string;
  readonly name: string;
  readonly tools: number;
}

/** Active connectors that need a person. Agents are refused by a disabled one in any case. */
@Injectable()
export class ConnectorsInNeed {
  constructor(
    private readonly readModels: ReadModels,
    private readonly health: ConnectorHealth,
  ) {}

  /** Those whose last test failed, and which have not changed since: the one that was tested last on top. */
  async failing(org: OrgId): Promise<readonly FailingConnector[]> {
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

  /** Those whose server names tools that nobody has accepted: the one with the most of them on top. */
  async held(org: OrgId): Promise<readonly HeldConnector[]> {
    const rows = await this.readModels
      .of(org, ConnectorRow)
      .where(`row.status = 'active' AND row.type = ANY(:types)`, { types: NAMED_BY_SERVER })
      .orderBy('name', 'ASC')
      .all();
    return rows
      .map(({ id, name, folded }) => ({ id, name, tools: heldToolsIn(folded.discovered) }))
      .filter(({ tools }) => tools > 0)
      .sort((one, other) => other.tools - one.tools);
  }
}
