import type pg from 'pg';

/** A column of an answer: its name, and the number of its type. */
export interface AnsweredColumn {
  readonly name: string;
  readonly typeId: number;
}

/** What one statement answered. */
export interface StatementAnswer {
  /** `UPDATE 3`. */
  readonly tag: string;
  readonly columns: readonly AnsweredColumn[];
  /** Values as the server wrote them. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Whether there were rows that are not here. */
  readonly isCut: boolean;
  /** Of the rows, those that are not here among them. */
  readonly bytes: number;
}

export interface RunOptions {
  readonly text: string;
  /** Null: several statements in one message, without parameters. */
  readonly parameters: readonly (string | null)[] | null;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** What is asked of the server in one message. */
interface Asked extends RunOptions {
  /** Rows to be made before it waits; 0: all. */
  readonly step: number;
  /** Goes on with the statement that waits. */
  readonly goesOn: boolean;
}

/** What a value takes in a result at least, with its name's quotes, colon and comma: a row of NULLs is no small one. */
const LEAST_BYTES = 4;
/** Of one message: far more than are ever asked for. A server that answers without end is not listened to. */
const ANSWERS_MAX = 100;

interface Message {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** The parts of a `pg` connection that are used. They write and do not wait. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  query(text: string): void;
  parse(message: { readonly text: string; readonly name: string; readonly types: readonly number[] }): void;
  bind(message: {
    readonly portal: string;
    readonly statement: string;
    readonly values: readonly (string | null)[];
  }): void;
  describe(message: { readonly type: 'P'; readonly name: string }): void;
  execute(message: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
  sendCopyFail(message: string): void;
}

/**
 * One message of statements and its answers, as `pg` runs it (its `Submittable`). `pg`'s own query reads all rows into
 * memory, converts values, and says of several statements only whether all of them went well; here memory is bounded,
 * values stay as the server wrote them, and what had an answer before an error is known.
 */
class StatementRun {
  private readonly answers: StatementAnswer[] = [];
  private columns: readonly AnsweredColumn[] = [];
  private rows: (readonly (string | null)[])[] = [];
  private bytes = 0;
  private isCut = false;
  private failure: Error | null = null;
  private isSettled = false;

  constructor(
    private readonly options: Asked,
    private readonly settle: (failure: Error | null, answers: readonly StatementAnswer[]) => void,
  ) {}

  submit(wire: Wire): void {
    const { text, parameters, step, goesOn } = this.options;
    if (parameters === null) {
      wire.query(text);
      return;
    }
    wire.stream.cork();
    if (!goesOn) {
      wire.parse({ text, name: '', types: [] });
      wire.bind({ portal: '', statement: '', values: parameters });
      wire.describe({ type: 'P', name: '' });
    }
    wire.execute({ portal: '', rows: step });
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: Message): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({ name, typeId: dataTypeID }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { maxRows, maxBytes } = this.options;
    this.bytes += fields.reduce((sum, value) => sum + LEAST_BYTES + (value?.length ?? 0), 0);
    if (this.rows.length >= maxRows || this.bytes > maxBytes) this.isCut = true;
    else this.rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.answer(text);
  }

  /** There may be more rows than were asked for. Within a transaction the statement waits to go on. */
  handlePortalSuspended(): void {
    this.answer(SUSPENDED);
  }

  handleEmptyQuery(): void {
    this.answer('');
  }

  handleCopyInResponse(wire: Wire): void {
    wire.sendCopyFail('nothing is copied here');
  }

  handleCopyData(): void {
    // What a COPY sends is nobody's; none is ever sent.
  }

  /** Of the server, or of the connection. Nothing more is heard of this message: `pg` has let go of it. */
  handleError(failure: Error): void {
    this.failure ??= failure;
    this.end();
  }

  handleReadyForQuery(): void {
    this.end();
  }

  private answer(tag: string): void {
    if (this.answers.length < ANSWERS_MAX)
      this.answers.push({ tag, columns: this.columns, rows: this.rows, isCut: this.isCut, bytes: this.bytes });
    this.columns = [];
    this.rows = [];
    this.isCut = false;
  }

  private end(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.settle(this.failure, this.answers);
  }
}

/** A statement that failed, with the answers of those that went before it in the same message. */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed';

  constructor(
    override readonly cause: Error,
    readonly answers: readonly StatementAnswer[],
  ) {
    super('a statement failed', { cause });
  }
}

/** In the place of a command tag, where the statement has not ended. */
const SUSPENDED = 'suspended';

/**
 * The answers, one a statement.
 * @throws {StatementFailed}
 */
export const runStatements = (client: pg.ClientBase, options: RunOptions): Promise<readonly StatementAnswer[]> =>
  asked(client, { ...options, step: 0, goesOn: false });

const asked = (client: pg.ClientBase, options: Asked): Promise<readonly StatementAnswer[]> =>
  new Promise((resolve, reject) => {
    const run = new StatementRun(options, (failure, answers) => {
      if (failure === null) resolve(answers);
      else reject(new StatementFailed(failure, answers));
    });
    client.query(run as unknown as pg.Submittable);
  });

/** A row may have megabytes: the server makes few until it is seen how long they are. */
const FIRST_STEP = 16;
const STEP_GROWS = 4;

/**
 * A statement that reads, within a transaction: its rows are made in steps, and no more of them once the answer is full.
 * @throws {StatementFailed}
 */
export const readInSteps = async (client: pg.ClientBase, options: RunOptions): Promise<StatementAnswer> => {
  const rows: (readonly (string | null)[])[] = [];
  let [step, goesOn, bytesLeft] = [FIRST_STEP, false, options.maxBytes];
  let columns: readonly AnsweredColumn[] = [];
  for (;;) {
    const rowsLeft = options.maxRows - rows.length;
    const wanted = { ...options, maxRows: rowsLeft, maxBytes: bytesLeft, step: Math.min(step, rowsLeft + 1), goesOn };
    const [answer = NO_ANSWER] = await asked(client, wanted);
    if (!goesOn) columns = answer.columns;
    for (const row of answer.rows) rows.push(row);
    bytesLeft -= answer.bytes;
    if (answer.tag !== SUSPENDED) {
      // Of a statement that was made in steps the tag counts the last step alone.
      return { ...answer, columns, rows, ...(goesOn ? { tag: `SELECT ${rows.length}` } : {}) };
    }
    if (answer.isCut) return { ...answer, columns, rows, tag: `SELECT ${rows.length}` };
    step *= STEP_GROWS;
    goesOn = true;
  }
};

const NO_ANSWER: StatementAnswer = { tag: '', columns: [], rows: [], isCut: false, bytes: 0 };
