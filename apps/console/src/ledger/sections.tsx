import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { DIGEST_PATTERN } from '../kernel/contract.ts';
import { idPattern } from '../kernel/id-pattern.ts';
import { EvidenceBadge } from '../kit/badges.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { cx, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { changeInWords } from './about.ts';
import type { DeedBody } from './body.ts';
import styles from './ledger.module.css';
import { ActorName, Named } from './named.tsx';
import { type Line, type SectionOfDeed, sectionsOf } from './sections.ts';

/** All members of a deed in words. Those without a value are listed in one line. */
export const Sections = ({
  body,
  place,
}: {
  readonly body: DeedBody;
  /** Shown in the chain section: links to the deed's neighbours. */
  readonly place: ReactNode;
}) => {
  const { sections, absent } = sectionsOf(body);
  return (
    <div className={cx(kit['stack'], styles['sections'])}>
      {sections.map((section) => (
        <Panel key={section.name} title={section.title}>
          <Facts>
            {section.name === 'witness' && body.witness !== null ? (
              <Fact name="In short">
                <EvidenceBadge witness={body.witness} />
              </Fact>
            ) : null}
            {section.lines.map((line) => (
              <Fact key={line.name} name={line.label}>
                <Value section={section} line={line} />
              </Fact>
            ))}
            {section.name === 'chain' ? place : null}
          </Facts>
          {section.empty.length === 0 ? null : (
            <details className={styles['empty']}>
              <summary>
                {section.empty.length} empty {section.empty.length === 1 ? 'field' : 'fields'}
              </summary>
              <p>{section.empty.join(', ')}</p>
            </details>
          )}
        </Panel>
      ))}
      {absent.length === 0 ? null : <p className={kit['dim']}>Not in this deed: {absent.join(', ').toLowerCase()}.</p>}
    </div>
  );
};

const ID = idPattern('act', 'agt', 'apr', 'con', 'deed', 'key', 'mem', 'org', 'pol', 'pv', 'usr', 'whk');
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const LONG = new RegExp(`${DIGEST_PATTERN.source}|^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`);

/** Words for the values that the format uses, by section and member. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'action.mode': { gateway: 'the service', proxy: 'the agent' },
  'action.livemode': { true: 'live', false: 'test' },
  'policy.outcome': { allow: 'allowed', deny: 'denied', require_approval: 'approval required' },
  'policy.source': {
    rule: 'rule',
    default: 'default of the policy',
    budget: 'budget',
    stop: 'Stop',
    builtin: 'the service',
  },
  'witness.method': {
    reported: 'reported by the tool',
    edge_reported: 'reported by the agent',
    read_back: 'read back',
    change_log: 'change log of the database',
    none: 'not verifiable',
  },
  'witness.level': {
    L0: 'L0, reported by the tool',
    L1: 'L1, read back',
    L2: 'L2, the system of record',
  },
  'chain.kind': { action: 'action', amendment: 'amendment (later verdict)', admin: 'admin change' },
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isActor = (value: unknown): value is DeedBody['who']['actor'] =>
  isRecord(value) && typeof value['type'] === 'string' && (value['id'] === null || typeof value['id'] === 'string');

const Value = ({ section, line: { name, value } }: { readonly section: SectionOfDeed; readonly line: Line }) => {
  const words = WORDS[`${section.name}.${name}`]?.[String(value)];
  if (words !== undefined) return <>{words}</>;
  if (section.name === 'admin' && name === 'action') return <>{changeInWords(String(value))}</>;
  if (section.name === 'who' && name === 'on_behalf_of')
    return (
      <Link href={`/actions?on_behalf_of=${encodeURIComponent(String(value))}`}>
        <Said text={String(value)} />
      </Link>
    );
  if (name === 'countersigned' && Array.isArray(value)) return <Signed signed={value} />;
  if (isActor(value)) return <Whoever section={section} actor={value} />;
  if (section.name === 'chain' && name === 'id') return <Id id={String(value)} />;
  if (name === 'seq') return <>#{String(value)}</>;
  return <Plain value={value} />;
};

/** An actor or the target of a change: by name, with the id beside it. */
const Whoever = ({
  section,
  actor: { type, id },
}: {
  readonly section: SectionOfDeed;
  readonly actor: DeedBody['who']['actor'];
}) => {
  if (id === null) return <ActorName actor={{ type, id }} />;
  const kind = section.name === 'admin' ? type.replaceAll('_', ' ') : null;
  return (
    <>
      {kind === null ? (
        type === 'agent' || type === 'user' ? null : (
          <ActorKind type={type} />
        )
      ) : (
        <Said text={`${kind} `} />
      )}
      {ID.test(id) ? <Named id={id} /> : <Id id={id} />}
    </>
  );
};

const ActorKind = ({ type }: { readonly type: string }) => <>{type.replaceAll('_', ' ')} </>;

const Signed = ({ signed }: { readonly signed: readonly unknown[] }) => (
  <ul className={styles['signed']}>
    {signed.filter(isRecord).map((one, index) => (
      <li key={index}>
        <Plain value={one['by']} /> <Plain value={one['at']} />
      </li>
    ))}
  </ul>
);

const Plain = ({ value }: { readonly value: unknown }) => {
  if (value === true) return <>yes</>;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <Said text={value.join(', ')} />;
  if (typeof value !== 'string') return <Said text={JSON.stringify(value)} />;
  if (ID.test(value)) return <Named id={value} />;
  if (TIME.test(value)) return <Time at={value} isExact />;
  if (LONG.test(value)) return <Id id={value} />;
  return <Said text={value} />;
};
