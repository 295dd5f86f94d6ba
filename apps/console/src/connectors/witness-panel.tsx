import type { Schemas } from '../kernel/client.ts';
import { duration } from '../kernel/times.ts';
import { size } from '../kernel/sizes.ts';
import { type BadgeLook, LookBadge } from '../kit/badges.tsx';
import { CodeBlock } from '../kit/code-block.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Panel, Said, Time, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { databaseConfigOf } from './database-config.ts';
import type { Connector } from './types.ts';
import { slotOf, witnessInWords, type WitnessWords } from './witness-words.ts';

type Witness = Schemas['ConnectorWitness'];

const LOOKS: Readonly<Record<Witness['status'], BadgeLook>> = {
  healthy: ['ok', 'checkCircle', 'Healthy'],
  degraded: ['warn', 'alert', 'Degraded'],
  down: ['bad', 'crossCircle', 'Down'],
  invalidated: ['bad', 'crossCircle', 'Invalidated'],
  off: ['quiet', 'pause', 'Off'],
};

/** How the change log of a database is followed, and what to do where it is not. Nothing for other types. */
export const WitnessPanel = ({ connector }: { readonly connector: Connector }) => {
  const config = databaseConfigOf(connector);
  const { witness, credential } = connector;
  if (config === null || witness === undefined) return null;
  const slot = slotOf(connector.id, config.witness?.slot);
  const isOn = config.witness?.enabled === true;
  return (
    <Panel title="Witness" aside={<LookBadge look={LOOKS[witness.status]} />}>
      <div className={kit['stack']}>
        <div className={kit['stack']} role="status">
          <Next words={witnessInWords(witness, { name: connector.name, slot })} isUrgent={isUrgent(witness)} />
        </div>
        {isOn && credential !== null && !credential.fields.includes('witness_username') ? (
          <Warning>The stored credential has no login for the witness. Replace it with one that has.</Warning>
        ) : null}
        <Facts>
          {witness.since === null ? null : (
            <Fact name="Since">
              <Time at={witness.since} isExact />
            </Fact>
          )}
          {isOn ? (
            <>
              <Fact name="Behind by">{witness.lag_bytes === null ? 'nobody can say' : size(witness.lag_bytes)}</Fact>
              {witness.position === null ? null : (
                <Fact name="Read up to">
                  <code>
                    <Said text={witness.position} />
                  </code>
                </Fact>
              )}
              <Fact name="Slot">
                <code>
                  <Said text={slot} />
                </code>
              </Fact>
              <Fact name="Publication">
                <code>
                  <Said text={slotOf(connector.id, config.witness?.publication)} />
                </code>
              </Fact>
              <Fact name="Waits for a verdict">{duration(config.witness?.timeout_ms ?? 0)}</Fact>
              <Fact name="Changes past the service">{config.watch_bypass ? 'reported' : 'not reported'}</Fact>
            </>
          ) : null}
        </Facts>
      </div>
    </Panel>
  );
};

const isUrgent = ({ status, reason }: Witness): boolean =>
  reason === 'slot_left' || !['healthy', 'off'].includes(status);

const Next = ({ words, isUrgent: urgent }: { readonly words: WitnessWords; readonly isUrgent: boolean }) => (
  <>
    {urgent ? <Warning>{words.means}</Warning> : <p className={kit['dim']}>{words.means}</p>}
    {words.next === null ? null : <p>{words.next}</p>}
    {words.commands.map((command) => (
      <CodeBlock key={command} label="Command" code={command} />
    ))}
  </>
);
