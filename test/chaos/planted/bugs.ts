import { UPSTREAM_TOKEN } from '../../support/crm.js';
import type { RoundPlan } from '../faults.js';
import type { InvariantId } from '../checker.js';

/** A way in which the service could be wrong, as a change to the text of its bundles. */
export interface PlantedBug {
  readonly name: string;
  /** By which the checker must name it; it may break others on the way. */
  readonly breaks: InvariantId;
  /** Each text must be in the bundles exactly once, or the run fails: a bug that is not there proves nothing. */
  readonly changes: readonly { readonly text: string; readonly becomes: string }[];
  /** What the bug needs in order to show; none: ordinary traffic. */
  readonly plans?: readonly RoundPlan[];
}

const LOST_EXECUTION: readonly RoundPlan[] = [{ kill: { kind: 'execution' }, orders: [] }];

/** At least one for each invariant that is computed. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'an answer names a deed that is none',
    breaks: 'INV-01',
    changes: [
      {
        text: 'state: deed === null ? action.state : "sealed",',
        becomes:
          'state: deed === null ? action.state : "sealed", get deed() { return deed && deed + "0"; }, set deed(_) {},',
      },
      { text: 'deed,\n\t\tnext_action: nextActionView(', becomes: 'next_action: nextActionView(' },
    ],
  },
  {
    name: 'a lost execution is sent again, though its tool may run once',
    breaks: 'INV-02',
    changes: [{ text: 'return !!last && last.class === "repeatable" &&', becomes: 'return !!last &&' }],
    plans: LOST_EXECUTION,
  },
  {
    name: 'a repeated write has another Idempotency-Key each time',
    breaks: 'INV-02',
    changes: [
      {
        text: '[[tool.idempotency_header, actionId]]',
        becomes: '[[tool.idempotency_header, actionId + Math.random()]]',
      },
    ],
  },
  {
    name: 'an outcome that nobody knows is called succeeded',
    breaks: 'INV-03',
    changes: [
      {
        text: 'return unknownOutcome("upstream_error", "The connection',
        becomes:
          'return { ...unknownOutcome(null, null), status: "succeeded" };\n\treturn unknownOutcome("upstream_error", "The connection',
      },
    ],
  },
  {
    name: 'what the upstream answered with 200 is called unknown',
    breaks: 'INV-03',
    changes: [
      {
        text: 'if (status >= 200 && status < 300) return SUCCEEDED;',
        becomes: 'if (status >= 200 && status < 300 && isRead) return SUCCEEDED;',
      },
    ],
  },
  {
    name: 'the sealer passes over failures',
    breaks: 'INV-04',
    changes: [
      {
        text: 'if (action.sealingRevision === recorded.revision) return ',
        becomes:
          'if (action.sealingRevision === recorded.revision) return action.outcome?.status === "failed" ? null : ',
      },
    ],
  },
  {
    name: 'a deed is sealed twice',
    breaks: 'INV-04',
    changes: [
      {
        text: 'for (const request of requests) {',
        becomes:
          'for (const request of requests.flatMap((asked) => (asked.sections.action ? [asked, asked] : [asked]))) {',
      },
      // A quick machine sends every deed along with what it seals, and none by the way above.
      { text: 'if (!this.backoff.mayTry()) return null;', becomes: 'return null;' },
    ],
  },
  {
    name: 'the chain skips a seq',
    breaks: 'INV-05',
    changes: [
      {
        text: 'const deed = composeDeed(request, previous, issuedAt, signingKey.publicKey.kid);',
        becomes:
          'if (previous.seq >= 9) globalThis.skipped ??= previous.seq;\n\t\t\tif (previous.seq === globalThis.skipped) previous = { ...previous, seq: previous.seq + 1 };\n\t\t\tconst deed = composeDeed(request, previous, issuedAt, signingKey.publicKey.kid);',
      },
      {
        text: 'expectedRevision: tail.seq === 0 ? "no_stream" : tail.seq - 1,',
        becomes:
          'expectedRevision: tail.seq === 0 ? "no_stream" : tail.seq - (tail.seq > (globalThis.skipped ?? Infinity) ? 2 : 1),',
      },
    ],
  },
  {
    name: 'a deed carries a signature of something else',
    breaks: 'INV-06',
    changes: [
      {
        text: 'signature: seal.signature,',
        becomes: 'signature: previous.seq % 5 === 4 ? seal.coseSignature : seal.signature,',
      },
    ],
  },
  {
    name: 'an Idempotency-Key is ignored',
    breaks: 'INV-07',
    changes: [{ text: 'const key = request.idempotencyKey;', becomes: 'const key = null;' }],
  },
  {
    name: 'whoever repeats a request under its Idempotency-Key is told that it is another one',
    breaks: 'INV-07',
    changes: [
      {
        text: 'if (!isSameRequest(submission, request)) throw',
        becomes: 'if (true) throw',
      },
    ],
  },
  {
    name: 'a stream passes over some events',
    breaks: 'INV-08',
    changes: [
      {
        text: 'if (reader.filter.shows(event.event)) reader.offer(event);',
        becomes: 'if (reader.filter.shows(event.event) && !/[a-h]$/.test(event.event.evt)) reader.offer(event);',
      },
    ],
  },
  {
    name: 'some events are delivered to nobody',
    breaks: 'INV-09',
    changes: [
      {
        text: 'return receiversOf(event.type, then).map((webhook) => ({',
        becomes: 'return (/[a-h]$/.test(event.id) ? [] : receiversOf(event.type, then)).map((webhook) => ({',
      },
    ],
  },
  {
    name: 'a projection misses one type of event',
    breaks: 'INV-10',
    changes: [
      {
        text: 'if (id !== null) actions.set(id,',
        becomes: 'if (id !== null && envelope.event.type !== "ActionWitnessed") actions.set(id,',
      },
    ],
  },
  {
    name: 'a budget lets a thousand calls more through',
    breaks: 'INV-11',
    changes: [{ text: '+ n.amount > n.allowed limit 1', becomes: '+ n.amount > n.allowed + 1000 limit 1' }],
  },
  {
    name: 'what waits for a person runs all the same',
    breaks: 'INV-13',
    changes: [
      {
        text: 'if (approval) accepted.push(requested(action, approval, at));',
        becomes:
          'if (approval) accepted.push(requested(action, approval, at), madeReady(action, { class: "once", timeoutMs: 1000, startBy: at }, at));',
      },
    ],
  },
  {
    name: 'a credential is printed',
    breaks: 'INV-15',
    changes: [
      {
        text: 'const credential = secret === null ? NO_CREDENTIAL : applyCredential(config, secret);',
        becomes:
          'const credential = secret === null ? NO_CREDENTIAL : applyCredential(config, secret);\n\t\t\tconsole.log(credential.headers);',
      },
    ],
  },
  {
    name: 'a credential stands in the deeds',
    breaks: 'INV-15',
    changes: [
      {
        text: 'key: submission.key,\n\ton_behalf_of: submission.on_behalf_of,',
        becomes: `key: submission.key,\n\ton_behalf_of: ${JSON.stringify(UPSTREAM_TOKEN)},`,
      },
    ],
  },
  {
    name: 'an outcome is dropped',
    breaks: 'INV-16',
    changes: [
      {
        text: '() => this.record(happened), ',
        becomes: 'async () => (happened.outcome.status === "failed" ? happened.folded : this.record(happened)), ',
      },
    ],
  },
  {
    name: 'a read is answered with an earlier state',
    breaks: 'INV-17',
    changes: [
      {
        text: 'const decision = view["decision"];',
        becomes: 'view["state"] = "executing";\n\t\tconst decision = view["decision"];',
      },
    ],
  },
  {
    name: 'a second outcome takes the place of the first',
    breaks: 'INV-18',
    changes: [
      {
        text: 'data: recorded\n\t}, ...contradictedBefore(state, at)];',
        becomes: 'data: recorded\n\t}, { type: "ExecutionFinished", data: { ...recorded, status: "succeeded" } }];',
      },
    ],
  },
  {
    name: 'an answer calls failed what was executed, and shows no execution',
    breaks: 'INV-18',
    changes: [
      {
        text: 'execution: executionView(action, own),',
        becomes:
          'execution: executionView(action, own),\n\t\t...(own && deed && action.outcome && { status: "failed", execution: null }),',
      },
    ],
  },
  {
    name: 'an id that does not exist makes the service fail',
    breaks: 'INV-19',
    changes: [
      {
        text: 'if (!read || caller.kind === "agent" && read.',
        becomes: 'if (read.action === null || caller.kind === "agent" && read.',
      },
    ],
  },
  {
    name: 'an answer has no request id',
    breaks: 'INV-20',
    changes: [{ text: '"Service-Request-Id": requestId,', becomes: '' }],
  },
];
