import { membersOf, outcomeOf, stateOf, statusIn, textOf, type ActionFile, type Dossier } from '../dossier.js';
import type { Evidence, LoggedEvent, Members } from '../evidence.js';

/** INV-10. Rows made anew are the rows that were there, and both are what the log says. */
export const rowsAreTheLog = ({ evidence, actions, deeds }: Dossier): readonly string[] => [
  ...(evidence.rebuildFault === null ? [] : [`projections cannot be made anew: ${evidence.rebuildFault}`]),
  ...Object.entries(evidence.rows).flatMap(([list, { before, after }]) => changes(list, before, after)),
  ...againstLog(evidence, 'actions', [...actions.values()].map(expectedAction)),
  ...againstLog(evidence, 'deeds', deeds.map(expectedDeed)),
];

const changes = (list: string, before: readonly Members[], after: readonly Members[]): readonly string[] => {
  const anew = new Map(after.map((row) => [textOf(row['id']), JSON.stringify(row)]));
  const faults = before.flatMap((row) => {
    const id = textOf(row['id']);
    if (anew.get(id) === JSON.stringify(row)) return [];
    return [`${id} has other rows in the list of ${list} before and after its projection was made anew`];
  });
  const orderBefore = before.map((row) => row['id']).join(' ');
  const isMoved = orderBefore !== after.map((row) => row['id']).join(' ');
  return isMoved ? [...faults, `the list of ${list} has other rows, or another order, after it was made anew`] : faults;
};

/** Compares what the checker expects of a row; whatever else the row says is not judged. */
const againstLog = (evidence: Evidence, list: string, expected: readonly Members[]): readonly string[] => {
  const { before = [], after = [] } = evidence.rows[list] ?? {};
  return [before, after].flatMap((listed) => {
    const rows = new Map(listed.map((row) => [textOf(row['id']), row]));
    const faults = expected.flatMap((row) => {
      const id = textOf(row['id']);
      const found = rows.get(id);
      if (!found) return [`${id} is in the log and not in the list of ${list}`];
      const wrong = Object.keys(row).filter((member) => JSON.stringify(found[member]) !== JSON.stringify(row[member]));
      return wrong.map((member) => {
        const [says, due] = [found[member], row[member]].map((value) => JSON.stringify(value));
        return `${id} has ${member} ${says} in the list of ${list}, and the log says ${due}`;
      });
    });
    const invented = listed.length - expected.length;
    return invented > 0 ? [...faults, `the list of ${list} has ${invented} rows that the log does not know`] : faults;
  });
};

const expectedAction = (file: ActionFile): Members => ({
  id: file.id,
  tool: file.submitted?.['tool'],
  state: stateOf(file),
  status: statusIn(stateOf(file), file),
  request_digest: file.submitted?.['request_digest'],
  created_at: file.submitted?.['at'],
  deed: file.deeds[0]?.data['deed'] ?? null,
  execution: expectedExecution(file),
  witness: expectedWitness(file),
});

const expectedExecution = (file: ActionFile): Members | null => {
  const outcome = outcomeOf(file);
  if (!outcome) return null;
  const { status, started_at, finished_at, error_code, error_message } = outcome;
  // Of a call that the agent ran itself its two times say how long it took.
  const latency_ms = 'latency_ms' in outcome ? outcome['latency_ms'] : between(started_at, finished_at);
  return { status, attempts: file.attempts.length, started_at, finished_at, latency_ms, error_code, error_message };
};

const between = (started: unknown, finished: unknown): number =>
  Date.parse(textOf(finished)) - Date.parse(textOf(started));

/** The newest. */
const expectedWitness = ({ witnesses, amendments }: ActionFile): Members | null => {
  const newest = amendments.at(-1) ?? witnesses[0];
  if (!newest) return null;
  const { level, verdict, method, summary, diff_rows } = newest.data;
  return { level, verdict, method, summary, diff_rows };
};

const expectedDeed = ({ data }: LoggedEvent): Members => {
  const { deed, seq, kind, action, issued_at, body_hash, prev_hash, kid, signature } = membersOf(data);
  return { id: deed, seq, kind, action, issued_at, body_hash, prev_hash, kid, signature };
};
