import type { Command } from 'commander';
import type { PayloadComparison } from '#libs/domain/gate';
import { shareOfLog, START, type EventStore, type OrgId, type RecordedEvent } from '#libs/domain/kernel';
import type {
  AuditedPayload,
  AuditFault,
  AuditFaultCode,
  AuditVerdict,
  ComparedPayload,
  LogAudit,
  RetentionReach,
} from '#libs/domain/ledger';
import { idArgument } from '../arguments.js';
import { EXIT } from '../cli-error.js';
import {
  withAdministration,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { refuseInterrupted } from '../interruption.js';
import { barText, facts, ProgressLine, table, type Answer } from '../terminal.js';

const PAGE_EVENTS = 1_000;
const LEDGER = 'ledger-';
/** Each of some MiB at most: well within the time of one statement. */
const PAYLOADS_AT_ONCE = 50;

/** `ags audit`: does every ledger say what the log says? */
export const registerAuditCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('audit')
      .description(
        'Replays the whole event log, derives every deed that there must be, and compares it byte by byte with what ' +
          'the ledgers hold; recomputes the id of every event from its content, verifies both signatures of every deed, and compares ' +
          'the arguments and results that are stored beside the log with the digests that events name; those that ' +
          'retention has removed are counted, and no fault. Finds events ' +
          'that were changed, removed or invented in the database, and outcomes that never got their deed. Reads only, ' +
          'and may run beside a service. Ends with 0 when all is as it was written. Whether a ledger was cut at its end ' +
          'only a head or a bundle that somebody else keeps can show; the rows of lists are for `projections verify`.',
      )
      .summary('compare every deed and payload with the event log')
      .option('--org <id>', 'compare the ledger of this organization alone', idArgument('org'))
      .option('--json', 'the verdict as one JSON object')
      .action(async ({ org, json }: OrgOption & JsonOption) =>
        withAdministration(context, json === true, async (administration, interrupted) => {
          const { log, census } = administration;
          if (org !== undefined) await census.organization(org);
          const verdict = await audit(
            { log, payloads: await administration.payloads(), retention: await administration.retention() },
            org ?? null,
            new ProgressLine(context.terminal),
            interrupted,
          );
          if (verdict.faultCount > 0) context.exitCode = EXIT.refused;
          return answerOf(verdict, org ?? null);
        }),
      ),
    'npm run ags -- audit',
    'npm run ags -- audit --org org_... --json',
  );
};

export interface Audited {
  readonly log: EventStore;
  readonly payloads: PayloadComparison;
  readonly retention: Pick<RetentionReach, 'passedUpTo' | 'hasPassedAction'>;
}

/** What is appended meanwhile is read too, up to where the log stood when the audit began: a deed after it may be due. */
export const audit = async (
  { log, payloads, retention }: Audited,
  org: OrgId | null,
  progress: ProgressLine,
  interrupted: AbortSignal,
): Promise<AuditVerdict> => {
  // Every other command would load the gate, its policies and their engine for nothing.
  const { LogAudit } = await import('#libs/domain/ledger');
  const running = new LogAudit(org, (end, position) => log.isNext(end, position));
  const head = await log.head();
  let [after, events] = [START, 0];
  try {
    while (after < head) {
      refuseInterrupted(interrupted, 'It was interrupted before it had a verdict. Run it again.');
      const page = (await log.readAll(after, PAGE_EVENTS)).filter(({ position }) => position <= head);
      await stepThrough(page, running, log);
      await comparePayloads(running, payloads, retention);
      const last = page.at(-1);
      if (!last) break;
      after = last.position;
      events += page.length;
      progress.show(barText('audit', shareOfLog(after, head), events, 'events'));
    }
  } finally {
    progress.clear();
  }
  return running.verdict();
};

const stepThrough = async (page: readonly RecordedEvent[], running: LogAudit, log: EventStore): Promise<void> => {
  for (const recorded of page) {
    if (running.mustRecall(recorded)) {
      running.recall(await log.readStream(recorded.stream, { from: 0, limit: recorded.revision }));
    }
    running.step(recorded);
  }
};

