import { type CheckFinding, failedCheck, passedCheck } from '#libs/domain/connectors';
import { bySql, listed, RELOAD, RESTART, warning } from './findings.js';
import { quotedName, quotedText } from '../../../database-set-up/index.js';
import type { LogFacts, SlotFacts, WitnessFacts } from './readiness-facts.js';

const MIB = 1024 * 1024;
/** Behind by more than this, a decoder is degraded. */
const LAG_MAX_BYTES = 16 * MIB;
const KEEP = '10GB';

export const witnessRoleFinding = (facts: WitnessFacts, agentRole: string): CheckFinding => {
  const role = quotedName(facts.role);
  if (facts.role === agentRole) {
    return failedCheck(
      `The witness and the agents have the same role, ${role}. A role that may replicate reads everything.`,
      `Make another role for the witness (npm run ags -- database setup-sql), and store its name and password.`,
    );
  }
  if (facts.is_superuser) {
    return failedCheck(
      `The role ${role} of the witness is a superuser.`,
      bySql(`ALTER ROLE ${role} NOSUPERUSER REPLICATION;`),
    );
  }
  if (!facts.replicates) {
    return failedCheck(
      `The role ${role} of the witness may not replicate.`,
      bySql(`ALTER ROLE ${role} REPLICATION;`, `-- Amazon RDS: GRANT rds_replication TO ${role};`),
    );
  }
  if (facts.writes.length > 0) {
    return failedCheck(
      `The role ${role} of the witness may change what it watches: ${listed(facts.writes)}.`,
      bySql(
        ...facts.writes.map(
          (table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON TABLE ${table} FROM ${role}, PUBLIC;`,
        ),
      ),
    );
  }
  return passedCheck(`The role ${role} of the witness may replicate, and changes no published table.`);
};

export const walLevelFinding = ({ wal_level }: LogFacts): CheckFinding =>
  wal_level === 'logical'
    ? passedCheck('wal_level is logical.')
    : failedCheck(
        `wal_level is ${wal_level}: the change log does not say which rows were changed.`,
        bySql(`ALTER SYSTEM SET wal_level = 'logical'; ${RESTART}`),
      );

/** A slot that is there needs no other, and one that is read has its sender. */
export const freeSlotFinding = ({ slot, slots, max_slots, senders, max_senders }: LogFacts): CheckFinding => {
  if (slot === null && slots >= max_slots) {
    return failedCheck(
      `All ${max_slots} replication slots of the server are taken.`,
      bySql(
        `ALTER SYSTEM SET max_replication_slots = ${max_slots + 2}; ${RESTART}`,
        '-- or drop one that nobody reads: SELECT slot_name, active FROM pg_replication_slots;',
      ),
    );
  }
  if (slot?.active !== true && senders >= max_senders) {
    return failedCheck(
      `All ${max_senders} WAL senders of the server are busy.`,
      bySql(`ALTER SYSTEM SET max_wal_senders = ${max_senders + 2}; ${RESTART}`),
    );
  }
  return passedCheck(
    slot === null ? 'A replication slot is free.' : 'The server has a replication slot and a WAL sender.',
  );
};

export const slotFinding = ({ slot }: LogFacts, name: string, database: string): CheckFinding => {
  const made = `SELECT pg_create_logical_replication_slot(${quotedText(name)}, 'pgoutput');`;
  const again = bySql(`SELECT pg_drop_replication_slot(${quotedText(name)});`, made);
  const quoted = quotedName(name);
  if (slot === null) {
    return failedCheck(
      `There is no replication slot ${quoted}.`,
      bySql(`${made} -- in the database ${quotedName(database)}`),
    );
  }
  const foreign = foreignSlot(slot);
  if (foreign !== null) {
    return failedCheck(
      `The replication slot ${quoted} is another’s: ${foreign}.`,
      'Name another slot in witness.slot, or leave it out: the connector then has a name of its own.',
    );
  }
  if (slot.wal_status === 'lost') {
    const why = slot.invalidation === null ? '' : ` (${slot.invalidation})`;
    return failedCheck(`The replication slot ${quoted} is lost${why}: the log it needs is gone.`, again);
  }
  if (slot.wal_status === 'unreserved') {
    return warning(
      `The replication slot ${quoted} is about to be lost: its reader is too far behind.`,
      'See that the worker of this service runs, and raise max_slot_wal_keep_size.',
    );
  }
  return passedCheck(`The replication slot ${quoted} is there, and is the connector’s.`);
};

const foreignSlot = (slot: SlotFacts): string | null => {
  if (slot.plugin !== 'pgoutput') return slot.plugin === null ? 'it is a physical one' : 'its plugin is not pgoutput';
  if (!slot.is_of_this_database) return 'it is of another database';
  if (slot.temporary) return 'it is a temporary one';
  return slot.two_phase === true ? 'it decodes prepared transactions (two_phase)' : null;
};

export const slotSizeFinding = ({ keep_mb }: LogFacts): CheckFinding =>
  keep_mb >= 0
    ? passedCheck(`A slot that nobody reads keeps ${keep_mb} MB of the log at most (max_slot_wal_keep_size).`)
    : warning(
        'max_slot_wal_keep_size is not set, so a slot that nobody reads may fill the disk of the database.',
        bySql(`ALTER SYSTEM SET max_slot_wal_keep_size = '${KEEP}';`, RELOAD),
      );

export const lagFinding = ({ slot }: LogFacts): CheckFinding => {
  const behind = slot?.behind ?? 0;
  const kept = megabytes(slot?.kept ?? 0);
  if (behind <= LAG_MAX_BYTES) {
    return passedCheck(`The witness is behind by ${megabytes(behind)} MiB; ${kept} MiB of the log are kept for it.`);
  }
  return warning(
    `The witness is behind by ${megabytes(behind)} MiB; ${kept} MiB of the log are kept for it.`,
    'See that the worker of this service runs. A long transaction in the database delays it, too.',
  );
};

const megabytes = (bytes: number): string => (Math.max(0, bytes) / MIB).toFixed(1);
