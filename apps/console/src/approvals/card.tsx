import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { actionQuery } from '../gate/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { useNames } from '../kernel/members.ts';
import { plain } from '../kernel/said.ts';
import { Arguments } from '../kit/arguments.tsx';
import { EffectBadge } from '../kit/badges.tsx';
import { ForeignText, Id, Money, Said, Time, Warning } from '../kit/kit.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import styles from './approvals.module.css';
import { isOfEveryRow, sqlFactsIn } from './sql-facts.ts';
import { RunsStatement, SqlFacts } from './statement.tsx';
import { noteOf, wordsOfServer } from './served-words.ts';
import { TimeBar, TimeLeft } from './time-left.tsx';

type Approval = Schemas['Approval'];

/**
 * Everything that an approver decides on, in the order of reading.
 * @param onSeen called with the context's digest once the last argument has been on the screen
 */
export const Card = ({
  approval,
  onSeen,
}: {
  readonly approval: Approval;
  readonly onSeen: (digest: string) => void;
}) => {
  const { context, warnings = [] } = approval;
  const changed = context?.changed ?? [];
  const sql = sqlFactsIn(context?.facts ?? {});
  const isOfAll = sql !== null && isOfEveryRow(sql);
  return (
    <article className={styles['card']}>
      <section className={styles['asks']}>
        <Asks approval={approval} />
      </section>
      <ServerSays context={context ?? null} />
      {approval.status === 'pending' ? <RunsElsewhere approval={approval} /> : null}
      {warnings.length + changed.length === 0 && !isOfAll ? null : (
        <section className={styles['warnings']} aria-label="Warnings">
          {changed.length === 0 ? null : (
            <Warning>
              <span role="alert">
                The call has changed since approval was first requested. Changed: {changed.map(plain).join(', ')}.
              </span>
            </Warning>
          )}
          {isOfAll ? (
            <Warning>The statement changes every row of its table: it is not limited by WHERE.</Warning>
          ) : null}
          {warnings.map(({ code, text }) => (
            <Warning key={code}>
              <Said text={text} />
            </Warning>
          ))}
        </section>
      )}
      <section>
        <h2>All arguments</h2>
        {context === null || context === undefined ? (
          <p>The arguments are no longer stored.</p>
        ) : (
          <Arguments args={context.args} amounts={context.amounts} empty="The call has no arguments." />
        )}
        <LastArgument digest={approval.context_digest} onSeen={onSeen} />
      </section>
      {context === null || context === undefined ? null : (
        <>
          {approval.status === 'pending' ? <Consequences approval={approval} context={context} /> : null}
          <FactsRead facts={context.facts} />
        </>
      )}
      {context === null || context === undefined ? null : <Why approval={approval} context={context} />}
    </article>
  );
};

/**
 * Tells the approver about proxy mode: the agent runs the tool itself, so the service neither sends the request nor can
 * hold it back.
 */
const RunsElsewhere = ({ approval }: { readonly approval: Approval }) => {
  const { data: action } = useQuery({
    ...actionQuery(approval.action),
    enabled: approval.context?.sends === null,
  });
  if (action?.mode !== 'proxy') return null;
  return (
    <section className={styles['warnings']} aria-label="Who runs it">
      <Warning>
        The agent runs this call itself, outside this service. The tool name and the result are reported by the agent
        and cannot be checked here.
      </Warning>
    </section>
  );
};

const Asks = ({ approval }: { readonly approval: Approval }) => {
  const { context, cost, agent, tool, on_behalf_of: reference } = approval;
  const title = context?.tool.title ?? null;
  const does = context?.tool.description ?? null;
  return (
    <>
      <p>
        <Link href={`/agents/${agent.id}`}>
          <Said text={agent.name} />
        </Link>{' '}
        {approval.status === 'pending' ? 'wants to' : 'wanted to'}
      </p>
      <ScreenHead
        title={title === null ? `run ${tool}` : `${plain(title)} with ${tool}`}
        name={
          <>
            {title === null ? 'run ' : <Said text={title} />}
            {title === null ? null : ' with '}
            <code>
              <Said text={tool} />
            </code>
          </>
        }
      />
      {does === null ? null : (
        <p className={styles['quiet']}>
          <Said text={does} />
        </p>
      )}
      {cost === null ? null : (
        <p className={styles['amount']}>
          <Money {...cost} />
        </p>
      )}
      {cost === null ? <Amounts context={context ?? null} /> : null}
      <p>
        On behalf of:{' '}
        {reference === null ? (
          'not stated'
        ) : (
          <code>
            <Said text={reference} />
          </code>
        )}
      </p>
      <p>
        <EffectBadge effect={approval.side_effect} />
      </p>
      <Signatures approval={approval} />
      {approval.status === 'pending' ? <TimeBar from={approval.created_at} until={approval.expires_at} /> : null}
    </>
  );
};

/** What the server of an MCP connector says of the tool; nothing for a tool that a config describes. */
const ServerSays = ({ context }: { readonly context: Schemas['ApprovalContext'] | null }) => {
  const definition = context?.tool.definition ?? null;
  if (context === null || definition === null) return null;
  const words = wordsOfServer(definition);
  return (
    <section>
      <h2>What its server says of the tool</h2>
      {words === '' ? null : (
        <ForeignText label="What the server says of the tool">
          <Said text={words} isMultiline />
        </ForeignText>
      )}
      <p className={styles['quiet']}>
        {noteOf(definition)}{' '}
        {definition.stored && !definition.held ? null : (
          <Link href={`/connectors/${context.connector}`}>View connector</Link>
        )}
      </p>
    </section>
  );
};

