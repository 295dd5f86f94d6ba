import { DomainError, type CommandMetadata, type Decider, type Timestamp } from '../kernel/index.js';
import type { CheckpointKeyEvent } from './checkpoint-key.events.js';

/** The one stream of checkpoint keys of the deployment. */
export const CHECKPOINT_KEYS_STREAM = 'checkpointkeys';

export interface CheckpointKey {
  readonly publicKey: string;
  readonly activatedAt: Timestamp;
  readonly retiredAt: Timestamp | null;
}

/** Oldest first, as `checkpoint-keys.json` lists them. */
export type CheckpointKeys = readonly CheckpointKey[];

export interface RegisterCheckpointKey {
  readonly type: 'RegisterCheckpointKey';
  readonly data: {
    readonly publicKey: string;
    /** When the others retire. Null: it is registered only where no other key signs, as at the first need. */
    readonly othersRetireAt: Timestamp | null;
  };
  readonly metadata: CommandMetadata;
}

/**
 * The keys that sign now: all that are not retired, so a rotation has two lines while both are valid. A clock that was set
 * back to before an activation is no reason to sign nothing.
 */
export const signingCheckpointKeys = (keys: CheckpointKeys, now: Timestamp): CheckpointKeys =>
  keys.filter(({ retiredAt }) => retiredAt === null || now < retiredAt);

const decide = (
  { data: { publicKey, othersRetireAt }, metadata: { now: at } }: RegisterCheckpointKey,
  keys: CheckpointKeys,
): readonly CheckpointKeyEvent[] => {
  if (keys.some((key) => key.publicKey === publicKey)) {
    throw new DomainError('conflict', { message: 'This checkpoint key is registered already.' });
  }
  const signing = signingCheckpointKeys(keys, at);
  if (othersRetireAt === null && signing.length > 0) return [];
  const retired = signing.flatMap((key): CheckpointKeyEvent[] =>
    key.retiredAt !== null || othersRetireAt === null
      ? []
      : [{ type: 'CheckpointKeyRetired', data: { public_key: key.publicKey, retired_at: othersRetireAt, at } }],
  );
  return [{ type: 'CheckpointKeyRegistered', data: { public_key: publicKey, activated_at: at, at } }, ...retired];
};

const evolve = (keys: CheckpointKeys, event: CheckpointKeyEvent): CheckpointKeys => {
  switch (event.type) {
    case 'CheckpointKeyRegistered': {
      const { public_key: publicKey, activated_at: activatedAt } = event.data;
      return [...keys, { publicKey, activatedAt, retiredAt: null }];
    }
    case 'CheckpointKeyRetired': {
      const { public_key: publicKey, retired_at: retiredAt } = event.data;
      return keys.map((key) => (key.publicKey === publicKey ? { ...key, retiredAt } : key));
    }
  }
};

export const checkpointKeyDecider: Decider<CheckpointKeys, RegisterCheckpointKey, CheckpointKeyEvent> = {
  category: CHECKPOINT_KEYS_STREAM,
  eventTypes: { CheckpointKeyRegistered: true, CheckpointKeyRetired: true },
  initialState: () => [],
  decide,
  evolve,
};
