import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { REASON_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { ApiError } from '../kernel/errors.ts';
import { useSession } from '../kernel/session.tsx';
import { Dialog, DialogFoot } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Said, Time, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { PreviewInShort } from './preview-in-short.tsx';
import { useReread, useSlots } from './queries.ts';
import { Who } from '../kit/who.tsx';

type Mode = Schemas['PolicyMode'];
type Slot = Schemas['PolicySlot'];

interface ActivateProps {
  readonly policy: Schemas['Policy'];
  readonly version: Schemas['PolicyVersion'];
  readonly mode: Mode;
  readonly onClose: () => void;
}

/** The field for a reason, which the deed of the change holds. */
const Reason = ({
  reason,
  onChange,
  isBad,
}: {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
  readonly isBad: boolean;
}) => (
  <label className={kit['label']}>
    Reason, sealed in the deed (optional)
    <input
      className={kit['field']}
      maxLength={REASON_TEXT_MAX_LENGTH}
      aria-invalid={isBad}
      value={reason}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);

const isAbout = (error: Error | null, param: string): boolean => error instanceof ApiError && error.param === param;

/** Puts a version into a slot. Says first what that changes, and for whom. */
export const SlotDialog = ({ policy, version, mode, onClose }: ActivateProps) => {
  const { data: slots, error, refetch } = useSlots();
  const title = mode === 'enforce' ? `Enforce version ${version.version}` : `Run version ${version.version} in shadow`;
  return (
    <Dialog title={title} onClose={onClose}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {slots === undefined ? (
        error === null && <Bones count={2} />
      ) : (
        <Activate policy={policy} version={version} mode={mode} slots={slots} onClose={onClose} />
      )}
    </Dialog>
  );
};

interface Wish {
  readonly reason: string;
  /** The id of the policy whose version has to leave the shadow slot first; null if none has to. */
  readonly leaves: string | null;
}

/**
 * Activates a version, after it has emptied the shadow slot if another version holds it. Each of the two requests has a
 * deed and an idempotency key of its own, so that the whole can be retried.
 */
const useActivation = ({ policy, version, mode, onClose }: ActivateProps) => {
  const reread = useReread();
  return useChange(async ({ reason, leaves }: Wish, key) => {
    const given = reason === '' ? {} : { reason };
    try {
      if (leaves !== null) {
        await bodyOf(
          api.POST('/v1/policies/{id}/deactivate', {
            params: { path: { id: leaves }, header: { 'Idempotency-Key': `${key}-leaves` } },
            body: { mode, ...given },
          }),
        );
      }
      return await bodyOf(
        api.POST('/v1/policies/{id}/versions/{v}/activate', {
          params: { path: { id: policy.id, v: version.id }, header: { 'Idempotency-Key': key } },
          body: { mode, ...given },
        }),
      );
    } finally {
      reread();
    }
  }, onClose);
};

const Activate = (props: ActivateProps & { readonly slots: Schemas['PolicySlots'] }) => {
  const { policy, version, mode, slots, onClose } = props;
  const [reason, setReason] = useState('');
  const change = useActivation(props);
  const inShadow = slots.shadow;
  const leaves =
    mode === 'shadow' && inShadow !== null && inShadow.policy_version !== version.id ? inShadow.policy.id : null;
  const wish: Wish = { reason: reason.trim(), leaves };
  return (
    <>
      {mode === 'enforce' ? (
        <Enforces policy={policy} version={version} enforced={slots.enforced} shadow={inShadow} />
      ) : (
        <Shadows leaving={leaves === null ? null : inShadow} />
      )}
      <PreviewInShort source={version.source} />
      <Reason reason={reason} onChange={setReason} isBad={isAbout(change.error, 'reason')} />
      {change.error === null ? null : <Failure error={change.error} />}
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={change.isPending} onClick={() => change.mutate(wish)}>
          {change.isPending ? 'Sending …' : wordsOf(mode, version.version, leaves !== null)}
        </Button>
      </DialogFoot>
    </>
  );
};

const wordsOf = (mode: Mode, version: number, isReplacing: boolean): string => {
  if (mode === 'enforce') return `Enforce version ${version}`;
  return isReplacing ? `Run version ${version} in shadow instead` : `Run version ${version} in shadow`;
};

const SlotName = ({ slot }: { readonly slot: Slot }) => (
  <>
    version {slot.version} of <Said text={slot.policy.name} />
  </>
);

const Enforces = ({
  policy,
  version,
  enforced,
  shadow,
}: Pick<ActivateProps, 'policy' | 'version'> & { readonly enforced: Slot | null; readonly shadow: Slot | null }) => {
  const { me } = useSession();
  return (
    <>
      <p>
        Version {version.version} of{' '}
        <strong>
          <Said text={policy.name} />
        </strong>{' '}
        will decide every call of every agent of <Said text={me.org.name} /> from now on. Calls waiting for approval are
        evaluated again.
      </p>
      <p>
        {enforced === null ? (
          'No version is enforced now, so every call is denied until you enforce one.'
        ) : (
          <>
            Replaces <SlotName slot={enforced} />, enforced since <Time at={enforced.since} /> by{' '}
            <Who actor={enforced.by} />.
          </>
        )}
      </p>
      {shadow?.policy_version === version.id ? (
        <p className={kit['dim']}>
          In shadow since <Time at={shadow.since} />. The shadow ends when you enforce this version.
        </p>
      ) : (
        <Warning>
          This version does not run in shadow. Run it in shadow first to see what it would decide without denying any
          call.
        </Warning>
      )}
    </>
  );
};

const Shadows = ({ leaving }: { readonly leaving: Slot | null }) => (
  <>
    <p>
      The version evaluates every call from now on but decides none. Actions show where it would have decided
      differently.
    </p>
    {leaving === null ? null : (
      <Warning>
        Only one version runs in shadow at a time: the shadow of <SlotName slot={leaving} /> ends.
      </Warning>
    )}
  </>
);

/** Takes a version out of its slot. */
export const DeactivateDialog = ({
  slot,
  mode,
  onClose,
}: {
  readonly slot: Slot;
  readonly mode: Mode;
  readonly onClose: () => void;
}) => {
  const { me } = useSession();
  const [reason, setReason] = useState('');
  const reread = useReread();
  const change = useChange(
    (said: string, key) =>
      bodyOf(
        api.POST('/v1/policies/{id}/deactivate', {
          params: { path: { id: slot.policy.id }, header: { 'Idempotency-Key': key } },
          body: said === '' ? { mode } : { mode, reason: said },
        }),
      ),
    () => {
      reread();
      onClose();
    },
  );
  const isEnforced = mode === 'enforce';
  return (
    <Dialog title={isEnforced ? 'Deactivate policy' : 'End shadow'} onClose={onClose}>
      {isEnforced ? (
        <Warning>
          Without an enforced version, every call of every agent of <Said text={me.org.name} /> is denied until you
          enforce a version again. To pause agents, use Stop instead.
        </Warning>
      ) : (
        <p>
          <SlotName slot={slot} /> no longer evaluates calls. Its results so far stay with the actions.
        </p>
      )}
      <Reason reason={reason} onChange={setReason} isBad={isAbout(change.error, 'reason')} />
      {change.error === null ? null : <Failure error={change.error} />}
      <DialogFoot>
        <Button onClick={onClose} data-first>
          Cancel
        </Button>
        <Button
          kind={isEnforced ? 'stop' : 'primary'}
          disabled={change.isPending}
          onClick={() => change.mutate(reason.trim())}
        >
          {change.isPending ? 'Sending …' : isEnforced ? 'Deactivate and deny every call' : 'End shadow'}
        </Button>
      </DialogFoot>
    </Dialog>
  );
};
