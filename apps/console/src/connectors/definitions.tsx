import { type ReactNode, useMemo, useState } from 'react';
import { plain } from '../kernel/said.ts';
import { ForeignText, Id, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './served-tools.module.css';
import { type Definition, type Known, memberText, membersOf } from './served-tools.ts';
import { compareTexts, type Part } from './text-comparison.ts';

/** How many elements the characters of one box may become: a page has many of them. */
const PIECES_MAX = 200;

const LABELS = { accepted: 'Accepted', present: 'Now' } as const;
type Side = keyof typeof LABELS;

/**
 * What is known of a tool's two definitions. If both are there and differ, each member stands in both forms beside each
 * other. All of it is a stranger's text: shown as text, with marks for what does not show, in boxes that scroll.
 */
export const Definitions = ({ accepted, present }: { readonly accepted: Known; readonly present: Known }) => {
  if (accepted.is === 'stored' && present.is === 'stored' && accepted.digest !== present.digest)
    return (
      <>
        <Compared accepted={accepted.definition} present={present.definition} />
        <Digests accepted={accepted.digest} present={present.digest} />
      </>
    );
  const [side, known] = present.is === 'none' ? (['accepted', accepted] as const) : (['present', present] as const);
  return (
    <>
      {known.is === 'stored' ? (
        membersOf(known.definition).map((name) => (
          <Member key={name} name={name}>
            <Box side={side} name={name} text={memberText(known.definition, name) ?? ''} />
          </Member>
        ))
      ) : (
        <p>
          The definition was lost, so it cannot be shown.
          {side === 'present' ? ' Asking the server brings it back.' : ''}
        </p>
      )}
      <Digests
        accepted={accepted.is === 'none' ? null : accepted.digest}
        present={present.is === 'none' ? null : present.digest}
      />
    </>
  );
};

/** The digests by which denials, deeds and the API name the definitions. */
const Digests = ({ accepted, present }: Readonly<Record<Side, string | null>>) => (
  <p className={kit['dim']}>
    {accepted === null || accepted === present ? null : (
      <>
        Accepted: <Id id={accepted} />{' '}
      </>
    )}
    {present === null ? null : (
      <>
        {accepted === present ? 'Digest' : LABELS.present}: <Id id={present} />
      </>
    )}
  </p>
);

const Compared = ({ accepted, present }: Readonly<Record<Side, Definition>>) => {
  const members = membersOf(accepted, present).map((name) => ({
    name,
    accepted: memberText(accepted, name),
    present: memberText(present, name),
  }));
  const same = members.filter((member) => member.accepted === member.present);
  return (
    <>
      {members
        .filter((member) => !same.includes(member))
        .map((member) => (
          <ComparedMember key={member.name} {...member} />
        ))}
      {same.length === 0 ? null : (
        <Folded summary={`Unchanged: ${same.map(({ name }) => plain(name)).join(', ')}`}>
          {() =>
            same.map(({ name, present: text }) => (
              <Member key={name} name={name}>
                <Box side="present" name={name} text={text ?? ''} />
              </Member>
            ))
          }
        </Folded>
      )}
    </>
  );
};

/** A member of which at least one of the two definitions has another text. */
const ComparedMember = ({
  name,
  accepted,
  present,
}: { readonly name: string } & Readonly<Record<Side, string | null>>) => {
  const { before, after } = useMemo(() => compareTexts(accepted ?? '', present ?? ''), [accepted, present]);
  const what = accepted === null ? 'added' : present === null ? 'removed' : 'changed';
  return (
    <Member name={name} what={what}>
      <div className={styles['pair']}>
        <ComparedSide side="accepted" name={name} parts={accepted === null ? null : before} />
        <ComparedSide side="present" name={name} parts={present === null ? null : after} />
      </div>
    </Member>
  );
};

const ComparedSide = ({
  side,
  name,
  parts,
}: {
  readonly side: Side;
  readonly name: string;
  /** Null if this definition does not have the member. */
  readonly parts: readonly Part[] | null;
}) => (
  <div>
    <p className={styles['side']}>{LABELS[side]}</p>
    {parts === null ? (
      <p className={kit['dim']}>Not in this definition.</p>
    ) : (
      <ForeignText label={labelOf(side, name)}>
        {parts.map((part, index) => (
          <ShownPart key={index} part={part} side={side} max={maxOf(parts)} />
        ))}
      </ForeignText>
    )}
  </div>
);

const maxOf = (parts: readonly Part[]): number =>
  Math.max(2, Math.floor(PIECES_MAX / parts.reduce((sum, { runs }) => sum + runs.length, 0)));

const labelOf = (side: Side, name: string): string =>
  side === 'accepted' ? `${name}, as it was accepted` : `${name}, as the server says it now`;

/** Lines that both have, or that one of them has: these are called so in a word, and have what exactly differs underlined. */
const ShownPart = ({
  part: { isSame, runs },
  side,
  max,
}: {
  readonly part: Part;
  readonly side: Side;
  readonly max: number;
}) => {
  const text = runs.map((run, index) =>
    run.differs ? (
      <strong key={index} className={styles['differs']}>
        <Said text={run.text} isMultiline max={max} />
      </strong>
    ) : (
      <Said key={index} text={run.text} isMultiline max={max} />
    ),
  );
  if (isSame) return <div>{text}</div>;
  return side === 'accepted' ? (
    <del>
      <b>− Removed</b>
      {text}
    </del>
  ) : (
    <ins>
      <b>+ Added</b>
      {text}
    </ins>
  );
};

const Member = ({
  name,
  what,
  children,
}: {
  readonly name: string;
  readonly what?: string;
  readonly children: ReactNode;
}) => (
  <div className={styles['member']}>
    <p>
      <code>
        <Said text={name} />
      </code>
      {what === undefined ? null : ` ${what}`}
    </p>
    {children}
  </div>
);

const Box = ({ side, name, text }: { readonly side: Side; readonly name: string; readonly text: string }) => (
  <ForeignText label={labelOf(side, name)}>
    <Said text={text} isMultiline max={PIECES_MAX} />
  </ForeignText>
);

/** What is drawn when it is opened, and not before: a server may list very many tools. */
export const Folded = ({ summary, children }: { readonly summary: string; readonly children: () => ReactNode }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles['folded']} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen ? <div>{children()}</div> : null}
    </details>
  );
};
