import { useQuery } from '@tanstack/react-query';
import { actionQuery } from '../gate/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { Said, Time } from '../kit/kit.tsx';
import { NeedLine } from './need-line.tsx';

type Attention = Schemas['Attention'];

/**
 * The newest of a group of similar mismatches, with what tells it from others: the agent, the time, and the first value
 * that differs.
 */
export const MismatchLine = ({ items, from }: { readonly items: readonly Attention[]; readonly from: string }) => {
  const [newest] = items;
  const id = newest?.ids[0] ?? '';
  const tool = newest?.tool ?? '';
  const { data: action } = useQuery({ ...actionQuery(id), staleTime: 60_000 });
  const query = new URLSearchParams({ verdict: 'MISMATCH', tool, 'created_at[gte]': from });
  const isOne = items.length === 1;
  return (
    <NeedLine
      icon="crossCircle"
      tone="bad"
      to={isOne ? `/actions/${id}` : `/actions?${query.toString()}`}
      step={isOne ? 'View difference' : `View all ${items.length}`}
    >
      {isOne ? null : `${items.length} times `}
      <code>
        <Said text={tool} />
      </code>
      {action === undefined ? null : (
        <>
          {' '}
          by <Said text={action.agent.name} />
        </>
      )}
      {newest?.created_at === undefined ? null : (
        <>
          , {isOne ? '' : 'last '}
          <Time at={newest.created_at} />
        </>
      )}
      : <Said text={differenceOf(action) ?? newest?.summary ?? 'the result differs from what the tool reported'} />
    </NeedLine>
  );
};

/**
 * `body.price should be 1990, but was read back as 1790.`; null if the details are not loaded, not stored any more, or
 * name no difference.
 */
const differenceOf = (action: Schemas['ActionDetail'] | undefined): string | null => {
  const detail = action?.witness?.detail;
  if (detail === null || detail === undefined || !('differs' in detail)) return null;
  const [path] = detail.differs;
  if (path === undefined) return null;
  const [expected, observed] = [detail.expected, detail.observed] as Readonly<Record<string, unknown>>[];
  const found = observed?.[path];
  return `${path} should be ${JSON.stringify(expected?.[path])}, but ${
    found === undefined ? 'is missing' : `was read back as ${JSON.stringify(found)}`
  }.`;
};
