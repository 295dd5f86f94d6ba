import { Column, Entity, PrimaryColumn } from 'typeorm';
import { INTEGER, TEXT } from './columns.js';

/** Every projection, by the name of its checkpoint. */
export const PROJECTION_NAMES = [
  'actions',
  'deeds',
  'connectors',
  'policies',
  'agents',
  'security_events',
  'public_events',
  'checkpoints',
] as const;
export type ProjectionName = (typeof PROJECTION_NAMES)[number];

/** Up to where a projection's rows tell the log. Moves in the transaction that writes the rows, and nowhere else. */
@Entity({ name: 'projection_checkpoints' })
export class ProjectionCheckpointRow {
  @PrimaryColumn({ ...TEXT, name: 'name' }) name: ProjectionName;
  /** The checkpoint is void under another store. */
  @Column({ ...TEXT, name: 'store_id' }) storeId: string;
  /** Of the projection's fold. The checkpoint is void under another one. */
  @Column({ ...INTEGER, name: 'version' }) version: number;
  /** A store position in decimal digits; -1 before the first event. */
  @Column({ type: 'bigint', name: 'position' }) position: string;
}
