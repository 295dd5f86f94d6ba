import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INSTANT, TEXT } from '../columns.js';

/** What a witness said of a checkpoint. Of one witness and size there is one. */
@Entity({ name: 'cosignatures' })
@Index('cosignatures_by_size', ['org', 'origin', 'size'])
export class CosignatureRow {
  /** {@link cosignatureRowId} */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'origin' }) origin: string;
  @Column({ ...COUNT, name: 'size' }) size: number;
  /** The digest of its verifier key. */
  @Column({ ...TEXT, name: 'witness' }) witness: Digest;
  @Column({ ...TEXT, name: 'name' }) name: string;
  @Column({ ...TEXT, name: 'line' }) line: string;
  @Column({ ...INSTANT, name: 'cosigned_at' }) cosignedAt: Timestamp;
}

export const cosignatureRowId = (origin: string, size: number, witness: Digest): string =>
  `${origin} ${size} ${witness}`;
