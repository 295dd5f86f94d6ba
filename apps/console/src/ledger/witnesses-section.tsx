import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { useMay } from '../kernel/session.tsx';
import { LookBadge } from '../kit/badges.tsx';
import { CodeBlock } from '../kit/code-block.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Empty, None, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { SectionHead } from '../people/section-head.tsx';
import { WhoMay } from '../people/who-may.tsx';
import settings from '../people/settings.module.css';
import styles from './ledger.module.css';
import { newestCheckpoint, ownVkeys, witnessPolicy, witnessPolicyFile } from './queries.ts';
import { AddWitness, ChangeQuorum, PastePolicy, RemoveWitness } from './witness-dialogs.tsx';
import { quorumInWords, STANDINGS } from './witness-standing.ts';

type Policy = Schemas['WitnessPolicy'];
type Open = { readonly is: 'add' | 'quorum' | 'paste' } | { readonly is: 'remove'; readonly name: string } | null;

const MOST = 8;

/** Who cosigns the ledger, how each of them stands, and what their operators need. */
export const WitnessesSection = () => {
  const { data: policy, error, refetch } = useQuery(witnessPolicy);
  const [open, setOpen] = useState<Open>(null);
  const [news, setNews] = useState('');
  const onOpen = useMay('owner') ? setOpen : null;
  const close = (): void => setOpen(null);
  const done = (said: string): void => {
    setOpen(null);
    setNews(said);
  };
  return (
    <>
      <SectionHead
        id="witnesses"
        action={
          onOpen !== null && policy !== undefined && policy.witnesses.length < MOST ? (
            <Button kind="primary" icon="eye" onClick={() => onOpen({ is: 'add' })}>
              Add witness
            </Button>
          ) : null
        }
      />
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {policy === undefined ? (
        error === null && <Bones count={3} />
      ) : (
        <>
          <Summary policy={policy} news={news} onOpen={onOpen} />
          {policy.witnesses.length === 0 ? (
            <NoWitnesses />
          ) : (
            <div className={kit['panel']}>
              <WitnessesTable policy={policy} onOpen={onOpen} />
            </div>
          )}
        </>
      )}
      <OwnKey />
      {policy === undefined || policy.witnesses.length === 0 ? null : <PolicyFile />}
      {policy === undefined || open === null ? null : (
        <Dialogs open={open} policy={policy} onDone={done} onClose={close} />
      )}
    </>
  );
};

const Dialogs = ({
  open,
  ...given
}: {
  readonly open: NonNullable<Open>;
  readonly policy: Policy;
  readonly onDone: (said: string) => void;
  readonly onClose: () => void;
}) => {
  switch (open.is) {
    case 'add':
      return <AddWitness {...given} />;
    case 'quorum':
      return <ChangeQuorum {...given} />;
    case 'remove':
      return <RemoveWitness {...given} name={open.name} />;
    case 'paste':
      return <PastePolicy {...given} />;
  }
};

interface WithOpen {
  /** Null for whom may not change anything. */
  readonly onOpen: ((open: Open) => void) | null;
}

const Summary = ({ policy, news, onOpen }: WithOpen & { readonly policy: Policy; readonly news: string }) => {
  const { quorum, witnesses, witnessed } = policy;
  return (
    <Panel
      title="How far it is witnessed"
      aside={
        onOpen === null ? null : (
          <span className={settings['tools']}>
            {witnesses.length > 1 ? (
              <Button isSmall onClick={() => onOpen({ is: 'quorum' })}>
                How many are enough …
              </Button>
            ) : null}
            <Button isSmall onClick={() => onOpen({ is: 'paste' })}>
              Paste policy file …
            </Button>
          </span>
        )
      }
    >
      <p>
        {quorumInWords(quorum, witnesses.length)}{' '}
        {witnesses.length === 0 ? null : witnessed === null ? (
          'No checkpoint has as many cosignatures yet.'
        ) : (
          <>
            As many have cosigned the ledger up to deed #{witnessed.size.toLocaleString('en')},{' '}
            <Time at={witnessed.at} />.
          </>
        )}
      </p>
      <p className={settings['said']} role="status">
        {news}
      </p>
      {onOpen === null ? (
        <p className={kit['dim']}>
          <WhoMay may="change this" />
        </p>
      ) : null}
    </Panel>
  );
};

