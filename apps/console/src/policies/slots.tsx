import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Said, Time } from '../kit/kit.tsx';
import styles from './policies.module.css';
import { useSlots } from './queries.ts';
import { Who } from '../kit/who.tsx';

type Slot = Schemas['PolicySlot'];

/**
 * The two slots of a version: the enforced one, which decides, and the shadow one, which only records what it would
 * decide.
 */
export const Slots = () => {
  const { data: slots, error, refetch } = useSlots();
  if (slots === undefined) {
    return error === null ? <Bones count={2} /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div className={styles['slots']}>
      <section aria-label="Enforced version" data-tone={slots.enforced === null ? 'bad' : 'ok'}>
        <h2>
          <Icon name={slots.enforced === null ? 'ban' : 'checkCircle'} /> Enforced
        </h2>
        {slots.enforced === null ? (
          <p>
            <strong>No version is enforced: every call is denied.</strong> Open a policy and enforce a version.
          </p>
        ) : (
          <Held slot={slots.enforced} />
        )}
      </section>
      <section aria-label="Shadow version" data-tone="quiet">
        <h2>
          <Icon name="eye" /> In shadow
        </h2>
        {slots.shadow === null ? (
          <p>None. A shadow version evaluates every call but decides none, so that you can test it on real calls.</p>
        ) : (
          <Held slot={slots.shadow} />
        )}
      </section>
    </div>
  );
};

const Held = ({ slot }: { readonly slot: Slot }) => (
  <>
    <p className={styles['held']}>
      <Link href={`/policies/${slot.policy.id}?version=${slot.policy_version}`}>
        <Said text={slot.policy.name} />, version {slot.version}
      </Link>
    </p>
    <p>
      since <Time at={slot.since} /> by <Who actor={slot.by} />
    </p>
  </>
);
