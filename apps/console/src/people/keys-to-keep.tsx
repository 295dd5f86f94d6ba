import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Time } from '../kit/kit.tsx';
import { beginOf, isOver, standOfKey } from './key-stand.ts';
import { everyAdminKey } from './queries.ts';

type AdminKey = Schemas['AdminKey'];

interface KeysOfMember {
  readonly keys: readonly AdminKey[];
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** The working admin keys that a member made, for admins and owners. */
export const useKeysOf = ({ user, status }: Schemas['Membership']): KeysOfMember => {
  const may = useMay('admin');
  const { data, error, refetch } = useQuery({ ...everyAdminKey, enabled: may && status === 'active' });
  const made = (data?.data ?? []).filter(({ created_by: by }) => by?.type === 'user' && by.id === user);
  return { keys: made.filter((key) => !isOver(standOfKey(key, serverNow()))), error, refetch };
};

/** What is removed together with the member, and a checkbox for each key that is to stay. */
export const KeysToKeep = ({
  keys: { keys, error, refetch },
  kept,
  onKeep,
}: {
  readonly keys: KeysOfMember;
  readonly kept: readonly string[];
  readonly onKeep: (kept: readonly string[]) => void;
}) => {
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (keys.length === 0) return null;
  return (
    <fieldset>
      <legend>Admin keys that this person made. Those without a check are revoked.</legend>
      {keys.map((key) => (
        <label key={key.id}>
          <input
            type="checkbox"
            checked={kept.includes(key.id)}
            onChange={({ target }) => onKeep(target.checked ? [...kept, key.id] : kept.filter((id) => id !== key.id))}
          />{' '}
          Keep <code>{beginOf(key)}…</code>, last used{' '}
          {key.last_used_at === null ? 'never' : <Time at={key.last_used_at} />}
        </label>
      ))}
    </fieldset>
  );
};
