/** One Python process that answers all questions about transparency logs: `tlog_answers.py` over `tlog.py`. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PYTHON = 'python3';
const ANSWERS = fileURLToPath(new URL('tlog_answers.py', import.meta.url));

const runs = (code: string): boolean =>
  spawnSync(PYTHON, ['-B', '-c', code], { cwd: fileURLToPath(new URL('.', import.meta.url)) }).status === 0;

export const HAS_PYTHON = runs('import cryptography');
/** ML-DSA-44 came to `cryptography` late, and needs an OpenSSL that has it. */
export const PYTHON_HAS_ML_DSA = HAS_PYTHON && runs('import tlog; assert tlog.HAS_ML_DSA');

/** What Python refused: its own word for why. */
class PythonRefusal extends Error {
  override readonly name = 'PythonRefusal';
}

export class TlogProcess {
  readonly #python: ChildProcessWithoutNullStreams;
  readonly #answers: Interface;
  readonly #lines: AsyncIterator<string>;
  #stderr = '';

  constructor() {
    this.#python = spawn(PYTHON, ['-B', ANSWERS]);
    this.#python.stderr.on('data', (text: Buffer) => {
      this.#stderr += text.toString();
    });
    this.#answers = createInterface({ input: this.#python.stdout });
    this.#lines = this.#answers[Symbol.asyncIterator]();
  }

  /** One question at a time. Bytes in it are given as base64. */
  async ask(question: string, given: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#python.stdin.write(`${JSON.stringify({ ask: question, ...given }, asBase64)}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`Python ended: ${this.#stderr}`);
    const answer: unknown = JSON.parse(line.value);
    if (hasRefused(answer)) throw new PythonRefusal(answer.refused);
    return (answer as { readonly answer: unknown }).answer;
  }

  async askText(question: string, given: Readonly<Record<string, unknown>>): Promise<string> {
    return String(await this.ask(question, given));
  }

  async askBytes(question: string, given: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
    return bytesIn(await this.ask(question, given));
  }

  /** The answers to a question about many. */
  async askEach(question: string, given: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
    const answers = await this.ask(question, given);
    if (!Array.isArray(answers)) throw new TypeError('no list of answers');
    return answers;
  }

  async end(): Promise<void> {
    const closed = once(this.#python, 'close');
    this.#python.stdin.end();
    await closed;
    this.#answers.close();
  }
}

export const bytesIn = (value: unknown): Uint8Array => Uint8Array.from(Buffer.from(String(value), 'base64'));

const hasRefused = (answer: unknown): answer is { readonly refused: string } =>
  typeof answer === 'object' && answer !== null && 'refused' in answer;

/** As a replacer: a Buffer has become an object by its own `toJSON` before its value comes here. */
function asBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const given = this[name];
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
}