/** The arguments that are amounts of money, shown before all arguments: each formatted, with the value that is sent. */
const Amounts = ({ context }: { readonly context: Schemas['ApprovalContext'] | null }) =>
  (context?.amounts ?? []).map(({ argument, display }) =>
    display === null ? null : (
      <p key={argument} className={styles['amount']}>
        {display}{' '}
        <small className={styles['quiet']}>
          <Said text={argument} /> {String(context?.args[argument])}, in minor units
        </small>
      </p>
    ),
  );

const Signatures = ({ approval }: { readonly approval: Approval }) => {
  const nameOf = useNames();
  const signed = (approval.approvers ?? []).filter(({ countersigned_at: at }) => at !== null);
  return (
    <div className={styles['signed']}>
      <span>
        <Icon name="signature" /> {approval.countersigned} of {approval.required} signed
        {signed.map(({ user, countersigned_at: at, reason }) => (
          <span key={user}>
            {' '}
            (<Said text={nameOf(user)} />, {at === null ? null : <Time at={at} />}
            {reason === null ? null : (
              <>
                : <Said text={reason} />
              </>
            )}
            )
          </span>
        ))}
      </span>
      {approval.status === 'pending' ? <TimeLeft until={approval.expires_at} /> : null}
    </div>
  );
};

/** An empty element after the arguments: if it is on the screen, all of them have been. */
const LastArgument = ({
  digest,
  onSeen,
}: {
  readonly digest: string | null;
  readonly onSeen: (digest: string) => void;
}) => {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const end = ref.current;
    if (end === null || digest === null) return undefined;
    // The part of the screen behind the buttons and a phone's bottom bar does not count.
    const covered = document.querySelector('[data-decide]')?.getBoundingClientRect().height ?? 0;
    const bar = matchMedia('(max-width: 700px)').matches ? 58 : 0;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onSeen(digest);
      },
      { rootMargin: `0px 0px -${Math.ceil(covered + bar)}px 0px` },
    );
    observer.observe(end);
    return () => observer.disconnect();
  }, [digest, onSeen]);
  return <div ref={ref} style={{ height: 1 }} aria-hidden="true" />;
};

const Consequences = ({
  approval,
  context,
}: {
  readonly approval: Approval;
  readonly context: Schemas['ApprovalContext'];
}) => (
  <section>
    <h2>If approved</h2>
    <Sends
      context={context}
      when={approval.required - approval.countersigned > 1 ? 'after the remaining approvals' : 'immediately'}
    />
    {context.verify === null ? null : (
      <p className={styles['quiet']}>
        <Said text={context.verify.sentence} /> ({context.verify.level})
      </p>
    )}
    {context.budgets_after.map(({ id, used, max, currency }) => (
      <p key={id} className={styles['quiet']}>
        Budget <code>{id}</code> after this call: {used} of {max} {currency ?? 'calls'}
        {currency === null ? '' : ' (smallest unit)'}
      </p>
    ))}
  </section>
);

/** What leaves for the connector's system, and when. */
const Sends = ({ context, when }: { readonly context: Schemas['ApprovalContext']; readonly when: string }) => {
  const { sends } = context;
  if (sends !== null && 'sql' in sends) return <RunsStatement sends={sends} args={context.args} when={when} />;
  return (
    <p>
      {sends === null ? (
        'The request cannot be shown'
      ) : (
        <code>
          <Said text={`${sends.method} ${sends.url}`} />
        </code>
      )}
      , {when}.
    </p>
  );
};

/** An approver of the policy in words. `role:admin` means any admin; a person is named by e-mail address. */
const approverInWords = (approver: string): string => approver.replace(/^role:/, 'any ');

/** What the connector read about the call. Not folded away, because the approver checks the arguments against it. */
const FactsRead = ({ facts }: { readonly facts: Schemas['ApprovalContext']['facts'] }) =>
  Object.keys(facts).length === 0 ? null : (
    <section>
      <h2>Facts read by the connector</h2>
      <SqlFacts facts={facts} />
      <OtherFacts facts={facts} />
    </section>
  );

/** What is not told in words already. */
const OtherFacts = ({ facts }: { readonly facts: Schemas['ApprovalContext']['facts'] }) => {
  const others = Object.entries(facts).filter(([name]) => name !== 'sql');
  return others.length === 0 ? null : <Arguments args={Object.fromEntries(others)} />;
};

const Why = ({ approval, context }: { readonly approval: Approval; readonly context: Schemas['ApprovalContext'] }) => (
  <section>
    <h2>{approval.status === 'pending' ? 'Why approval is needed' : 'Why approval was needed'}</h2>
    <p>
      {context.rule.id === null ? (
        'The policy’s default requires approval.'
      ) : (
        <>
          Rule <code>{context.rule.id}</code>
          {context.rule.description === null ? null : (
            <>
              : <Said text={context.rule.description} />
            </>
          )}
        </>
      )}
    </p>
    <p className={styles['quiet']}>
      {approval.status === 'pending' ? 'Approvers:' : 'Approvers were:'}{' '}
      {context.approvers.map(approverInWords).join(', ')}. Requested <Time at={approval.created_at} />.{' '}
      {context.intent_signed ? 'Signed call: the agent’s runtime signed its intent.' : 'Unsigned call.'}
    </p>
    <p className={styles['quiet']}>
      <Link href={`/actions/${approval.action}`}>View action</Link> <Id id={approval.action} />
    </p>
  </section>
);
