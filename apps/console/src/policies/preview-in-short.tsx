import { usePreview } from './use-preview.ts';
import { Icon } from '../design/icon.tsx';
import { comparedWords, counted } from './outcome.tsx';
import styles from './policies.module.css';

/** What a version would have decided about the newest calls, in one or two lines; shown before it is enforced. */
export const PreviewInShort = ({ source }: { readonly source: string }) => {
  const { data, error } = usePreview({ source, actions: 1_000, agent: null, tool: null }, true);
  if (error !== null || data?.judged === 0) return null;
  if (data === undefined) return <p className={styles['short']}>Evaluating the newest 1,000 calls …</p>;
  return (
    <div className={styles['short']} role="status">
      <p>
        Of the newest {counted(data.judged, 'call')}, this version would have decided{' '}
        <strong>{data.changed === 0 ? 'none' : data.changed.toLocaleString('en-US')} differently</strong> than{' '}
        {comparedWords(data.compared_with)}.
      </p>
      {data.human_denied_now_allowed === 0 ? null : (
        <p className={styles['danger']}>
          <Icon name="triangle" /> {counted(data.human_denied_now_allowed, 'call')} denied by a person would be allowed
          without approval.
        </p>
      )}
    </div>
  );
};
