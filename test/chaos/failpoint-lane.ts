import { setStage, type ChaosStage } from './chaos-stage.js';
import { violationsIn, type Violation } from './checker.js';
import { membersOf, textOf } from './dossier.js';
import type { Members } from './evidence.js';
import { ENDINGS, type Fault, type PointOfCall } from './failpoint-endings.js';
import { REST_LIMIT_MS } from './chaos-scene.js';
import { effectOf } from './oracle.js';

/** Of the tools here: shorter than a delay, longer than a restart, also where a machine takes its time for one. */
const TOOL_TIMEOUT_MS = { kill: 30_000, error: 30_000, delay: 4_000 } as const satisfies Record<Fault, number>;
/** Longer than a tool here may take, than an executor may be silent, a store may be, and a transaction may stand idle (5 s each). */
const DELAY_MS = 6_000;
/** `POST /v1/actions` has 60 s. */
const DELAY_PAST_ROUTE_MS = 61_000;
const WAIT_S = 5;

/** By what a point is met. */
export type Manner = 'write' | 'busy' | 'export' | 'edge' | 'read' | 'refused';

const TOOLS: Readonly<Record<Manner, string>> = {
  write: 'crm.add_note',
  busy: 'crm.get_customer',
  export: 'crm.add_note',
  edge: 'crm.add_note',
  read: 'crm.set_status',
  refused: 'crm.no_such_tool',
};

interface Asked {
  readonly effect: string;
  readonly idempotencyKey: string;
  readonly body: {
    readonly tool: string;
    readonly args: Readonly<Record<string, string>>;
    readonly wait: number;
    readonly mode: 'gateway' | 'proxy';
  };
}

/** Faults at failpoints, one after the other, of a service of its own. */
export class FailpointLane {
  private asked = 0;
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(private readonly stage: ChaosStage) {}

  get scene(): ChaosStage['scene'] {
    return this.stage.scene;
  }

  /** @param fault the one whose tool's time it is set up for */
  static async start(fault: Fault): Promise<FailpointLane> {
    const toolTimeoutMs = TOOL_TIMEOUT_MS[fault];
    return new FailpointLane(await setStage({ restLimitMs: REST_LIMIT_MS, toolTimeoutMs }));
  }

  stop(): Promise<void> {
    return this.stage.close();
  }

  /**
   * Orders the fault at the first hit of the point, makes a call meet it, and sends the same key again when it is over.
   * @returns how the call ended, as {@link ENDINGS} writes it
   * @throws {Error} the point was not met
   */
  meet(point: PointOfCall, fault: Fault, by: Manner = ENDINGS[point].by ?? 'write'): Promise<string> {
    return this.inTurn(() => this.meetNow(point, fault === 'delay' ? `delay:${DELAY_MS}` : fault, by));
  }

  /** The same with a delay past the time that the route itself has, which is answered with 504 meanwhile. */
  meetPastTheRoute(point: PointOfCall): Promise<string> {
    return this.inTurn(async () => {
      const ending = await this.meetNow(point, `delay:${DELAY_PAST_ROUTE_MS}`, 'write');
      const answers = this.scene.log.calls.map(({ answer }) => answer?.status);
      return `${answers.includes(504) ? '504' : 'no 504'}, then ${ending}`;
    });
  }

  /** What the checker says of everything so far. */
  violations({ isRebuilt }: { isRebuilt: boolean }): Promise<readonly Violation[]> {
    return this.inTurn(async () => violationsIn(await this.scene.gather({ isRebuilt })));
  }

  private inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.turn.then(task);
    this.turn = result.catch(() => null);
    return result;
  }

  private async meetNow(point: PointOfCall, fault: 'kill' | 'error' | `delay:${number}`, by: Manner): Promise<string> {
    const { scene } = this;
    const asked = this.newCall(by);
    scene.markFaults(true);
    await scene.arm(`${point}=${fault}@1`);
    const { service } = scene;
    const [saidBefore, exited] = [service.stdout.length, fault === 'kill' ? scene.exited() : null];
    const met = by === 'export' ? scene.exported() : this.submit(asked);
    if (exited === null) {
      await scene.said(service, `failpoint=${point} `, saidBefore);
      await met;
      // What was delayed may reach the point of the next order, and would be taken for the call that is to meet it.
      if (fault.startsWith('delay'))
        await scene.said(service, `failpoint=${point} message="a failpoint lets go`, saidBefore);
      await scene.arm('none');
    } else {
      await exited;
      if (service.isRunning) throw new Error(`the service did not end itself at ${point}`);
      await scene.startAgain(met);
    }
    await scene.recovered(performance.now());
    scene.markFaults(false);
    return this.endingOf(asked);
  }

  private newCall(by: Manner): Asked {
    this.asked += 1;
    const effect = effectOf(by === 'busy' ? 'busy' : 'ok', 0, String(this.asked));
    const args = by === 'busy' ? { id: effect } : { id: effect, text: 'a note' };
    const mode = by === 'edge' ? 'proxy' : 'gateway';
    return { effect, idempotencyKey: `key-${this.asked}`, body: { tool: TOOLS[by], args, wait: WAIT_S, mode } };
  }

  /** @returns the action, also where it is told in an error */
  private async submit({ idempotencyKey, body }: Asked): Promise<Members> {
    const [caller] = this.scene.agents;
    const { answer } = await this.scene.log.call('POST', '/v1/actions', {
      caller: caller ?? null,
      idempotencyKey,
      body,
    });
    const { error, ...view } = answer?.json ?? {};
    return error === undefined ? view : membersOf(membersOf(error)['action']);
  }

  /** What an agent does that was told to run the tool itself. */
  private async report({ id }: Members): Promise<Members> {
    const at = new Date().toISOString();
    const { answer } = await this.scene.log.call('POST', `/v1/actions/${textOf(id)}/result`, {
      caller: this.scene.agents[0] ?? null,
      body: { status: 'succeeded', started_at: at, finished_at: at, result: null },
    });
    return answer?.json ?? {};
  }

  private async endingOf(asked: Asked): Promise<string> {
    let view = await this.submit(asked);
    if (view['status'] === 'authorized') view = await this.report(view);
    const [caller, deadlineMs] = [this.scene.agents[0] ?? null, performance.now() + REST_LIMIT_MS];
    while (view['state'] !== 'sealed' && performance.now() < deadlineMs) {
      const { answer } = await this.scene.log.call('GET', `/v1/actions/${textOf(view['id'])}?wait=${WAIT_S}`, {
        caller,
      });
      view = answer?.json ?? {};
    }
    const requests = this.scene.oracle.requests.filter(({ effect }) => effect === asked.effect).length;
    const isRefused = membersOf(view['decision'])['outcome'] === 'deny';
    const status = isRefused ? 'refused' : textOf(membersOf(view['execution'])['status']);
    if (view['state'] !== 'sealed') return `not sealed: ${textOf(view['state'])}`;
    const { level, verdict } = membersOf(view['witness']);
    return level === 'L1' ? `${status} ${requests} ${textOf(verdict)}` : `${status} ${requests}`;
  }
}
