import type { ActionBrief } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { JSON_TEXT, TEXT } from '../columns.js';

/** What the public events of an action say beyond their own event: a row of every action, since a witness may be amended. */
@Entity({ name: 'briefed_actions' })
export class BriefedActionRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: ActionId;
  @Column({ ...JSON_TEXT, name: 'brief' }) brief: ActionBrief;
}
