import type { Schemas } from '../kernel/client.ts';

type Witness = Schemas['ConnectorWitness'];
type Told = Pick<Witness, 'status' | 'reason'>;

/** What the state of a witness means for calls, and what to do. */
export interface WitnessWords {
  readonly means: string;
  /** Null where nothing has to be done. */
  readonly next: string | null;
  /** Commands that belong to it, in their order. */
  readonly commands: readonly string[];
}

const setUp = (name: string): string => `npm run ags -- database setup-sql --connector ${name}`;
const drop = (slot: string): string => `select pg_drop_replication_slot('${slot}');`;

/**
 * The state of a witness in words.
 * @param slot the replication slot, as the database knows it
 */
export const witnessInWords = (
  { status, reason }: Told,
  { name, slot }: { readonly name: string; readonly slot: string },
): WitnessWords => {
  switch (status) {
    case 'healthy':
      return {
        means: 'The change log is followed. It confirms each write, or contradicts it.',
        next: null,
        commands: [],
      };
    case 'degraded':
      return {
        means:
          'The change log is read more than 16 MiB or 10 seconds behind. Calls that it does not show in time end as unverifiable, and are amended when it does.',
        next: 'It mostly catches up by itself. If it does not, see what writes so much, and whether the set-up is whole. This prints the SQL of the set-up:',
        commands: [setUp(name)],
      };
    case 'down':
      return {
        means:
          'Nobody reads the change log: there is no connection, or no worker runs. Calls end as unverifiable, and the database keeps its log until it is read, which takes room on its disk.',
        next: 'Test the connection: it says what is missing. The log of the worker says why. This prints the SQL of the set-up:',
        commands: [setUp(name)],
      };
    case 'invalidated':
      return reason === 'log_restored'
        ? {
            means:
              'The slot is gone from a database that had it: it was restored, or has failed over. What waited for the change log is unverifiable.',
            next: 'Set the witness up anew: this prints the SQL that the owner of the database runs.',
            commands: [setUp(name)],
          }
        : {
            means:
              'The database has thrown away what the slot had still to send. What waited for the change log is unverifiable, and nothing new is verified.',
            next: 'Have the owner of the database drop the slot, then set the witness up anew: the second command prints the SQL.',
            commands: [drop(slot), setUp(name)],
          };
    case 'off':
      return reason === 'slot_left'
        ? {
            means:
              'Nobody follows the change log, and the slot could not be dropped: it keeps the log of its database.',
            next: 'The service tries once a minute. The owner of the database can also drop it:',
            commands: [drop(slot)],
          }
        : {
            means:
              'Nobody follows the change log: the connector is disabled, or its configuration asks for no witness.',
            next: null,
            commands: [],
          };
  }
};

/** The slot of a connector: that of the config, else the one named after its id. */
export const slotOf = (id: string, named: string | undefined): string => named ?? `ags_${id.replace(/^con_/, '')}`;
