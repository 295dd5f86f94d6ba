import { Injectable } from '@nestjs/common';
import { ConnectorHealth, healthOf, heldToolsIn, type LiveConnector, NAMED_BY_SERVER } from '#libs/domain/connectors';
import { Clock, type ConnectorId, type OrgId, type Timestamp } from '#libs/domain/kernel';
import {
  decoderNow,
  type DecoderRow,
  DecoderRows,
  type DecoderStatus,
  decoderStatusOf,
  isWitnessed,
} from '#libs/domain/witness';
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

/** A connector whose change log is not read, or only late. */
export interface BlindConnector {
  readonly id: string;
  readonly name: string;
  readonly status: DecoderStatus;
  readonly reason: string | null;
  /** Null where nobody can say. */
  readonly lagBytes: number | null;
  readonly since: Timestamp;
}

/** Most pressing first; those that are not here need nobody. */
const BLIND: readonly DecoderStatus[] = ['invalidated', 'down', 'degraded'];

/** A connector that the service disabled by itself. */
export interface DisabledConnector {
  readonly id: string;
  readonly name: string;
  /** What was seen, such as `livemode_detected`. */
  readonly reason: string;
  readonly since: Timestamp;
}

/** Connectors that need a person: active ones, and those that the service has disabled, since nobody else knows of these. */
@Injectable()
export class ConnectorsInNeed {
  constructor(
    private readonly readModels: ReadModels,
    private readonly health: ConnectorHealth,
    private readonly decoders: DecoderRows,
    private readonly clock: Clock,
  ) {}

  /** Those whose last test failed, and which have not changed since: the one that was tested last on top. */
  async failing(org: OrgId): Promise<readonly FailingConnector[]> {
    const tests = await this.health.failingIn(org);
    if (tests.length === 0) return [];
    const connectors = await this.byId(
      org,
      tests.map(({ connector }) => connector),
    );
    return tests.flatMap((test) => {
      const connector = connectors.get(test.connector);
      if (connector?.status !== 'active' || healthOf(connector, test) !== 'failing') return [];
      return [{ id: connector.id, name: connector.name, testedAt: test.testedAt }];
    });
  }

  /** Those that the service disabled for what it saw, the last one on top. */
  async disabled(org: OrgId): Promise<readonly DisabledConnector[]> {
    const rows = await this.readModels
      .of(org, ConnectorRow)
      .where(`row.status = 'disabled'`)
      .orderBy('name', 'ASC')
      .all();
    return rows
      .flatMap(({ id, name, folded: { disabledReason: reason, updatedAt: since } }) =>
        reason === null ? [] : [{ id, name, reason, since }],
      )
      .sort((one, other) => other.since.localeCompare(one.since));
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

  /** Those whose witness is to follow the change log of a database and does not, or is behind. */
  async blind(org: OrgId): Promise<readonly BlindConnector[]> {
    const nowMs = this.clock.nowMs();
    const rows = (await this.decoders.in(org)).map((row) => decoderNow(row, nowMs)).filter(isBlind);
    if (rows.length === 0) return [];
    const connectors = await this.byId(
      org,
      rows.map(({ connector }) => connector),
    );
    return rows
      .flatMap((row) => {
        const connector = connectors.get(row.connector);
        return connector !== undefined && isWitnessed(connector) ? [blindOf(row)] : [];
      })
      .sort((one, other) => BLIND.indexOf(one.status) - BLIND.indexOf(other.status));
  }

  private async byId(org: OrgId, ids: readonly ConnectorId[]): Promise<ReadonlyMap<ConnectorId, LiveConnector>> {
    const { rows } = await this.readModels
      .of(org, ConnectorRow)
      .where('row.id IN (:...ids)', { ids })
      .orderBy('id', 'ASC')
      .page(ids.length);
    return new Map(rows.map((row) => [row.id, row.folded]));
  }
}

const isBlind = ({ reason }: DecoderRow): boolean => BLIND.includes(decoderStatusOf(reason));

const blindOf = ({ connector: id, name, reason, lagBytes, since }: DecoderRow): BlindConnector => ({
  id,
  name,
  status: decoderStatusOf(reason),
  reason,
  lagBytes,
  since,
});
