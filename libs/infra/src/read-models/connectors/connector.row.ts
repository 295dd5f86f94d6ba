import type { ConnectorStatus, ConnectorType, LiveConnector } from '#libs/domain/connectors';
import type { ConnectorId, OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** A live connector, enabled or not; a deleted one has no row. Of its credential the log knows kind, field names and hint. */
@Entity({ name: 'connectors' })
@Index('connectors_by_time', ['org', 'createdAt', 'id'])
export class ConnectorRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: ConnectorId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'name' }) name: string;
  @Column({ ...TEXT, name: 'type' }) type: ConnectorType;
  @Column({ ...TEXT, name: 'status' }) status: ConnectorStatus;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
  /** What the stream's `evolve` made of it: config with tools, description, credential facts. */
  @Column({ ...JSON_TEXT, name: 'folded' }) folded: LiveConnector;
}