const NoWitnesses = () => (
  <Empty title="No witnesses yet" code="npm run ags -- witness init">
    Whoever holds the keys of the service could write the ledger anew, or show two people two ledgers. A witness, which
    a customer, an auditor or a partner runs, signs one ledger and no other. Whoever runs one begins with:
  </Empty>
);

const WitnessesTable = ({ policy, onOpen }: WithOpen & { readonly policy: Policy }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Witness</th>
        <th scope="col">Standing</th>
        <th scope="col">Has cosigned</th>
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {policy.witnesses.map((witness) => (
        <tr key={witness.name}>
          <td className={settings['who']}>
            <Said text={witness.name} />
            <small>
              <Said text={witness.url} />
            </small>
          </td>
          <td className={styles['standing']}>
            <Standing of={witness.standing} />
          </td>
          <td data-wide>
            <Cosigned standing={witness.standing} />
          </td>
          <td className={settings['actions']}>
            {onOpen === null ? null : (
              <Button
                isSmall
                aria-label={`Remove ${witness.name}`}
                onClick={() => onOpen({ is: 'remove', name: witness.name })}
              >
                Remove
              </Button>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Standing = ({ of: { state, detail, next_try_at: nextTry } }: { readonly of: Schemas['WitnessStanding'] }) => {
  const { look, means, next } = STANDINGS[state];
  return (
    <>
      <LookBadge look={look} />
      <p>
        {means} {next}
        {nextTry === null ? null : (
          <>
            {' '}
            Asked again <Time at={nextTry} />.
          </>
        )}
      </p>
      {detail === null ? null : (
        <p className={kit['dim']}>
          <Said text={detail} />
        </p>
      )}
    </>
  );
};

const Cosigned = ({ standing: { size, at } }: { readonly standing: Schemas['WitnessStanding'] }) =>
  size === null ? (
    <None />
  ) : (
    <>
      up to #{size.toLocaleString('en')}
      {at === null ? null : (
        <small>
          <Time at={at} />
        </small>
      )}
    </>
  );

/** What a witness's operator, and whoever verifies a bundle, knows the ledger by. */
const OwnKey = () => {
  const { data: checkpoint, error, refetch } = useQuery(newestCheckpoint);
  const origin = checkpoint?.origin ?? null;
  const { data: vkeys } = useQuery({ ...ownVkeys(origin ?? ''), enabled: origin !== null && isSecureContext });
  return (
    <Panel title="The verifier key of your ledger">
      <p className={settings['about']}>
        The operator of a witness adds it (<code>npm run ags -- witness serve --log</code>); whoever verifies an export
        gives it as <code>--checkpoint-key</code>. Hand it over by a way of your own, and not together with an export.
      </p>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {checkpoint === undefined && error === null ? <Bones count={1} /> : null}
      {checkpoint === null ? (
        <p className={kit['dim']}>No checkpoint yet. The first one names the ledger, a minute after its first deed.</p>
      ) : null}
      {vkeys?.map((vkey) => (
        <CodeBlock key={vkey} label="Verifier key" code={vkey} />
      ))}
      {origin !== null && !isSecureContext ? (
        <p className={kit['dim']}>
          This browser computes no keys on a page without https. Run <code>npm run ags -- ledger vkey</code>.
        </p>
      ) : null}
    </Panel>
  );
};

const PolicyFile = () => {
  const { data } = useQuery(witnessPolicyFile);
  return data === undefined ? null : (
    <Panel title="The policy file">
      <p className={settings['about']}>
        What <code>npm run ags -- verify --witnesses</code> takes, with the verifier key above. An auditor chooses
        witnesses without you: this is a proposal.
      </p>
      <CodeBlock label="tlog-policy" code={data} />
    </Panel>
  );
};
