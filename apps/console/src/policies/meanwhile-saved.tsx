import type { Schemas } from '../kernel/client.ts';
import { Button, Said, Time } from '../kit/kit.tsx';
import { Icon } from '../design/icon.tsx';
import { Who } from '../kit/who.tsx';
import { type Pair, pairOf, type PolicyDraft } from './draft.ts';
import styles from './policies.module.css';

/** Tells that somebody else saved a version since this draft was begun. Both texts are kept; the person merges them. */
export const MeanwhileSaved = ({
  policy,
  draft,
  onCompare,
}: {
  readonly policy: Schemas['Policy'];
  readonly draft: PolicyDraft;
  readonly onCompare: (pair: Pair) => void;
}) => {
  const latest = policy.latest_version;
  const theirs: Pair = {
    title: `From version ${draft.base.number} to version ${latest.version}, saved by another person`,
    before: draft.base.text,
    after: latest.source,
  };
  const both = pairOf({ number: latest.version, text: latest.source }, draft);
  return (
    <div className={styles['behind']} role="alert">
      <Icon name="triangle" />
      <div>
        <p>
          <strong>Version {latest.version} was saved while you were editing</strong> by <Who actor={latest.author} />,{' '}
          <Time at={latest.created_at} />. Your draft of version {draft.base.number} is kept.
        </p>
        {latest.notes === null ? null : (
          <p>
            <Said text={latest.notes} isMultiline />
          </p>
        )}
        <span className={styles['buttons']}>
          <Button isSmall onClick={() => onCompare(theirs)}>
            Their changes
          </Button>
          <Button isSmall onClick={() => onCompare(both)}>
            Your changes against version {latest.version}
          </Button>
          <Button isSmall onClick={draft.moveToLatest}>
            Save on top of version {latest.version}
          </Button>
        </span>
      </div>
    </div>
  );
};
