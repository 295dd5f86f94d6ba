import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { plain } from '../kernel/said.ts';
import { LookBadge } from '../kit/badges.tsx';
import { Button, Said, Time, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { useSettled } from '../kit/settled.ts';
import { Definitions } from './definitions.tsx';
import styles from './served-tools.module.css';
import { acceptedOf, lookedAt, MEANINGS, presentOf, type ServedTool, STATUSES } from './served-tools.ts';

/** A tool with its status. Its calls stand behind its name. */
export const ToolHead = ({ connector, tool }: { readonly connector: string; readonly tool: ServedTool }) => (
  <div className={styles['head']}>
    <Link href={`/actions?tool=${encodeURIComponent(`${connector}.${tool.name}`)}`}>
      <code>
        <Said text={tool.name} />
      </code>
    </Link>
    <LookBadge look={STATUSES[tool.status]} />
    <small>
      since <Time at={tool.changed_at} />
    </small>
  </div>
);

const SETTLE_MS = 1_000;

/** A tool that waits for an admin, with what the server says of it and what was accepted. */
export const HeldTool = ({
  connector,
  tool,
  ask,
  onAccept,
}: {
  readonly connector: string;
  readonly tool: ServedTool;
  /** The button to ask the server, or who may do that. */
  readonly ask: ReactNode;
  /** Null for who may not accept it. */
  readonly onAccept: (() => void) | null;
}) => {
  const [first] = useState(tool.definition_digest);
  const isAnother = first !== tool.definition_digest;
  const [present, accepted] = [presentOf(tool), acceptedOf(tool)];
  return (
    <li className={styles['tool']} data-held="">
      <ToolHead connector={connector} tool={tool} />
      {tool.status === 'accepted' ? null : <p className={kit['dim']}>{MEANINGS[tool.status]}</p>}
      {isAnother ? (
        <Warning>
          <span role="alert">
            The server has changed {tool.name} again while this page was open. This is what it says now.
          </span>
        </Warning>
      ) : null}
      {tool.invisible_characters === null ? null : (
        <Warning>
          Characters that a reader does not see stand in <code>{plain(tool.invisible_characters)}</code>. They are shown
          here as marks, such as <mark>U+202E</mark>; agents would get them as they are.
        </Warning>
      )}
      {present.is === 'lost' ? (
        <Warning>
          What the server says of this tool was lost, so nobody can look at it. Asking the server brings it back. {ask}
        </Warning>
      ) : null}
      {present.is === 'stored' && accepted.is === 'lost' ? (
        <Warning>What was accepted was lost, so nothing can be compared with what the server says now.</Warning>
      ) : null}
      {present.is === 'lost' ? null : <Definitions accepted={accepted} present={present} />}
      {onAccept === null || lookedAt([tool]).length === 0 ? null : (
        <AcceptButton what={tool.name} of={tool.definition_digest ?? ''} onAccept={onAccept} />
      )}
    </li>
  );
};

/** Not usable for a moment after it became about something else: the press was meant for what stood there before. */
export const AcceptButton = ({
  what,
  of,
  onAccept,
}: {
  readonly what: string;
  /** The digests of what it accepts. */
  readonly of: string;
  readonly onAccept: () => void;
}) => {
  const [first] = useState(of);
  const isSettled = useSettled(of, SETTLE_MS, first);
  return (
    <div className={kit['buttons']}>
      <Button
        icon="check"
        aria-disabled={isSettled ? undefined : true}
        onClick={() => {
          if (isSettled) onAccept();
        }}
      >
        Accept {what} …
      </Button>
    </div>
  );
};