const comparePayloads = async (
  running: LogAudit,
  payloads: PayloadComparison,
  retention: Audited['retention'],
): Promise<void> => {
  const audited = running.takeNamed();
  for (let next = 0; next < audited.length; next += PAYLOADS_AT_ONCE) {
    const some = audited.slice(next, next + PAYLOADS_AT_ONCE);
    const results: ComparedPayload[] = [...(await payloads.compare(some.map(({ named }) => named)))];
    const missing = some.filter((_, index) => results[index] === 'missing');
    // Asked after the comparison: retention goes on beside an audit, and moves as it removes.
    for (const org of new Set(missing.map(({ place }) => place.org as OrgId))) {
      const passed = await retention.passedUpTo(org);
      if (passed !== null) running.retentionPassed(org, passed);
    }
    for (const [index, payload] of some.entries()) {
      if (results[index] === 'missing' && (await isPassedLate(payload, retention))) results[index] = 'removed';
    }
    running.compared(some, results);
  }
};

/** Late reports are few: each asks for the stream of its action. */
const isPassedLate = async ({ place, isLate }: AuditedPayload, retention: Audited['retention']): Promise<boolean> =>
  isLate === true && (await retention.hasPassedAction(place.org as OrgId, place.stream));

const answerOf = (verdict: AuditVerdict, org: OrgId | null): Answer => {
  const { events, deeds, payloads, payloadsRemoved, unsealed, unsealedSince, faultCount, faults } = verdict;
  const result = faultCount === 0 ? 'intact' : 'broken';
  const view = {
    object: 'audit',
    result,
    org,
    events,
    deeds,
    payloads,
    payloads_removed: payloadsRemoved,
    unsealed,
    unsealed_since: unsealedSince,
    fault_count: faultCount,
    faults: faults.map(viewOf),
  };
  return { objects: [view], text: textOf(verdict) };
};

const viewOf = (fault: AuditFault): object => {
  const { code, org, stream, revision, kind, digest } = fault;
  return { code, org, stream, revision, seq: seqOf(fault), kind, digest };
};

const textOf = (verdict: AuditVerdict): string => {
  const { events, deeds, payloads, payloadsRemoved, unsealed, unsealedSince, faultCount, faults } = verdict;
  const counts: [string, string][] = [
    ['events', events.toLocaleString('en')],
    ['deeds', deeds.toLocaleString('en')],
    ['payloads', payloads.toLocaleString('en')],
    ...(payloadsRemoved === 0
      ? []
      : [['removed by retention', payloadsRemoved.toLocaleString('en')] as [string, string]]),
    ['not sealed yet', unsealed === 0 ? 'none' : `${unsealed.toLocaleString('en')}, since ${unsealedSince ?? ''}`],
  ];
  if (faultCount === 0)
    return `Intact: every deed is what the log gives, and every payload what it names.\n\n${facts(counts)}`;
  const shown = faults.length < faultCount ? `, the first ${faults.length} below` : '';
  const head = `Broken: ${faultCount.toLocaleString('en')} ${faultCount === 1 ? 'fault' : 'faults'}${shown}.`;
  return [head, '', table(['WHERE', 'WHAT'], faults.map(rowOf)), '', facts(counts), '', NEXT_STEP].join('\n');
};

const NEXT_STEP =
  'Keep a copy of the database as it is, and compare it with a backup and with bundles that were exported before.';

const rowOf = (fault: AuditFault): readonly string[] => {
  const seq = seqOf(fault);
  const place = `${fault.stream} at revision ${fault.revision}`;
  return [seq === null ? place : `${place} (seq ${seq})`, `${FAULTS[fault.code]}${payloadText(fault)}`];
};

/** With the action of the stream, its owner, that is the key of the row. */
const payloadText = ({ kind, digest }: AuditFault): string =>
  kind === null ? '' : ` (kind ${kind}, ${digest === null ? 'what is named is no digest' : `digest ${digest}`})`;

/** Of the deed that stands there, as its envelope, `doctor` and a ledger check count; null in any other stream. */
const seqOf = ({ stream, revision }: AuditFault): number | null => (stream.startsWith(LEDGER) ? revision + 1 : null);

/** Closed: a code without a sentence does not compile. */
const FAULTS: Readonly<Record<AuditFaultCode, string>> = {
  event_altered: 'the event is not what was written',
  event_unexpected: 'the service writes no such event there',
  event_missing: 'the event before it is missing',
  event_unreadable: 'the event cannot be read',
  deed_missing: 'the event asks for a deed, and the ledger goes on without it',
  deed_unasked: 'no event asks for this deed',
  deed_differs: 'the deed is not what the log gives',
  bad_seal: 'the seal of the deed does not hold',
  bad_cose_signature: 'the signature of the deed’s COSE form does not hold',
  key_not_valid: 'the deed lies outside of its key’s window, or is dated before the one before it',
  payload_missing:
    'the arguments or the result that the event names are not stored: restore their row of gate.payloads',
  payload_differs: 'the arguments or the result that the event names were changed: restore their row of gate.payloads',
};
