import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, ApiError, bodyOf } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Panel, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { AcceptDialog, type Accepted } from './accept-dialog.tsx';
import { Definitions, Folded } from './definitions.tsx';
import { AcceptButton, HeldTool, ToolHead } from './held-tool.tsx';
import { heldToolsInWords } from './held-tools.ts';
import { connectorQuery, heldToolPages, otherToolPages } from './queries.ts';
import styles from './served-tools.module.css';
import {
  acceptedOf,
  lookedAt,
  type LookedAt,
  MEANINGS,
  presentOf,
  type ServedTool,
  waitInWords,
} from './served-tools.ts';
import { CHANGED, type Connector } from './types.ts';

/** So many held tools are shown at first, and with each press more: each with all that its server says of it. */
const HELD_SHOWN = 10;

/**
 * The tools that the server of a connector names: first those that wait for an admin, each with what the server has
 * changed of it, then all others.
 */
export const ServedToolsPanel = ({ connector }: { readonly connector: Connector }) => {
  const may = useMay('admin');
  const [asked, setAsked] = useState<readonly LookedAt[] | null>(null);
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const ask = useAsk(connector);
  const button = may ? <AskButton id={connector.id} ask={ask} /> : null;
  return (
    <Panel
      title={`Tools (${connector.tools.length})`}
      aside={<Link href={`/actions?tool=${encodeURIComponent(`${connector.name}.*`)}`}>All calls</Link>}
    >
      {connector.status === 'disabled' ? (
        <p className={kit['dim']}>This connector is disabled: every call is denied.</p>
      ) : null}
      {accepted === null ? null : <Done accepted={accepted} />}
      <HeldTools
        connector={connector}
        ask={button ?? 'An admin can ask it.'}
        onAccept={
          may
            ? (tools) => {
                setAccepted(null);
                setAsked(tools);
              }
            : null
        }
      />
      <OtherTools connector={connector} />
      <Asked ask={ask} />
      {button === null ? null : (
        <div className={kit['foot']}>
          <div className={kit['buttons']}>{button}</div>
        </div>
      )}
      {asked === null ? null : (
        <AcceptDialog
          connector={connector}
          tools={asked}
          onAccepted={(done) => {
            setAsked(null);
            setAccepted(done);
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </Panel>
  );
};

/** Has the server asked. What it says then is in the answer, and in the lists, which are read again. */
const useAsk = ({ id }: Connector) => {
  const changed = useChanged();
  const [answeredAt, setAnsweredAt] = useState<string | null>(null);
  const ask = useChange(
    (of: string, key) =>
      bodyOf(
        api.POST('/v1/connectors/{id}/tools/refresh', {
          params: { path: { id: of }, header: { 'Idempotency-Key': key } },
        }),
      ),
    (answer) => {
      setAnsweredAt(new Date(serverNow()).toISOString());
      changed(CHANGED, { of: connectorQuery(id), is: answer });
    },
  );
  return { ...ask, answeredAt };
};
type Ask = ReturnType<typeof useAsk>;

const AskButton = ({ id, ask }: { readonly id: string; readonly ask: Ask }) => (
  <Button disabled={ask.isPending} onClick={() => ask.mutate(id)}>
    {ask.isPending ? 'Asking …' : 'Ask the server now'}
  </Button>
);

/** What came of asking the server. */
const Asked = ({ ask: { error, answeredAt } }: { readonly ask: Ask }) => {
  if (error === null)
    return (
      <p role="status" className={kit['dim']}>
        {answeredAt === null ? null : (
          <>
            The server was asked <Time at={answeredAt} />.
          </>
        )}
      </p>
    );
  // The service names a header, which says nothing to a person.
  return error instanceof ApiError && error.code === 'rate_limited' ? (
    <div className={kit['notice']} role="alert">
      <strong>{waitInWords(error)}</strong>
    </div>
  ) : (
    <Failure error={error} />
  );
};

/** What was accepted last, with its deed. The button is gone with its focus, so this takes the focus. */
const Done = ({ accepted }: { readonly accepted: Accepted }) => {
  const part = useRef<HTMLParagraphElement>(null);
  const { tools, deed } = accepted;
  useEffect(() => part.current?.focus(), [accepted]);
  return (
    <p ref={part} tabIndex={-1} role="status" className={styles['done']}>
      {deed === null ? (
        'All of this had been accepted before.'
      ) : (
        <>
          {tools.length === 1 ? (tools[0]?.name ?? '') : `${tools.length} tools`} accepted: agents may call{' '}
          {tools.length === 1 ? 'it' : 'them'} from here on. <Link href={`/deeds/${deed}`}>View deed</Link>
        </>
      )}
    </p>
  );
};

const HeldTools = ({
  connector,
  ask,
  onAccept,
}: {
  readonly connector: Connector;
  readonly ask: ReactNode;
  /** Null for who may not accept them. */
  readonly onAccept: ((tools: readonly LookedAt[]) => void) | null;
}) => {
  const { rows, error, isPending, hasNextPage, fetchNextPage, refetch } = useList(heldToolPages(connector.id));
  const [count, setCount] = useState(HELD_SHOWN);
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Bones count={3} />;
  if (rows.length === 0) return null;
  const shown = rows.slice(0, count);
  const looked = lookedAt(shown);
  const title = heldToolsInWords(hasNextPage ? Math.max(connector.held_tools, rows.length) : rows.length);
  const showMore = (): void => {
    setCount(count + HELD_SHOWN);
    if (count + HELD_SHOWN > rows.length && hasNextPage) void fetchNextPage();
  };
  return (
    <>
      <h3 className={styles['group']}>{title}</h3>
      {onAccept === null ? (
        <p className={kit['dim']}>An admin can look at each change, and accept what agents may call.</p>
      ) : null}
      <ul aria-label={title}>
        {shown.map((tool) => (
          <HeldTool
            key={tool.id}
            connector={connector.name}
            tool={tool}
            ask={ask}
            onAccept={onAccept === null ? null : () => onAccept(lookedAt([tool]))}
          />
        ))}
      </ul>
      <div className={kit['buttons']}>
        {rows.length > count || hasNextPage ? <Button onClick={showMore}>Show more that wait</Button> : null}
        {onAccept === null || looked.length < 2 ? null : (
          <AcceptButton
            what={`all ${looked.length} shown`}
            of={looked.map(({ definition_digest: digest }) => digest).join()}
            onAccept={() => onAccept(looked)}
          />
        )}
      </div>
    </>
  );
};

const OtherTools = ({ connector }: { readonly connector: Connector }) => {
  const list = useList(otherToolPages(connector.id));
  const { rows, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = list;
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Bones count={3} />;
  if (rows.length === 0)
    return connector.held_tools > 0 ? null : (
      <p className={kit['dim']}>
        No tools are known yet. The server is asked when the connector is made, when its credential or its config
        changes, and when it is tested.
      </p>
    );
  return (
    <>
      <h3 className={styles['group']}>{connector.held_tools > 0 ? 'All other tools' : 'All tools'}</h3>
      <p className={kit['dim']}>
        What they do is their server’s own word: to the service their side effect is unknown, and nothing is read back.
      </p>
      <ul aria-label="Tools that do not wait">
        {rows.map((tool) => (
          <OtherTool key={tool.id} connector={connector.name} tool={tool} />
        ))}
      </ul>
      {list.isFull ? (
        <p className={kit['dim']}>Only 500 are shown. The API lists all: GET /v1/connectors/{connector.name}/tools</p>
      ) : hasNextPage ? (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading …' : 'Show more tools'}
        </Button>
      ) : null}
    </>
  );
};

const OtherTool = ({ connector, tool }: { readonly connector: string; readonly tool: ServedTool }) => (
  <li className={styles['tool']}>
    <ToolHead connector={connector} tool={tool} />
    {tool.status === 'gone' ? <p className={kit['dim']}>{MEANINGS.gone}</p> : null}
    <Folded summary={tool.status === 'gone' ? 'What was accepted' : 'What the server says'}>
      {() => <Definitions accepted={acceptedOf(tool)} present={presentOf(tool)} />}
    </Folded>
  </li>
);
