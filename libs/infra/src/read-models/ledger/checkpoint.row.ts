import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INSTANT, TEXT } from '../columns.js';

/** A checkpoint that was signed. Of one size of one tree there is one. */
@Entity({ name: 'checkpoints' })
@Index('checkpoints_by_size', ['org', 'origin', 'size'])
export class CheckpointRow {
  /** {@link checkpointRowId} */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'origin' }) origin: string;
  @Column({ ...COUNT, name: 'size' }) size: number;
  /** As the note spells it. */
  @Column({ ...TEXT, name: 'root' }) root: string;
  @Column({ ...TEXT, name: 'note' }) note: string;
  @Column({ ...INSTANT, name: 'made_at' }) madeAt: Timestamp;
}

export const checkpointRowId = (origin: string, size: number): string => `${origin} ${size}`;
