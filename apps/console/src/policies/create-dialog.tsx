import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { Dialog, DialogFoot } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './policies.module.css';
import { usePolicyVersion, useReread, useSlots } from './queries.ts';

const READS = `# The first matching rule decides a call; a call without a matching rule is denied.
version: 1
default: deny
rules:
  - id: reads
    description: Reading changes nothing, so every agent may read
    match:
      side_effect: read
    decision: allow
`;

const NOTHING = `# The first matching rule decides a call; a call without a matching rule is denied.
version: 1
default: deny
`;

/** The source of the enforced version; null if there is none, or while it is loading. */
const useEnforcedSource = (): string | null => {
  const { data: slots } = useSlots();
  const slot = slots?.enforced ?? null;
  const { data: version } = usePolicyVersion(slot?.policy.id ?? '', slot?.policy_version ?? null);
  return version?.source ?? null;
};

/** Creates a policy with its first version, which decides nothing until it is enforced. */
export const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [start, setStart] = useState<'reads' | 'nothing' | 'copy'>('reads');
  const enforced = useEnforcedSource();
  const reread = useReread();
  const create = useChange(
    (wish: { readonly name: string; readonly source: string }, key) =>
      bodyOf(api.POST('/v1/policies', { params: { header: { 'Idempotency-Key': key } }, body: wish })),
    (policy) => {
      reread();
      onClose();
      navigate(`/policies/${policy.id}`);
    },
  );
  const source = start === 'copy' ? (enforced ?? READS) : start === 'reads' ? READS : NOTHING;
  const isName = create.error instanceof ApiError && create.error.param === 'name';
  return (
    <Dialog title="New policy" onClose={onClose}>
      <form
        className={styles['stack']}
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ name: name.trim(), source });
        }}
      >
        <label className={kit['label']}>
          Name{' '}
          <input
            className={kit['field']}
            maxLength={120}
            required
            data-first
            aria-invalid={isName}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <label className={kit['label']}>
          {' '}
          Start with{' '}
          <select
            className={kit['field']}
            value={start}
            onChange={({ target }) => setStart(target.value as 'reads' | 'nothing' | 'copy')}
          >
            <option value="reads">allow reads, deny everything else</option>
            <option value="nothing">deny every call</option>
            {enforced === null ? null : <option value="copy">copy of the enforced version</option>}
          </select>
        </label>
        <p className={kit['dim']}>The policy has no effect until you enforce a version.</p>
        {create.error === null ? null : <Failure error={create.error} />}
        <DialogFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={create.isPending || name.trim() === ''}>
            {create.isPending ? 'Creating …' : 'Create policy'}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
};
