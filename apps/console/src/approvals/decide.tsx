import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { REASON_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { ApiError } from '../kernel/errors.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Failure } from '../kit/failure.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { useSettled } from '../kit/settled.ts';
import { passkeyPlaceOf } from '../people/passkey-words.ts';
import styles from './approvals.module.css';
import { pressOf, whyNot, wordsOf } from './decision.ts';

type Approval = Schemas['Approval'];

interface Word {
  readonly decision: Schemas['ApprovalDecision'];
  readonly digest: string | null;
  readonly reason: string;
}

const useDecision = (approval: Approval, onAnswer: () => unknown) => {
  const changed = useChanged();
  // The approval itself is of `approvals`, and is read again with them.
  const settle = (): void => changed(['approvals', 'overview', 'actions']);
  const decision = useChange(async ({ decision: said, digest, reason }: Word, key) => {
    const params = { path: { id: approval.id }, header: { 'Idempotency-Key': key } };
    const given = reason === '' ? {} : { reason };
    if (said === 'deny') return bodyOf(api.POST('/v1/approvals/{id}/deny', { params, body: given }));
    const context_digest = digest ?? '';
    if (!approval.signed) {
      return bodyOf(api.POST('/v1/approvals/{id}/approve', { params, body: { context_digest, ...given } }));
    }
    // Each press is signed anew, so it is another request, under a key of its own: a second one finds what was decided.
    const body = { context_digest, ...given, passkey: await signature(approval.id, context_digest) };
    return bodyOf(api.POST('/v1/approvals/{id}/approve', { params: { path: params.path }, body }));
  }, settle);
  const { error } = decision;
  // After a refusal the approval is read again at once: it shows who decided meanwhile, or what has changed.
  const code = error instanceof ApiError ? error.code : null;
  useEffect(() => {
    if (code !== null) onAnswer();
    // Depends on `error` and not on `code`, so that two refusals with the same code both count.
  }, [error]);
  return decision;
};

const signature = async (id: string, context_digest: string): Promise<Schemas['PasskeyAssertion']> => {
  const body = { decision: 'approve' as const, context_digest };
  const asked = await bodyOf(api.POST('/v1/approvals/{id}/passkey/options', { params: { path: { id } }, body }));
  // Loaded when it is needed: few approvals are signed, and every screen waits for the first script.
  const { signedBy } = await import('../people/passkey-device.ts');
  return signedBy(asked.public_key);
};

const SETTLE_MS = 500;

/** The buttons Deny and Approve, always visible. */
export const Decide = ({
  approval,
  seenDigest,
  onAnswer,
}: {
  readonly approval: Approval;
  readonly seenDigest: string | null;
  readonly onAnswer: () => unknown;
}) => {
  const [armedFor, setArmedFor] = useState<string | null>(null);
  const [reason, setReason] = useState('');
  const decision = useDecision(approval, onAnswer);
  const isArmed = armedFor !== null && armedFor === approval.context_digest;
  const press = pressOf(approval, { seenDigest, isArmed });
  // The second tap of a double tap on "Read on" must not approve: the button has just changed to Approve.
  const hasStood = useSettled(press, SETTLE_MS);
  const isSettled = press === 'page' || hasStood;
  const against = whyNot(approval);
  const mayDeny = approval.you?.may_deny !== false;
  const decide = (said: Word['decision']): void =>
    decision.mutate({ decision: said, digest: approval.context_digest, reason: reason.trim() });
  const go = (): void => {
    if (!isSettled) return;
    if (press === 'page') scrollBy({ top: Math.max(120, innerHeight - 260), behavior: 'instant' });
    else if (press === 'arm') setArmedFor(approval.context_digest);
    else decide('approve');
  };
  return (
    <div className={styles['decide']} data-decide>
      {decision.error === null ? null : (
        <div className={styles['why']}>
          <DecisionFailure error={decision.error} />
        </div>
      )}
      {against === null ? null : <p className={styles['why']}>{against}</p>}
      {against === null ? <NeedsPasskey approval={approval} /> : null}
      {isArmed && press === 'approve' ? (
        <p className={styles['why']} role="status">
          This cannot be undone. Press again to confirm.
        </p>
      ) : null}
      {against !== null && !mayDeny ? null : (
        <>
          <Reason reason={reason} onChange={setReason} />
          <div className={styles['buttons']}>
            {mayDeny ? (
              <Button disabled={decision.isPending} onClick={() => decide('deny')}>
                Deny
              </Button>
            ) : null}
            {against === null ? (
              <Button
                kind={press === 'page' ? 'plain' : isArmed ? 'stop' : 'primary'}
                {...(press === 'page' ? {} : { icon: 'checks' as const })}
                disabled={decision.isPending}
                aria-disabled={isSettled ? undefined : true}
                onClick={go}
              >
                {decision.isPending ? busyWords(approval) : wordsOf(press, approval.cost, isArmed)}
              </Button>
            ) : null}
          </div>
        </>
      )}
    </div>
  );
};

const busyWords = ({ signed }: Approval): string => (signed ? 'Waiting for your device …' : 'Sending …');

/** What an approval that is signed needs of the person, and the way to it. */
const NeedsPasskey = ({ approval }: { readonly approval: Approval }) => {
  if (!approval.signed) return null;
  const place = passkeyPlaceOf(location.href, 'PublicKeyCredential' in window);
  return (
    <p className={styles['why']} role="note">
      {approval.you?.has_passkey === false ? (
        <>
          To approve you sign with a passkey, and you have none here yet.{' '}
          <Link href="/settings/sessions">Add one in Settings</Link>, then come back. Denying needs none.
        </>
      ) : place.is === 'address' && place.elsewhere !== null ? (
        <>
          To approve you sign with your passkey, and browsers have none at {place.host}.{' '}
          <a href={place.elsewhere}>Open this page at localhost</a>. Denying needs none.
        </>
      ) : (
        'To approve you sign with your passkey: your device asks for it. Denying needs none.'
      )}
    </p>
  );
};

const Reason = ({ reason, onChange }: { readonly reason: string; readonly onChange: (reason: string) => void }) => (
  <details className={styles['reason']}>
    <summary>Add a reason</summary>
    <input
      className={kit['field']}
      aria-label="Reason, sealed in the deed"
      maxLength={REASON_TEXT_MAX_LENGTH}
      value={reason}
      onChange={({ target }) => onChange(target.value)}
    />
  </details>
);

const DecisionFailure = ({ error }: { readonly error: Error }) =>
  error instanceof ApiError && error.isAnswerLost ? (
    <p className={kit['warning']} role="alert">
      The connection broke before your decision was confirmed. The approval is being reloaded. If it is still waiting,
      press again: your decision cannot count twice.
    </p>
  ) : (
    <Failure error={error} />
  );
