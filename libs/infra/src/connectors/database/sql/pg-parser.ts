import { createRequire } from 'node:module';
import type { ParseResult } from 'libpg-query';

/** What libpg-query compiles from PostgreSQL's own sources: a machine with memory of its own. */
interface PgMachine {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _wasm_parse_query_raw(text: number): number;
  _wasm_free_parse_result(result: number): void;
  getValue(pointer: number, type: 'i32'): number;
  UTF8ToString(pointer: number): string;
  stringToUTF8(text: string, pointer: number, bytes: number): void;
}

type StartMachine = (settings: { print(text: string): void; printErr(text: string): void }) => Promise<PgMachine>;

const ignore = (): void => undefined;
/**
 * The package's own door has one machine for the whole process, which nobody can replace once it has failed. A `require` of
 * its own keeps it out of the bundles: it looks for its .wasm beside itself.
 */
const startMachine = (): Promise<PgMachine> => {
  const start = createRequire(import.meta.url)('libpg-query/wasm/libpg-query.js') as StartMachine;
  return start({ print: ignore, printErr: ignore });
};

/** Members of PgQueryParseResult: pointers of four bytes. */
const TREE = 0;
const ERROR = 8;

export type Parsed =
  { readonly is: 'tree'; readonly tree: ParseResult } | { readonly is: 'unfit' } | { readonly is: 'unavailable' };

/** PostgreSQL's parser, and a spare one: reading waits for nothing, and starting one takes some 20 ms. */
export class PgParser {
  private spare: PgMachine | null = null;
  private starting: Promise<void> | null = null;
  private readonly memory: number;

  private constructor(private machine: PgMachine | null) {
    this.memory = machine?.HEAPU8.length ?? 0;
  }

  static async start(): Promise<PgParser> {
    const parser = new PgParser(await startMachine());
    await parser.settled();
    return parser;
  }

  parse(sql: string): Parsed {
    const machine = this.machine ?? this.spare;
    if (machine === null) {
      void this.settled();
      return { is: 'unavailable' };
    }
    if (machine === this.spare) this.spare = null;
    this.machine = machine;
    try {
      const parsed = parseWith(machine, sql);
      // Memory that a machine has taken it never gives back.
      if (machine.HEAPU8.length > this.memory) this.replace();
      return parsed;
    } catch {
      // Out of stack or memory in the middle of something: what it would answer next is anybody's guess.
      this.replace();
      return { is: 'unfit' };
    }
  }

  /** Until a spare one stands ready. */
  settled(): Promise<void> {
    if (this.spare !== null) return Promise.resolve();
    this.starting ??= startMachine()
      .then((machine) => {
        this.spare = machine;
      }, ignore)
      .finally(() => {
        this.starting = null;
      });
    return this.starting;
  }

  private replace(): void {
    this.machine = this.spare;
    this.spare = null;
    void this.settled();
  }
}

const parseWith = (machine: PgMachine, sql: string): Parsed => {
  const bytes = Buffer.byteLength(sql) + 1;
  const text = machine._malloc(bytes);
  if (text === 0) throw new Error('the parser is out of memory');
  machine.stringToUTF8(sql, text, bytes);
  const result = machine._wasm_parse_query_raw(text);
  if (result === 0) throw new Error('the parser is out of memory');
  const error = machine.getValue(result + ERROR, 'i32');
  const tree = machine.getValue(result + TREE, 'i32');
  const json = error === 0 && tree !== 0 ? machine.UTF8ToString(tree) : null;
  machine._free(text);
  machine._wasm_free_parse_result(result);
  return json === null ? { is: 'unfit' } : { is: 'tree', tree: JSON.parse(json) as ParseResult };
};
