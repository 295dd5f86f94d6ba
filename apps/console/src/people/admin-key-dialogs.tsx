import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { takeSecret } from '../kernel/secret.ts';
import { Choices } from '../kit/field.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { type Overlap, OverlapChoice } from '../kit/overlap.tsx';
import { beginOf } from './key-stand.ts';

type AdminKey = Schemas['AdminKey'];

/** A key that was just made. */
export interface MadeKey {
  /** Null if the answer that held it was lost. */
  readonly secret: string | null;
  /** Whether it replaces another key. */
  readonly replaced: boolean;
}

interface Making {
  readonly onMade: (made: MadeKey) => void;
  readonly onClose: () => void;
}

const MODES = [
  { value: 'live', name: 'Live', about: 'For production. Starts with svc_live_.' },
  { value: 'test', name: 'Test', about: 'Only a mark: changes are as real as with a live key. Starts with svc_test_.' },
] as const;

export const CreateKey = ({ onMade, onClose }: Making) => {
  const [mode, setMode] = useState<'live' | 'test'>('live');
  const create = useChange(async (livemode: boolean, key) => {
    const params = { header: { 'Idempotency-Key': key } };
    const { secret } = takeSecret(await bodyOf(api.POST('/v1/org/keys', { params, body: { livemode } })));
    onMade({ secret, replaced: false });
  });
  return (
    <FormDialog
      title="New admin key"
      action="Create admin key"
      busy="Creating …"
      isPending={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate(mode === 'live')}
      onClose={onClose}
    >
      <p>
        An admin key sets up agents, connectors and policies without a person. An admin key cannot decide approvals or
        create other admin keys.
      </p>
      <Choices legend="Kind" chosen={mode} onChoose={setMode} of={MODES} />
    </FormDialog>
  );
};

export const RollKey = ({ of: old, onMade, onClose }: Making & { readonly of: AdminKey }) => {
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const roll = useChange(async (seconds: number, key) => {
    const params = { path: { id: old.id }, header: { 'Idempotency-Key': key } };
    const { secret } = takeSecret(
      await bodyOf(api.POST('/v1/org/keys/{id}/roll', { params, body: { overlap_seconds: seconds } })),
    );
    onMade({ secret, replaced: true });
  });
  return (
    <FormDialog
      title={`Roll ${beginOf(old)}…`}
      action="Roll key"
      busy="Rolling …"
      isPending={roll.isPending}
      error={roll.error}
      onSubmit={() => roll.mutate(Number(overlap))}
      onClose={onClose}
    >
      <p>The new key works immediately. Update your program before the old key stops working.</p>
      <OverlapChoice chosen={overlap} onChoose={setOverlap} />
    </FormDialog>
  );
};

export const RevokeKey = ({
  of: key,
  onDone,
  onClose,
}: {
  readonly of: AdminKey;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) => {
  const revoke = useChange(
    (id: string) => bodyOf(api.DELETE('/v1/org/keys/{id}', { params: { path: { id } } })),
    onDone,
  );
  return (
    <FormDialog
      title={`Revoke ${beginOf(key)}…`}
      action="Revoke key"
      busy="Revoking …"
      kind="stop"
      isPending={revoke.isPending}
      error={revoke.error}
      onSubmit={() => revoke.mutate(key.id)}
      onClose={onClose}
    >
      <p>
        Requests with this key are denied from now on, and invitations created with it are void. This cannot be undone.
      </p>
    </FormDialog>
  );
};
