import { shortId } from '../kernel/said.ts';
import { StatusBadge } from '../kit/badges.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { changeInWords, type Told } from './about.ts';
import type { Names } from './names.ts';

/** An id with its type in words, unless the id itself begins with the type, such as `pol_`; a hash does not. */
const shownId = (type: string, id: string): string =>
  id.startsWith(`${type}_`) ? shortId(id) : `${type.replaceAll('_', ' ')} ${shortId(id)}`;

/** What a deed is about: `refund-agent: shop.refund_order, Executed`; `Policy activated: Refunds`. */
export const AboutLine = ({ told, names }: { readonly told: Told; readonly names: Names }) => {
  if (told.kind === 'unread') return <span className={kit['dim']}>loading</span>;
  if (told.kind === 'change') {
    const { type, id } = told.target;
    // The organization is not named, because all deeds of the list are of the same one.
    const target = type === 'org' ? null : (names.get(id) ?? shownId(type, id));
    return (
      <>
        {changeInWords(told.change)}
        {target === null ? null : (
          <>
            : <Said text={target} />
          </>
        )}
      </>
    );
  }
  const { agent, tool, outcome } = told;
  const name = agent === null ? null : (agent.name ?? names.get(agent.id) ?? shortId(agent.id));
  return (
    <>
      {name === null ? null : (
        <>
          <Said text={name} />:{' '}
        </>
      )}
      <code>
        <Said text={tool} />
      </code>{' '}
      {outcome === null ? null : <StatusBadge {...outcome} />}
    </>
  );
};
