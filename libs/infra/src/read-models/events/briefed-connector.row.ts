import type { ToolsBrief } from '#libs/domain/connectors';
import type { ConnectorId } from '#libs/domain/kernel';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { JSON_TEXT, TEXT } from '../columns.js';

/** What the public events of a connector say beyond their own event: a row of every live connector. */
@Entity({ name: 'briefed_connectors' })
export class BriefedConnectorRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: ConnectorId;
  @Column({ ...JSON_TEXT, name: 'brief' }) brief: ToolsBrief;
}
